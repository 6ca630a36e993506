"""Taking a file or an empty folder out of a workspace."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from executor.core.errors import ScopeError
from executor.sandbox.files import digest_of, explain, open_plain, out_of_scope, status_of
from executor.sandbox.paths import Workspace
from executor.sandbox.writing import alone


@dataclass(frozen=True, slots=True)
class Removed:
    """What is gone: its path, what it was, and of a file its ``size`` in bytes and ``sha256`` in hex."""

    path: str
    kind: Literal["file", "folder"]
    size: int = 0
    sha256: str = ""


def remove(
    workspace: Workspace, path: str, *, base: str | None = None, check: Callable[[], None] = lambda: None
) -> Removed:
    """Delete one file, or one folder that is empty; links and other things than these are not touched.

    Args:
        path: relative to the workspace.
        base: sha256 (hex) that the file must have; a folder has none.
        check: called while another writer is waited for; may stop that by raising.

    Raises:
        ScopeError: as ``Workspace.check``; NOT_FOUND, NOT_EMPTY, STALE_FILE, BUSY, READ_ONLY.
    """
    parts = workspace.split(path)
    if not parts:
        out_of_scope(path, "it is the workspace itself")
    if not parts[0]:  # a place elsewhere that may be read
        out_of_scope(path, "nothing is removed outside the workspace")
    workspace.check(path)  # a folder that is closed to tools is told as such, also when it is empty
    shown, parent = "/".join(parts), "/".join(parts[:-1])
    with workspace.open_folder(parent or ".") as folder, alone(folder, path, check):
        try:
            status = status_of(parts[-1], folder)
            if status is None:
                raise ScopeError(
                    "NOT_FOUND", f"{path!r} does not exist", place=path, fix="look with fs/list first"
                )
            if stat.S_ISDIR(status.st_mode):
                return _folder(parts[-1], folder, shown, base)
            return _file(parts[-1], folder, shown, base, check)
        except OSError as problem:
            explain(problem, path)


def _folder(name: str, parent: int, path: str, base: str | None) -> Removed:
    if base is not None:
        raise ScopeError(
            "STALE_FILE", f"{path!r} is a folder, which has no sha256", place=path, fix="leave base out"
        )
    try:
        os.rmdir(name, dir_fd=parent)
    except OSError as problem:
        if problem.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        raise ScopeError(
            "NOT_EMPTY",
            f"the folder {path!r} is not empty (it may hold files that tools are not shown)",
            place=path,
            fix="delete what is in it first, file by file",
        ) from problem
    os.fsync(parent)
    return Removed(path, "folder")


def _file(name: str, parent: int, path: str, base: str | None, check: Callable[[], None]) -> Removed:
    descriptor = open_plain(name, parent, path)
    try:
        size, digest = os.fstat(descriptor).st_size, digest_of(descriptor, check)
        there, opened = status_of(name, parent), os.fstat(descriptor)
    finally:
        os.close(descriptor)
    swapped = there is None or (there.st_dev, there.st_ino) != (opened.st_dev, opened.st_ino)
    if swapped or (base is not None and digest != base):
        raise ScopeError(
            "STALE_FILE",
            f"{path!r} changed {'while it was looked at' if swapped else 'since it was read'}",
            place=path,
            fix="read it again",
        )
    os.unlink(name, dir_fd=parent)
    os.fsync(parent)
    return Removed(path, "file", size, digest)
