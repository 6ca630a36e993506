"""Files of a workspace, opened so that nothing outside it can be reached.

Every path is walked from the root's directory descriptor, one component at a time, and no link is followed:
there is no moment between check and use in which a link could be swapped in. POSIX only.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from executor.core.errors import ScopeError
from executor.sandbox.files import (
    components,
    digest_of,
    explain,
    is_protected,
    open_plain,
    out_of_scope,
    read_up_to,
    require_plain,
    status_of,
)
from executor.sandbox.writing import alone, append_to, put, tidy

# ---- Folders outside the workspace that a person named, in which the history of a work tree may lie.


KEY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")  # what a person may name a repository


@dataclass(frozen=True, slots=True)
class Known:
    """Absolute folders, links resolved.

    reads: what lies there may be read, granted or allowed. named: repositories, whose history may be written
    too; so may that of a linked work tree which is named itself.
    """

    reads: tuple[str, ...] = ()
    named: tuple[str, ...] = ()

    def lets_read(self, repository: Path, tree: Path) -> bool:
        """May the history of this work tree be read, that lies in this repository?"""
        return self.lets_write(repository, tree) or _covered(repository, self.reads)

    def lets_write(self, repository: Path, tree: Path) -> bool:
        """May it be written too?"""
        return str(tree) in self.named or _covered(repository, self.named)


def _covered(place: Path, folders: tuple[str, ...]) -> bool:
    return any(place.is_relative_to(one) for one in folders)


# ---- The workspace.


MAX_DEPTH = 200  # folders in folders that are entered: each is an open descriptor, and a call in a call
# With the memory and the variables of every program; a workspace that is the whole disk does not hold them.
_MACHINE = (Path("/proc"), Path("/sys"), Path("/dev"))
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

Kind = Literal["file", "folder", "link", "other"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing found in a folder. ``path`` is relative to the workspace.

    ``size`` in bytes, ``modified`` in nanoseconds since 1970 and ``inode`` are told of files only.
    """

    path: str
    kind: Kind
    size: int
    modified: int = 0
    inode: int = 0


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
        known: gives the folders elsewhere in which git may find the history of what lies here.

    Raises:
        ScopeError: the root is no folder, or lies inside a forbidden folder.
    """

    _fd = -1

    def __init__(
        self, root: Path, *, forbidden: Sequence[Path] = (), known: Callable[[], Known] = Known
    ) -> None:
        self.known = known
        try:
            self.root = root.resolve()
        except RuntimeError:  # what Python 3.11 and 3.12 say of links in a circle
            out_of_scope(str(root), "its symbolic links lead in a circle")
        if self.root in _MACHINE or self.root.is_relative_to("/proc") or self.root.is_relative_to("/sys"):
            out_of_scope(str(root), "what lies there is the machine itself, not files")
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
            explain(problem, str(root))
        self.forbidden = tuple(place.resolve() for place in forbidden if place.exists())
        self.closed = frozenset(
            (status.st_dev, status.st_ino)
            for status in (place.stat() for place in (*forbidden, *_MACHINE) if place.exists())
        )

    def __del__(self) -> None:
        self.close()  # where nobody did

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def split(self, path: str) -> tuple[str, ...]:
        """Split a relative path into its components by its text alone.

        Raises:
            ScopeError: OUT_OF_SCOPE (absolute, ``..``, control characters, over-long), PROTECTED_PATH.
        """
        return components(path)

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
            explain(problem, path)
        if not stat.S_ISDIR(status.st_mode):
            require_plain(status, path)
        elif (status.st_dev, status.st_ino) in self.closed:
            out_of_scope(path, "the folder is closed to tools")
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
                descriptor = open_plain(parts[-1], folder, path)
        except OSError as problem:
            explain(problem, path)
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
                explain(problem, path)
            yield descriptor

    def make_folder(self, path: str) -> None:
        """Make a folder and those on the way where they are missing. Raises ScopeError as ``check``."""
        try:
            with self._folder(self.split(path), path, create=True):
                pass
        except OSError as problem:
            explain(problem, path)

    def read(self, path: str, limit: int) -> tuple[bytes, int]:
        """Read at most ``limit`` bytes of a file; give them and the file's whole size in bytes."""
        with self.open_file(path) as descriptor:
            return read_up_to(descriptor, limit), os.fstat(descriptor).st_size

    def digest(self, path: str, *, check: Callable[[], None] = lambda: None) -> tuple[str, int]:
        """sha256 (hex) and size in bytes of a file's content; ``check`` is called as in ``walk``."""
        with self.open_file(path) as descriptor:
            return digest_of(descriptor, check), os.fstat(descriptor).st_size

    def walk(
        self,
        path: str,
        *,
        check: Callable[[], None],
        recursive: bool = True,
        skip: Callable[[str], bool] = lambda name: False,
        missed: Callable[[str, str], None] = lambda path, why: None,
    ) -> Iterator[Entry]:
        """Go through a folder in the order of its names, depth first, without following links.

        Protected names, closed folders and those whose name ``skip`` names are left out; folders deeper than
        MAX_DEPTH are told and not entered. ``check`` is called for each folder, so that a caller can stop a
        long walk by raising. ``missed`` is told what is left out, with the reason in a word; a folder ends
        with a slash.

        Raises:
            ScopeError: as ``check``; NOT_FOUND, NOT_A_FOLDER.
        """
        parts = self.split(path)
        try:
            with self._folder(parts, path) as folder:
                yield from self._walk(folder, parts, check, recursive, skip, missed)
        except OSError as problem:
            explain(problem, path)

    def write(
        self,
        path: str,
        data: bytes,
        *,
        replace: bool,
        base: str | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> Written:
        """Put a whole file in place at once: temporary file beside it, fsync, rename.

        Folders that are missing on the way are made. A write that changes nothing succeeds and touches
        nothing.

        Args:
            path: relative to the workspace.
            data: the whole content.
            replace: may an existing file be replaced?
            base: sha256 (hex) that the existing file must have; it may then be replaced.
            check: called while another writer is waited for; may stop that by raising.

        Raises:
            ScopeError: as ``check``; EXISTS, STALE_FILE, NOT_A_FILE, DISK_FULL, READ_ONLY.
        """
        parts = self.split(path)
        if not parts:
            raise ScopeError("NOT_A_FILE", f"{path!r} is a folder", place=path, fix="name a file in it")
        try:
            with self._folder(parts[:-1], path, create=True) as folder, alone(folder, path, check):
                tidy(folder, parts[-1])
                created = put(folder, parts[-1], data, path, replace=replace, base=base, check=check)
        except OSError as problem:
            explain(problem, path)
        return Written("/".join(parts), hashlib.sha256(data).hexdigest(), len(data), created)

    def append(self, path: str, data: bytes, *, check: Callable[[], None] = lambda: None) -> Written:
        """Add to the end of a text file in one piece, or not at all; a missing file is made as by ``write``.

        Where the file does not end with a line end, one is put between.

        Args:
            path: relative to the workspace.
            data: what is added.
            check: called as in ``write`` and ``digest``; nothing is written before its last call.

        Raises:
            ScopeError: as ``check``; NOT_A_FILE, NOT_TEXT, DISK_FULL, READ_ONLY.
        """
        parts = self.split(path)
        if not parts:
            raise ScopeError("NOT_A_FILE", f"{path!r} is a folder", place=path, fix="name a file in it")
        try:
            with self._folder(parts[:-1], path, create=True) as folder, alone(folder, path, check):
                tidy(folder, parts[-1])
                if status_of(parts[-1], folder) is None:
                    put(folder, parts[-1], data, path, replace=False)
                    return Written("/".join(parts), hashlib.sha256(data).hexdigest(), len(data), True)
                descriptor = open_plain(parts[-1], folder, path, os.O_RDWR | os.O_APPEND)
                try:
                    digest, size = append_to(descriptor, data, path, check)
                finally:
                    os.close(descriptor)
        except OSError as problem:
            explain(problem, path)
        return Written("/".join(parts), digest, size, False)

    def update(
        self,
        path: str,
        change: Callable[[bytes | None], bytes],
        *,
        limit: int,
        check: Callable[[], None] = lambda: None,
    ) -> Written:
        """Replace a file by what ``change`` makes of it; nobody of our kind writes to it meanwhile.

        Args:
            path: relative to the workspace.
            change: from the content (None where there is no file) to the new one; may refuse by raising.
            limit: bytes that the content may have.
            check: called as in ``write``.

        Raises:
            ScopeError: as ``write``; TOO_LARGE. Also what ``change`` raises; nothing was written then.
        """
        parts = self.split(path)
        if not parts:
            raise ScopeError("NOT_A_FILE", f"{path!r} is a folder", place=path, fix="name a file in it")
        try:
            with self._folder(parts[:-1], path, create=True) as folder, alone(folder, path, check):
                tidy(folder, parts[-1])
                there = self._content(folder, parts[-1], path, limit)
                data = change(there)
                base = None if there is None else hashlib.sha256(there).hexdigest()
                created = put(folder, parts[-1], data, path, replace=False, base=base)
        except OSError as problem:
            explain(problem, path)
        return Written("/".join(parts), hashlib.sha256(data).hexdigest(), len(data), created)

    @staticmethod
    def _content(folder: int, name: str, path: str, limit: int) -> bytes | None:
        if status_of(name, folder) is None:
            return None
        descriptor = open_plain(name, folder, path)
        try:
            data = read_up_to(descriptor, limit + 1)
        finally:
            os.close(descriptor)
        if len(data) > limit:
            raise ScopeError(
                "TOO_LARGE", f"{path!r} is larger than {limit:,} bytes", place=path, fix="use a smaller file"
            )
        return data

    def _walk(
        self,
        folder: int,
        parts: tuple[str, ...],
        check: Callable[[], None],
        recursive: bool,
        skip: Callable[[str], bool],
        missed: Callable[[str, str], None],
    ) -> Iterator[Entry]:
        check()
        with os.scandir(folder) as found:
            names = sorted(entry.name for entry in found)
        for name in names:
            below = (*parts, name)
            status = status_of(name, folder)
            if status is None:
                continue
            path = "/".join(below)
            is_folder = stat.S_ISDIR(status.st_mode)
            if is_protected((name,)) or not name.isprintable():
                why = "secret" if is_protected((name,)) else "name"
                missed(f"{path}/" if is_folder else path, why)
                continue
            if is_folder:
                if (status.st_dev, status.st_ino) in self.closed:
                    continue
                if skip(name):
                    missed(f"{path}/", "vendored")
                    continue
                yield Entry(path, "folder", 0)
                if recursive and len(below) > MAX_DEPTH:
                    missed(f"{path}/", "too deep")
                elif recursive:
                    try:
                        descriptor = os.open(name, _FOLDER, dir_fd=folder)
                    except OSError:  # unreadable, or swapped for a link meanwhile: not ours to enter
                        missed(f"{path}/", "unreadable")
                        continue
                    try:
                        yield from self._walk(descriptor, below, check, recursive, skip, missed)
                    finally:
                        os.close(descriptor)
            elif stat.S_ISREG(status.st_mode):
                yield Entry(path, "file", status.st_size, status.st_mtime_ns, status.st_ino)
            else:
                yield Entry(path, "link" if stat.S_ISLNK(status.st_mode) else "other", 0)

    @contextmanager
    def _folder(self, parts: tuple[str, ...], path: str, *, create: bool = False) -> Iterator[int]:
        """The descriptor of a folder below the root, reached component by component."""
        here, parts = self._start(parts, path, create=create)
        try:
            for part in parts:
                if create:
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=here)
                        os.fsync(here)
                try:
                    below = os.open(part, _FOLDER, dir_fd=here)
                except NotADirectoryError:  # what Linux says of a link that is to be a folder
                    if stat.S_ISLNK(os.stat(part, dir_fd=here, follow_symlinks=False).st_mode):
                        out_of_scope(path, "there is a symbolic link on its way")
                    raise
                os.close(here)
                here = below
                status = os.fstat(here)
                if (status.st_dev, status.st_ino) in self.closed:
                    out_of_scope(path, "the folder is closed to tools")
            yield here
        finally:
            os.close(here)

    def _start(self, parts: tuple[str, ...], path: str, *, create: bool) -> tuple[int, tuple[str, ...]]:
        """A descriptor to walk from, which the caller closes, and the components that lie below it."""
        return os.dup(self._fd), parts
