"""Child processes: an argument list, never a shell; own session; nothing outlives us; output capped."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, STDOUT
from typing import IO, Literal

import anyio
from anyio.abc import Process

from executor.core.errors import ToolError
from executor.sandbox.leash import GroupLeash, Leash, TreeLeash

Keep = Literal["head", "tail"]

_PR_SET_DUMPABLE = 4  # linux/prctl.h
_LAST_WORDS = 2.0  # seconds to read what is still in the pipes
_PIECE = 1 << 16  # bytes read at once
_GRACE = 0.3  # seconds between the polite signal and the final one
_FINAL = 8.0  # seconds a launcher has to end what it runs


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended: exit ``status`` (negative = killed by that signal) and its capped output."""

    status: int
    out: bytes
    err: bytes
    truncated: bool


async def run_command(
    argv: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    max_output: int,
    keep: Keep = "head",
    merged: bool = False,
    descriptors: Sequence[int] = (),
    alone: bool = False,
) -> Finished:
    """Run one command to its end. Nothing that it started is left then, nor when the surrounding scope is
    cancelled (what is killed is awaited), nor when this process is killed (Linux; elsewhere its group).

    Args:
        argv: program (an absolute path) and arguments; nothing is interpreted by a shell.
        cwd: the folder it runs in.
        environment: all the variables it sees; nothing is inherited.
        max_output: bytes kept of each of its two outputs; the rest is read and dropped.
        keep: which end of a longer output is kept.
        merged: both outputs in one, in the order they came.
        descriptors: open ones that it gets too, by the same numbers.
        alone: it starts nothing that leaves its group, and so needs no launcher (see ``leash``).

    Raises:
        ToolError: COMMAND_NOT_FOUND.
    """
    keep_to_ourselves()
    ended: list[Finished | ToolError] = []
    outputs = (_Capped(max_output, keep), _Capped(max_output, keep))

    async def live() -> None:
        try:
            ended.append(await _live(argv, cwd, environment, outputs, merged, descriptors, alone))
        except ToolError as problem:
            ended.append(problem)

    # In a task of its own: a cancel from outside anyio (Ctrl-C) ends this task at any await, shielded or not,
    # but reaches the tasks below it only through their scopes, which keep the shields.
    async with anyio.create_task_group() as below:
        below.start_soon(live)
    if isinstance(ended[0], ToolError):
        raise ended[0]
    return ended[0]


def keep_to_ourselves() -> None:
    """No other process of this user reads our variables, memory or open files from now on (Linux).

    A command that runs without bubblewrap would find them in /proc. The command itself is readable again:
    what it starts with is its own.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


async def _live(
    argv: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    outputs: tuple[_Capped, _Capped],
    merged: bool,
    descriptors: Sequence[int],
    alone: bool,
) -> Finished:
    out, err = outputs
    with (
        _pipe() as (out_end, out_start),
        _pipe() as (err_end, err_start),
        GroupLeash(argv) if alone else TreeLeash(argv, environment) as leash,
    ):
        try:
            # Shielded: a cancel between the fork and here would leave a process that nobody knows of.
            with anyio.CancelScope(shield=True):
                process = await anyio.open_process(
                    leash.argv,
                    stdin=DEVNULL,
                    stdout=out_start,
                    stderr=STDOUT if merged else err_start,
                    cwd=cwd,
                    env=dict(environment),
                    start_new_session=True,
                    pass_fds=(*descriptors, leash.theirs),
                )
                leash.holds(process.pid)
        except OSError as problem:
            raise _not_started(argv[0], problem.strerror) from problem
        out_start.close()
        err_start.close()
        try:
            async with anyio.create_task_group() as readers:
                readers.start_soon(out.drain, out_end)
                readers.start_soon(err.drain, err_end)
                await process.wait()
                # The command is done; a grandchild that still holds the pipe has no more say.
                _signal(process, signal.SIGKILL)
                readers.cancel_scope.deadline = anyio.current_time() + _LAST_WORDS
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process, leash)
        if (error := leash.refused()) is not None:
            raise _not_started(argv[0], os.strerror(error))
    return Finished(process.returncode or 0, out.end(), err.end(), out.truncated or err.truncated)


@contextmanager
def _pipe() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """A pipe of our own, reading end first: the event loop would keep one open that a stray process holds."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with os.fdopen(reading, "rb", 0) as end, os.fdopen(writing, "wb", 0) as start:
        yield end, start


class _Capped:
    def __init__(self, limit: int, keep: Keep) -> None:
        self.truncated = False
        self._kept = bytearray()
        self._limit = limit
        self._tail = keep == "tail"

    def end(self) -> bytes:
        return bytes(self._kept[-self._limit :] if self._tail else self._kept)

    async def drain(self, pipe: IO[bytes]) -> None:
        while True:
            await anyio.wait_readable(pipe)
            chunk = pipe.read(_PIECE)
            if chunk == b"":
                return
            if chunk:  # None where there is nothing to read after all
                self._take(chunk)

    def _take(self, chunk: bytes) -> None:
        room = self._limit - len(self._kept)
        self.truncated = self.truncated or len(chunk) > room
        self._kept += chunk if self._tail else chunk[:room]
        if len(self._kept) > 2 * self._limit:  # cut now and then, not with every piece
            del self._kept[: -self._limit]


def _not_started(program: str, why: str | None) -> ToolError:
    return ToolError("COMMAND_NOT_FOUND", f"{program} could not be started: {why}", fix="install it")


async def _end(process: Process, leash: Leash) -> None:
    if process.returncode is None and isinstance(leash, TreeLeash):
        leash.release()  # the launcher ends all it knows of, politely first
        _signal(process, signal.SIGCONT)  # what it runs may have stopped it
        with anyio.move_on_after(_FINAL):
            await process.wait()
    if process.returncode is None:
        _signal(process, signal.SIGTERM)
        with anyio.move_on_after(_GRACE):
            await process.wait()
    _signal(process, signal.SIGKILL)
    await process.wait()


def _signal(process: Process, which: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, which)
