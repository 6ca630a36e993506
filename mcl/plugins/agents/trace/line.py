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
from typing import Any, Final

from executor.core.files import take, whole_file
from executor.core.hashing import json_bytes
from executor.sandbox.files import explain, read_up_to, require_plain
from ir import DocumentError, is_instant, is_ulid, parse_json
from mcl.plugins.agents.trace.changed_lines import FileChange

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
