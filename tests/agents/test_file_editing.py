"""The status of one intent changed in its file: what else stands there stays as it is."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcl.core.errors import WorkError
from mcl.plugins.agents.file.document import quoted, read_file
from mcl.plugins.agents.file.validation import validate
from mcl.plugins.agents.work.file import edit_status

EXAMPLE = Path(__file__).parent / "files" / "active_intents.yaml"
LATER = "2026-11-21T10:00:00.000Z"


def changed(before: bytes, after: bytes) -> list[str]:
    """The lines that differ, old ones with -, new ones with +."""
    lines = difflib.unified_diff(before.decode().split("\n"), after.decode().split("\n"), lineterm="", n=0)
    return [line for line in lines if not line.startswith(("---", "+++", "@@"))]


def one(*fields: str, before: str = "") -> bytes:
    """A file with one intent, of which `fields` are lines."""
    lines = [
        f"active_intents:{before}",
        "  - id: INT-001  # the first",
        "    name: a",
        *(f"    {field}" for field in fields),
        "    created_at: 2024-01-15T10:30:00Z",
        "    owned_scope: [src/**]",
        "    constraints: [x]",
        "    acceptance_criteria: [y]",
    ]
    return ("\n".join(lines) + "\n").encode()


def test_only_the_two_values_change_and_their_quotes_stay() -> None:
    before = EXAMPLE.read_bytes()

    after = edit_status(before, "INT-001", "DONE", LATER)

    assert changed(before, after) == [
        '-      status: "IN_PROGRESS"',
        '+      status: "DONE"',
        '-      updated_at: "2024-01-20T14:22:00Z"',
        f'+      updated_at: "{LATER}"',
    ]
    assert validate(read_file(after)).valid


def test_a_reason_is_written_when_work_is_blocked_and_becomes_null_when_it_goes_on() -> None:
    before = EXAMPLE.read_bytes()

    blocked = edit_status(before, "INT-001", "BLOCKED", LATER, 'waits for "keys": # 1')
    going = edit_status(before, "INT-004", "IN_PROGRESS", LATER)

    assert changed(before, blocked)[-1] == r'+      blocked_reason: "waits for \"keys\": # 1"'
    assert changed(before, going)[-1] == "+      blocked_reason: null"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (("status: DRAFT  # why", f"updated_at: {LATER}"), ["+    status: DONE  # why"]),
        (("status: 'DRAFT'", f"updated_at: {LATER}"), ["+    status: 'DONE'"]),
        (('"status" :   "DRAFT" # why', f"updated_at: {LATER}"), ['+    "status" :   "DONE" # why']),
        (("status: |-", "  DRAFT", f"updated_at: {LATER}"), ['+    status: "DONE"']),
        (("status:", "  DRAFT", f"updated_at: {LATER}"), ["+      DONE"]),
        (("? status", ": DRAFT", f"updated_at: {LATER}"), ["+    : DONE"]),
    ],
)
def test_a_status_is_found_however_it_is_written(fields: tuple[str, ...], expected: list[str]) -> None:
    before = one(*fields)

    after = edit_status(before, "INT-001", "DONE", LATER)

    assert [line for line in changed(before, after) if line.startswith("+")] == expected


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("blocked_reason:", ['+    blocked_reason: "no keys"']),
        ("blocked_reason:   # none yet", ['+    blocked_reason: "no keys"   # none yet']),
        ("blocked_reason: ~ # none", ['+    blocked_reason: "no keys" # none']),
        ("blocked_reason: 'old'", ['+    blocked_reason: "no keys"']),
        ("blocked_reason: >\n      an old\n\n      reason\n\n    # next", ['+    blocked_reason: "no keys"']),
        ("blocked_reason: an old\n      reason # x", ['+    blocked_reason: "no keys" # x']),
        ("owner: x", ['+    blocked_reason: "no keys"']),
    ],
)
def test_a_reason_takes_the_place_of_what_was_there(reason: str, expected: list[str]) -> None:
    before = one("status: BLOCKED # now", f"updated_at: {LATER}", reason)

    after = edit_status(before, "INT-001", "BLOCKED", LATER, "no keys")

    assert [line for line in changed(before, after) if line.startswith("+")] == expected
    assert [
        word for word in (b"# next", b"# none", b"# x", b"# now") if (word in before) > (word in after)
    ] == []


def test_a_reason_is_added_between_braces_too() -> None:
    before = b"active_intents: [{id: INT-001, name: a, status: BLOCKED, updated_at: 2024-01-15T10:30:00Z}]"

    after = edit_status(before, "INT-001", "BLOCKED", "2024-01-15T10:30:00Z", "x")

    assert after == before.replace(b"BLOCKED,", b'BLOCKED, blocked_reason: "x",')


def test_the_last_line_of_a_file_without_an_end_may_be_the_status() -> None:
    before = b"active_intents:\r\n- id: INT-001\r\n  updated_at: x\r\n  status: DRAFT"

    assert edit_status(before, "INT-001", "BLOCKED", "x", "y") == before.replace(
        b"DRAFT", b'BLOCKED\n  blocked_reason: "y"'
    )


def test_what_already_stands_there_is_not_written_again() -> None:
    before = EXAMPLE.read_bytes()

    assert edit_status(before, "INT-002", "DONE", "2024-01-12T16:45:00Z") == before


def test_a_file_that_is_not_valid_elsewhere_is_edited_all_the_same() -> None:
    before = EXAMPLE.read_bytes().replace(b'"DRAFT"', b'"draft"').replace(b"owner:", b"colour:")

    assert changed(before, edit_status(before, "INT-001", "DONE", LATER))[1] == '+      status: "DONE"'


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"active_intents: [", "FILE_INVALID"),
        (b"\xff", "FILE_INVALID"),
        (b"", "FILE_INVALID"),
        (b"active_intents: []", "NOT_FOUND"),
        (b"active_intents: [x, {id: INT-002, status: DRAFT}]", "NOT_FOUND"),
        (b"active_intents: [{id: INT-001}, {id: INT-001}]", "FILE_NOT_EDITED"),
        (b"active_intents: [{id: INT-001}]", "FILE_NOT_EDITED"),
        (one("status: [DRAFT]", "updated_at: x"), "FILE_NOT_EDITED"),
        (one("status: *s", "updated_at: x", before="\n  - &s DRAFT"), "FILE_NOT_EDITED"),
        (one("status: &s DRAFT", "updated_at: x", "owner: *s"), "FILE_NOT_EDITED"),
    ],
    ids=range(10),
)
def test_what_cannot_be_changed_alone_is_refused_and_nothing_is_lost(data: bytes, code: str) -> None:
    with pytest.raises(WorkError) as refused:
        edit_status(data, "INT-001", "DONE", LATER)

    assert refused.value.code == code
    assert refused.value.fix


OLD = "2024-01-15T10:30:00Z"
quotes = st.sampled_from(["{}", '"{}"', "'{}'", "{}  # é \U0001f600", '"{}" # x', "\n        {}"])
between = st.sampled_from(
    ["", "# é\U0001f600 status: DONE", "owner: \U0001f600", "references: ['status: DRAFT', é]"]
)
reasons = st.none() | st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=12)
statuses = st.sampled_from(["DRAFT", "IN_PROGRESS", "DONE", "BLOCKED"])
# How a file says that there is no reason, and where one would stand in it.
empties = st.sampled_from(
    [("blocked_reason:", "blocked_reason: {}"), ("blocked_reason: null # x", "blocked_reason: {} # x")]
)


@dataclass(frozen=True)
class Hole:
    """A file before and after its last intent got another status; {} is where its reason then
    stands, where it has a field for one."""

    before: str
    after: str
    has_reason: bool


@st.composite
def files(draw: st.DrawFn, status: str) -> Hole:
    """Up to three intents, their fields in any order, with comments, quotes and line breaks of all kinds."""
    before = ["active_intents:"]
    after = list(before)
    count = draw(st.integers(1, 3))
    has_reason = False
    for number in range(1, count + 1):
        how, when, last = draw(quotes), draw(quotes), number == count
        old = draw(statuses)
        fields = [
            ("name: é", "name: é"),
            (f"status: {how.format(old)}", f"status: {how.format(status if last else old)}"),
            (f"updated_at: {when.format(OLD)}", f"updated_at: {when.format(LATER if last else OLD)}"),
            (f"created_at: {OLD}", f"created_at: {OLD}"),
            (aside := draw(between), aside),
        ]
        if has_reason := draw(st.booleans()):
            empty, filled = draw(empties)
            fields.append((empty, filled if last else empty))
        for lines in (before, after):
            lines.append(f"  - id: INT-{number:03d}")
        for pair in draw(st.permutations(fields)):
            if pair[0]:
                before.append(f"    {pair[0]}")
                after.append(f"    {pair[1]}")
    mark, line_break = draw(st.sampled_from(["", "\ufeff"])), draw(st.sampled_from(["\n", "\r\n", "\r"]))
    end = draw(st.sampled_from(["", "\n", "\nmetadata: {a: b}\n"]))
    whole = [mark + ("\n".join(lines) + end).replace("\n", line_break) for lines in (before, after)]
    return Hole(*whole, has_reason=has_reason)


@given(st.data(), statuses, reasons)
def test_every_other_byte_stays_and_the_file_says_what_it_should(
    data: st.DataObject, status: str, reason: str | None
) -> None:
    hole = data.draw(files(status))
    before = hole.before.encode()
    was = read_file(before)

    after = edit_status(before, was.entries[-1].label, status, LATER, reason)

    now = read_file(after)
    wanted = replace(was.entries[-1], status=status, updated_at=LATER, blocked_reason=reason or "")
    assert now.entries == (*was.entries[:-1], wanted)
    text = after.decode()
    if hole.has_reason:
        none = " null #" if " {} #" in hole.after else ""  # as it was written
        expected = re.sub(r" \{\}( #)?", lambda _: none, hole.after) if reason is None else None
        assert text == (expected or hole.after.replace("{}", quoted(reason or "")))
    elif reason is None:
        assert text == hole.after
    else:
        assert (
            re.sub(r"[\r\n]+ +blocked_reason: " + re.escape(quoted(reason)), "", text, count=1) == hole.after
        )
    assert edit_status(after, was.entries[-1].label, status, LATER, reason) == after
