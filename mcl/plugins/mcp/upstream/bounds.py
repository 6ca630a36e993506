"""What one connection is held to: the bounding stream between the SDK's client and whichever transport.

It looks at every message: ids that were never given, floods, what the server asks for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, Literal, Protocol

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest

from mcl.plugins.mcp.upstream.answers import Fault, down, lied
from mcl.plugins.mcp.upstream.streams import MessageReader, Stream

BURST: Final = 1000  # messages of a server that nobody asked for, at once
RATE: Final = 500.0  # and a second
WEIGHT: Final = 4096  # bytes of one that count as another
MOST_EXCESS: Final = 5000  # of them beyond the rate, and the connection ends
_REMEMBERED: Final = 1000  # ids that are texts
_ASKS: Final = frozenset({"elicitation/create", "sampling/createMessage", "roots/list"})

Standing = Literal["awaited", "late", "unknown"]


class ConnectionWatch:
    """What one connection is held to. ``ended`` is set when it is over; ``fault`` says why, the first reason.

    Args:
        clock: gives seconds that never go back. asked: is told what the server asks of its client.
    """

    def __init__(self, clock: Callable[[], float], asked: Callable[[str], None]) -> None:
        self.fault: Fault | None = None
        self.ended = anyio.Event()
        self.excess = 0
        self._clock, self._asked = clock, asked
        self._awaited: set[int | str] = set()
        self._highest = 0
        self._texts: deque[str] = deque(maxlen=_REMEMBERED)
        self._room, self._at = float(BURST), clock()

    def end(self, fault: Fault) -> None:
        """The connection is over for this reason; a second reason changes nothing."""
        if self.fault is None:
            self.fault = fault
        self.ended.set()

    def sent(self, message: JSONRPCMessage) -> None:
        """Something went out to the server."""
        method, id = getattr(message, "method", None), getattr(message, "id", None)
        if method is not None and id is not None:
            self._awaited.add(id)
            if isinstance(id, int):
                self._highest = max(self._highest, id)
            else:
                self._texts.append(id)
        elif method == "notifications/cancelled":
            params = getattr(message, "params", None) or {}
            self._awaited.discard(params.get("requestId", ""))

    def awaits(self, id: int | str) -> bool:
        """Is an answer of this id waited for?"""
        return _key(id) in self._awaited

    def answered(self, id: int | str) -> Standing:
        """An answer came: to a request that waits for it, to an earlier one, or to none that ever was."""
        key = _key(id)
        if key in self._awaited:
            self._awaited.discard(key)
            return "awaited"
        known = 0 < key <= self._highest if isinstance(key, int) else key in self._texts
        return "late" if known else "unknown"

    def unasked(self, method: str, size: int = 0) -> float:
        """A notification or request of the server came. Gives seconds to wait before the next is read.

        Beyond a rate the server is read no faster than that, so that its pipe fills and not our memory; the
        connection of one that goes on and on ends.
        """
        if method in _ASKS:
            self._asked(method)
        now = self._clock()
        self._room = min(float(BURST), self._room + (now - self._at) * RATE) - 1 - size / WEIGHT
        self._at = now
        if self._room >= 0:
            return 0.0
        self.excess += 1
        if self.excess > MOST_EXCESS:
            self.end(
                lied(f"sent more than {MOST_EXCESS} messages that nobody asked for, faster than {RATE:.0f}/s")
            )
        return -self._room / RATE


def _key(id: int | str) -> int | str:
    """An id as we gave it: a server may send a number back as a text."""
    return int(id) if isinstance(id, str) and id.isascii() and id.isdigit() and len(id) < 19 else id


# ---- The bounding stream: it lies between the SDK's client and either transport.


class _Source(Protocol):
    async def receive(self) -> SessionMessage | Exception: ...
    async def aclose(self) -> None: ...


class _Sink(Protocol):
    async def send(self, item: SessionMessage, /) -> None: ...
    async def aclose(self) -> None: ...


class BoundedReading(MessageReader):
    """What a server says, as far as its watch lets it through. size: gives the bytes of the last message."""

    def __init__(self, inner: _Source, watch: ConnectionWatch, size: Callable[[], int] = lambda: 0) -> None:
        self._inner, self._watch, self._size = inner, watch, size

    async def receive(self) -> SessionMessage | Exception:
        """The next message that is to be looked at. Raises anyio.EndOfStream when the connection is over."""
        while not self._watch.ended.is_set():
            try:
                item = await self._inner.receive()
            except (anyio.EndOfStream, anyio.ClosedResourceError):
                self._watch.end(down("closed the connection"))
                break
            if isinstance(item, Exception):
                return item
            message = item.message
            if isinstance(message, JSONRPCRequest | JSONRPCNotification):
                pause = self._watch.unasked(message.method, self._size())
                if pause:
                    await anyio.sleep(pause)
                return item
            if message.id is None:
                continue  # an error about a request whose id it could not read; nothing waits for it
            standing = self._watch.answered(message.id)
            if standing == "awaited":
                return item
            if standing == "unknown":
                self._watch.end(lied(f"answered a call that nobody made (id {ascii(message.id)[:80]})"))
        raise anyio.EndOfStream

    async def aclose(self) -> None:
        await self._inner.aclose()


class BoundedWriting(Stream):
    """What a server is told, of which its watch takes note."""

    def __init__(self, inner: _Sink, watch: ConnectionWatch) -> None:
        self._inner, self._watch = inner, watch

    async def send(self, item: SessionMessage, /) -> None:
        """Hand over one message. Raises anyio.BrokenResourceError when the connection is over."""
        if self._watch.ended.is_set():
            raise anyio.BrokenResourceError
        self._watch.sent(item.message)
        await self._inner.send(item)

    async def aclose(self) -> None:
        await self._inner.aclose()
