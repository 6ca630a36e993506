"""Whatever is put and forgotten in whatever order: every snapshot answers as a plain list would."""

from __future__ import annotations

import math
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executor import FixedClock, Home
from mcl.memory import Memory, MemoryStore, Snapshot
from mcl.memory import words as search
from mcl.memory.proof import Proof, prove
from mcl.plugins.memories.verification import verify_home
from tests.memory.conftest import AT

WORDS = ("order", "paper", "acme", "oslo", "invoice", "pay", "zwölf", "x1")
TYPES = ("Fact", "Goal")
TAGS = ("a", "b.c", "b-c")


@dataclass(frozen=True)
class Op:
    """Put `words` under an id, or forget it (no words)."""

    type: str
    id: str
    words: tuple[str, ...]
    tags: tuple[str, ...]
    importance: float


OPS = st.lists(
    st.builds(
        Op,
        st.sampled_from(TYPES),
        st.sampled_from(("one", "two", "three", "four")),
        st.lists(st.sampled_from(WORDS), max_size=6).map(tuple),
        st.lists(st.sampled_from(TAGS), max_size=2, unique=True).map(tuple),
        st.sampled_from((0.0, 0.5, 1.0)),
    ),
    min_size=1,
    max_size=25,
)


@dataclass
class Reference:
    """The memories as a list of versions, oldest first; nothing is indexed."""

    log: list[Memory] = field(default_factory=list)

    def current(self, size: int) -> list[Memory]:
        newest = {(one.type, one.id): one for one in self.log[:size]}
        return [one for one in newest.values() if not one.forgotten]

    def find(
        self, size: int, near: str, types: tuple[str, ...], tags: tuple[str, ...], without: tuple[str, ...]
    ) -> list[str]:
        """Plain BM25 over all versions up to a size; current memories that hold a word, best first."""
        versions = [self.words(one) for one in self.log[:size] if not one.forgotten]
        mean = sum(map(len, versions)) / len(versions) if versions else 1.0
        wanted = list(dict.fromkeys(re.findall(r"\w+", near)))
        holding = {word: sum(word in words for words in versions) for word in wanted}
        scored = []
        for one in self.current(size):
            if (types and one.type not in types) or not set(tags) <= set(one.tags):
                continue
            if set(without) & set(one.tags) and (near or tags):
                continue
            words, score = self.words(one), 0.0
            for word in sorted(wanted, key=lambda word: (holding[word], word)):
                times = words.count(word)
                if times:
                    count = holding[word]
                    weight = math.log(1 + (len(versions) - count + 0.5) / (count + 0.5))
                    score += weight * (times * 2.2 / (times + 1.2 * (0.25 + 0.75 * len(words) / mean)))
            if not near or set(wanted) & set(words):
                scored.append((-score if near else 0.0, -one.importance, -one.seq, one.uri))
        return [uri for *_, uri in sorted(scored)]

    @staticmethod
    def words(one: Memory) -> list[str]:
        said = " ".join((one.text, one.id, *one.tags)).replace("ö", "o")
        return re.findall(r"[a-z0-9]+", said)


def play(cortex: MemoryStore, ops: list[Op]) -> tuple[Reference, list[Snapshot]]:
    """Do everything; what the memories should be, and a snapshot after each change."""
    reference, snapshots = Reference(), [cortex.snapshot()]
    for op in ops:
        address = f"matrix://cortex/{op.type}/{op.id}"
        if op.words:
            said = " ".join(op.words)
            done = cortex.put(op.type, said, id=op.id, tags=op.tags, importance=op.importance)
        elif cortex.memories().resolve(address) is not None:
            done = cortex.forget(address)
        else:
            continue
        if done.seq > len(reference.log):
            reference.log.append(done)
            snapshots.append(cortex.snapshot())
    return reference, snapshots


@settings(max_examples=40, deadline=None)
@given(ops=OPS, near=st.lists(st.sampled_from((*WORDS, "one", "c", "absent")), max_size=5), data=st.data())
def test_every_snapshot_finds_what_a_plain_list_does(
    ops: list[Op], near: list[str], data: st.DataObject
) -> None:
    types = data.draw(st.sampled_from(((), ("Fact",), TYPES)))
    tags = data.draw(st.sampled_from(((), ("a",), ("b.c",), ("a", "b-c"))))
    without = data.draw(st.sampled_from(((), ("b.c",), ("b.c", "a"))))
    with tempfile.TemporaryDirectory() as folder, Home.open(Path(folder), clock=FixedClock(AT)) as home:
        cortex = MemoryStore(home)
        reference, snapshots = play(cortex, ops)
        words = " ".join(near).replace("ö", "o")
        for snapshot in snapshots:
            memories = cortex.memories(snapshot)
            asked: Any = {"near": " ".join(near), "types": types, "tags": tags, "without": without}
            found = memories.find(**asked, limit=100)
            assert [one.uri for one in found] == reference.find(snapshot.size, words, types, tags, without)
            for limit in (1, 2):
                first = memories.find(**asked, limit=limit)
                assert first == found[:limit]
            assert memories.count() == len(reference.current(snapshot.size))
            for one in reference.log[: snapshot.size]:
                assert memories.version(one.uri) == one
                assert memories.history(one.uri)[one.version - 1] == one
        assert verify_home(home).flaws == []


@settings(max_examples=25, deadline=None)
@given(ops=OPS, data=st.data())
def test_every_version_can_be_proved_in_every_snapshot_that_has_it(
    ops: list[Op], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder, Home.open(Path(folder), clock=FixedClock(AT)) as home:
        cortex = MemoryStore(home)
        reference, snapshots = play(cortex, ops)
        if not reference.log:
            return
        memory = data.draw(st.sampled_from(reference.log))
        snapshot = data.draw(st.sampled_from(snapshots[memory.seq :]))
        since = data.draw(st.sampled_from(snapshots[1 : snapshot.size + 1]))
        proof = Proof.of_bytes(prove(cortex, memory.uri, snapshot=snapshot, since=since).to_bytes())
        assert proof.holds()
        assert proof.memory() == memory
        assert (proof.snapshot, proof.uri) == (snapshot, memory.uri)


def test_common_words_bring_in_the_newest_and_rare_words_all(
    cortex: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_MOST_HOLDERS", 10)
    monkeypatch.setattr(search, "_MOST_READ", 3)
    for place in range(60):
        rare = " gold" if place % 20 == 3 else ""
        cortex.put("Fact", f"paper number {place}{rare}", id=f"m{place}")
    found = cortex.memories().find(near="paper gold number 23", limit=4)
    assert found[0].id == "m23"  # every word counts for what the rare ones found
    assert {one.id for one in found[:3]} == {"m3", "m23", "m43"}
    newest = cortex.memories().find(near="paper", limit=60)
    assert [one.id for one in newest] == [f"m{place}" for place in (59, 58, 57, 56, 55, 54, 53, 52, 51, 50)]
    old = cortex.memories(cortex.snapshot(30))
    assert [one.id for one in old.find(near="paper", limit=2)] == ["m29", "m28"]
