"""Writing a file of an open folder: whole or not at all, and one writer after the other."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import BinaryIO

from executor.core.errors import ScopeError
from executor.core.files import FOLDER, locked, whole_file
from executor.sandbox.files import digest_of, open_plain, refuse_existing, status_of

_TAIL = 4096  # bytes at the end of a file that tell how its lines end
_NO_UNNAMED = (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL)
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK)
_PATIENCE = 20.0  # seconds to wait for another writer


@contextmanager
def alone(folder: int, path: str, check: Callable[[], None]) -> Iterator[None]:
    """Keep other writers of this kind, also in other processes, out of a folder (by descriptor).

    What is looked at inside is what is replaced. Programs that ask for no lock are not held up by one.
    ``check`` is called while it waits, and may stop it by raising.

    Raises:
        ScopeError: BUSY.
    """
    busy = ScopeError(
        "BUSY",
        f"another program keeps the folder of {path!r} to itself",
        place=path,
        fix="try again when it is done",
    )
    # A file system without locks is as good as it gets.
    with locked(".", FOLDER, folder=folder, busy=busy, patience_s=_PATIENCE, check=check, needed=False):
        yield


def tidy(folder: int, name: str) -> None:
    """Remove the temporary file that a writer of this file left who was killed. Held by ``alone``."""
    with suppress(FileNotFoundError):
        os.unlink(_spare(name), dir_fd=folder)


def _spare(name: str) -> str:
    """The temporary file of a file: always the same one, so that the next writer finds what is left of it."""
    return f".mcl-{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}.tmp"


def put(
    folder: int,
    name: str,
    data: bytes,
    path: str,
    *,
    replace: bool,
    base: str | None = None,
    check: Callable[[], None] = lambda: None,
) -> bool:
    """Put a whole file in place at once: temporary file beside it, fsync, rename; a new file gets its name
    when it is whole. Held by ``alone``.

    Tells whether the file is new. What is there already is not written again. ``check`` is called while the
    file that is there is read, and may stop that by raising.

    Raises:
        ScopeError: EXISTS, STALE_FILE, and what ``open_plain`` refuses. OSError: nothing was changed.
    """
    there = status_of(name, folder)
    if there is not None:
        descriptor = open_plain(name, folder, path)
        try:
            # Another length is another content: then a file is read only to be compared with its base.
            differs = os.fstat(descriptor).st_size != len(data)
            present = "" if differs and base is None else digest_of(descriptor, check)
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
            refuse_existing(path)
    elif base is not None:
        raise ScopeError(
            "STALE_FILE", f"{path!r} is gone since it was read", place=path, fix="read the folder again"
        )
    if there is None:
        put_new(folder, name, [data], path)
        return True
    mode = stat.S_IMODE(there.st_mode) & 0o777
    with whole_file(name, folder=folder, spare=_spare(name), mode=mode) as file:
        os.fchmod(file.fileno(), mode)  # the umask has no say in what was there before
        file.write(data)
    return False


def put_new(
    folder: int, name: str, pieces: Iterable[bytes], path: str, *, modified: int | None = None
) -> None:
    """Write a new file piece by piece; it gets its name when it is whole. Held by ``alone``.

    modified: its time, in nanoseconds since 1970. Raises ScopeError EXISTS, OSError; nothing was changed.
    """

    def fill(file: BinaryIO) -> None:
        file.writelines(pieces)
        file.flush()
        if modified is not None:
            os.utime(file.fileno(), ns=(modified, modified))

    if (unnamed := _unnamed(folder)) is not None:
        with os.fdopen(unnamed, "wb") as new:
            fill(new)
            os.fsync(unnamed)
            try:
                # A name for what has none: at no moment does the file have two, as with link and unlink.
                os.link(f"/proc/self/fd/{unnamed}", name, dst_dir_fd=folder)
            except FileExistsError:
                refuse_existing(path)
    else:
        place = partial(place_new, name=name, folder=folder, path=path)
        with whole_file(name, folder=folder, spare=_spare(name), mode=0o666, place=place) as file:
            fill(file)
    os.fsync(folder)


def _unnamed(folder: int) -> int | None:
    """A file of an open folder that has no name yet; None where there can be none."""
    if not hasattr(os, "O_TMPFILE") or not os.path.exists("/proc/self/fd"):  # noqa: PTH110 - no path of ours
        return None
    try:
        return os.open(".", os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC, 0o666, dir_fd=folder)
    except OSError as problem:
        if problem.errno not in _NO_UNNAMED:
            raise
        return None


def place_new(spare: str, name: str, folder: int, path: str) -> None:
    """Give the finished file its name, unless something has that name by now."""
    try:
        os.link(spare, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        refuse_existing(path)
    except OSError as problem:
        if problem.errno not in _NO_LINKS:
            raise
        # A file system without hard links: take the name first, then put the content over it.
        try:
            os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder))
        except FileExistsError:
            refuse_existing(path)
        os.rename(spare, name, src_dir_fd=folder, dst_dir_fd=folder)
    else:
        os.unlink(spare, dir_fd=folder)


def append_to(descriptor: int, data: bytes, path: str, check: Callable[[], None]) -> tuple[str, int]:
    """Add ``data`` to the end of an open text file (read, write, append), after a line end.

    Gives sha256 (hex) and size in bytes of the whole. What could not be written whole is taken back.

    Raises:
        ScopeError: NOT_TEXT. OSError: nothing was added.
    """
    total, size, tail = hashlib.sha256(), 0, b""
    while piece := os.read(descriptor, 1 << 20):
        check()
        if b"\0" in piece:
            raise ScopeError("NOT_TEXT", f"{path!r} is a binary file", place=path, fix="name a text file")
        total.update(piece)
        size += len(piece)
        tail = (tail + piece)[-_TAIL:]
    if tail and not tail.endswith(b"\n"):
        data = (b"\r\n" if b"\r\n" in tail else b"\n") + data
    check()
    whole = os.fstat(descriptor).st_size == size
    written = 0
    try:
        while written < len(data):
            written += os.write(descriptor, data[written:])
        os.fsync(descriptor)
    except OSError:
        # Only our own bytes may go: where somebody else added to the file meanwhile, theirs are left.
        if whole and os.fstat(descriptor).st_size == size + written:
            os.ftruncate(descriptor, size)
        raise
    if whole and os.fstat(descriptor).st_size == size + len(data):
        total.update(data)
        return total.hexdigest(), size + len(data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return digest_of(descriptor), os.fstat(descriptor).st_size
