"""The journal rewritten by somebody who can write the database file, with and without keys.

Whoever rewrites it here is thorough: every column, every leaf and the tree fit again. What stops the run are
signatures, roles and the order of events.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from nacl.signing import SigningKey
from walks import Walks, tool

import ir
from executor import Home
from executor.store.journal.merkle import Frontier
from executor.store.journal.rows import row_of
from ir import MclError, PlanProposedBody, canonical_bytes, did_of, with_hash

WRITES = tool("n1", "fs/write", "write", path="effect.txt", content="done")
EVIL = tool("n1", "fs/write", "write", path="effect.txt", content="owned")


def wires(home: Home) -> list[bytes]:
    return [row.wire for row in home.journal.rows()]


def rewrite(path: Path, new: Sequence[bytes]) -> None:
    """Put these envelopes into a journal instead of what was there; all columns, leaves and the tree fit."""
    connection = sqlite3.connect(path / "mcl.db")
    [made] = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'journal'").fetchone()
    connection.execute("DROP TABLE journal")  # and with it what keeps rows from being changed
    connection.execute(made)  # a table that is not as it was made is refused when the home is opened
    connection.execute("DELETE FROM heads")
    tree = Frontier()
    for wire in new:
        row = row_of(_unchecked(wire), tree.size + 1)
        connection.execute(
            "INSERT INTO journal (seq, id, kind, intent, at, self_hash, leaf, wire) VALUES (?,?,?,?,?,?,?,?)",
            (
                row.seq,
                _unused(connection, row.id),
                row.kind,
                row.intent,
                row.at,
                row.self_hash,
                row.leaf,
                wire,
            ),
        )
        tree.append(row.leaf)
    connection.execute(
        "UPDATE tree SET size = ?, peaks = ?, root = ?", (tree.size, tree.to_bytes(), tree.root())
    )
    connection.commit()
    connection.close()


def _unused(connection: sqlite3.Connection, id: str) -> str:
    """An id for the column, which no row may have twice; who writes the file writes what fits."""
    return f"{id}2" if connection.execute("SELECT 1 FROM journal WHERE id = ?", (id,)).fetchone() else id


class _Unchecked:
    """What the columns say of an envelope that nobody has checked."""

    def __init__(self, wire: bytes) -> None:
        message = ir.decode_cbor(wire)
        assert isinstance(message, dict)
        message.pop(11, None)
        self.wire, self.id, self.kind, self.at = wire, message[3], message[2], message[4]
        self.intent = message.get(7, "")
        self.self_hash = hashlib.sha256(ir.encode_cbor(message)).hexdigest()


def _unchecked(wire: bytes) -> _Unchecked:  # stands in for an Envelope, which would have been checked
    return _Unchecked(wire)


def of_kind(all_: Sequence[bytes], kind: str) -> int:
    return next(place for place, wire in enumerate(all_) if _Unchecked(wire).kind == kind)


def evil_plan(walks: Walks, intent: str) -> ir.Envelope:
    """Another plan, signed by the agent's own key: what a program that holds it can make."""
    plan = walks.home.journal.view(intent).plan
    assert plan is not None
    changed = json.loads(canonical_bytes(plan))
    changed["root"]["tool_call"]["args"]["content"] = "owned"
    del changed["hash"]
    evil = with_hash(ir.PlanTree.from_json(json.dumps(changed)))
    return walks.seal(intent, "plan.proposed", PlanProposedBody(canonical_bytes(evil)))


def resigned(wire: bytes, key: SigningKey, did: str) -> bytes:
    """The same envelope, signed by somebody else in their own name."""
    message = ir.decode_cbor(wire)
    assert isinstance(message, dict)
    message = {**message, 5: did}
    message.pop(11)
    return ir.encode_cbor({**message, 11: key.sign(ir.encode_cbor(message)).signature})


def swapped_plan(walks: Walks, intent: str, all_: list[bytes]) -> list[bytes]:
    all_[of_kind(all_, "plan.proposed")] = evil_plan(walks, intent).wire
    return all_


def later_plan(walks: Walks, intent: str, all_: list[bytes]) -> list[bytes]:
    return [*all_, evil_plan(walks, intent).wire]


def earlier_plan_too(walks: Walks, intent: str, all_: list[bytes]) -> list[bytes]:
    place = of_kind(all_, "intent.accept")
    return [*all_[:place], evil_plan(walks, intent).wire, *all_[place:]]


def accept_first(walks: Walks, intent: str, all_: list[bytes]) -> list[bytes]:
    place = of_kind(all_, "intent.accept")
    return [all_[place], *all_[:place], *all_[place + 1 :]]


def accept_twice(walks: Walks, intent: str, all_: list[bytes]) -> list[bytes]:
    return [*all_, all_[of_kind(all_, "intent.accept")]]


def accept_of_another(walks: Walks, intent: str, all_: list[bytes]) -> list[bytes]:
    other = walks.accept(EVIL)
    theirs = [row.wire for row in walks.home.journal.rows(other)]
    kept = [wire for wire in all_ if _Unchecked(wire).kind != "intent.accept"]
    return [*kept, theirs[of_kind(theirs, "intent.accept")]]


def accept_by_the_agent(walks: Walks, intent: str, all_: list[bytes]) -> list[bytes]:
    place, agent = of_kind(all_, "intent.accept"), walks.home.keyring.agent
    all_[place] = resigned(all_[place], agent.signing_key, agent.did)
    return all_


def everything_by_a_stranger(walks: Walks, intent: str, all_: list[bytes]) -> list[bytes]:
    key = SigningKey.generate()
    did = did_of(bytes(key.verify_key))
    return [resigned(wire, key, did) for wire in all_]


def accept_by_a_stranger(walks: Walks, intent: str, all_: list[bytes]) -> list[bytes]:
    key, place = SigningKey.generate(), of_kind(all_, "intent.accept")
    all_[place] = resigned(all_[place], key, did_of(bytes(key.verify_key)))
    return all_


def without(kind: str) -> Callable[[Walks, str, list[bytes]], list[bytes]]:
    def change(walks: Walks, intent: str, all_: list[bytes]) -> list[bytes]:
        return [wire for wire in all_ if _Unchecked(wire).kind != kind]

    return change


ATTACKS: dict[str, Callable[[Walks, str, list[bytes]], list[bytes]]] = {
    "the plan swapped for another that the agent signed": swapped_plan,
    "a plan proposed after the accept": later_plan,
    "a plan proposed just before the accept": earlier_plan_too,
    "the accept moved before what it accepts": accept_first,
    "the accept twice": accept_twice,
    "the accept of another intent": accept_of_another,
    "the accept signed by the agent": accept_by_the_agent,
    "the accept signed by a stranger": accept_by_a_stranger,
    "everything signed by a stranger": everything_by_a_stranger,
    "no draft": without("intent.draft"),
    "no compiled intent": without("intent.compiled"),
    "no plan": without("plan.proposed"),
    "no accept": without("intent.accept"),
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_a_journal_that_was_rewritten_runs_nothing_that_no_person_signed(
    walks: Walks, attack: Callable[[Walks, str, list[bytes]], list[bytes]]
) -> None:
    intent = walks.accept(WRITES)
    rewrite(walks.home.path, attack(walks, intent, wires(walks.home)))
    with Home.open(walks.home.path) as home:
        again = Walks(home, walks.workspace)
        with pytest.raises(MclError) as caught:
            again.run(intent)
        assert caught.value.code in ("VERIFICATION_FAILED", "NOT_ACCEPTED", "UNKNOWN_INTENT")
    assert not (walks.workspace / "effect.txt").exists()


def test_a_whole_journal_of_another_home_runs_nothing_here(walks: Walks, tmp_path: Path) -> None:
    with Home.open(tmp_path / "theirs") as theirs:
        intent = Walks(theirs, walks.workspace).accept(EVIL)
        foreign = wires(theirs)
    walks.accept(WRITES)
    rewrite(walks.home.path, [*wires(walks.home), *foreign])
    with Home.open(walks.home.path) as home:
        with pytest.raises(MclError) as caught:
            Walks(home, walks.workspace).run(intent)
        assert caught.value.code == "VERIFICATION_FAILED"
        assert "UNKNOWN_KEY" in str(caught.value.data)
    assert not (walks.workspace / "effect.txt").exists()


def test_what_was_cancelled_and_then_cut_off_is_found_by_what_this_machine_has_seen(walks: Walks) -> None:
    """An older journal is a whole one: nothing in it shows that more was there."""
    intent = walks.accept(WRITES)
    older = wires(walks.home)
    walks.tell(intent, "intent.cancel", ir.IntentCancelBody(walks.home.clock.now()))
    head = walks.home.journal.head()
    rewrite(walks.home.path, older)
    with Home.open(walks.home.path) as home:
        assert home.journal.view(intent).state == "accepted"
        found = home.journal.verify(heads=[head])
        assert {finding.code for finding in found.findings} == {"TRUNCATED", "JOURNAL_ROLLED_BACK"}
        with pytest.raises(MclError) as caught:
            Walks(home, walks.workspace).run(intent)
        assert (caught.value.code, caught.value.exit) == ("VERIFICATION_FAILED", 6)
        assert not (walks.workspace / "effect.txt").exists()


@pytest.mark.parametrize("what", ["seq", "id", "kind", "intent", "at", "self_hash", "leaf"])
def test_a_column_beside_the_signed_bytes_is_not_believed(walks: Walks, what: str) -> None:
    intent, other = walks.accept(WRITES), walks.accept(EVIL)
    connection = sqlite3.connect(walks.home.path / "mcl.db")
    for trigger in ("journal_keeps", "journal_stays"):
        connection.execute(f"DROP TRIGGER IF EXISTS {trigger}")
    value = {
        "seq": "seq + 1000",
        "id": "'1' || substr(id, 2)",
        "kind": "'record.x'",
        "intent": f"'{other}'",
        "at": "'2020-01-01T00:00:00.000Z'",
        "self_hash": "CASE substr(self_hash, 1, 1) WHEN '0' THEN '1' ELSE '0' END || substr(self_hash, 2)",
        "leaf": "zeroblob(32)",
    }[what]
    connection.execute(
        f"UPDATE journal SET {what} = {value} WHERE intent = ? AND kind = 'intent.accept'", (intent,)
    )
    connection.commit()
    connection.close()
    with Home.open(walks.home.path) as home:
        with pytest.raises(MclError):
            Walks(home, walks.workspace).run(intent)
        assert not home.journal.verify().ok
    assert not (walks.workspace / "effect.txt").exists()


def accepted_and_run(walks: Walks, intent: str) -> None:
    """In the eyes of a process that opens the home anew."""
    with Home.open(walks.home.path) as home:
        again = Walks(home, walks.workspace)
        view = home.journal.view(intent)
        body = ir.IntentAcceptBody(view.intent_hash, home.clock.now(), plan_hash=view.plan_hash)
        again.tell(intent, "intent.accept", body)
        again.run(intent)


@pytest.mark.parametrize("role", ["user", "agent"])
def test_keys_that_changed_places_sign_nothing(walks: Walks, role: str) -> None:
    """One key for both roles would let the agent accept for the person."""
    intent = walks.propose(WRITES)
    keys = walks.home.path / "keys"
    source = "agent" if role == "user" else "user"
    text = (keys / f"{source}.json").read_text().replace(f'"role": "{source}"', f'"role": "{role}"')
    (keys / f"{role}.json").write_text(text)
    with pytest.raises(MclError):
        accepted_and_run(walks, intent)
    assert not (walks.workspace / "effect.txt").exists()


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o602])
def test_a_key_that_others_may_read_or_write_is_not_used(walks: Walks, mode: int) -> None:
    (walks.home.path / "keys/user.json").chmod(mode)
    with pytest.raises(MclError) as caught:
        Home.open(walks.home.path)
    assert caught.value.code == "KEY_FILE_EXPOSED"


def test_a_list_of_trusted_keys_that_the_user_did_not_sign_trusts_nobody(
    walks: Walks, tmp_path: Path
) -> None:
    key = SigningKey.generate()
    did = did_of(bytes(key.verify_key))
    with Home.open(tmp_path / "theirs") as theirs:
        theirs.keyring.trust(did, "user", label="Eve")
        forged = (theirs.path / "keys/trusted.json").read_bytes()
    place = walks.home.path / "keys/trusted.json"
    place.write_bytes(forged)
    place.chmod(0o600)
    with pytest.raises(MclError) as caught:
        Home.open(walks.home.path).keyring.resolver(did)
    assert caught.value.code == "TRUST_FORGED"
