"""Child processes, awaited: a command run to its end, nothing of it left behind, its output capped."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

import anyio

from executor.core.errors import ToolError
from executor.sandbox.child import NOTHING, WITH_OUTPUT, Child, GroupLeash, TreeLeash, start

Keep = Literal["head", "tail"]

_LAST_WORDS = 2.0  # seconds to read what is still in the pipes
_PIECE = 1 << 16  # bytes read at once
_LOOK = 0.02  # seconds between two looks at whether it has ended, where the kernel does not tell
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
    said: bytes = b"",
    seconds: float | None = None,
    told: Callable[[bytes], None] | None = None,
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
        alone: it starts nothing that leaves its group, and so needs no launcher (see ``child``).
        said: what it reads from its standard input.
        seconds: it has so long; None: as long as the surrounding scope lets it.
        told: is given its output as it comes, all of it.

    Raises:
        ToolError: COMMAND_NOT_FOUND.
        TimeoutError: it took longer.
    """
    ended: list[Finished | ToolError] = []
    outputs = (_Capped(max_output, keep, told), _Capped(max_output, keep))

    async def live() -> None:
        try:
            ended.append(await _live(argv, cwd, environment, outputs, merged, descriptors, alone, said))
        except ToolError as problem:
            ended.append(problem)

    # In a task of its own: a cancel from outside anyio (Ctrl-C) ends this task at any await, shielded or not,
    # but reaches the tasks below it only through their scopes, which keep the shields.
    with anyio.fail_after(seconds):
        async with anyio.create_task_group() as below:
            below.start_soon(live)
    if isinstance(ended[0], ToolError):
        raise ended[0]
    return ended[0]


async def _live(
    argv: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    outputs: tuple[_Capped, _Capped],
    merged: bool,
    descriptors: Sequence[int],
    alone: bool,
    said: bytes,
) -> Finished:
    out, err = outputs
    with (
        _pipe() as (out_end, out_start),
        _pipe() as (err_end, err_start),
        _readable(said) as stdin,
        GroupLeash(argv) if alone else TreeLeash(argv, environment) as leash,
    ):
        try:
            child = start(
                leash,
                cwd=cwd,
                environment=environment,
                stdin=stdin,
                stdout=out_start,
                stderr=WITH_OUTPUT if merged else err_start,
                descriptors=descriptors,
            )
        except OSError as problem:
            raise not_started(argv[0], problem.strerror) from problem
        out_start.close()
        err_start.close()
        try:
            async with anyio.create_task_group() as readers:
                readers.start_soon(out.drain, out_end)
                readers.start_soon(err.drain, err_end)
                await ended(child)
                # The command is done; a grandchild that still holds the pipe has no more say.
                child.signal(signal.SIGKILL)
                readers.cancel_scope.deadline = anyio.current_time() + _LAST_WORDS
        finally:
            with anyio.CancelScope(shield=True):
                await end(child)
        if (error := leash.refused()) is not None:
            raise not_started(argv[0], os.strerror(error))
    return Finished(child.status or 0, out.end(), err.end(), out.truncated or err.truncated)


async def ended(child: Child) -> int:
    """Its exit status (negative: the signal that ended it), as soon as it has one."""
    told = _ending(child)
    try:
        while (status := child.status) is None:
            await (anyio.sleep(_LOOK) if told is None else anyio.wait_readable(told))
    finally:
        if told is not None:
            os.close(told)
    return status


def _ending(child: Child) -> int | None:
    """A descriptor that can be read once the child has ended (Linux); None where there is none."""
    if sys.platform != "linux":
        return None
    try:
        return os.pidfd_open(child.pid)
    except OSError:  # a kernel before 5.3, or a sandbox around us that does not know it
        return None


async def end(child: Child) -> None:
    """End a child with all that hangs on its leash, and await it: politely first, then for good. To be
    called in a shielded scope."""
    if child.status is None and isinstance(child.leash, TreeLeash):
        child.leash.release()  # the launcher ends all it knows of, politely first
        child.signal(signal.SIGCONT)  # what it runs may have stopped it
        with anyio.move_on_after(_FINAL):
            await ended(child)
    if child.status is None:
        child.signal(signal.SIGTERM)
        with anyio.move_on_after(_GRACE):
            await ended(child)
    child.signal(signal.SIGKILL)
    await ended(child)


def not_started(program: str, why: str | None) -> ToolError:
    """The error of a program that cannot be started."""
    return ToolError(
        "COMMAND_NOT_FOUND", f"{program} could not be started: {why}", place=program, fix="install it"
    )


@contextmanager
def _readable(said: bytes) -> Iterator[IO[bytes] | int]:
    """What is to be read, as a file without a name: a pipe would have to be written to meanwhile."""
    if not said:
        yield NOTHING
        return
    import tempfile  # here: hardly any command reads something

    with tempfile.TemporaryFile() as file:
        file.write(said)
        file.seek(0)
        yield file


@contextmanager
def _pipe() -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """A pipe of our own, reading end first: the event loop would keep one open that a stray process holds."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with os.fdopen(reading, "rb", 0) as end, os.fdopen(writing, "wb", 0) as start:
        yield end, start


class _Capped:
    def __init__(self, limit: int, keep: Keep, told: Callable[[bytes], None] | None = None) -> None:
        self.truncated = False
        self._told = told
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
                if self._told is not None:
                    self._told(chunk)

    def _take(self, chunk: bytes) -> None:
        room = self._limit - len(self._kept)
        self.truncated = self.truncated or len(chunk) > room
        self._kept += chunk if self._tail else chunk[:room]
        if len(self._kept) > 2 * self._limit:  # cut now and then, not with every piece
            del self._kept[: -self._limit]
