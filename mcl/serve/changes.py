"""Telling clients that a list of ours is not what it was, each in the way of its era."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import mcp_types as types
from anyio import create_task_group, move_on_after
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)

from mcl.serve.caller import connection_of

if TYPE_CHECKING:
    from mcp.server.connection import Connection
    from mcp.server.context import ServerRequestContext

Kind: TypeAlias = Literal["tools", "resources", "prompts"]

_PATIENCE: Final = 5.0  # seconds
_EVENTS: Final[dict[Kind, Callable[[], ServerEvent]]] = {
    "tools": ToolsListChanged,
    "resources": ResourcesListChanged,
    "prompts": PromptsListChanged,
}


class Changes:
    """Who wants to be told of changed lists: all clients of the handshake era, as we said that we would, and
    of the modern era those that listen."""

    def __init__(self) -> None:
        self._bus = InMemorySubscriptionBus()
        self._connections: set[Connection] = set()
        self.listen = ListenHandler(self._bus)

    async def greet(self, ctx: ServerRequestContext[Any, Any], _: types.NotificationParams | None) -> None:
        """A client of the handshake era is ready: from now on it is told, until its connection ends."""
        connection = connection_of(ctx)
        if connection not in self._connections:
            self._connections.add(connection)
            connection.exit_stack.callback(self._connections.discard, connection)

    async def tell(self, kind: Kind) -> None:
        """Tell all who want it that the list of this kind changed."""
        await self._bus.publish(_EVENTS[kind]())
        with move_on_after(_PATIENCE):  # for a client that does not read
            async with create_task_group() as tasks:
                for connection in tuple(self._connections):
                    send: dict[Kind, Callable[[], Coroutine[Any, Any, None]]] = {
                        "tools": connection.send_tool_list_changed,
                        "resources": connection.send_resource_list_changed,
                        "prompts": connection.send_prompt_list_changed,
                    }
                    tasks.start_soon(send[kind])

    async def tell_updated(self, uri: str) -> None:
        """Tell those of the modern era who listen for it that this resource changed."""
        await self._bus.publish(ResourceUpdated(uri))

    def close(self) -> None:
        """End all subscriptions in an orderly way."""
        self.listen.close()
