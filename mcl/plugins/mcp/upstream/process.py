"""The process of a server: its own session, only its own variables, and gone when we are."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import anyio

from executor.sandbox.child import Child, TreeLeash, start
from executor.sandbox.process import end, ended
from executor.sandbox.redaction import Redactor
from mcl.catalog.servers import REFERENCE, Server
from mcl.plugins.mcp.upstream.answers import FaultError, down

_WORDS: Final = 4096  # bytes kept of what it says on its standard error, the last ones
_PIECE: Final = 1 << 16  # bytes read at once
_POLITE_S: Final = 1.0  # seconds it has to end by itself once its input is closed


class ServerProcess:
    """A running server. stdin, stdout: our ends of its pipes, which do not block."""

    def __init__(self, child: Child, stdin: int, stdout: int, stderr: int) -> None:
        self.stdin, self.stdout = stdin, stdout
        self._child, self._stderr = child, stderr
        self._words = bytearray()
        self._said_all = anyio.Event()

    @property
    def pid(self) -> int:
        """Of the process that holds it and all it starts."""
        return self._child.pid

    @property
    def words(self) -> str:
        """The end of what it said on its standard error."""
        return self._words.decode("utf-8", "replace")

    async def ending(self, within_s: float) -> str:
        """How it ended, in words, where it does within so many seconds; its last words are read then."""
        with anyio.move_on_after(within_s):
            await ended(self._child)
            await self._said_all.wait()
        status = self._child.status
        if status is None:
            return "closed its output"
        if status < 0:
            return f"ended by signal {-status}"
        return "ended" if status == 0 else f"ended with status {status}"

    async def listen(self) -> None:
        """Read what it says on its standard error, for as long as it does."""
        try:
            while True:
                await anyio.wait_readable(self._stderr)
                try:
                    said = os.read(self._stderr, _PIECE)
                except BlockingIOError:
                    continue
                if not said:
                    return
                self._words = (self._words + said)[-_WORDS:]
        except OSError:
            return
        finally:
            self._said_all.set()

    async def end(self) -> None:
        """End it with everything it started. To be called once, in a shielded scope."""
        try:
            _close(self.stdin)
            with anyio.move_on_after(_POLITE_S):
                await ended(self._child)
        finally:  # whatever interrupts this: without us the launcher ends all of it
            self._child.leash.release()
        await end(self._child)

    def release(self) -> None:
        """Close what is left of its pipes; nobody reads them any more."""
        _close(self.stdout)
        _close(self._stderr)


@asynccontextmanager
async def running(
    command: tuple[str, ...], folder: str, environment: Mapping[str, str]
) -> AsyncIterator[ServerProcess]:
    """Start a server, and end it at the end.

    Args:
        command: the program (looked up on the PATH of its own environment) and its arguments; no shell.
        folder: where it runs. environment: all the variables it gets.

    Raises:
        FaultError: SERVER_DOWN, it could not be started.
    """
    program = find_program(command[0], folder, environment)
    process = _start([program, *command[1:]], folder, environment)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(process.listen)
            try:
                yield process
            finally:
                with anyio.CancelScope(shield=True):
                    await process.end()
                tasks.cancel_scope.cancel()
    finally:
        process.release()


def find_program(name: str, folder: str, environment: Mapping[str, str]) -> str:
    """Where a program is.

    Raises:
        FaultError: SERVER_DOWN.
    """
    place = environment.get("PATH", os.defpath)
    looked = str(Path(folder, name)) if os.sep in name else name
    found = shutil.which(looked, path=place)
    if found is None:
        where = f"in {place}" if os.sep not in name else "there"
        raise FaultError(
            down(
                f"cannot be started: there is no program {name} {where}",
                "install it, or enter the server again with the whole path of its program",
            )
        )
    return str(Path(folder, found))


def _start(argv: list[str], folder: str, environment: Mapping[str, str]) -> ServerProcess:
    opened: list[int] = []

    def pipe() -> tuple[int, int]:
        ends = os.pipe()
        opened.extend(ends)
        return ends

    try:
        (in_, stdin), (stdout, out), (stderr, err) = pipe(), pipe(), pipe()
        leash = TreeLeash(argv, environment, raises=True)
        child = start(leash, cwd=folder, environment=environment, stdin=in_, stdout=out, stderr=err)
    except OSError as problem:
        for one in opened:
            _close(one)
        raise FaultError(down(f"cannot be started in {folder}: {problem.strerror}")) from problem
    for one in (in_, out, err):
        _close(one)
    for one in (stdin, stdout, stderr):
        os.set_blocking(one, False)
    return ServerProcess(child, stdin, stdout, stderr)


def _close(end: int) -> None:
    with suppress(OSError):
        os.close(end)


# ---- The values of an entry with its variables filled in, and which of them nobody may see.

_SHORTEST: Final = 8  # characters; shorter values would black out ordinary words
# Variables of every environment whose values are no secrets, and stand in many honest answers.
_PLAIN: Final = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TZ", "PWD", "TMPDIR"}
)


def filled(values: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """The values with every ``$env:NAME`` in them replaced.

    Raises:
        FaultError: SERVER_DOWN, a variable is not set, or has a value that nothing can be given.
    """
    found: dict[str, str] = {}
    for name, value in values.items():
        for reference in REFERENCE.findall(value):
            if reference not in variables:
                raise FaultError(
                    down(
                        f"cannot be started: its {name} is taken from {reference}, which is not set",
                        f"set {reference} where mcl runs",
                    )
                )
        found[name] = REFERENCE.sub(lambda one: variables[one[1]], value)
        if "\0" in found[name]:
            raise FaultError(down(f"cannot be started: its {name} holds a zero byte"))
    return found


def redactor_of(server: Server, variables: Mapping[str, str]) -> Redactor:
    """Takes the shapes of secrets, and what this server was given, out of what it says."""
    given = {
        variables[name]
        for values in (server.environment, server.headers)
        for value in values.values()
        for name in REFERENCE.findall(value)
        if name not in _PLAIN and len(variables.get(name, "")) >= _SHORTEST
    }
    return Redactor(credentials={value for value in given if not value.startswith("/")})


def gives_secrets(server: Server) -> bool:
    """Does a server get anything of our environment that it could give away?"""
    return any(
        name not in _PLAIN
        for values in (server.environment, server.headers)
        for value in values.values()
        for name in REFERENCE.findall(value)
    )
