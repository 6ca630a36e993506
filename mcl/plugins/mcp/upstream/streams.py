"""Messages as lines over a pipe, bounded both ways: what lies below every connection that is no HTTP.

The SDK's own stdio transports take lines of any length and start the process themselves, without the tie
that ends it with us. These two read and write descriptors that somebody else opened.
"""

from __future__ import annotations

import math
import os
import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

import anyio
import anyio.lowlevel

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage

MAX_LINE: Final = 16 << 20  # bytes of one message
ENDLESS: Final = 4 * MAX_LINE  # bytes of one line after which it has no end
MOST_WAITING: Final = 32 << 20  # bytes that wait for the other side to read them
_PIECE: Final = 1 << 18  # bytes read at once
_HEAD: Final = 512  # bytes kept of a line that is too long
_BLANK: Final = b" \t\r"
_ID: Final = re.compile(
    rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(?:(\d{1,18})|"([^"\\]{1,80})")\s*,'
)


class Stream:
    """A stream that is closed when it is left. The SDK asks this of whatever it reads or writes."""

    async def aclose(self) -> None:
        """Nothing: what lies below belongs to whoever opened it."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class MessageReader(Stream):
    """A stream that is read message by message until it ends."""

    async def receive(self) -> SessionMessage | Exception:
        """The next message. Raises anyio.EndOfStream where there is none any more."""
        raise anyio.EndOfStream

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None


@dataclass(frozen=True, slots=True)
class Overlong:
    """A line beyond the limit; the rest of it is thrown away as it comes. head: how it began."""

    head: bytes

    @property
    def id(self) -> int | str | None:
        """The id that the message begins with, where it does."""
        found = _ID.match(self.head)
        if found is None:
            return None
        return int(found[1]) if found[1] else found[2].decode("utf-8", "replace")


class LineSplitter:
    """Cuts what comes into lines. Between two calls it holds at most ``limit`` bytes."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._held: list[bytes] = []
        self._size = 0
        self._skipping = False
        self.skipped = 0  # bytes thrown away of the line that is too long, so far

    @property
    def rest(self) -> bytes:
        """What came after the last end of a line."""
        return b"".join(self._held)

    def feed(self, chunk: bytes) -> list[bytes | Overlong]:
        """The lines that end in this chunk, without their ends, blank ones left out; and lines that become
        too long in it."""
        found: list[bytes | Overlong] = []
        begin = 0
        while True:
            end = chunk.find(b"\n", begin)
            piece = chunk[begin : end if end >= 0 else len(chunk)]
            if self._skipping:
                self.skipped += len(piece)
                self._skipping = end < 0
            elif self._size + len(piece) > self._limit:
                head = b"".join([*self._held, piece[:_HEAD]])[:_HEAD]
                found.append(Overlong(head))
                self._held, self._size = [], 0
                self._skipping, self.skipped = end < 0, len(piece)
            elif end < 0:
                if piece:
                    self._held.append(piece)
                    self._size += len(piece)
            else:
                line = b"".join([*self._held, piece])
                self._held, self._size = [], 0
                if line.strip(_BLANK):
                    found.append(line)
            if end < 0:
                return found
            begin = end + 1


class LineReader:
    """The lines that come over a descriptor.

    It reads only when somebody wants the next line, so that whoever floods fills their own pipe and not our
    memory.
    """

    def __init__(self, descriptor: int, limit: int = MAX_LINE) -> None:
        self._descriptor = descriptor
        self._lines = LineSplitter(limit)
        self._waiting: deque[bytes | Overlong] = deque()
        self.rest = b""  # at the end: a last line that nobody ended

    async def line(self) -> bytes | Overlong:
        """The next line that is not blank, without its end.

        Raises:
            anyio.EndOfStream: the other side has closed it.
            anyio.DelimiterNotFound: a line does not end.
        """
        if self._waiting:
            # Several lines came at once. Whoever handles one begins before the next is told: an
            # answer does not overtake what the server logged of its call.
            await anyio.lowlevel.checkpoint()
        while not self._waiting:
            try:
                await anyio.wait_readable(self._descriptor)
            except PermissionError:  # an ordinary file: an event loop cannot wait for it, and need not
                await anyio.lowlevel.checkpoint()
            try:
                chunk = os.read(self._descriptor, _PIECE)
            except BlockingIOError:
                continue
            except OSError:  # the other side is gone in a way that is no end of file
                chunk = b""
            if not chunk:
                self.rest = self._lines.rest
                raise anyio.EndOfStream
            self._waiting.extend(self._lines.feed(chunk))
            if not self._waiting and self._lines.skipped > ENDLESS:
                raise anyio.DelimiterNotFound(ENDLESS)
        return self._waiting.popleft()


class LineWriter(Stream):
    """Writes each message as a line: at once what fits into the pipe, the rest in order by ``flush``, a task
    of its own. So a caller who gives up leaves no half message behind.

    Args:
        descriptor: one that does not block, or an ordinary file or terminal.
        most: bytes that may wait before ``send`` does; 0: it waits until all is written.
        patience_s: seconds in which the other side must read something.
        lost: is told, once, why nothing can be written any more; TimeoutError where patience ran out.
    """

    def __init__(
        self,
        descriptor: int,
        *,
        most: int = MOST_WAITING,
        patience_s: float = math.inf,
        lost: Callable[[OSError], None] = lambda problem: None,
    ) -> None:
        self._descriptor, self._most, self._patience_s, self._lost = descriptor, most, patience_s, lost
        self._waiting: deque[memoryview] = deque()
        self._size = 0
        self._over = False
        self._more, self._less = anyio.Event(), anyio.Event()

    async def send(self, item: SessionMessage, /) -> None:
        """Hand over one message.

        Raises:
            anyio.BrokenResourceError: nothing can be written any more.
        """
        if not self._over:
            line = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
            rest = memoryview(line)
            if not self._waiting:
                rest = rest[self._write(rest) :]
            if rest:
                self._waiting.append(rest)
                self._size += len(rest)
                self._more.set()
        while self._size > self._most and not self._over:
            await self._less.wait()
        if self._over:
            raise anyio.BrokenResourceError

    async def flush(self) -> None:
        """Write what waits, for as long as anything can be written."""
        try:
            while not self._over:
                if not self._waiting:
                    self._more = anyio.Event()
                    await self._more.wait()
                with anyio.move_on_after(self._patience_s) as patience:
                    await anyio.wait_writable(self._descriptor)
                if patience.cancelled_caught:
                    self._end(TimeoutError())
                    return
                written = self._write(self._waiting[0])
                self._size -= written
                self._waiting[0] = self._waiting[0][written:]
                if not self._waiting[0]:
                    self._waiting.popleft()
                self._less.set()
                self._less = anyio.Event()
        finally:
            self._over = True
            self._less.set()

    def _write(self, data: memoryview) -> int:
        try:
            return os.write(self._descriptor, data)
        except BlockingIOError:
            return 0
        except OSError as problem:
            self._end(problem)
            return len(data)

    def _end(self, problem: OSError) -> None:
        if not self._over:
            self._over = True
            self._less.set()
            self._lost(problem)
