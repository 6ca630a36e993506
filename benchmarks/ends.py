"""The other ends that the proxy is measured between: a server with one tool, and a relay that does no more.

    python -m benchmarks.ends [--http] server [N]      answers `echo` with what it was given; N tools like it
    python -m benchmarks.ends [--http] relay COMMAND…  passes each call on to the server that COMMAND starts

The relay is written with the SDK alone: two more hops, and no rule, record or index. With --http they listen,
and write {"url": …} to standard error.
"""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

ECHO = Tool(
    name="echo",
    description="Give the token back.",
    input_schema={"type": "object", "properties": {"token": {"type": "string"}}, "required": ["token"]},
    annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
)


def _tools(count: int) -> Callable[[Any, PaginatedRequestParams | None], Awaitable[ListToolsResult]]:
    numbered = [ECHO.model_copy(update={"name": f"echo_{number}"}) for number in range(1, count)]

    async def listed(ctx: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[ECHO, *numbered])

    return listed


async def _echo(ctx: Any, params: CallToolRequestParams) -> CallToolResult:
    token = str((params.arguments or {}).get("token"))
    return CallToolResult(content=[TextContent(text=token)], structured_content={"token": token})


async def _serve(server: Server[Any], over_http: bool) -> None:
    if over_http:
        await _listen(server)
        return
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


async def _listen(server: Server[Any]) -> None:
    import uvicorn

    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen(128)
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/mcp"
        print(json.dumps({"url": url}), file=sys.stderr, flush=True)
        config = uvicorn.Config(server.streamable_http_app(), log_config=None, access_log=False)
        await uvicorn.Server(config).serve([bound])


async def _relay(command: list[str], over_http: bool) -> None:
    async with Client(StdioServerParameters(command=command[0], args=command[1:])) as upstream:
        await upstream.list_tools()

        async def call(ctx: Any, params: CallToolRequestParams) -> CallToolResult:
            return await upstream.call_tool(params.name, params.arguments)

        await _serve(Server("relay", on_list_tools=_tools(1), on_call_tool=call), over_http)


def main() -> None:
    over_http, words = sys.argv[1:2] == ["--http"], sys.argv[1:]
    match words[1:] if over_http else words:
        case ["server", *count]:
            listed = _tools(int(count[0]) if count else 1)
            anyio.run(_serve, Server("echo", on_list_tools=listed, on_call_tool=_echo), over_http)
        case ["relay", *command] if command:
            anyio.run(_relay, command, over_http)
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
