"""Files of a workspace, opened so that nothing outside it can be reached.

Every path is walked from the root's directory descriptor, one component at a time, and no link is followed:
there is no moment between check and use in which a link could be swapped in. POSIX only.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NoReturn

from executor.errors import ScopeError
from executor.sandbox.protected import is_protected

MAX_PATH = 4096  # bytes, as PATH_MAX
MAX_COMPONENT = 255  # bytes, as NAME_MAX
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK)

Kind = Literal["file", "folder", "link", "other"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing found in a folder. ``path`` is relative to the workspace, ``size`` in bytes (files only)."""

    path: str
    kind: Kind
    size: int


@dataclass(frozen=True, slots=True)
class Written:
    """What a write left: ``sha256`` in hex, ``size`` in bytes, and whether the file is new."""

    path: str
    sha256: str
    size: int
    created: bool


class Workspace:
    """A folder that tools may work in.

    Args:
        root: the folder; it must exist.
        forbidden: folders inside it that stay closed (our own home, above all).

    Raises:
        ScopeError: the root is no folder, or lies inside a forbidden folder.
    """

    def __init__(self, root: Path, *, forbidden: Sequence[Path] = ()) -> None:
        self.root = root.resolve()
        for closed in forbidden:
            if self.root.is_relative_to(closed.resolve()):
                raise ScopeError(
                    "OUT_OF_SCOPE",
                    f"{self.root} lies inside {closed}, which is closed to tools",
                    place=str(root),
                    fix="choose a workspace outside the MCL home",
                )
        try:
            self._fd = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as problem:
            _refuse(problem, str(root))
        self._closed = frozenset(
            (status.st_dev, status.st_ino)
            for status in (place.stat() for place in forbidden if place.exists())
        )

    def close(self) -> None:
        """Give the root's descriptor back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def split(self, path: str) -> tuple[str, ...]:
        """Split a relative path into its components by its text alone.

        Raises:
            ScopeError: OUT_OF_SCOPE (absolute, ``..``, control characters, over-long), PROTECTED_PATH.
        """
        if len(path.encode("utf-8", "replace")) > MAX_PATH:
            _out(path[:60] + "…", "the path is longer than 4,096 bytes")
        if any(ord(char) < 32 or ord(char) == 127 or 0xD800 <= ord(char) <= 0xDFFF for char in path):
            _out(path, "the path holds a control character or is no valid text")
        if path.startswith(("/", "~/")) or path == "~":
            _out(path, "the path is not relative to the workspace")
        parts = tuple(part for part in path.split("/") if part not in ("", "."))
        if ".." in parts:
            _out(path, "the path goes up with '..'")
        if any(len(part.encode()) > MAX_COMPONENT for part in parts):
            _out(path[:60] + "…", "a component of the path is longer than 255 bytes")
        if is_protected(parts):
            raise ScopeError(
                "PROTECTED_PATH",
                f"{path!r} is a protected path (secrets, keys, .git, …)",
                place=path,
                fix="leave secret files alone; no grant opens them",
            )
        return parts

    def check(self, path: str) -> os.stat_result | None:
        """Judge a path as it stands: its text, then every component that exists. Opens no file.

        Returns:
            The status of what is there, or None where nothing is.

        Raises:
            ScopeError: OUT_OF_SCOPE (also links, hard links, devices, FIFOs), PROTECTED_PATH.
        """
        parts = self.split(path)
        if not parts:
            return os.fstat(self._fd)
        try:
            with self._folder(parts[:-1], path) as folder:
                status = os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as problem:
            _refuse(problem, path)
        if not stat.S_ISDIR(status.st_mode):
            _plain_file(status, path)
        elif (status.st_dev, status.st_ino) in self._closed:
            _out(path, "the folder is closed to tools")
        return status

    @contextmanager
    def open_file(self, path: str) -> Iterator[int]:
        """Open a regular file for reading and give its descriptor.

        Raises:
            ScopeError: as ``check``; NOT_FOUND, NOT_A_FILE, UNREADABLE.
        """
        parts = self.split(path)
        if not parts:
            raise ScopeError("NOT_A_FILE", f"{path!r} is a folder", place=path, fix="name a file in it")
        try:
            with self._folder(parts[:-1], path) as folder:
                descriptor = _open_plain(parts[-1], folder, path)
        except OSError as problem:
            _refuse(problem, path)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def open_folder(self, path: str) -> Iterator[int]:
        """Open a folder and give its descriptor.

        Raises:
            ScopeError: as ``check``; NOT_FOUND, NOT_A_FOLDER.
        """
        parts = self.split(path)
        with ExitStack() as opened:
            try:
                descriptor = opened.enter_context(self._folder(parts, path))
            except OSError as problem:
                _refuse(problem, path)
            yield descriptor

    def read(self, path: str, limit: int) -> tuple[bytes, int]:
        """Read at most ``limit`` bytes of a file; give them and the file's whole size in bytes."""
        with self.open_file(path) as descriptor:
            return _read(descriptor, limit), os.fstat(descriptor).st_size

    def digest(self, path: str) -> tuple[str, int]:
        """sha256 (hex) and size in bytes of a file's content."""
        with self.open_file(path) as descriptor:
            return _digest(descriptor), os.fstat(descriptor).st_size

    def walk(self, path: str, *, check: Callable[[], None], recursive: bool = True) -> Iterator[Entry]:
        """Go through a folder in the order of its names, depth first, without following links.

        Protected names and closed folders are left out. ``check`` is called for each folder, so that a caller
        can stop a long walk by raising.

        Raises:
            ScopeError: as ``check``; NOT_FOUND, NOT_A_FOLDER.
        """
        parts = self.split(path)
        try:
            with self._folder(parts, path) as folder:
                yield from self._walk(folder, parts, check, recursive)
        except OSError as problem:
            _refuse(problem, path)

    def write(self, path: str, data: bytes, *, replace: bool, base: str | None = None) -> Written:
        """Put a whole file in place at once: temporary file beside it, fsync, rename.

        Folders that are missing on the way are made. A write that changes nothing succeeds and touches
        nothing.

        Args:
            path: relative to the workspace.
            data: the whole content.
            replace: may an existing file be replaced?
            base: sha256 (hex) that the existing file must have; it may then be replaced.

        Raises:
            ScopeError: as ``check``; EXISTS, STALE_FILE, NOT_A_FILE, DISK_FULL, READ_ONLY.
        """
        parts = self.split(path)
        if not parts:
            raise ScopeError("NOT_A_FILE", f"{path!r} is a folder", place=path, fix="name a file in it")
        try:
            with self._folder(parts[:-1], path, create=True) as folder:
                created = self._put(folder, parts[-1], data, path, replace=replace, base=base)
        except OSError as problem:
            _refuse(problem, path)
        return Written("/".join(parts), hashlib.sha256(data).hexdigest(), len(data), created)

    def _put(
        self, folder: int, name: str, data: bytes, path: str, *, replace: bool, base: str | None
    ) -> bool:
        there = _status(name, folder)
        if there is not None:
            descriptor = _open_plain(name, folder, path)
            try:
                present = _digest(descriptor)
            finally:
                os.close(descriptor)
            if present == hashlib.sha256(data).hexdigest():
                return False
            if base is not None:
                if present != base:
                    raise ScopeError(
                        "STALE_FILE", f"{path!r} changed since it was read", place=path, fix="read it again"
                    )
            elif not replace:
                _exists(path)
        elif base is not None:
            raise ScopeError(
                "STALE_FILE", f"{path!r} is gone since it was read", place=path, fix="read the folder again"
            )
        spare = f".mcl-{secrets.token_hex(8)}.tmp"
        mode = stat.S_IMODE(there.st_mode) & 0o777 if there is not None else 0o666
        descriptor = os.open(
            spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=folder
        )
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if there is not None:
                os.rename(spare, name, src_dir_fd=folder, dst_dir_fd=folder)
            else:
                _place_new(spare, name, folder, path)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(spare, dir_fd=folder)
            raise
        os.fsync(folder)
        return there is None

    def _walk(
        self, folder: int, parts: tuple[str, ...], check: Callable[[], None], recursive: bool
    ) -> Iterator[Entry]:
        check()
        with os.scandir(folder) as found:
            names = sorted(entry.name for entry in found)
        for name in names:
            below = (*parts, name)
            status = _status(name, folder)
            if status is None or is_protected((name,)) or not name.isprintable():
                continue
            path = "/".join(below)
            if stat.S_ISDIR(status.st_mode):
                if (status.st_dev, status.st_ino) in self._closed:
                    continue
                yield Entry(path, "folder", 0)
                if recursive:
                    try:
                        descriptor = os.open(name, _FOLDER, dir_fd=folder)
                    except OSError:  # unreadable, or swapped for a link meanwhile: not ours to enter
                        continue
                    try:
                        yield from self._walk(descriptor, below, check, recursive)
                    finally:
                        os.close(descriptor)
            elif stat.S_ISREG(status.st_mode):
                yield Entry(path, "file", status.st_size)
            else:
                yield Entry(path, "link" if stat.S_ISLNK(status.st_mode) else "other", 0)

    @contextmanager
    def _folder(self, parts: tuple[str, ...], path: str, *, create: bool = False) -> Iterator[int]:
        """The descriptor of a folder below the root, reached component by component."""
        here = os.dup(self._fd)
        try:
            for part in parts:
                if create:
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=here)
                try:
                    below = os.open(part, _FOLDER, dir_fd=here)
                except NotADirectoryError:  # what Linux says of a link that is to be a folder
                    if stat.S_ISLNK(os.stat(part, dir_fd=here, follow_symlinks=False).st_mode):
                        _out(path, "there is a symbolic link on its way")
                    raise
                os.close(here)
                here = below
                status = os.fstat(here)
                if (status.st_dev, status.st_ino) in self._closed:
                    _out(path, "the folder is closed to tools")
            yield here
        finally:
            os.close(here)


def _status(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _open_plain(name: str, folder: int, path: str) -> int:
    # Looked at before it is opened: opening a FIFO would wait, opening a device can have effects.
    before = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if stat.S_ISDIR(before.st_mode):
        raise ScopeError("NOT_A_FILE", f"{path!r} is a folder", place=path, fix="name a file in it")
    _plain_file(before, path)
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    descriptor = os.open(name, flags, dir_fd=folder)
    try:
        _plain_file(os.fstat(descriptor), path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _place_new(spare: str, name: str, folder: int, path: str) -> None:
    """Give the finished file its name, unless something has that name by now."""
    try:
        os.link(spare, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        _exists(path)
    except OSError as problem:
        if problem.errno not in _NO_LINKS:
            raise
        # A file system without hard links: take the name first, then put the content over it.
        try:
            os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder))
        except FileExistsError:
            _exists(path)
        os.rename(spare, name, src_dir_fd=folder, dst_dir_fd=folder)
    else:
        os.unlink(spare, dir_fd=folder)


def _plain_file(status: os.stat_result, path: str) -> None:
    if stat.S_ISLNK(status.st_mode):
        _out(path, "it is a symbolic link")
    if not stat.S_ISREG(status.st_mode):
        _out(path, "it is no regular file (a device, FIFO, socket or folder)")
    if status.st_nlink > 1:
        _out(path, "the file has several hard links, one of which may lie outside the workspace")


def _read(descriptor: int, limit: int) -> bytes:
    pieces: list[bytes] = []
    left = limit
    while left > 0 and (piece := os.read(descriptor, min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _digest(descriptor: int) -> str:
    total = hashlib.sha256()
    while piece := os.read(descriptor, 1 << 20):
        total.update(piece)
    return total.hexdigest()


def _exists(path: str) -> NoReturn:
    raise ScopeError(
        "EXISTS",
        f"{path!r} exists already",
        place=path,
        fix="choose another name, give the base of the version you read, or ask to overwrite it",
    )


def _out(path: str, why: str) -> NoReturn:
    raise ScopeError(
        "OUT_OF_SCOPE",
        f"{path!r} is outside what tools may touch: {why}",
        place=path,
        fix="use a plain path inside the workspace, such as 'docs/notes.md'",
    )


_REFUSALS: dict[int, tuple[str, str, str]] = {
    errno.ENOENT: ("NOT_FOUND", "does not exist", "look at the folder with fs/list first"),
    errno.ENOTDIR: ("NOT_A_FOLDER", "is no folder, or has none on its way", "name a folder"),
    errno.EISDIR: ("NOT_A_FILE", "is a folder", "name a file in it"),
    errno.EACCES: ("UNREADABLE", "may not be opened by this user", "change its permissions"),
    errno.EPERM: ("UNREADABLE", "may not be opened by this user", "change its permissions"),
    errno.ENOSPC: ("DISK_FULL", "could not be written: the disk is full", "make room and run it again"),
    errno.EDQUOT: ("DISK_FULL", "could not be written: the quota is used up", "make room and run it again"),
    errno.EROFS: ("READ_ONLY", "lies on a read-only file system", "choose another place"),
}


def _refuse(problem: OSError, path: str) -> NoReturn:
    if problem.errno == errno.ELOOP:
        _out(path, "there is a symbolic link on its way")
    code, what, fix = _REFUSALS.get(
        problem.errno or 0, ("IO_ERROR", f"could not be used: {problem.strerror}", "try again")
    )
    raise ScopeError(code, f"{path!r} {what}", place=path, fix=fix) from problem
