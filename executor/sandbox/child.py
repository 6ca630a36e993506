"""A child process: the only place where this house starts one, and what ends it when this process ends,
however that comes (``kill -9`` too).

A child gets an argument list and never a shell, only the variables and descriptors that are named, and a
process group of its own, by which it is ended: politely first, then for good.

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
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, Self, TypeAlias

# Where an output goes or an input comes from: a descriptor, or one of these; None: as with us.
NOTHING: Final = subprocess.DEVNULL
PIPE: Final = subprocess.PIPE  # a new one, whose other end is the child's `stdin` or `stdout`
WITH_OUTPUT: Final = subprocess.STDOUT  # of errors: where the output goes
Stream: TypeAlias = int | IO[bytes] | None

_PR_SET_DUMPABLE: Final = 4  # linux/prctl.h

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

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str], *, raises: bool = False) -> None:
        ours, theirs = socket.socketpair()  # a pipe has no way back
        ours.setblocking(False)
        command = launched(argv, theirs.fileno(), environment, raises=raises)
        super().__init__(command, ours.detach(), theirs.detach())

    def holds(self, group: int) -> None:
        os.close(self.theirs)  # its end is to be seen here
        self.theirs = _CLOSED

    def refused(self) -> int | None:
        try:
            return int(os.read(self._ours, 16) or b"0") or None
        except (OSError, ValueError):
            return None


# ---- Starting one.


class Child:
    """A process that leads a group of its own, and hangs on a leash; made by ``start``.

    stdin, stdout: our ends of its pipes, where it was started with some.
    """

    def __init__(self, process: subprocess.Popen[bytes], leash: Leash) -> None:
        self.pid, self.leash = process.pid, leash
        self.stdin, self.stdout = process.stdin, process.stdout
        self._process = process

    @property
    def status(self) -> int | None:
        """Its exit status, negative where a signal ended it; None while it runs."""
        return self._process.poll()

    @status.setter
    def status(self, status: int) -> None:
        """For who awaits it by means of its own."""
        self._process.returncode = status

    def signal(self, which: signal.Signals) -> None:
        """Send a signal to all of its group that is left."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, which)

    def wait(self) -> int:
        """Wait for its end; its exit status. For threads: an event loop awaits ``process.ended``."""
        return self._process.wait()

    def kill(self) -> None:
        """End all of its group at once, and wait for it."""
        self.signal(signal.SIGKILL)
        self._process.wait()
        self.leash.release()


def start(
    leash: Leash,
    *,
    cwd: Path | str,
    environment: Mapping[str, str],
    stdin: Stream = NOTHING,
    stdout: Stream = NOTHING,
    stderr: Stream = NOTHING,
    descriptors: Sequence[int] = (),
    session: bool = True,
) -> Child:
    """Start what hangs on a leash. The caller ends it, with ``Child.kill`` or ``process.end``.

    Args:
        cwd: the folder it runs in.
        environment: all the variables it sees; nothing is inherited.
        descriptors: open ones that it gets too, by the same numbers; all others are closed in it.
        session: it gets a session of its own, and so no terminal; else only a group of its own.

    Raises:
        OSError: it cannot be started. What hangs on a launcher may say so later (``Leash.refused``).
    """
    keep_to_ourselves()
    # Nothing is awaited from the fork to the end of this: no cancel leaves a process that nobody knows of.
    try:
        process = subprocess.Popen(
            leash.argv,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=cwd,
            env=dict(environment),
            start_new_session=session,
            process_group=None if session else 0,
            pass_fds=(*descriptors, leash.theirs),
        )
    except BaseException:
        leash.release()
        raise
    leash.holds(process.pid)
    return Child(process, leash)


def start_detached(
    argv: Sequence[str], *, environment: Mapping[str, str], descriptors: Sequence[int] = ()
) -> None:
    """Start a process that is to outlive this one: on no leash, in no folder, with nothing to read or say but
    the open descriptors that are named, which it gets by the same numbers.

    It is for code of ours alone, and has to end by itself. Raises OSError, ValueError.
    """
    subprocess.Popen(
        argv,
        stdin=NOTHING,
        stdout=NOTHING,
        stderr=NOTHING,
        cwd="/",
        env=dict(environment),
        start_new_session=True,
        pass_fds=descriptors,
    )


def keep_to_ourselves() -> None:
    """No other process of this user reads our variables, memory or open files from now on (Linux).

    A command that runs without bubblewrap would find them in /proc. The command itself is readable again:
    what it starts with is its own.
    """
    if sys.platform == "linux":
        import ctypes  # here: whoever starts nothing but a detached process need not load it

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
