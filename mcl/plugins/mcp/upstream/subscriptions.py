"""What a server tells of its own accord: that its lists changed, or resources that somebody wants to hear of.

Both are asked for anew with each of its connections.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import anyio

from mcl.plugins.mcp.upstream.answers import Fault, FaultError, slow

if TYPE_CHECKING:
    from mcl.plugins.mcp.upstream.answers import Kind
    from mcl.plugins.mcp.upstream.connection import Connection

MOST: Final = 1_000  # resources of one server
_ASK_S: Final = 10.0
_AGAIN_S: Final = 5.0  # seconds before a lost subscription is made again
_MAX_URI: Final = 8_192  # characters
_CLOSED: Final = 100  # streams of before whose last words may still come


class _Stream:
    """One request to hear of resources, in the newer protocol.

    id, honored: none while it is not open. missed: what may have changed while nobody heard of it.
    """

    def __init__(self, uris: frozenset[str], missed: frozenset[str]) -> None:
        self.uris, self.missed = uris, missed
        self.id, self.honored = "", frozenset[str]()
        self.scope = anyio.CancelScope()


class ServerSubscriptions:
    """What is watched at one server. told: hears of each of these that changed, and of parts of them."""

    def __init__(self, told: Callable[[str], None]) -> None:
        self._told = told
        self._wanted: dict[str, Connection] = {}  # by the connection that was asked last
        self._streams: list[_Stream] = []  # newer protocol: the open one, and the one to take its place
        self._closed: deque[str] = deque(maxlen=_CLOSED)
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
                while not any(uri in one.honored for one in self._streams):
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

    def heard(self, uri: str, stream: object = None) -> None:
        """The server says that a resource changed. stream: the id of the one it says so on, if on any."""
        if (
            len(uri) <= _MAX_URI
            and stream not in self._closed  # the one that took its place was told too
            and any(uri == one or uri.startswith(one.rstrip("/") + "/") for one in self._wanted)
        ):
            self._told(uri)

    async def follow(self, connection: Connection) -> None:
        """Ask for everything that is wanted, for as long as the connection lasts."""
        self._streams = []
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
        missed = frozenset(renewed)
        async with anyio.create_task_group() as tasks:
            while True:
                self._other = anyio.Event()
                uris = frozenset(self._wanted)
                if not uris:
                    self._close(self._streams)
                elif not self._streams or self._streams[-1].uris != uris:
                    late = [one for one in self._streams if not one.id]
                    stream = _Stream(uris, missed.union(*(one.missed for one in late)))
                    missed = frozenset()
                    self._close(late)
                    self._streams.append(stream)
                    tasks.start_soon(self._hear, connection, stream)
                await self._other.wait()

    async def _hear(self, connection: Connection, stream: _Stream) -> None:
        def opened(events: Any) -> None:
            if stream not in self._streams:
                return  # closed in this very moment
            stream.id = str(events.subscription_id)
            stream.honored = frozenset(events.honored.resource_subscriptions or ())
            # Those of before end only now, or changes would go unheard.
            self._close(self._streams[: self._streams.index(stream)])
            was, self._opened = self._opened, anyio.Event()
            was.set()
            for uri in sorted(stream.missed):
                self._told(uri)
            stream.missed = frozenset()

        def lost() -> None:
            stream.id, stream.honored, stream.missed = "", frozenset(), stream.uris

        with stream.scope:
            await _listen(connection, opened, lost, resource_subscriptions=sorted(stream.uris))

    def _close(self, streams: list[_Stream]) -> None:
        for one in streams:
            if one.id:
                self._closed.append(one.id)
            one.scope.cancel()
        self._streams = [one for one in self._streams if one not in streams]


async def follow_lists(connection: Connection, changed: Callable[[tuple[Kind, ...]], None]) -> None:
    """Hear of changed lists in the newer protocol, for as long as the connection lasts; in the older one a
    server tells of them unasked."""
    offered = connection.offered
    tools, resources, prompts = (
        bool(one is not None and one.list_changed)
        for one in (offered.tools, offered.resources, offered.prompts)
    )
    told: dict[Kind, bool] = {
        "tools": tools,
        "resources": resources,
        "templates": resources,
        "prompts": prompts,
    }
    kinds = tuple(kind for kind, wanted in told.items() if wanted)
    if kinds and connection.modern:
        await _listen(
            connection,
            lambda events: changed(kinds),  # what changed before was not heard
            tools_list_changed=tools,
            prompts_list_changed=prompts,
            resources_list_changed=resources,
        )


async def _listen(
    connection: Connection,
    opened: Callable[[Any], None],
    lost: Callable[[], None] = lambda: None,
    **wanted: Any,
) -> None:
    """Hold one stream of the newer protocol, and open it again after it was lost.

    What comes over it is not looked at here: it comes to the connection's handler too, as in the older
    protocol.
    """
    from mcp.client.subscriptions import SubscriptionLost
    from mcp.shared.exceptions import MCPError

    while not connection.watch.ended.is_set():
        with suppress(SubscriptionLost, MCPError, TimeoutError):
            async with connection.client.listen(**wanted) as events:
                opened(events)
                async for _ in events:
                    pass
        lost()
        await anyio.sleep(_AGAIN_S)


def _subscribe(uri: str) -> Any:
    import mcp_types as types

    return types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri))


def _unsubscribe(uri: str) -> Any:
    import mcp_types as types

    return types.UnsubscribeRequest(params=types.UnsubscribeRequestParams(uri=uri))
