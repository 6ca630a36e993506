"""What ends a command when this process ends, however that comes (``kill -9`` too).

A program that stays in its group hangs on a pipe: its reading end, which the program inherits, is set so that
the kernel itself kills the program's process group when the other end closes, and only we hold that (Linux;
the group is held by what it is, not by its number, which somebody else may get). It costs a few system calls.
Only where we are killed between its start and ``holds``, a moment later, does the program go on by itself.
PR_SET_PDEATHSIG would need code in the child between fork and exec, and fires when a thread ends.

Everything else is run by ``launcher``, which finds what left the group and the session too. That costs the
start of a small Python.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

_LAUNCHER: Final = Path(__file__).with_name("launcher.py")
_CLOSED: Final = -1


def launched(
    argv: Sequence[str], life: int, environment: Mapping[str, str], *, raises: bool = False
) -> list[str]:
    """The argument list that runs a program below a launcher, which inherits the descriptor ``life``. raises:
    may it start programs with more rights than it has (sudo)?"""
    flags = f"-{'l' * ('LC_CTYPE' in environment)}{'r' * raises}"
    return [sys.executable, "-I", "-S", str(_LAUNCHER), str(life), flags, *argv]


def unlaunched(argv: Sequence[str]) -> tuple[str, ...]:
    """What an argument list is there to run: what the launcher is told to, where it is one for it."""
    before = launched((), 0, {})
    told = list(argv[: len(before)])
    fits = told[:4] == before[:4] and len(argv) > len(before)
    return tuple(argv[len(before) :] if fits else argv)


class Leash:
    """What a command hangs on: two ends, of which it inherits ``theirs``. argv: what to start."""

    def __init__(self, argv: Sequence[str], ours: int, theirs: int) -> None:
        self.argv, self.theirs = list(argv), theirs
        self._ours = ours

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def holds(self, group: int) -> None:
        """To be called as soon as the command runs, as the leader of this process group."""

    def release(self) -> None:
        """Let go; may be called again."""
        for end in {self._ours, self.theirs} - {_CLOSED}:
            os.close(end)
        self._ours = self.theirs = _CLOSED

    def refused(self) -> int | None:
        """The number of the error for which the command could not be started, once that has ended."""
        return None


class GroupLeash(Leash):
    """Ends the command's group by a signal."""

    def __init__(self, argv: Sequence[str], which: signal.Signals = signal.SIGKILL) -> None:
        theirs, ours = os.pipe()
        super().__init__(argv, ours, theirs)
        self._signal = which

    def holds(self, group: int) -> None:
        if sys.platform != "linux":
            return  # F_SETSIG is Linux's own
        with suppress(OSError):  # it has ended already
            fcntl.fcntl(self.theirs, fcntl.F_SETOWN, -group)
            fcntl.fcntl(self.theirs, fcntl.F_SETSIG, self._signal)
            flags = fcntl.fcntl(self.theirs, fcntl.F_GETFL)
            fcntl.fcntl(self.theirs, fcntl.F_SETFL, flags | os.O_ASYNC)

    def release(self) -> None:
        if self.theirs != _CLOSED:
            with suppress(OSError):  # without a signal: what is to be ended now is ended by name
                fcntl.fcntl(self.theirs, fcntl.F_SETFL, 0)
        super().release()


class TreeLeash(Leash):
    """Ends all that the command started, wherever it went (Linux; elsewhere its group)."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        ours, theirs = socket.socketpair()  # a pipe has no way back
        ours.setblocking(False)
        super().__init__(launched(argv, theirs.fileno(), environment), ours.detach(), theirs.detach())

    def holds(self, group: int) -> None:
        os.close(self.theirs)  # its end is to be seen here
        self.theirs = _CLOSED

    def refused(self) -> int | None:
        try:
            return int(os.read(self._ours, 16) or b"0") or None
        except (OSError, ValueError):
            return None
