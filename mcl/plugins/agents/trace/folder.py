"""The `.orchestration` folder of a governed folder, opened so that no link leads out of it."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from executor.sandbox.files import explain, read_up_to, require_plain
from ir import DocumentError, parse_json

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
        fcntl.flock(descriptor, fcntl.LOCK_EX)
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


def write_map(folder: int, pairs: Iterable[tuple[str, str]]) -> None:
    """Add pairs of file and label to the map, and put it in place whole. Raises ScopeError."""
    known = {path: set(labels) for path, labels in read_map(folder).items()}
    for path, label in pairs:
        known.setdefault(path, set()).add(label)
    told = {"schema": SCHEMA, "files": {path: sorted(known[path]) for path in sorted(known)}}
    data = json.dumps(told, ensure_ascii=False, indent=2).encode() + b"\n"
    spare = f".{MAP}.{secrets.token_hex(8)}"
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(spare, flags, 0o644, dir_fd=folder), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.rename(spare, MAP, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as problem:
        with suppress(OSError):
            os.unlink(spare, dir_fd=folder)
        explain(problem, f"{NAME}/{MAP}")
