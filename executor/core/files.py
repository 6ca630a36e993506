"""Files that several processes write: replaced whole, and locks that the kernel frees with their process."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final

_NAME: Final = 80  # characters of a file's name in that of the new one beside it
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
LOCK_FILE: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_PAUSE_S: Final = 0.005  # between two tries


@contextmanager
def whole_file(
    path: Path | str,
    *,
    folder: int | None = None,
    spare: str = "",
    mode: int = 0o600,
    like: os.stat_result | None = None,
    durable: bool = True,
    last: Callable[[], None] = lambda: None,
    place: Callable[[str], None] | None = None,
) -> Iterator[BinaryIO]:
    """A new file beside `path`, which takes its place when this ends well and is gone when it does not.

    Others see the old bytes or the new ones, never a part.

    Args:
        path: resolved; or, with a folder (an open descriptor), a name in it.
        spare: the name of the new file until then. One that is always the same is for writers that keep one
            another out: what a killed one left is overwritten.
        mode: who may read the new file, less the umask.
        like: whose it is and who may, as of the file that was there.
        durable: on the disk before this ends. Not for what is only kept to be quicker.
        last: asked when all is written and nothing is exchanged yet; what it raises leaves the old file.
        place: gives the new file, by its name, a durable place in another way.

    Raises OSError.
    """
    above, name = os.path.split(path)
    part = os.path.join(above, spare or f".{name[:_NAME]}.{os.urandom(8).hex()}")  # noqa: PTH118
    if spare:
        with suppress(FileNotFoundError):
            os.unlink(part, dir_fd=folder)
    try:
        with os.fdopen(os.open(part, _NEW, mode, dir_fd=folder), "wb") as file:
            yield file
            file.flush()
            if like is not None:
                with suppress(PermissionError):  # only root may give a file away
                    os.fchown(file.fileno(), like.st_uid, like.st_gid)
                os.fchmod(file.fileno(), like.st_mode & 0o7777)
            if durable:
                os.fsync(file.fileno())
        last()
        if place is not None:
            place(part)
        else:
            os.rename(part, path, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(part, dir_fd=folder)
        raise
    if durable and place is None:
        sync_folder(above or ".", folder=folder)


def sync_folder(path: Path | str, *, folder: int | None = None) -> None:
    """Make the names of a folder durable. Raises OSError."""
    descriptor = os.open(path, FOLDER, dir_fd=folder)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def take(descriptor: int, *, shared: bool = False, wait: bool = True, needed: bool = True) -> bool:
    """Lock an open file or folder until it is closed, or this process ends, however that comes. False where
    another holds it, and this does not wait. Programs that ask for no lock are not held up by one.

    needed: whether a file system without locks is an error. Raises OSError.
    """
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        if needed:
            raise
    return True


@contextmanager
def locked(
    path: Path | str,
    flags: int = LOCK_FILE,
    *,
    folder: int | None = None,
    shared: bool = False,
    busy: Exception | None = None,
    patience_s: float = 0.0,
    check: Callable[[], None] = lambda: None,
    needed: bool = True,
) -> Iterator[int]:
    """Open a file or folder and hold its lock; gives the descriptor.

    It is opened anew each time: a lock belongs to the opening, and threads would share one.

    Args:
        busy: raised where another still holds it after `patience_s` seconds; None waits without end.
        check: called while it waits; may stop it by raising.
        needed: as of ``take``.

    Raises OSError.
    """
    descriptor = os.open(path, flags, 0o600, dir_fd=folder)
    try:
        until = time.monotonic() + patience_s
        while not take(descriptor, shared=shared, wait=busy is None, needed=needed):
            if busy is not None and time.monotonic() > until:
                raise busy
            check()
            time.sleep(_PAUSE_S)
        yield descriptor
    finally:
        os.close(descriptor)
