"""A line of the trace: one JSON object, bound to the line before it by its hash."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final

from executor.core.hashing import json_bytes
from ir import DocumentError, is_instant, is_ulid, parse_json
from mcl.plugins.agents.trace.changed_lines import Author, Change, Ranges

NO_LINE: Final = "0" * 64  # what the first line is bound to
LONGEST: Final = 1 << 14  # bytes of a line

_NAME, _PATH = 200, 2048  # characters
_NAMES: Final = frozenset(
    (
        *("id", "time", "intent", "intent_id", "tool", "file", "lines"),
        *("before", "after", "author", "agent", "prev", "hash"),
    )
)
_HASH: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class TraceLine:
    """A change, as the trace keeps it. id: a ULID. time: when it was told of. prev: the hash of the line
    before, NO_LINE for the first. hash: sha256 (hex) over the canonical JSON of all that stands before it."""

    id: str
    time: str
    change: Change
    prev: str
    hash: str

    @classmethod
    def of(cls, change: Change, *, id: str, time: str, prev: str) -> TraceLine:
        """The line of a change behind another line."""
        change = _within_bounds(change)
        body = _body(id, time, change, prev)
        return cls(id, time, change, prev, sha256(json_bytes(body)).hexdigest())

    def to_json(self) -> dict[str, object]:
        """As the file has it."""
        return {**_body(self.id, self.time, self.change, self.prev), "hash": self.hash}

    @property
    def wire(self) -> bytes:
        """The line, with its end."""
        return json_bytes(self.to_json()) + b"\n"


def read_line(data: bytes) -> TraceLine | None:
    """Read a line (with its end or without); None for what is none, or what its hash does not fit."""
    if len(data) > LONGEST:
        return None
    try:
        told = parse_json(data.decode(), max_nesting=4)
    except (DocumentError, UnicodeDecodeError):
        return None
    if not isinstance(told, dict) or told.keys() - {"recovered"} != _NAMES:
        return None
    return line_of(told)


def line_of(told: Mapping[str, Any]) -> TraceLine | None:
    """The same of an object that has been parsed; None for what is no line."""
    lines = _ranges(told["lines"])
    texts = ("id", "time", "intent", "intent_id", "tool", "file", "author", "agent", "prev", "hash")
    if lines is None or not all(isinstance(told[name], str) for name in texts):
        return None
    if not is_ulid(told["id"]) or not is_instant(told["time"]) or told["author"] not in ("agent", "person"):
        return None
    if told.get("recovered", True) is not True:
        return None
    for name in ("before", "after"):
        if told[name] is not None and not (isinstance(told[name], str) and _HASH.fullmatch(told[name])):
            return None
    author: Author = "agent" if told["author"] == "agent" else "person"
    change = Change(
        told["intent"],
        told["intent_id"],
        told["tool"],
        told["file"],
        told["before"],
        told["after"],
        lines,
        author,
        told["agent"],
        "recovered" in told,
    )
    line = TraceLine.of(change, id=told["id"], time=told["time"], prev=told["prev"])
    return line if line.hash == told["hash"] else None


def hash_of(data: bytes) -> str:
    """What the next line is bound to: the hash of this line (without its end), or of the bytes where it is
    damaged. Of no bytes NO_LINE."""
    if not data:
        return NO_LINE
    known = read_line(data)
    return known.hash if known is not None else sha256(data).hexdigest()


def _within_bounds(change: Change) -> Change:
    """The same in texts that JSON can hold, none of them endless."""
    return replace(
        change,
        label=_text(change.label, _NAME),
        tool=_text(change.tool, _NAME),
        file=_text(change.file, _PATH),
        agent=_text(change.agent, _NAME),
    )


def _text(text: str, longest: int) -> str:
    return text.encode(errors="backslashreplace").decode()[:longest]


def _ranges(told: object) -> Ranges | None:
    if not isinstance(told, list):
        return None
    found: list[tuple[int, int]] = []
    for one in told:
        if not isinstance(one, list) or len(one) != 2 or not all(type(number) is int for number in one):
            return None
        found.append((one[0], one[1]))
    return tuple(found)


def _body(id: str, time: str, change: Change, prev: str) -> dict[str, object]:
    return {
        "id": id,
        "time": time,
        "intent": change.label,
        "intent_id": change.intent_id,
        "tool": change.tool,
        "file": change.file,
        "lines": [list(one) for one in change.lines],
        "before": change.before,
        "after": change.after,
        "author": change.author,
        "agent": change.agent,
        **({"recovered": True} if change.recovered else {}),
        "prev": prev,
    }
