"""Messages to and from a server's process: one line each, bounded both ways."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import (
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from mcl.catalog.streams import Reading, Stream
from mcl.catalog.upstream.faults import Fault, down, lied, slow, too_large
from mcl.catalog.upstream.lines import (
    MAX_ITEMS,
    MAX_LINE,
    MAX_PARTS,
    Lines,
    Overlong,
    count_parts,
    parse_message,
)
from mcl.catalog.upstream.process import ServerProcess
from mcl.catalog.upstream.watch import Watch

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

# Error codes that we put in the place of an answer that cannot be used; a server that sends them itself says
# no more than that of its answer.
LIED, TOO_LARGE = -32950, -32951

_PIECE: Final = 1 << 18  # bytes read at once
_MOST_WAITING: Final = 32 << 20  # bytes that wait for the server to read them
_STALLED_S: Final = 15.0  # seconds in which it must read something
_LAST_WORDS_S: Final = 0.3  # seconds to learn how a process ended that closed its output
_SKIPPED: Final = 4 * MAX_LINE  # bytes of one line after which it has no end


@asynccontextmanager
async def over_stdio(process: ServerProcess, watch: Watch) -> AsyncIterator[TransportStreams]:
    """The streams that the SDK's client speaks through."""
    writing = _Writing(process.stdin, watch)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(writing.flush)
        try:
            yield _Reading(process, watch), writing
        finally:
            tasks.cancel_scope.cancel()


class _Reading(Reading):
    """Reads only when somebody wants the next message, so that a server which floods fills its own pipe."""

    def __init__(self, process: ServerProcess, watch: Watch) -> None:
        self._process, self._watch = process, watch
        self._lines = Lines()
        self._waiting: deque[bytes | Overlong] = deque()

    async def receive(self) -> SessionMessage | Exception:
        """The next message that is one. Raises anyio.EndOfStream when the connection is over."""
        while not self._watch.ended.is_set():
            if not self._waiting:
                await self._read()
                continue
            line = self._waiting.popleft()
            if isinstance(line, bytes) and _intricate(line):
                line = Overlong(line[:512])
            message = self._overlong(line) if isinstance(line, Overlong) else self._message(line)
            if message is None:
                continue
            if isinstance(message, JSONRPCRequest | JSONRPCNotification):
                pause = self._watch.unasked(message.method, len(line) if isinstance(line, bytes) else 0)
                if pause:
                    await anyio.sleep(pause)
            return SessionMessage(message)
        raise anyio.EndOfStream

    async def _read(self) -> None:
        await anyio.wait_readable(self._process.stdout)
        try:
            chunk = os.read(self._process.stdout, _PIECE)
        except BlockingIOError:
            return
        if not chunk:
            self._watch.end(down(await self._process.ending(_LAST_WORDS_S)))
            return
        self._waiting.extend(self._lines.feed(chunk))
        if self._lines.skipped > _SKIPPED:
            self._watch.end(too_large(f"sent a line of more than {_SKIPPED >> 20} MiB without an end"))

    def _overlong(self, line: Overlong) -> JSONRPCMessage | None:
        said = f"a message is larger than {MAX_LINE >> 20} MiB, or has more than {MAX_PARTS:,} parts"
        if line.id is not None and self._watch.answered(line.id) == "awaited":
            return JSONRPCError(jsonrpc="2.0", id=line.id, error=ErrorData(code=TOO_LARGE, message=said))
        self._watch.end(too_large(f"sent too much: {said}, and does not begin as an answer to a call"))
        return None

    def _message(self, line: bytes) -> JSONRPCMessage | None:
        try:
            said = parse_message(line)
        except ValueError as problem:
            begun = ascii(line[:80].decode("utf-8", "replace"))
            self._watch.end(
                lied(f"wrote something to its output that is no JSON message ({problem}): {begun}")
            )
            return None
        message = _typed(said)
        id = said.get("id")
        if isinstance(message, JSONRPCRequest | JSONRPCNotification):
            return message
        if isinstance(id, bool) or not isinstance(id, int | str):
            if message is None or id is not None:
                self._watch.end(lied(f"sent a message that is none of JSON-RPC: {ascii(list(said))[:200]}"))
            return None  # an error about a request whose id it could not read; nothing waits for it
        standing = self._watch.answered(id)
        if standing == "unknown":
            self._watch.end(lied(f"answered a call that nobody made (id {ascii(id)[:80]})"))
            return None
        if standing == "late":
            return None
        if message is None:
            error = ErrorData(code=LIED, message="its answer is none of JSON-RPC")
            return JSONRPCError(jsonrpc="2.0", id=id, error=error)
        return message


class _Writing(Stream):
    """Writes at once what fits into the pipe; the rest waits in order, bounded, for a task of its own.

    So a caller who gives up leaves no half message behind.
    """

    def __init__(self, pipe: int, watch: Watch) -> None:
        self._pipe, self._watch = pipe, watch
        self._waiting: deque[memoryview] = deque()
        self._size = 0
        self._more, self._less = anyio.Event(), anyio.Event()

    async def send(self, item: SessionMessage, /) -> None:
        """Hand over one message.

        Raises:
            anyio.BrokenResourceError: the connection is over.
        """
        while self._size > _MOST_WAITING and not self._watch.ended.is_set():
            await self._less.wait()
        if self._watch.ended.is_set():
            raise anyio.BrokenResourceError
        self._watch.sent(item.message)
        line = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        rest = memoryview(line)
        if not self._waiting:
            rest = rest[self._write(rest) :]
        if rest:
            self._waiting.append(rest)
            self._size += len(rest)
            self._more.set()

    async def flush(self) -> None:
        """Write what waits, for as long as the connection lasts."""
        while not self._watch.ended.is_set():
            if not self._waiting:
                self._more = anyio.Event()
                await self._more.wait()
            with anyio.move_on_after(_STALLED_S) as patience:
                await anyio.wait_writable(self._pipe)
            if patience.cancelled_caught:
                self._watch.end(slow(f"read nothing of what it was sent for {_STALLED_S:.0f} s"))
                break
            written = self._write(self._waiting[0])
            self._size -= written
            self._waiting[0] = self._waiting[0][written:]
            if not self._waiting[0]:
                self._waiting.popleft()
            self._less.set()
            self._less = anyio.Event()
        self._less.set()

    def _write(self, data: memoryview) -> int:
        try:
            return os.write(self._pipe, data)
        except BlockingIOError:
            return 0
        except OSError as problem:
            self._watch.end(_gone(problem))
            return len(data)


def _intricate(line: bytes) -> bool:
    parts, items = count_parts(line)
    return parts > MAX_PARTS or items > MAX_ITEMS


def _gone(problem: OSError) -> Fault:
    return down(f"reads no more: {problem.strerror}")


def _typed(said: dict[str, Any]) -> JSONRPCMessage | None:
    """The message as the SDK's type, None where it is none. Checked here: the SDK would copy all of it."""
    id, method, params = said.get("id"), said.get("method"), said.get("params")
    if said.get("jsonrpc") != "2.0":
        return None
    if method is not None:
        if not isinstance(method, str) or not (params is None or isinstance(params, dict)):
            return None
        told: dict[str, Any] = {"params": params} if params is not None else {}
        if "id" not in said:
            return JSONRPCNotification.model_construct(jsonrpc="2.0", method=method, **told)
        if isinstance(id, bool) or not isinstance(id, int | str):
            return None
        return JSONRPCRequest.model_construct(jsonrpc="2.0", id=id, method=method, **told)
    if isinstance(id, bool) or not isinstance(id, int | str | None):
        return None
    result, error = said.get("result"), said.get("error")
    if isinstance(error, dict) and "result" not in said:
        code, message = error.get("code"), error.get("message")
        if isinstance(code, bool) or not isinstance(code, int) or not isinstance(message, str):
            return None
        data = ErrorData(code=code, message=message, data=error.get("data"))
        return JSONRPCError(jsonrpc="2.0", id=id, error=data)
    if isinstance(result, dict) and error is None and id is not None:
        return JSONRPCResponse.model_construct(jsonrpc="2.0", id=id, result=result)
    return None
