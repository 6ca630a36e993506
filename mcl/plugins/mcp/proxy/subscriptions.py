"""Clients that want to be told when a resource of another server changes, each in the way of its era.

A client of the handshake era subscribes for as long as its connection lasts, one of the modern era for as
long as it listens. The server is asked once for all of them, and told when nobody wants it any more.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import anyio
import mcp_types as types

from ir import MclError
from mcl.catalog.manifests import READ
from mcl.core.errors import McpError
from mcl.plugins.mcp.proxy.lists import Merged, ours, parse_uri

if TYPE_CHECKING:
    from mcp.server.connection import Connection
    from mcp.server.context import ServerRequestContext

    from mcl.plugins.mcp.caller import ListChanges
    from mcl.plugins.mcp.service import Service

MOST: Final = 256  # resources that one client may watch
_WAITING: Final = 4_096  # changes that were not told yet; the oldest is dropped
_CLOSING_S: Final = 5.0
_PATIENCE_S: Final = 5.0


class ResourceSubscriptions:
    """Who watches what. merged: knows what was let in; changes: tells clients that listen."""

    def __init__(self, session: Service, merged: Merged, changes: ListChanges) -> None:
        self._session, self._merged, self._changes = session, merged, changes
        self._watched: dict[Connection, set[str]] = {}
        self._wanted: Counter[str] = Counter()
        self._news: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._some = anyio.Event()
        self._turns: dict[str, anyio.Lock] = {}  # by server: one may be slow

    def updated(self, server: str, uri: str) -> None:
        """A server says that its resource changed. Does not wait: ``tell`` passes it on."""
        if not self._wanted:
            return
        self._news[server, uri] = None
        self._news.move_to_end((server, uri))
        if len(self._news) > _WAITING:
            self._news.popitem(last=False)
        self._some.set()

    async def tell(self) -> None:
        """Pass on what ``updated`` brings, for as long as it is not cancelled."""
        while True:
            await self._some.wait()
            self._some = anyio.Event()
            while self._news:
                (server, uri), _ = self._news.popitem(last=False)
                await self._tell(ours(server, uri))

    async def subscribe(self, connection: Connection, uri: str) -> None:
        """Tell this client of changes from now on, until its connection ends.

        Raises:
            McpError: BAD_RESOURCE_URI, TOO_MANY_SUBSCRIPTIONS, the gate's codes, and what the server says.
        """
        watched = self._watched.get(connection)
        if watched is not None and uri in watched:
            return
        if watched is not None and len(watched) >= MOST:
            raise McpError(
                "TOO_MANY_SUBSCRIPTIONS", f"{MOST} resources are watched already", fix="unsubscribe from some"
            )
        await self._want(uri)
        if connection not in self._watched:
            self._watched[connection] = set()
            connection.exit_stack.push_async_callback(self._gone, connection)
        if uri in self._watched[connection]:  # it asked twice at once
            await self._drop([uri])
        self._watched[connection].add(uri)

    async def unsubscribe(self, connection: Connection, uri: str) -> None:
        """Tell this client of it no more. Raises McpError BAD_RESOURCE_URI."""
        parse_uri(uri)
        watched = self._watched.get(connection, set())
        if uri in watched:
            watched.discard(uri)
            await self._drop([uri])

    async def listen(
        self, ctx: ServerRequestContext[Any, Any], params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve a stream of the modern era; what cannot be watched is not acknowledged."""
        wanted = params.notifications.resource_subscriptions or []
        taken: list[str] = []
        try:
            for uri in dict.fromkeys(wanted[:MOST]):
                try:
                    await self._want(uri)
                except MclError:
                    continue
                taken.append(uri)
            heard = params.notifications.model_copy(update={"resource_subscriptions": taken or None})
            return await self._changes.listen(ctx, params.model_copy(update={"notifications": heard}))
        finally:
            with anyio.move_on_after(_CLOSING_S, shield=True):
                await self._drop(taken)

    async def _want(self, uri: str) -> None:
        """One client more wants this; the server is asked for the first."""
        server, own = parse_uri(uri)
        self._merged.require(server, READ)
        async with self._turn(server):
            if not self._wanted[uri]:
                try:
                    await self._session.upstreams.subscribe(server, own)
                except BaseException:
                    del self._wanted[uri]
                    raise
            self._wanted[uri] += 1

    async def _drop(self, uris: Iterable[str]) -> None:
        """One client less wants these; servers are told of what nobody wants any more."""
        left = []
        for uri in uris:  # all at once, whatever becomes of telling the servers
            self._wanted[uri] -= 1
            if self._wanted[uri] <= 0:
                del self._wanted[uri]
                left.append(parse_uri(uri))
        for server, own in left:
            async with self._turn(server):
                if self._wanted[ours(server, own)]:
                    continue  # somebody wants it again
                try:
                    await self._session.upstreams.unsubscribe(server, own)
                except MclError:  # a server that is gone has forgotten it too
                    continue

    def _turn(self, server: str) -> anyio.Lock:
        return self._turns.setdefault(server, anyio.Lock())

    async def _gone(self, connection: Connection) -> None:
        await self._drop(self._watched.pop(connection, set()))

    async def _tell(self, uri: str) -> None:
        """Tell all who watch it, or what it is a part of."""
        for watched in [one for one in self._wanted if _within(uri, one)]:
            await self._changes.tell_updated(watched)
        with anyio.move_on_after(_PATIENCE_S):  # for a client that does not read
            async with anyio.create_task_group() as group:
                for connection, uris in tuple(self._watched.items()):
                    if any(_within(uri, one) for one in uris):
                        group.start_soon(connection.send_resource_updated, uri)


def _within(uri: str, watched: str) -> bool:
    """Is this the resource that is watched, or a part of it?"""
    return uri == watched or uri.startswith(watched.rstrip("/") + "/")
