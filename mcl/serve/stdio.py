"""Standard input and output as a connection: a message a line, and nothing else ever on the output.

The SDK's own transport hands every line to a thread and takes lines of any length; the lines below this one
are bounded, and what is no message is answered.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import mcp_types as types
from anyio import BrokenResourceError, DelimiterNotFound, EndOfStream, create_task_group
from mcp.shared.message import SessionMessage
from pydantic import ValidationError
from pydantic_core import from_json

from mcl.core.errors import McpError
from mcl.upstream.streams import MAX_LINE, LineReader, LineWriter, MessageReader, Overlong

# ---- This process's standard input and output, kept to the protocol.


@contextmanager
def claimed() -> Iterator[tuple[int, int]]:
    """Keep this process's input and output to the protocol, from before anything else is loaded.

    Gives their descriptors. For the rest of the process whatever reads standard input finds its end, and
    whatever is written to standard output, by a library or by a child, goes to standard error.

    Raises:
        McpError: NO_STANDARD_STREAMS.
    """
    try:
        incoming, outgoing = os.dup(0), os.dup(1)
    except OSError as problem:
        raise McpError(
            "NO_STANDARD_STREAMS",
            "standard input or output is closed",
            fix="start it as a client does, with pipes, or use --http",
        ) from problem
    for own in (incoming, outgoing):
        os.set_inheritable(own, False)
    sys.stdout.flush()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    try:
        os.dup2(2, 1)
    except OSError:  # no standard error either
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.close(nothing)
    try:
        yield incoming, outgoing
    finally:  # what is printed until the process ends is no message either: nothing is given back
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os.close(incoming)
        os.close(outgoing)


# ---- Standard input and output as a connection: a message a line, and nothing else ever on the output.
#
# The SDK's own transport hands every line to a thread and takes lines of any length; the lines below this
# one are bounded, and what is no message is answered.


@asynccontextmanager
async def connected(incoming: int, outgoing: int) -> AsyncIterator[tuple[Incoming, LineWriter]]:
    """The two descriptors as the SDK's streams."""
    pipes = [one for one in (incoming, outgoing) if _is_pipe(one)]  # no terminal: its shell has it too
    for one in pipes:
        os.set_blocking(one, False)
    sink = LineWriter(outgoing, most=0)
    try:
        async with create_task_group() as tasks:
            tasks.start_soon(sink.flush)
            yield Incoming(LineReader(incoming), sink), sink
            tasks.cancel_scope.cancel()
    finally:
        for one in pipes:
            with suppress(OSError):
                os.set_blocking(one, True)


class Incoming(MessageReader):
    """Where messages come from, until the input ends."""

    def __init__(self, lines: LineReader, answers: LineWriter) -> None:
        self._lines, self._answers = lines, answers
        self._ended = False

    async def receive(self) -> SessionMessage:
        """The next message; what is none is answered as JSON-RPC has it. Raises anyio.EndOfStream where the
        input ends."""
        while True:
            line = await self._line()
            if isinstance(line, Overlong):
                await self._refuse(types.INVALID_REQUEST, f"a message has {MAX_LINE} bytes at most")
                continue
            if not line.strip():
                continue
            try:
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                if not isinstance(message, types.JSONRPCNotification) or "id" not in from_json(line):
                    return SessionMessage(message)
                # A request whose id is no id would pass for a notification, and its client wait for ever.
                await self._refuse(
                    types.INVALID_REQUEST, "Invalid request: an id is a text or a whole number"
                )
            except ValidationError as problem:
                if problem.errors(include_url=False)[0]["type"] == "json_invalid":
                    await self._refuse(types.PARSE_ERROR, "Parse error: the line is no JSON")
                else:
                    await self._refuse(types.INVALID_REQUEST, "Invalid request: no JSON-RPC 2.0 message")

    async def _line(self) -> bytes | Overlong:
        """The next line, the last of which nobody need have ended. Raises anyio.EndOfStream."""
        if self._ended:
            raise EndOfStream
        try:
            return await self._lines.line()
        except DelimiterNotFound:
            raise EndOfStream from None  # nobody waits for the answer to a line that does not end
        except EndOfStream:
            self._ended = True
            return self._lines.rest

    async def _refuse(self, code: int, message: str) -> None:
        error = types.JSONRPCError(jsonrpc="2.0", id=None, error=types.ErrorData(code=code, message=message))
        with suppress(BrokenResourceError):
            await self._answers.send(SessionMessage(error))


def _is_pipe(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
