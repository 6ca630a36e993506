"""What the journal says of before-images: which call found what, left what, and what was put back since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from executor.store.journal.journal import Journal
from executor.store.journal.record import Record
from executor.walker.undo.looker import ABSENT, After, Before, State, from_body
from ir.results import JsonResult

KEPT: Final = "record.undo.kept"
LEFT: Final = "record.undo.left"
BEGUN: Final = "record.undo.begun"
DONE: Final = "record.undo.done"
STOPPED: Final = "record.undo.stopped"
REFUSED: Final = "record.undo.refused"
PRUNED: Final = "record.undo.pruned"


@dataclass(slots=True)
class KeptCall:
    """One call of a tool that may have changed something.

    id: of the record made before it ran. root: the workspace. before: what it found, by path. after: what
    differed when it ended, None where nobody saw that. made: folders that it made. listings: of folders that
    it could add to, the kept list of names. uncovered: by path ("" = the call itself), why it is not undone.
    """

    id: str
    node: str
    tool: str
    root: str
    at: str
    before: dict[str, State]
    missing: tuple[str, ...] = ()
    listings: dict[str, str] = field(default_factory=dict)
    after: dict[str, State] | None = None
    made: tuple[str, ...] = ()
    uncovered: dict[str, str] = field(default_factory=dict)

    @property
    def changed(self) -> dict[str, tuple[State, State | None]]:
        """By path, what the call found and left; None where nobody saw what it left."""
        if self.after is None:
            return {path: (was, None) for path, was in self.before.items()}
        return {path: (self.before.get(path, ABSENT), now) for path, now in self.after.items()}


@dataclass(frozen=True, slots=True)
class NotUndone(JsonResult):
    """An effect that stays. path: "" where it is about the call as a whole."""

    node: str
    tool: str
    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Undone:
    """An undo that was begun.

    ended: done, stopped (everything as it was before it) or "" (it was killed). leave: paths left alone.
    """

    id: str
    at: str
    body: Mapping[str, Any]
    ended: str = ""
    leave: tuple[str, ...] = ()


@dataclass(slots=True)
class UndoHistory:
    """The calls and undos of one intent, oldest first."""

    calls: list[KeptCall] = field(default_factory=list)
    undos: list[Undone] = field(default_factory=list)

    @property
    def interrupted(self) -> Undone | None:
        """The undo that was killed, if there is one."""
        return next((one for one in self.undos if not one.ended), None)

    def undone(self) -> set[tuple[str, str]]:
        """KeptCall and path of what was put back."""
        return {
            (call, entry["path"])
            for one in self.undos
            if one.ended == "done"
            for entry in (*one.body["files"], *one.body["folders"])
            if entry["path"] not in one.leave
            for call in entry["calls"]
        }


def read_history(journal: Journal, intent: str) -> UndoHistory:
    """Read the records of an intent. Raises JournalError where one cannot be believed."""
    rows = [row for row in journal.rows(intent) if row.kind.startswith("record.undo.")]
    messages = (journal.open(row.wire) for row in rows)
    return history_of(message for message in messages if isinstance(message, Record))


def history_of(records: Iterable[Record]) -> UndoHistory:
    """The same from the records. An attempt that nobody saw end counts only where it was the last."""
    calls: dict[str, KeptCall] = {}
    undos: dict[str, Undone] = {}
    for record in records:
        body = record.body
        if record.kind == KEPT:
            for call in [one for one in calls.values() if one.node == body["node"] and one.after is None]:
                del calls[call.id]  # what it found is in this record too
            calls[record.id] = call_of(record)
        elif record.kind == LEFT and body["of"] in calls:
            call = calls[body["of"]]
            call.after = dict(from_body(entry) for entry in body["files"])
            call.made = tuple(body["folders"])
            call.uncovered |= {entry["path"]: entry["why"] for entry in body["uncovered"]}
        elif record.kind == BEGUN:
            undos[record.id] = Undone(record.id, record.at, body)
        elif record.kind in (DONE, STOPPED):
            begun = undos[body["of"]]
            ended, leave = record.kind.rpartition(".")[2], tuple(body.get("leave", ()))
            undos[begun.id] = Undone(begun.id, begun.at, begun.body, ended, leave)
    return UndoHistory(list(calls.values()), list(undos.values()))


def call_of(record: Record) -> KeptCall:
    """A call as the record before it tells of it."""
    body = record.body
    return KeptCall(
        id=record.id,
        node=body["node"],
        tool=body["tool"],
        root=body["root"],
        at=record.at,
        before=dict(from_body(entry) for entry in body["files"]),
        missing=tuple(body["folders"]),
        listings=dict(body["listings"]),
        uncovered={entry["path"]: entry["why"] for entry in body["uncovered"]},
    )


def kept_body(before: Before, *, node: str, tool: str, root: str) -> dict[str, Any]:
    """The body of the record before a call. root: the workspace."""
    return {
        "node": node,
        "tool": tool,
        "root": root,
        "files": [state.to_body(path) for path, state in before.files.items()],
        "folders": list(before.missing),
        "listings": before.listings,
        "uncovered": _marks(before.uncovered),
    }


def left_body(left: After, *, of: str, node: str) -> dict[str, Any]:
    """The body of the record after a call. of: id of the one before it."""
    return {
        "of": of,
        "node": node,
        "files": [state.to_body(path) for path, state in left.files.items()],
        "folders": list(left.made),
        "uncovered": _marks(left.uncovered),
    }


def before_of(call: KeptCall) -> Before:
    """What a call found, as it was looked at then."""
    return Before(dict(call.before), call.missing, dict(call.listings), dict(call.uncovered))


def _marks(uncovered: Mapping[str, str]) -> list[dict[str, str]]:
    """What is not covered, as a record keeps it."""
    return [{"path": path, "why": why} for path, why in uncovered.items()]


def images_of(call: KeptCall) -> set[str]:
    """The sha256 (hex) of every content that is kept for a call."""
    return {state.sha256 for state in call.before.values() if state.kind == "file"} | set(
        call.listings.values()
    )
