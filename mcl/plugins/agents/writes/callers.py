"""Which processes that make calls still live: each holds a lock on a file of its own, until it ends somehow.

The operating system frees the lock, so a file that can be locked belongs to nobody any more.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Final

from executor.store.database import explain_os
from executor.store.home import Home

_FOLDER: Final = "callers"
_FLAGS: Final = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW


class Callers:
    """The callers of a home, seen from one of them. Close it when no more calls are made."""

    def __init__(self, home: Home) -> None:
        self._folder = home.path / _FOLDER
        self._name, self._lock = "", -1

    @property
    def name(self) -> str:
        """What this process is called, once it made a call; nobody else ever was. Raises HomeError."""
        if not self._name:
            try:
                self._folder.mkdir(mode=0o700, exist_ok=True)
                while not self._taken(token_hex(16)):
                    pass
            except OSError as problem:
                raise explain_os(problem, self._folder) from problem
        return self._name

    def lives(self, name: str) -> bool:
        """Whether a caller may still go on. Of one that is gone the file is removed. Raises HomeError."""
        if name == self._name:
            return True
        try:
            lock = os.open(self._folder / name, _FLAGS)
        except FileNotFoundError:
            return False
        except OSError as problem:
            raise explain_os(problem, self._folder) from problem
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            (self._folder / name).unlink(missing_ok=True)
        except BlockingIOError:
            return True
        finally:
            os.close(lock)
        return False

    def close(self) -> None:
        """Make no more calls under this name."""
        if self._name:
            with suppress(OSError):
                (self._folder / self._name).unlink()
            os.close(self._lock)
            self._name, self._lock = "", -1

    def _taken(self, name: str) -> bool:
        """Make the file of a name and hold it; false where another process took it for a dead one's before it
        was locked."""
        place = Path(self._folder / name)
        lock = os.open(place, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            held = place.exists() and os.stat(place).st_ino == os.fstat(lock).st_ino  # noqa: PTH116
        except BaseException:
            os.close(lock)
            raise
        if not held:
            os.close(lock)
            return False
        self._name, self._lock = name, lock
        return True
