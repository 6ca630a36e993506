"""The `.orchestration` folder of a governed folder, opened so that no link leads out of it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from executor.sandbox.files import explain, require_plain

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
