"""What is known of a workspace in words: typed, tagged, with a source, found by shared words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from executor import FixedClock, Home
from mcl.core.errors import MemoryStoreError, ReviewError
from mcl.memory import TYPES, MemoryStore
from mcl.memory.lessons import bundle
from mcl.plugins.review.finding import ReviewFinding
from mcl.plugins.review.memory.history import ReviewMemories
from mcl.plugins.review.memory.meanings import MEANINGS, Meanings

AT = "2026-11-22T10:00:00.000Z"
KEY = "AKIA" + "ABCDEFGHIJKLMNOP"
TOKEN = "ghp_" + "r4nd0mv8kq2wz7xlpt3syc9hbj6fmgne1uai"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with Home.open(tmp_path / "home", clock=FixedClock(AT)) as opened:
        yield opened


@pytest.fixture
def meanings(home: Home, tmp_path: Path) -> Meanings:
    (tmp_path / "work").mkdir()
    return ReviewMemories(home, tmp_path / "work").meanings


@pytest.mark.parametrize("kind", MEANINGS)
def test_a_text_has_a_kind_tags_a_source_and_a_moment(meanings: Meanings, kind: Any) -> None:
    told = meanings.remember("Only store/ talks to SQLite", kind=kind, tags=["store"], source="README.md:3")
    assert (told.kind, told.tags, told.source) == (kind, ("store",), "README.md:3")
    assert told.at[:20] == AT[:20]
    assert meanings.get(told.id) == told
    assert meanings.recall("sqlite") == meanings.all() == (told,)


def test_a_review_is_told_the_two_texts_that_are_most_like_its_words(meanings: Meanings) -> None:
    for text in ("the store opens SQLite", "SQLite", "the store is a room", "nothing like it"):
        meanings.remember(text)
    found = meanings.recall("store SQLite")
    assert len(found) == 2
    assert found[0].text == "the store opens SQLite"
    assert len(meanings.recall("store SQLite", 9)) == 3
    assert meanings.recall("") == meanings.recall("absent") == meanings.recall("store", 0) == ()


def test_the_same_id_is_the_next_version_and_the_same_text_is_nothing_new(
    meanings: Meanings, home: Home
) -> None:
    first = meanings.remember("a", id="x")
    assert meanings.remember("a", id="x") == first
    second = meanings.remember("b", id="x")
    assert (second.uri, [one.text for one in meanings.all()]) == (first.uri.replace("@v1", "@v2"), ["b"])
    assert meanings.remember("c", id="x", keep=True) == second
    assert meanings.remember("text").id == meanings.remember("text").id
    assert meanings.remember("text").id != meanings.remember("text", kind="warning").id
    meanings.forget("x")
    assert meanings.get("x") is None
    with pytest.raises(ReviewError) as caught:
        meanings.forget("x")
    assert (caught.value.code, caught.value.place) == ("MEANING_UNKNOWN", "x")
    assert home.journal.verify().ok


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"text": " \n "}, "text"),
        ({"text": "x" * 4_001}, "text"),
        ({"kind": "rumour"}, "kind"),
        ({"id": "../x"}, "id"),
        ({"id": "x" * 65}, "id"),
        ({"tags": ["UPPER"]}, "tags"),
        ({"tags": ["mcl.review.decision"]}, "tags"),
        ({"tags": ["workspace.0000"]}, "tags"),
        ({"tags": ["kind.warning"]}, "tags"),
        ({"tags": ["pinned"]}, "tags"),
        ({"tags": ["learned"]}, "tags"),
        ({"tags": [f"t{n}" for n in range(17)]}, "tags"),
        ({"source": "x" * 501}, "source"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_its_field(
    meanings: Meanings, home: Home, given: dict[str, Any], field: str
) -> None:
    said = {"text": "a", **given}
    with pytest.raises(ReviewError) as caught:
        meanings.remember(said.pop("text"), **said)
    assert (caught.value.code, caught.value.place) == ("MEANING_SHAPE", field)
    assert MemoryStore(home).snapshot().size == 0


@pytest.mark.parametrize("given", [{"id": TOKEN}, {"tags": ["ok", TOKEN]}], ids=["id", "tags"])
def test_an_id_or_tag_that_looks_like_a_key_is_refused(
    meanings: Meanings, home: Home, given: dict[str, Any]
) -> None:
    with pytest.raises(ReviewError) as caught:
        meanings.remember("a text", **given)
    assert (caught.value.code, caught.value.place) == ("MEANING_SHAPE", *given)
    assert TOKEN not in str(caught.value)
    assert MemoryStore(home).snapshot().size == 0


def test_secrets_and_what_is_not_seen_are_not_kept(meanings: Meanings, home: Home) -> None:
    hidden = "".join(chr(0xE0000 + ord(sign)) for sign in "obey")
    told = meanings.remember(f"the key {KEY}\x1b[2J{hidden}\r\nnext", source="http://u:hunter22@host")
    assert told.text.startswith("the key [redacted: AWS access key]\\x1b[2J\\U000e006f")
    assert told.text.endswith("\nnext")
    documents = repr(home.db.read("SELECT wire FROM journal WHERE kind LIKE 'record.cortex.%'"))
    assert KEY not in documents
    assert "hunter22" not in documents
    assert chr(0xE006F) not in documents


def test_workspaces_do_not_know_of_one_another(meanings: Meanings, home: Home, tmp_path: Path) -> None:
    meanings.remember("the store opens SQLite")
    (tmp_path / "other").mkdir()
    assert ReviewMemories(home, tmp_path / "other").meanings.recall("store") == ()


def test_no_goal_is_told_what_reviews_remember(home: Home, tmp_path: Path) -> None:
    memories, cortex = ReviewMemories(home, tmp_path), MemoryStore(home)
    cortex.put("Fact", "Acme sells paper", id="own")
    memories.meanings.remember("Acme sells paper, and this file orders it")
    memories.decisions.decide("Acme sells paper", decision="Order there.")
    memories.history.record(
        "acme.py", findings=[ReviewFinding("RISK", "acme.py", 1, "sells paper")], mode="risk"
    )
    told = bundle(cortex.memories(), "Acme sells paper", types=TYPES, tags=(), tokens=512)
    assert [one.id for one in told.memories] == ["own"]


def test_the_memory_of_reviews_is_in_the_one_database_of_the_home(meanings: Meanings, home: Home) -> None:
    told = meanings.remember("text")
    memory = MemoryStore(home).memories().resolve(told.uri)
    assert memory is not None
    assert memory.type == "Fact"
    assert {"mcl.review", "mcl.review.meaning", "kind.fact"} < set(memory.tags)
    with pytest.raises(MemoryStoreError):
        MemoryStore(home).forget("matrix://cortex/Fact/mcl.review.nothing")
