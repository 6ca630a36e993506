"""The connections of one process to all its servers."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

import anyio
from anyio.abc import TaskGroup

from executor.core.hashing import json_size
from mcl.catalog.servers import Server, Servers, unknown
from mcl.core.distribution import require_sdk
from mcl.core.errors import McpError
from mcl.plugins.mcp.upstream.answers import FaultError, Json, Kind, Result, as_result, check_structured
from mcl.plugins.mcp.upstream.channels import LEVELS, SILENT
from mcl.plugins.mcp.upstream.upstream import OnListing, OnUpdated, Status, Upstream
from mcl.serve.exchange import Channel

if TYPE_CHECKING:
    import mcp_types as types


_LEAVE_S: Final = 2.0  # seconds for taking leave of all servers


class Upstreams:
    """All servers of a home, each connected to when it is first needed; many callers share a connection.

    A server that is dead, slow or lies harms its own calls and no other's. Every method that names a server
    raises McpError SERVER_UNKNOWN, SERVER_DOWN (at once while it is down), SERVER_SLOW, SERVER_LIED,
    RESULT_TOO_LARGE, UPSTREAM_ERROR (what the server itself said), UPSTREAM_ASKS; EXTRA_MISSING without the
    extra. Cancelling one cancels the call at the server. To be left in the task that entered it.

    Args:
        environment: variables that ``$env:NAME`` in an entry is taken from (default: this process's).
        jitter: gives numbers from 0 to 1 that spread restarts (default: random ones).
    """

    def __init__(
        self,
        servers: Servers,
        *,
        on_listing: OnListing | None = None,
        on_updated: OnUpdated | None = None,
        environment: Mapping[str, str] | None = None,
        jitter: Callable[[], float] | None = None,
    ) -> None:
        self.servers, self._on_listing, self._on_updated = servers, on_listing, on_updated
        self._variables = dict(os.environ if environment is None else environment)
        self._jitter = jitter or random.random
        self._level = "info"
        self._entries: dict[str, Server] = {}
        self._seen: object = None
        self._running: dict[str, Upstream] = {}
        self._tasks: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        require_sdk()
        self._tasks = anyio.create_task_group()
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._tasks is not None, "left without having been entered"
        tasks, self._tasks = self._tasks, None
        with anyio.move_on_after(_LEAVE_S, shield=True):
            for one in self._running.values():
                one.leave()
            for one in self._running.values():
                await one.left.wait()
        tasks.cancel_scope.cancel()
        await tasks.__aexit__(None, None, None)  # an error of the body goes on as it is, in no group

    async def call(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, object],
        *,
        channel: Channel = SILENT,
        timeout_s: float = 60.0,
    ) -> Result:
        """Call a tool. What it answers is checked against its output schema."""
        import mcp_types as types

        given = dict(arguments)
        if json_size(given) is None:
            raise McpError(
                *("BAD_ARGS", "the arguments cannot be written as JSON"),
                place=f"{server}:{tool}",
                fix="give texts of whole characters, and finite numbers",
            )
        params = types.CallToolRequestParams(name=tool, arguments=given)
        with _named(server, tool):
            upstream = self._upstream(server)
            answer = await self._ask(
                upstream, types.CallToolRequest(params=params), tool, channel=channel, timeout_s=timeout_s
            )
            check_structured(answer, tool, upstream.promised(tool))
            return as_result(answer)

    async def listing(self, server: str, kind: Kind, *, timeout_s: float = 60.0) -> tuple[Json, ...]:
        """All that a server lists of a kind, as it gave it: all pages, from memory where nothing changed."""
        with _named(server):
            return await self._upstream(server).listing(kind, timeout_s)

    async def read_resource(
        self, server: str, uri: str, *, channel: Channel = SILENT, timeout_s: float = 60.0
    ) -> Json:
        """Read a resource: {"contents": […]}, as the server gave it."""
        import mcp_types as types

        request = types.ReadResourceRequest(params=types.ReadResourceRequestParams(uri=uri))
        with _named(server):
            answer = await self._ask(
                self._upstream(server), request, "the resource", channel=channel, timeout_s=timeout_s
            )
        return {"contents": answer["contents"]}

    async def get_prompt(
        self,
        server: str,
        name: str,
        arguments: Mapping[str, str],
        *,
        channel: Channel = SILENT,
        timeout_s: float = 60.0,
    ) -> Json:
        """Get a prompt: {"description": …, "messages": […]}, as the server gave it."""
        import mcp_types as types

        params = types.GetPromptRequestParams(name=name, arguments=dict(arguments))
        with _named(server):
            answer = await self._ask(
                self._upstream(server),
                types.GetPromptRequest(params=params),
                "the prompt",
                channel=channel,
                timeout_s=timeout_s,
            )
        return {name: answer[name] for name in ("description", "messages") if name in answer}

    async def complete(
        self,
        server: str,
        reference: Mapping[str, object],
        argument: Mapping[str, str],
        context: Mapping[str, str] | None = None,
        *,
        timeout_s: float = 10.0,
    ) -> Json:
        """Complete an argument. reference: {"type": "ref/prompt", "name": …} or {"type": "ref/resource",
        "uri": …}; argument: {"name": …, "value": …}. Gives {"values": […], "total": …, "hasMore": …}."""
        import mcp_types as types

        params = types.CompleteRequestParams.model_validate(
            {
                "ref": dict(reference),
                "argument": dict(argument),
                **({"context": {"arguments": dict(context)}} if context is not None else {}),
            }
        )
        with _named(server):
            answer = await self._ask(
                self._upstream(server),
                types.CompleteRequest(params=params),
                "a completion",
                channel=SILENT,
                timeout_s=timeout_s,
            )
        found: Json = answer["completion"]
        return found

    async def subscribe(self, server: str, uri: str, *, timeout_s: float = 10.0) -> None:
        """Have on_updated told when a resource changes, from now on, until ``unsubscribe``."""
        with _named(server):
            upstream = self._upstream(server)
            await upstream.subscriptions.add(await upstream.ready(timeout_s), uri, timeout_s)

    async def unsubscribe(self, server: str, uri: str, *, timeout_s: float = 10.0) -> None:
        """Be told of it no more. A server that is not connected is not asked."""
        if server in self._running:
            with _named(server):
                upstream = self._running[server]
                await upstream.subscriptions.remove(upstream.connection, uri, timeout_s)

    def want_log(self, level: str) -> None:
        """Have all servers log from this level on, where they were not told to log more before. Callers are
        given what they want of it by their channels."""
        if level in LEVELS and LEVELS.index(level) < LEVELS.index(self._level):
            self._level = level
            for one in self._running.values():
                one.want_log(level)

    async def start(self, *names: str) -> tuple[Status, ...]:
        """Connect to servers (default: all) at the same time, and wait until each is up or has failed.

        Raises:
            McpError: SERVER_UNKNOWN.
        """
        self._look()
        wanted = [self._upstream(name) for name in names or sorted(self._entries)]
        for one in wanted:
            one.want()
        for one in wanted:
            await one.settled()
        return tuple(one.status() for one in wanted)

    def status(self) -> tuple[Status, ...]:
        """How each server does, in the order of their names. Starts nothing."""
        self._look()
        return tuple(
            self._running[name].status() if name in self._running else Status(name, "idle")
            for name in sorted(self._entries)
        )

    async def _ask(
        self,
        upstream: Upstream,
        request: types.Request[Any, Any],
        what: str,
        *,
        channel: Channel,
        timeout_s: float,
    ) -> Json:
        end = anyio.current_time() + timeout_s
        connection = await upstream.ready(timeout_s)
        left = max(0.0, end - anyio.current_time())
        return await connection.ask(request, what, channel=channel, timeout_s=left)

    def _upstream(self, name: str) -> Upstream:
        self._look()
        if name not in self._entries:
            raise unknown(name, sorted(self._entries))
        if name not in self._running:
            assert self._tasks is not None, "to be used within `async with`"
            made = Upstream(
                self._entries[name], self._variables, self._on_listing, self._jitter, self._on_updated
            )
            made.want_log(self._level)
            self._running[name] = made
            self._tasks.start_soon(made.run)
        return self._running[name]

    def _look(self) -> None:
        """See which servers there are now; those that were taken out end."""
        stamp = self.servers.stamp()
        if stamp == self._seen:
            return
        self._entries, self._seen = {one.name: one for one in self.servers.list()}, stamp
        for name, one in list(self._running.items()):
            if name not in self._entries or self._entries[name].id != one.server.id:
                self._running.pop(name).stop()


@contextmanager
def _named(server: str, tool: str = "") -> Iterator[None]:
    """Makes a fault the error that callers see."""
    try:
        yield
    except FaultError as problem:
        raise problem.fault.error(server, tool) from None
