"""Whoever changes what is stored is found out, and told where."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ir
from executor import Head, Home, HomeError, JournalError, Report, seal_record
from executor.store.journal.merkle import Frontier, leaf_hash

if TYPE_CHECKING:
    from tests.executor.conftest import Story

COLUMNS = ("id", "kind", "intent", "at", "wire", "self_hash", "leaf")
CONTENT = ("SELECT * FROM journal ORDER BY seq", "SELECT * FROM tree", "SELECT * FROM heads ORDER BY size")


@contextmanager
def as_intruder(home: Home) -> Iterator[sqlite3.Connection]:
    """A way to the file that knows no rules."""
    connection = sqlite3.connect(home.path / "mcl.db", isolation_level=None)
    connection.executescript("DROP TRIGGER IF EXISTS journal_keeps; DROP TRIGGER IF EXISTS journal_stays;")
    yield connection
    connection.close()


def flipped(value: Any, place: int = 0) -> Any:
    data = bytearray(value.encode() if isinstance(value, str) else value)
    data[place % len(data)] ^= 1
    return data.decode() if isinstance(value, str) else bytes(data)


def codes(report: Report) -> set[tuple[str, int]]:
    return {(finding.code, finding.seq) for finding in report.findings}


@pytest.mark.parametrize("column", COLUMNS)
def test_a_flipped_byte_in_any_column_of_any_row_is_found_and_named(story: Story, column: str) -> None:
    home = story.whole().home
    with as_intruder(home) as file:
        for row in home.journal.rows():
            (value,) = file.execute(f"SELECT {column} FROM journal WHERE seq = ?", (row.seq,)).fetchone()
            for place in (0, len(value) // 2, len(value) - 1):
                changed = flipped(value, place)
                if (
                    column == "id"
                    and file.execute("SELECT 1 FROM journal WHERE id = ?", (changed,)).fetchone()
                ):
                    continue  # two ids of one millisecond may be neighbours, and no two rows have the same
                file.execute(f"UPDATE journal SET {column} = ? WHERE seq = ?", (changed, row.seq))
                report = home.journal.verify()
                assert not report.ok
                assert row.seq in {finding.seq for finding in report.findings}
                assert any(finding.message for finding in report.findings)
            file.execute(f"UPDATE journal SET {column} = ? WHERE seq = ?", (value, row.seq))
    assert home.journal.verify().ok


def test_every_single_byte_of_a_rows_bytes_counts(story: Story) -> None:
    home = story.accepted().home
    with as_intruder(home) as file:
        wire = home.journal.rows()[3].wire
        for place in range(len(wire)):
            file.execute("UPDATE journal SET wire = ? WHERE seq = 4", (flipped(wire, place),))
            assert 4 in {finding.seq for finding in home.journal.verify(intent=story.id).findings}
        file.execute("UPDATE journal SET wire = ? WHERE seq = 4", (wire,))
    assert home.journal.verify().ok


@pytest.mark.parametrize("column", ["size", "peaks", "root"])
def test_a_changed_tree_is_found_and_stops_further_appends(story: Story, column: str) -> None:
    home = story.accepted().home
    with as_intruder(home) as file:
        (value,) = file.execute(f"SELECT {column} FROM tree").fetchone()
        file.execute(f"UPDATE tree SET {column} = ?", (value + 1 if column == "size" else flipped(value),))
    report = home.journal.verify()
    assert codes(report) == {("TREE_MISMATCH", 0)}
    assert column in report.findings[0].message
    with pytest.raises(JournalError) as caught:
        story.tell("plan.step")
    assert caught.value.code == "JOURNAL_DAMAGED"
    assert "verify" in caught.value.fix


def test_a_saved_head_that_was_changed_is_found(story: Story) -> None:
    home = story.accepted().home
    home.journal.head()
    with as_intruder(home) as file:
        (wire,) = file.execute("SELECT wire FROM heads").fetchone()
        for place in range(0, len(wire), 7):
            file.execute("UPDATE heads SET wire = ?", (flipped(wire, place),))
            report = home.journal.verify()
            assert len(report.findings) == 1
            assert report.findings[0].code.startswith("HEAD_")
        file.execute("UPDATE heads SET wire = ?, size = 3", (wire,))
    assert ("HEAD_SIZE", 3) in codes(home.journal.verify())


def rebuild_tree(file: sqlite3.Connection) -> None:
    tree = Frontier.of(leaf for (leaf,) in file.execute("SELECT leaf FROM journal ORDER BY seq"))
    file.execute("UPDATE tree SET size = ?, peaks = ?, root = ?", (tree.size, tree.to_bytes(), tree.root()))


def test_truncation_is_found_by_the_head_that_the_end_of_the_walk_left(story: Story) -> None:
    home = story.whole().home
    with as_intruder(home) as file:
        file.execute("DELETE FROM journal WHERE seq > 7")
        rebuild_tree(file)
    assert codes(home.journal.verify()) == {("TRUNCATED", 7), ("JOURNAL_ROLLED_BACK", 8)}


def test_truncation_is_found_by_a_head_kept_elsewhere(story: Story) -> None:
    home = story.accepted().home
    kept = home.journal.head().to_json()
    with as_intruder(home) as file:
        file.executescript("DELETE FROM journal WHERE seq > 3; DELETE FROM heads;")
        rebuild_tree(file)
    shutil.rmtree(os.environ["MCL_STATE"] + "/heads")
    with Home.open(home.path) as again:
        assert again.journal.verify().ok  # nothing in the file itself can show it
        head = Head.from_json(kept, home.keyring.resolver)
        assert codes(again.journal.verify(heads=[head])) == {("TRUNCATED", 3)}


def test_a_past_rewritten_with_the_agents_own_key_is_found_by_a_kept_head(home: Home) -> None:
    first = home.journal.record("record.x", {"n": 1})
    kept = home.journal.head()
    other = seal_record("record.x", {"n": 2}, id=first.id, at=first.at, signer=home.keyring.agent)
    with as_intruder(home) as file:
        values = (other.wire, other.self_hash, leaf_hash(other.wire))
        file.execute("UPDATE journal SET wire = ?, self_hash = ?, leaf = ?", values)
        rebuild_tree(file)
    found = {("HEAD_MISMATCH", 1), ("JOURNAL_REWRITTEN", 1)}
    assert codes(home.journal.verify(heads=[kept])) == found


@pytest.mark.parametrize("only_intent", [True, False])
def test_a_row_taken_out_of_the_middle_is_found(story: Story, only_intent: bool) -> None:
    home = story.whole().home
    with as_intruder(home) as file:
        file.execute("DELETE FROM journal WHERE seq = 7")
    report = home.journal.verify(intent=story.id if only_intent else None)
    # Before a run nothing is counted again that this machine has seen: the row itself is missed.
    assert ("JOURNAL_REWRITTEN" if only_intent else "SEQUENCE") in {one.code for one in report.findings}


def test_a_row_moved_to_another_intent_is_missed_by_its_own(story: Story) -> None:
    home = story.accepted().home
    story.tell("intent.cancel")
    with as_intruder(home) as file:
        for elsewhere in (None, "01J00000000000000000000000"):
            file.execute("UPDATE journal SET intent = ? WHERE kind = 'intent.cancel'", (elsewhere,))
            assert codes(home.journal.verify(intent=story.id)) == {("COLUMN_MISMATCH", 5)}


@pytest.mark.parametrize("only_intent", [True, False])
def test_two_rows_that_changed_places_are_found(story: Story, only_intent: bool) -> None:
    home = story.whole().home
    with as_intruder(home) as file:
        file.executescript(
            "UPDATE journal SET seq = 99 WHERE seq = 4; UPDATE journal SET seq = 4 WHERE seq = 5;"
            "UPDATE journal SET seq = 5 WHERE seq = 99;"
        )
    report = home.journal.verify(intent=story.id if only_intent else None)
    assert ("ILLEGAL_EVENT", 4) in codes(report)


def insert(home: Home, envelope: ir.Envelope) -> None:
    """Put an envelope into the file past all checks, with a tree that fits."""
    with as_intruder(home) as file:
        values = (
            home.journal.size() + 1,
            envelope.id,
            envelope.kind,
            envelope.intent[-26:],
            envelope.at,
            envelope.wire,
            envelope.self_hash,
            leaf_hash(envelope.wire),
        )
        file.execute("INSERT INTO journal VALUES (?,?,?,?,?,?,?,?)", values)
        rebuild_tree(file)


def with_other_plan(story: Story) -> ir.Envelope:
    plan = ir.with_hash(story.plan.model_copy(update={"skill_ref": "matrix://skill/other@1.0.0", "hash": ""}))
    lying = plan.model_copy(update={"hash": story.plan.hash})
    return story.seal("plan.proposed", ir.PlanProposedBody(plan_json=ir.canonical_bytes(lying)))


def with_other_intent(story: Story) -> ir.Envelope:
    lying = story.intent.model_copy(update={"prose": "delete everything"})
    return story.seal("intent.compiled", ir.IntentCompiledBody(intent_json=ir.canonical_bytes(lying)))


def accepted_by_the_agent(story: Story) -> ir.Envelope:
    return story.seal("intent.accept", story.bodies()["intent.accept"], signer=story.home.keyring.agent)


@pytest.mark.parametrize(
    ("told", "forge", "code"),
    [
        (("intent.draft",), with_other_intent, "INTENT_HASH_MISMATCH"),
        (("intent.draft", "intent.compiled"), with_other_plan, "PLAN_HASH_MISMATCH"),
        (("intent.draft", "intent.compiled", "plan.proposed"), accepted_by_the_agent, "WRONG_ROLE"),
        (("intent.draft", "intent.compiled"), lambda story: story.make("plan.step"), "ILLEGAL_EVENT"),
    ],
)
def test_what_was_never_legal_is_found_however_well_it_was_put_in(
    story: Story, told: tuple[str, ...], forge: Callable[[Story], ir.Envelope], code: str
) -> None:
    story.tell(*told)
    insert(story.home, forge(story))
    place = len(told) + 1
    unbound = set() if code == "WRONG_ROLE" else {("CHAIN_BROKEN", place)}  # what cannot be read says nothing
    assert codes(story.home.journal.verify()) == {(code, place), *unbound}
    assert codes(story.home.journal.verify(intent=story.id)) == {(code, place), *unbound}
    with pytest.raises(ir.MclError) as caught:
        story.home.journal.view(story.id, fresh=True)
    assert caught.value.code == code


def test_one_broken_row_does_not_drown_the_report_in_what_follows_from_it(story: Story) -> None:
    home = story.whole().home
    with as_intruder(home) as file:
        wire = home.journal.rows()[0].wire
        file.execute("UPDATE journal SET wire = ? WHERE seq = 1", (flipped(wire, -1),))
    assert codes(home.journal.verify()) >= {("LEAF_MISMATCH", 1), ("BAD_SIGNATURE", 1)}
    assert {finding.seq for finding in home.journal.verify().findings} <= {0, 1, 10}


def test_signatures_dated_after_a_revocation_are_found(story: Story) -> None:
    story.tell("intent.draft")
    old = story.home.keyring.user
    late = story.seal("intent.cancel", story.bodies()["intent.cancel"], at="2999-01-01T00:00:00.000Z")
    story.home.keyring.new("user")
    story.home.keyring.revoke(old.did)
    insert(story.home, late)
    last = story.home.journal.size()
    assert codes(story.home.journal.verify()) == {("KEY_REVOKED", last), ("CHAIN_BROKEN", last)}


def content(path: Path) -> list[list[tuple[Any, ...]]]:
    connection = sqlite3.connect(path / "mcl.db")
    connection.text_factory = bytes
    try:
        return [connection.execute(query).fetchall() for query in CONTENT]
    finally:
        connection.close()


def test_a_flipped_byte_anywhere_in_the_file_is_found_or_changes_nothing(
    story: Story, tmp_path: Path
) -> None:
    path = story.whole().home.path
    story.home.close()
    true, data = content(path), (path / "mcl.db").read_bytes()
    found = unseen = 0
    for place in range(0, len(data), 311):
        copy = tmp_path / "copy"
        shutil.copytree(path, copy)
        (copy / "mcl.db").write_bytes(flipped(data, place))
        try:
            with Home.open(copy) as home:
                ok = home.journal.verify().ok
        except HomeError:
            ok = False
        if ok:
            unseen += 1
            assert content(copy) == true, f"byte {place}"
        found += not ok
        shutil.rmtree(copy)
    assert found > 20
