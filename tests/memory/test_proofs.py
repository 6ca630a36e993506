"""Proofs are checked by themselves, and only what they say and nothing else is believed."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from executor import FixedClock, Home
from ir.errors import UNVERIFIED
from mcl.core.errors import MemoryStoreError
from mcl.memory import MemoryStore
from mcl.memory.proof import Proof, prove
from mcl.plugins.memories import memories
from tests.memory.conftest import AT


@pytest.fixture
def proof(cortex: MemoryStore) -> Proof:
    for place in range(6):
        cortex.put("Fact", f"fact {place} über all", id=f"f{place}")
    return prove(cortex, "matrix://cortex/Fact/f2", since=cortex.snapshot(4))


def test_a_proof_is_checked_without_the_home_and_names_who_signed(
    proof: Proof, home: Home, tmp_path: Path
) -> None:
    agent, user = home.keyring.agent.did, home.keyring.user.did
    home.close()
    file = tmp_path / "proof.json"
    file.write_bytes(proof.to_bytes())
    report = memories.verify_proof(file)
    assert report.ok
    assert (report.uri, report.text) == ("matrix://cortex/Fact/f2@v1", "fact 2 über all")
    assert [check.name for check in report.checks] == ["data", "inclusion", "signature", "since"]
    assert agent in report.checks[2].said
    assert memories.verify_proof(file, key=agent).ok
    assert not memories.verify_proof(file, key=user).ok


def test_what_another_home_signed_is_not_taken_for_ours(proof: Proof, home: Home, tmp_path: Path) -> None:
    with Home.open(tmp_path / "other", clock=FixedClock(AT)) as other:
        cortex = MemoryStore(other)
        for place in range(6):
            cortex.put("Fact", f"fact {place} über all", id=f"f{place}")
        theirs = prove(cortex, "matrix://cortex/Fact/f2")
    assert theirs.holds()
    assert not memories.verify_proof(theirs.to_bytes(), key=home.keyring.agent.did).ok


def test_any_changed_byte_of_a_proof_is_noticed(proof: Proof) -> None:
    whole = proof.to_bytes()
    said = proof.to_json()
    chance = random.Random(7)
    for place in chance.sample(range(len(whole)), 250):
        changed = bytearray(whole)
        changed[place] ^= 1 << chance.randrange(7)
        try:
            found = Proof.of_bytes(bytes(changed))
        except MemoryStoreError:
            continue
        assert found.to_json() == said or not found.holds()  # a blank between two values may be another


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("uri",), "matrix://cortex/Fact/f3@v1"),
        (("snapshot", "size"), 5),
        (("snapshot", "root"), "00" * 32),
        (("inclusion", "index"), 3),
        (("inclusion", "path"), []),
        (("since", "size"), 3),
        (("since", "root"), "11" * 32),
        (("since", "path"), []),
    ],
)
def test_every_part_counts(proof: Proof, path: tuple[str, ...], value: object) -> None:
    said = proof.to_json()
    inner = said if len(path) == 1 else said[path[0]]
    inner[path[-1]] = value
    assert not Proof.of_bytes(json.dumps(said).encode()).holds()


def test_another_text_with_the_same_path_does_not_hold(proof: Proof) -> None:
    said = proof.to_json()
    said["document"] = said["document"].replace("fact 2", "fact 7")
    report = memories.verify_proof(json.dumps(said).encode())
    assert [check.name for check in report.checks if not check.ok] == ["inclusion"]


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[]", b'{"kind":"mcl.cortex.proof/1"}', b"\xff", b'{"kind":"other"}', b"{" * 5000]
)
def test_what_is_no_proof_is_told_as_such(data: bytes) -> None:
    with pytest.raises(MemoryStoreError) as caught:
        Proof.of_bytes(data)
    assert (caught.value.code, caught.value.exit) == ("PROOF_SHAPE", UNVERIFIED)


def test_extra_fields_are_refused(proof: Proof) -> None:
    for name in (None, "snapshot", "inclusion", "since"):
        said = proof.to_json()
        (said if name is None else said[name])["extra"] = 1
        with pytest.raises(MemoryStoreError, match="extra"):
            Proof.of_bytes(json.dumps(said).encode())


def test_forgetting_can_be_proved_and_what_was_forgotten_in_its_own_time(cortex: MemoryStore) -> None:
    cortex.put("Fact", "first", id="a")
    before = cortex.snapshot()
    cortex.forget("matrix://cortex/Fact/a")
    with pytest.raises(MemoryStoreError, match="no such memory"):
        prove(cortex, "matrix://cortex/Fact/a")
    gone = prove(cortex, "matrix://cortex/Fact/a@v2")
    assert gone.holds()
    assert gone.memory().forgotten
    assert prove(cortex, "matrix://cortex/Fact/a", snapshot=before).memory().text == "first"
    assert prove(cortex, "matrix://cortex/Fact/a@v1").holds()


def test_a_newer_snapshot_is_not_what_an_older_one_began_with(cortex: MemoryStore) -> None:
    for text in ("a", "b"):
        cortex.put("Fact", text, id=text)
    with pytest.raises(MemoryStoreError) as caught:
        prove(cortex, "matrix://cortex/Fact/a", snapshot=cortex.snapshot(1), since=cortex.snapshot(2))
    assert caught.value.code == "SNAPSHOT_ORDER"
