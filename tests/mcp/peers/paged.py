"""A server that gives its lists a few at a time (``--page N``), on the low level of the SDK."""

from __future__ import annotations

import asyncio
from typing import Any

from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListPromptsResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    Resource,
    TextContent,
    Tool,
    ToolAnnotations,
)
from running import options

PARSER = options()
PARSER.add_argument("--page", type=int, default=3)
PARSER.add_argument("--count", type=int, default=10)
CHOSEN = PARSER.parse_args()
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)


def page(params: PaginatedRequestParams | None) -> tuple[range, str | None]:
    """The numbers of a page, and the cursor of the next one."""
    start = int(params.cursor) if params and params.cursor else 0
    end = min(start + CHOSEN.page, CHOSEN.count)
    return range(start, end), str(end) if end < CHOSEN.count else None


async def tools(ctx: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
    numbers, cursor = page(params)
    listed = [
        Tool(name=f"tool_{n}", description=f"Tool {n}.", input_schema={"type": "object"}, annotations=READS)
        for n in numbers
    ]
    return ListToolsResult(tools=listed, next_cursor=cursor)


async def resources(ctx: Any, params: PaginatedRequestParams | None) -> ListResourcesResult:
    numbers, cursor = page(params)
    return ListResourcesResult(
        resources=[Resource(uri=f"paged://{n}", name=f"page {n}") for n in numbers], next_cursor=cursor
    )


async def prompts(ctx: Any, params: PaginatedRequestParams | None) -> ListPromptsResult:
    numbers, cursor = page(params)
    return ListPromptsResult(prompts=[Prompt(name=f"prompt_{n}") for n in numbers], next_cursor=cursor)


async def call(ctx: Any, params: CallToolRequestParams) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=params.name)])


async def main() -> None:
    server = Server(
        "paged",
        on_list_tools=tools,
        on_call_tool=call,
        on_list_resources=resources,
        on_list_prompts=prompts,
    )
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
