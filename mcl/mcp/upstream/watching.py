"""The resources of one server that somebody wants to hear of: asked for anew with each of its connections."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import anyio

from mcl.mcp.upstream.faults import Fault, FaultError, slow

if TYPE_CHECKING:
    from mcl.mcp.upstream.connection import Connection

MOST: Final = 1_000  # resources of one server
_ASK_S: Final = 10.0
_AGAIN_S: Final = 5.0  # seconds before a lost subscription is made again
_MAX_URI: Final = 8_192  # characters


class Watching:
    """What is watched at one server. told: hears of each of these that changed, and of parts of them."""

    def __init__(self, told: Callable[[str], None]) -> None:
        self._told = told
        self._wanted: dict[str, Connection] = {}  # by the connection that was asked last
        self._heard_of: frozenset[str] = frozenset()  # newer protocol: what the open stream is about
        self._other, self._opened = anyio.Event(), anyio.Event()

    async def add(self, connection: Connection, uri: str, timeout_s: float) -> None:
        """Hear of this resource from now on.

        Raises:
            FaultError: UPSTREAM_ERROR where the server cannot, or does not want to; SERVER_SLOW.
        """
        offered = connection.offered.resources
        if offered is None or not offered.subscribe:
            raise FaultError(Fault("UPSTREAM_ERROR", "does not tell of changes of its resources"))
        if len(self._wanted) >= MOST:
            raise FaultError(Fault("UPSTREAM_ERROR", f"is watched for {MOST} resources already"))
        self._wanted[uri] = connection
        try:
            if not connection.modern:
                await connection.ask(_subscribe(uri), "the subscription", timeout_s=timeout_s, ours=True)
                return
            self._other.set()
            with anyio.move_on_after(timeout_s):
                while uri not in self._heard_of:
                    await self._opened.wait()
                return
            raise FaultError(slow(f"did not begin to tell of the resource within {timeout_s:.3g} s"))
        except BaseException:
            self._wanted.pop(uri, None)
            raise

    async def remove(self, connection: Connection | None, uri: str, timeout_s: float) -> None:
        """Hear of it no more. Raises FaultError."""
        self._wanted.pop(uri, None)
        self._other.set()
        if connection is not None and not connection.modern:
            await connection.ask(_unsubscribe(uri), "the end of it", timeout_s=timeout_s, ours=True)

    def heard(self, uri: str) -> None:
        """The server says that a resource changed."""
        if len(uri) <= _MAX_URI and any(
            uri == one or uri.startswith(one.rstrip("/") + "/") for one in self._wanted
        ):
            self._told(uri)

    async def follow(self, connection: Connection) -> None:
        """Ask for everything that is wanted, for as long as the connection lasts."""
        self._heard_of = frozenset()
        renewed = sorted(uri for uri, asked in self._wanted.items() if asked is not connection)
        self._wanted |= dict.fromkeys(renewed, connection)
        if not connection.modern:
            for uri in renewed:
                try:
                    await connection.ask(_subscribe(uri), "the subscription", timeout_s=_ASK_S, ours=True)
                except FaultError:
                    continue
                self._told(uri)  # what happened in between was not heard
            return
        while True:
            self._other = anyio.Event()
            async with anyio.create_task_group() as tasks:
                if self._wanted:
                    tasks.start_soon(self._listen, connection, sorted(self._wanted), renewed)
                await self._other.wait()
                tasks.cancel_scope.cancel()
            renewed = []

    async def _listen(self, connection: Connection, uris: list[str], renewed: list[str]) -> None:
        from mcp.client.subscriptions import SubscriptionLost
        from mcp.shared.exceptions import MCPError

        while True:
            try:
                async with connection.client.listen(resource_subscriptions=uris) as events:
                    self._heard_of = frozenset(events.honored.resource_subscriptions or ())
                    opened, self._opened = self._opened, anyio.Event()
                    opened.set()
                    for uri in renewed:
                        self._told(uri)
                    async for _ in events:
                        pass  # each came to the connection's handler too, as in the older protocol
            except (SubscriptionLost, MCPError, TimeoutError):
                pass
            await anyio.sleep(_AGAIN_S)
            renewed = uris


def _subscribe(uri: str) -> Any:
    import mcp_types as types

    return types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri))


def _unsubscribe(uri: str) -> Any:
    import mcp_types as types

    return types.UnsubscribeRequest(params=types.UnsubscribeRequestParams(uri=uri))
