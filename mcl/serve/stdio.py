"""Standard input and output as a connection: a message a line, and nothing else ever on the output.

The SDK's own transport hands every line to a thread and takes lines of any length; this one reads and writes
pipes from the event loop, within bounds, and answers a line that is no message.
"""

from __future__ import annotations

import asyncio
import os
import stat
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import mcp_types as types
from anyio import BrokenResourceError, EndOfStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError
from pydantic_core import from_json

from mcl.catalog.streams import MessageReader, Stream

LONGEST: Final = 16 << 20  # bytes of a message
_CHUNK: Final = 1 << 16
_MESSAGE: Final = types.jsonrpc_message_adapter


@asynccontextmanager
async def connected(incoming: int, outgoing: int) -> AsyncIterator[tuple[Incoming, Outgoing]]:
    """The two descriptors as the SDK's streams."""
    loop = asyncio.get_running_loop()
    lines = asyncio.StreamReader(limit=LONGEST)
    closing: list[asyncio.BaseTransport] = []
    if _is_pipe(incoming):
        source = os.fdopen(os.dup(incoming), "rb", buffering=0)
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), source)
        closing.append(transport)
    else:  # a file or a terminal, which an event loop cannot wait for
        threading.Thread(target=_pump, args=(incoming, lines, loop), daemon=True).start()
    writer: asyncio.StreamWriter | None = None
    if _is_pipe(outgoing):
        target = os.fdopen(os.dup(outgoing), "wb", buffering=0)
        out, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, target)
        writer = asyncio.StreamWriter(out, protocol, None, loop)
        closing.append(out)
    sink = Outgoing(outgoing, writer)
    try:
        yield Incoming(lines, sink), sink
    finally:
        for one in closing:
            one.close()
        with suppress(OSError):
            os.set_blocking(incoming, True)
            os.set_blocking(outgoing, True)


class Outgoing(Stream):
    """Where messages go."""

    def __init__(self, descriptor: int, writer: asyncio.StreamWriter | None) -> None:
        self._descriptor, self._writer = descriptor, writer

    async def send(self, item: SessionMessage) -> None:
        """Write one message. Raises BrokenResourceError where nobody reads any more."""
        line = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        try:
            if self._writer is not None:
                self._writer.write(line)
                await self._writer.drain()
                return
            left = memoryview(line)
            while left:
                left = left[os.write(self._descriptor, left) :]
        except (OSError, RuntimeError) as problem:
            raise BrokenResourceError from problem


class Incoming(MessageReader):
    """Where messages come from, until the input ends."""

    def __init__(self, lines: asyncio.StreamReader, answers: Outgoing) -> None:
        self._lines, self._answers = lines, answers

    async def receive(self) -> SessionMessage:
        """The next message; what is none is answered as JSON-RPC has it. Raises anyio.EndOfStream where the
        input ends."""
        while True:
            line = await self._line()
            if line is None:
                await self._refuse(types.INVALID_REQUEST, f"a message has {LONGEST} bytes at most")
                continue
            if not line:
                raise EndOfStream
            if not line.strip():
                continue
            try:
                message = _MESSAGE.validate_json(line, by_name=False)
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

    async def _line(self) -> bytes | None:
        """A line, b"" at the end, None for one that was too long."""
        try:
            return await self._lines.readuntil(b"\n")
        except asyncio.IncompleteReadError as end:
            return end.partial
        except asyncio.LimitOverrunError as problem:
            await self._lines.readexactly(problem.consumed)
        except (OSError, ValueError):  # the other side is gone in a way that is no end of file
            return b""
        while True:
            try:
                await self._lines.readuntil(b"\n")
                return None
            except asyncio.LimitOverrunError as problem:
                await self._lines.readexactly(problem.consumed)
            except (asyncio.IncompleteReadError, OSError):
                return b""

    async def _refuse(self, code: int, message: str) -> None:
        error = types.JSONRPCError(jsonrpc="2.0", id=None, error=types.ErrorData(code=code, message=message))
        with suppress(BrokenResourceError):
            await self._answers.send(SessionMessage(error))


def _is_pipe(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _pump(descriptor: int, lines: asyncio.StreamReader, loop: asyncio.AbstractEventLoop) -> None:
    """Read in a thread of its own, which nobody waits for."""
    with suppress(RuntimeError):  # the loop has ended meanwhile
        while True:
            try:
                data = os.read(descriptor, _CHUNK)
            except OSError:
                data = b""
            if not data:
                loop.call_soon_threadsafe(lines.feed_eof)
                return
            loop.call_soon_threadsafe(lines.feed_data, data)
