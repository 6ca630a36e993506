"""A line of the trace: one JSON object, bound to the line before it by its hash."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from executor.core.files import take, whole_file
from executor.core.hashing import json_bytes
from executor.sandbox.files import explain, read_up_to, require_plain
from ir import DocumentError, is_instant, is_ulid, parse_json

# ---- Which lines of a file differ from what it was: a bounded shortest edit after Myers (1986).

# ---- One change of one file, as whoever saw it tells of it.

Author: TypeAlias = Literal["agent", "person"]
Ranges: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that is not what it was.

    label: of the intent that covers it (INT-001), "" where none does. intent_id: its ULID or "". tool: what
    changed it, as its host or mcl calls it. file: relative to the governed folder, with `/`. before, after:
    sha256 (hex) of the content, None where there is no file. lines: ranges of the new file that differ, first
    and last line from 1. author: who changed it. agent: the name of the agent, "" of a person. recovered: the
    process that made the call was killed, nobody saw the change itself, and `after` is what was found later.
    """

    label: str
    intent_id: str
    tool: str
    file: str
    before: str | None
    after: str | None
    lines: Ranges = ()
    author: Author = "agent"
    agent: str = ""
    recovered: bool = False


MOST_RANGES: Final = 64  # what lies closest together is told as one range beyond that
_MOST_LINES: Final = 20_000  # of both contents, without what is the same at their ends; else one range
_MOST_EDITS: Final = 256  # lines taken out and put in; a rewritten file is one range


def changed_lines(before: bytes, after: bytes) -> Ranges:
    """The ranges of lines of ``after`` that differ, first and last line from 1, in order.

    Where lines were only taken out, the line that now stands there counts (the last, where it was the end).
    An empty ``after`` has no lines. The work is bounded: of contents that differ too much one range is told.
    """
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if old == new or not new:
        return ()
    start = _same(old, new)
    end = _same(old[start:][::-1], new[start:][::-1])
    one, other = old[start : len(old) - end], new[start : len(new) - end]
    found = _differing(one, other)
    return _joined(
        [
            (min(start + first + 1, len(new)), min(start + max(last, first + 1), len(new)))
            for first, last in found
        ]
    )


def _same(one: list[bytes], other: list[bytes]) -> int:
    """How many lines at the beginning are the same."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _differing(old: list[bytes], new: list[bytes]) -> list[tuple[int, int]]:
    """Ranges [first, last) of ``new`` that differ; an empty one where lines are gone."""
    if not old or not new or len(old) + len(new) > _MOST_LINES:
        return [(0, len(new))]
    path = _path(old, new)
    if path is None:
        return [(0, len(new))]
    found: list[tuple[int, int]] = []
    for place, grows in path:  # every edit is at a place of the new file, and takes one line there or none
        last = place + grows
        if found and place <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((place, last))
    return found


def _path(old: list[bytes], new: list[bytes]) -> list[tuple[int, int]] | None:
    """The edits of a shortest edit, in order: place in ``new``, and 1 for a line put in, 0 for one taken out.
    None where there are more than _MOST_EDITS."""
    furthest, levels = {1: 0}, list[dict[int, int]]()
    for edits in range(_MOST_EDITS + 1):
        levels.append(dict(furthest))
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (
                diagonal != edits and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1)
            )
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            y = x - diagonal
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(old) and y >= len(new):
                return _walked_back(levels, len(old), len(new))
    return None


def _walked_back(levels: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for edits in range(len(levels) - 1, 0, -1):
        furthest, diagonal = levels[edits], x - y
        down = diagonal == -edits or (
            diagonal != edits and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1)
        )
        came = diagonal + 1 if down else diagonal - 1
        x = furthest[came]
        y = x - came
        found.append((y, 1 if down else 0))
    return found[::-1]


def _joined(ranges: list[tuple[int, int]]) -> Ranges:
    """The same in order, without overlaps and neighbours, at most MOST_RANGES."""
    found: list[tuple[int, int]] = []
    for first, last in ranges:
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    if len(found) > MOST_RANGES:
        gaps = sorted(range(1, len(found)), key=lambda at: found[at][0] - found[at - 1][1], reverse=True)
        kept = set(gaps[: MOST_RANGES - 1])
        joined = [found[0]]
        for place in range(1, len(found)):
            if place in kept:
                joined.append(found[place])
            else:
                joined[-1] = (joined[-1][0], found[place][1])
        found = joined
    return tuple(found)


NO_LINE: Final = "0" * 64  # what the first line is bound to
LONGEST: Final = 1 << 14  # bytes of a line

_NAME, _PATH = 200, 2048  # characters
_HASH: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class TraceLine:
    """A change, as the trace keeps it. id: a ULID. time: when it was told of. prev: the hash of the line
    before, NO_LINE for the first. hash: sha256 (hex) over the canonical JSON of all that stands before it."""

    id: str
    time: str
    change: FileChange
    prev: str
    hash: str

    @classmethod
    def of(cls, change: FileChange, *, id: str, time: str, prev: str) -> TraceLine:
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
    return line_of(told) if isinstance(told, dict) else None


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_hash(value: object) -> bool:
    return value is None or (isinstance(value, str) and _HASH.fullmatch(value) is not None)


def _are_ranges(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, list) and len(one) == 2 and all(type(number) is int for number in one)
        for one in value
    )


# What a line says, and what each of it must be.
_SHAPE: Final[Mapping[str, Callable[[Any], bool]]] = {
    "id": lambda value: _is_text(value) and is_ulid(value),
    "time": lambda value: _is_text(value) and is_instant(value),
    **dict.fromkeys(("intent", "intent_id", "tool", "file"), _is_text),
    "lines": _are_ranges,
    **dict.fromkeys(("before", "after"), _is_hash),
    "author": lambda value: value in ("agent", "person"),
    **dict.fromkeys(("agent", "prev", "hash"), _is_text),
}


def line_of(told: Mapping[str, Any]) -> TraceLine | None:
    """The same of an object that has been parsed; None for what is no line."""
    if told.keys() - {"recovered"} != _SHAPE.keys() or told.get("recovered", True) is not True:
        return None
    if not all(fits(told[name]) for name, fits in _SHAPE.items()):
        return None
    change = FileChange(
        told["intent"],
        told["intent_id"],
        told["tool"],
        told["file"],
        told["before"],
        told["after"],
        lines=tuple((first, last) for first, last in told["lines"]),
        author=told["author"],
        agent=told["agent"],
        recovered="recovered" in told,
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


def _within_bounds(change: FileChange) -> FileChange:
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


def _body(id: str, time: str, change: FileChange, prev: str) -> dict[str, object]:
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


# ---- The `.orchestration` folder of a governed folder, opened so that no link leads out of it.

NAME: Final = ".orchestration"
TRACE: Final = "agent_trace.jsonl"
MAP: Final = "intent_map.json"

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@contextmanager
def opened_folder(root: Path, *, make: bool = False) -> Iterator[int]:
    """The descriptor of the folder. make: where it is missing.

    Raises:
        ScopeError: NOT_FOUND; OUT_OF_SCOPE where a link lies there; READ_ONLY, UNREADABLE.
    """
    try:
        above = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(NAME, dir_fd=above)
            folder = os.open(NAME, _FOLDER, dir_fd=above)
        finally:
            os.close(above)
    except OSError as problem:
        explain(problem, NAME)
    try:
        yield folder
    finally:
        os.close(folder)


def open_file(folder: int, name: str, flags: int) -> int:
    """Open a regular file of the folder, and nothing else. Raises ScopeError, FileNotFoundError."""
    path = f"{NAME}/{name}"
    try:
        descriptor = os.open(name, flags | _FILE, 0o644, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError as problem:
        explain(problem, path)
    try:
        require_plain(os.fstat(descriptor), path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def opened_trace(folder: int) -> Iterator[int]:
    """The trace, to be read and added to by this process alone while this lasts; made where it is missing."""
    descriptor = open_file(folder, TRACE, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    try:
        take(descriptor)
        yield descriptor
    finally:
        os.close(descriptor)


# ---- The intent map of a governed folder: by file, the intents under which it was changed.

SCHEMA: Final = "mcl.intent_map.v1"
_MOST: Final = 16 << 20  # bytes


def read_map(folder: int) -> dict[str, tuple[str, ...]]:
    """By file, the labels; empty where there is no map or it cannot be read. folder: of `opened_folder`.

    Raises:
        ScopeError: what lies there is no plain file.
    """
    try:
        file = open_file(folder, MAP, os.O_RDONLY)
    except FileNotFoundError:
        return {}
    try:
        data = read_up_to(file, _MOST + 1)
    finally:
        os.close(file)
    try:
        told = parse_json(data.decode(), max_nesting=4)
    except (DocumentError, UnicodeDecodeError):
        return {}
    files = told.get("files") if isinstance(told, dict) else None
    if not isinstance(files, Mapping):
        return {}
    return {
        path: tuple(sorted({label for label in labels if isinstance(label, str)}))
        for path, labels in files.items()
        if isinstance(labels, list)
    }


def write_map(folder: int, known: Mapping[str, Iterable[str]], pairs: Iterable[tuple[str, str]]) -> None:
    """Put a map in place whole: what is known by file, and pairs of file and label. Raises ScopeError."""
    files = {path: set(labels) for path, labels in known.items()}
    for path, label in pairs:
        files.setdefault(path, set()).add(label)
    told = {"schema": SCHEMA, "files": {path: sorted(files[path]) for path in sorted(files)}}
    data = json.dumps(told, ensure_ascii=False, indent=2).encode() + b"\n"
    try:
        with whole_file(MAP, folder=folder, mode=0o644) as file:
            file.write(data)
    except OSError as problem:
        explain(problem, f"{NAME}/{MAP}")
