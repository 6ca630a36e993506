"""Programs by other hands that talk to `mcl mcp serve`, all used in one way: the SDK's Client in both eras,
its ClientSession below that, and fastmcp's Client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from desks import Desk, bearing

HANDSHAKE, MODERN = "2025-11-25", "2026-07-28"


@dataclass
class Agent:
    """A connected client. call: (tool, arguments, what is told of progress) → the SDK's CallToolResult.
    version: the protocol that was agreed on. logged: (level, data) of what was logged, from `level` up."""

    call: Callable[..., Any]
    version: str
    logged: list[tuple[str, Any]] = field(default_factory=list)
    client: Any = None
    level: str = "info"

    async def read(self, name: str, args: dict[str, Any], progress: Any = None) -> Any:
        """Call another server's tool and say that it only reads."""
        said = {"name": name, "args": args, "intent": {"operation_type": "read"}}
        return await self.call("call_tool_read", said, progress)


@dataclass(frozen=True)
class Way:
    """How an agent comes in: by HTTP, at an address with a token, or by starting the server itself."""

    desk: Desk
    address: str = ""
    token: str = ""

    async def server(self, stack: AsyncExitStack) -> Any:
        """The same as the SDK's client takes it."""
        if self.address:
            return await stack.enter_async_context(bearing(self.address, self.token))
        return self.desk.parameters()


@asynccontextmanager
async def by_client(way: Way, mode: str) -> AsyncIterator[Agent]:
    """The SDK's Client. mode: legacy, auto, or a version."""
    from mcp import Client

    agent = Agent(_nobody, "")

    async def log(params: Any) -> None:
        agent.logged.append((params.level, params.data))

    async with AsyncExitStack() as stack:
        made = Client(await way.server(stack), mode=mode, logging_callback=log, log_level="info")
        client = await stack.enter_async_context(made)
        agent.client, agent.version = client, client.protocol_version
        if agent.version < MODERN:
            await client.session.set_logging_level("info")

        async def call(name: str, arguments: dict[str, Any], progress: Any = None) -> Any:
            return await client.call_tool(name, arguments, progress_callback=progress)

        agent.call = call
        yield agent


@asynccontextmanager
async def by_session(way: Way) -> AsyncIterator[Agent]:
    """The SDK's ClientSession over its bare transports."""
    from mcp import ClientSession
    from mcp.client.stdio import stdio_client

    agent = Agent(_nobody, "")

    async def log(params: Any) -> None:
        agent.logged.append((params.level, params.data))

    async with AsyncExitStack() as stack:
        server = await way.server(stack)
        transport = server if way.address else stdio_client(server)
        reading, writing = await stack.enter_async_context(transport)
        session = await stack.enter_async_context(ClientSession(reading, writing, logging_callback=log))
        agent.client, agent.version = session, (await session.initialize()).protocol_version
        await session.set_logging_level("info")

        async def call(name: str, arguments: dict[str, Any], progress: Any = None) -> Any:
            return await session.call_tool(name, arguments, progress_callback=progress)

        agent.call = call
        yield agent


@asynccontextmanager
async def by_fastmcp(way: Way, mode: str) -> AsyncIterator[Agent]:
    """fastmcp's Client. mode: legacy or auto."""
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

    agent = Agent(_nobody, "")

    async def log(message: Any) -> None:
        agent.logged.append((message.level, message.data))

    if way.address:
        transport: Any = StreamableHttpTransport(way.address, auth=way.token)
    else:
        command, *rest = way.desk.command()
        folder = str(way.desk.workspace)
        transport = StdioTransport(command, rest, env=way.desk.environment, cwd=folder, keep_alive=False)
    async with Client(transport, log_handler=log, mode=mode) as client:
        agent.client = client
        agent.version = str(client.session.protocol_version)
        agent.level = "debug" if agent.version >= MODERN else "info"  # what it asks for by itself

        async def call(name: str, arguments: dict[str, Any], progress: Any = None) -> Any:
            return await client.call_tool_mcp(name, arguments, progress_handler=progress)

        agent.call = call
        yield agent


ALL: dict[str, tuple[Callable[[Way], Any], str]] = {
    "Client, handshake": (lambda way: by_client(way, "legacy"), HANDSHAKE),
    "Client, modern": (lambda way: by_client(way, "auto"), MODERN),
    "ClientSession": (by_session, HANDSHAKE),
    "fastmcp, handshake": (lambda way: by_fastmcp(way, "legacy"), HANDSHAKE),
    "fastmcp, modern": (lambda way: by_fastmcp(way, "auto"), MODERN),
}


async def _nobody(*_: Any) -> Any:
    raise AssertionError("not connected")
