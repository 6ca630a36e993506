"""What nodes gave lies beside the rows, by its hash, and can be forgotten."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from hashlib import sha256

import pytest
from walks import Walks, probe, sequence, tool

import ir
from executor import JournalError
from executor.store.journal.bodies import IN_ROW
from executor.store.journal.rows import Row

SECRET = "the mill pond is two fathoms deep behind the third willow, counted from the weir"


def read_it(walks: Walks) -> str:
    """The id of a run that read a file."""
    walks.write("a.txt", SECRET)
    outcome = walks.go(sequence("n0", tool("n1", "fs/read", path="a.txt"), tool("n2", "time/now")))
    assert outcome.failure is None
    return outcome.intent_id


def end_of(walks: Walks, intent: str, node: str) -> Row:
    for row in walks.home.journal.rows(intent, kind="plan.step"):
        body = walks.home.journal.open(row.wire).body
        if isinstance(body, ir.PlanStepBody) and (body.node_id, body.status) == (node, "completed"):
            return row
    raise AssertionError(f"{node} did not complete")


def body_of(walks: Walks, row: Row) -> ir.PlanStepBody:
    body = walks.home.journal.open(row.wire).body
    assert isinstance(body, ir.PlanStepBody)
    return body


def test_a_row_names_what_its_node_gave_by_its_hash_and_is_read_with_it(walks: Walks) -> None:
    row = end_of(walks, read_it(walks), "n1")
    assert SECRET.encode() not in row.wire
    body = body_of(walks, row)
    assert SECRET in str(body.result)
    assert (body.sha256, body.size) == (sha256(bytes(body.result)).hexdigest(), len(body.result))
    assert walks.home.journal.verify().ok


def test_what_is_no_longer_than_its_hash_stands_in_its_row(walks: Walks) -> None:
    async def say(args: Mapping[str, object], bench: object) -> dict[str, object]:
        return {"text": "x" * int(str(args["text"]))}

    walks.tools = [probe("say", say)]
    for length, beside in ((IN_ROW - len('{"text":""}'), False), (IN_ROW, True)):
        outcome = walks.go(tool("n1", "test/say", text=str(length)))
        body = body_of(walks, end_of(walks, outcome.intent_id, "n1"))
        assert (bool(body.sha256), bool(body.size)) == (beside, beside)
        assert "xxxx" in str(body.result)


def test_a_body_that_is_forgotten_is_gone_from_the_disk_and_its_hash_stays(walks: Walks) -> None:
    intent = read_it(walks)
    row = end_of(walks, intent, "n1")
    said = walks.home.journal.forget(row.seq)
    assert said.kind == "record.journal.forgotten"
    assert walks.home.journal.open(said.wire).from_ == walks.home.keyring.user.did
    body = body_of(walks, walks.home.journal.numbered(row.seq))
    assert (body.result, len(body.sha256)) == (b"", 64)
    report = walks.home.journal.verify()
    assert report.ok
    assert (row.seq, f"what lay beside it was forgotten by a person (row {said.seq})") in report.notes
    assert walks.home.journal.verify(intent=intent).ok
    for file in walks.home.path.glob("mcl.db*"):
        assert SECRET.encode() not in file.read_bytes()
    with pytest.raises(JournalError) as caught:
        walks.home.journal.forget(row.seq)
    assert caught.value.code == "NO_BODY"


def test_what_a_run_may_go_on_with_is_not_forgotten(walks: Walks) -> None:
    walks.write("a.txt", SECRET)
    id = walks.accept(sequence("n0", tool("n1", "fs/read", path="a.txt"), tool("n2", "time/now")))
    other = read_it(walks)  # the same content
    view = walks.home.journal.view(id)
    assert view.plan is not None
    found = body_of(walks, end_of(walks, other, "n1"))
    walks.tell(id, "plan.step", ir.PlanStepBody(view.plan.id, "n1", "running"))
    walks.tell(
        id,
        "plan.step",
        ir.PlanStepBody(view.plan.id, "n1", "completed", sha256=found.sha256, size=found.size),
    )
    for row in (end_of(walks, id, "n1"), end_of(walks, other, "n1")):
        with pytest.raises(JournalError) as caught:
            walks.home.journal.forget(row.seq)
        assert (caught.value.code, caught.value.exit) == ("BODY_IN_USE", 4)
    assert SECRET in str(body_of(walks, end_of(walks, id, "n1")).result)


def test_rows_without_a_body_have_none_to_forget(walks: Walks) -> None:
    read_it(walks)
    for seq, code in ((1, "NO_BODY"), (9999, "ROW_UNKNOWN")):
        with pytest.raises(JournalError) as caught:
            walks.home.journal.forget(seq)
        assert caught.value.code == code


def test_what_was_forgotten_once_is_forgotten_for_all_rows_that_name_it(walks: Walks) -> None:
    first, second = read_it(walks), read_it(walks)
    walks.home.journal.forget(end_of(walks, first, "n1").seq)
    assert body_of(walks, end_of(walks, second, "n1")).result == b""
    assert walks.home.journal.verify(intent=second).ok
    assert walks.home.journal.verify().ok


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    ("sql", "code"),
    [("DELETE FROM bodies", "BODY_MISSING"), ("UPDATE bodies SET data = x'7b7d'", "BODY_CHANGED")],
)
def test_a_body_that_somebody_else_changed_or_took_is_found(
    walks: Walks, sql: str, code: str, whole: bool
) -> None:
    intent = read_it(walks)
    row = end_of(walks, intent, "n1")
    with sqlite3.connect(walks.home.path / "mcl.db") as connection:
        connection.execute(sql)
    report = walks.home.journal.verify(intent=None if whole else intent)
    assert (code, row.seq) in {(one.code, one.seq) for one in report.findings}
    assert body_of(walks, row).result == b""
