"""Standard input and output as a connection: a message a line, and nothing else ever on the output.

The SDK's own transport hands every line to a thread and takes lines of any length; the lines below this one
are bounded, and what is no message is answered.
"""

from __future__ import annotations

import os
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import mcp_types as types
from anyio import BrokenResourceError, DelimiterNotFound, EndOfStream, create_task_group
from mcp.shared.message import SessionMessage
from pydantic import ValidationError
from pydantic_core import from_json

from mcl.plugins.mcp.upstream.streams import MAX_LINE, LineReader, LineWriter, MessageReader, Overlong


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
