"""What the SDK asks of a stream of messages besides reading or writing one."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from anyio import EndOfStream

if TYPE_CHECKING:
    from mcp.shared.message import SessionMessage


class Stream:
    """A stream that is closed when it is left."""

    async def aclose(self) -> None:
        """Nothing: what lies below belongs to whoever opened it."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Reading(Stream):
    """A stream that is read message by message until it ends."""

    async def receive(self) -> SessionMessage | Exception:
        """The next message. Raises anyio.EndOfStream where there is none any more."""
        raise EndOfStream

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None
