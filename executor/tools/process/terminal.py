"""A program in the foreground of the person's terminal, until it ends; without a terminal, without input."""

from __future__ import annotations

import os
import signal
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import anyio

from executor.sandbox.child import NOTHING, Child, GroupLeash, start
from executor.sandbox.process import not_started

_TERMINAL = "/dev/tty"
_LOOK = 0.05  # seconds between two looks at whether it has ended
_GRACE = 0.3  # seconds between the polite signal and the final one


async def run_foreground(argv: Sequence[str], *, cwd: str, environment: Mapping[str, str]) -> int:
    """Run it to its end; give its exit status, negative where a signal ended it.

    It is a process group of its own, to which the terminal is lent: what the person types, Ctrl-C too, is for
    it alone. Where it is suspended (Ctrl-Z), this process is suspended with it. When the surrounding scope is
    cancelled, the group is killed and awaited. The terminal is as before in any case.

    Args:
        argv: program (an absolute path) and arguments; nothing is interpreted by a shell.
        environment: all the variables it sees.

    Raises:
        ToolError: COMMAND_NOT_FOUND.
    """
    # Where we are killed it is told to hang up, and can keep what it has.
    with _terminal() as terminal, GroupLeash(argv, signal.SIGHUP) as leash:
        ends = NOTHING if terminal is None else terminal
        try:
            child = start(
                leash,
                cwd=cwd,
                environment=environment,
                stdin=ends,
                stdout=ends,
                stderr=ends,
                session=terminal is None,  # without the terminal it would be stopped for asking for it
            )
        except OSError as problem:
            raise not_started(argv[0], problem.strerror) from problem
        foreground = _Foreground(child, terminal)
        try:
            foreground.lend()
            while not foreground.ended():
                await anyio.sleep(_LOOK)
        finally:
            with anyio.CancelScope(shield=True):
                await foreground.end()
    return foreground.status


class _Foreground:
    """A child that has the terminal. It is awaited here and not by ``process.ended``, which is told of its
    end alone: that it was suspended must be seen too."""

    def __init__(self, child: Child, terminal: int | None) -> None:
        self.status = 0
        self._child = child
        self._terminal = terminal
        self._over = False

    def lend(self) -> None:
        """Give the terminal to it."""
        if self._terminal is not None:
            _to_foreground(self._terminal, self._child.pid)

    def ended(self) -> bool:
        """Has it ended? Where it was suspended, this process is too; both go on together."""
        with suppress(ChildProcessError):  # somebody else awaited it
            found, how = os.waitpid(self._child.pid, os.WNOHANG | os.WUNTRACED)
            if not found:
                return False
            if os.WIFSTOPPED(how):
                self._suspend(os.WSTOPSIG(how))
                return False
            self.status = os.waitstatus_to_exitcode(how)
        self._child.status = self.status
        self._over = True
        return True

    async def end(self) -> None:
        """Kill what is still there of the group."""
        if not self._over:
            self._child.signal(signal.SIGTERM)
            self._child.signal(signal.SIGCONT)
            with anyio.move_on_after(_GRACE):
                while not self.ended():
                    await anyio.sleep(_LOOK / 5)
        if not self._over:
            self._child.signal(signal.SIGKILL)
            while not self.ended():
                await anyio.sleep(_LOOK / 5)

    def _suspend(self, how: int) -> None:
        if self._terminal is not None and how == signal.SIGTSTP:  # the person typed Ctrl-Z
            _to_foreground(self._terminal, os.getpgrp())
            os.killpg(os.getpgrp(), signal.SIGTSTP)
        if how in (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU):  # it came before the terminal did
            self.lend()
            if self._terminal is not None:  # only where it stopped: this undoes a Ctrl-Z that just came
                self._child.signal(signal.SIGCONT)


@contextmanager
def _terminal() -> Iterator[int | None]:
    """The terminal of this process, where it is in its foreground; its settings and its foreground are put
    back in the end."""
    # A server that a program started speaks through pipes: the terminal is that program's, and in use.
    if not any(os.isatty(one) for one in (0, 1, 2)):
        yield None
        return
    try:
        terminal = os.open(_TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        yield None
        return
    try:
        own, settings = os.getpgrp(), _settings(terminal)
        if settings is None:
            yield None
            return
        try:
            yield terminal
        finally:
            _to_foreground(terminal, own)
            with suppress(OSError, termios.error):
                termios.tcsetattr(terminal, termios.TCSADRAIN, settings)
    finally:
        os.close(terminal)


def _settings(terminal: int) -> list[Any] | None:
    """How the terminal is set; None where it is not ours to lend: another job is in its foreground."""
    try:
        return termios.tcgetattr(terminal) if os.tcgetpgrp(terminal) == os.getpgrp() else None
    except (OSError, termios.error):  # it has hung up
        return None


def _to_foreground(terminal: int, group: int) -> None:
    """Give the terminal to a process group. Who does that from the background is stopped for it, unless the
    signal is blocked."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        with suppress(OSError, termios.error):  # the terminal is gone, or the group
            os.tcsetpgrp(terminal, group)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
