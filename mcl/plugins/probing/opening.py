"""Which files of some folders are opened, by whatever code or program: the kernel tells (inotify, Linux).

It tells what audit events do not: what compiled code reads, and what a program reads that was started.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

_OPEN: Final = 0x20  # IN_OPEN of sys/inotify.h
_EVENT: Final = struct.Struct("iIII")  # of which watch, what, -, length of the name that follows
_MOST: Final = 1 << 16  # bytes of events that are taken at once


class Opening:
    """Watches folders, those below them too, from now on; what is made in them later is not watched.

    Where the kernel does not tell, nothing is seen. Close it.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        self._watches: dict[int, Path] = {}
        self._descriptor = -1
        if sys.platform != "linux":
            return
        libc = ctypes.CDLL(None, use_errno=True)
        self._descriptor = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        # All found first: looking for them opens them.
        for here in [here for folder in folders for here, _, _ in os.walk(folder)]:
            watch = libc.inotify_add_watch(self._descriptor, os.fsencode(here), _OPEN)
            if watch >= 0:
                self._watches[watch] = Path(here)

    def opened(self) -> tuple[str, ...]:
        """The paths that were opened since the last time, sorted."""
        found: set[str] = set()
        with suppress(OSError):  # nothing more is there
            while data := os.read(self._descriptor, _MOST) if self._descriptor >= 0 else b"":
                found.update(self._paths(data))
        return tuple(sorted(found))

    def close(self) -> None:
        """Watch no more."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _paths(self, data: bytes) -> Iterable[str]:
        place = 0
        while place < len(data):
            watch, _, _, length = _EVENT.unpack_from(data, place)
            name = os.fsdecode(data[place + _EVENT.size : place + _EVENT.size + length].rstrip(b"\0"))
            place += _EVENT.size + length
            if watch in self._watches:
                yield str(self._watches[watch] / name)
