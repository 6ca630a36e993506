"""Folders for the time of one piece of work, and those that killed processes left.

Each is held by a lock for as long as it is used, which the kernel frees when its process ends, however that
comes. What nobody holds any more is removed by the next process that makes one.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from executor.core.files import FOLDER, take

PREFIX: Final = "mcl-"
_HELD: Final = ".held"  # made once the lock is there: a folder without it may be about to get one
_ABANDONED: Final = 3600.0  # seconds after which an empty folder without it gets none any more
_swept: set[str] = set()


def make(kind: str = "") -> tuple[Path, int]:
    """A new folder of ours among the temporary ones, and the descriptor that holds it. Blocks."""
    _sweep_once(tempfile.gettempdir())
    place = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{kind}"))
    held = os.open(place, FOLDER)
    take(held)
    (place / _HELD).touch()
    return place, held


def drop(place: Path, held: int) -> None:
    """Remove it with all that is in it. Blocks."""
    shutil.rmtree(place, ignore_errors=True)
    os.close(held)


@contextmanager
def scratch(kind: str = "") -> Iterator[Path]:
    """A new folder, removed in the end."""
    place, held = make(kind)
    try:
        yield place
    finally:
        drop(place, held)


def sweep(folder: str) -> None:
    """Remove what dead processes of this user left in a folder of temporary files; never raises."""
    with suppress(OSError), os.scandir(folder) as entries:
        for name in [one.name for one in entries if one.name.startswith(PREFIX)]:
            with suppress(OSError):
                _remove_left(Path(folder, name))


def _sweep_once(folder: str) -> None:
    if folder not in _swept:
        _swept.add(folder)
        sweep(folder)


def _remove_left(place: Path) -> None:
    held = os.open(place, FOLDER | os.O_NOFOLLOW)
    try:
        status = os.fstat(held)
        theirs = status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077
        if theirs or not take(held, wait=False):
            return
        if (place / _HELD).exists():
            for one in place.iterdir():  # the mark last: what cannot be removed now is tried again
                if one.name != _HELD:
                    one.unlink() if one.is_symlink() or not one.is_dir() else shutil.rmtree(one)
            shutil.rmtree(place)
        elif time.time() - status.st_mtime > _ABANDONED:
            place.rmdir()  # an empty one only
    finally:
        os.close(held)
