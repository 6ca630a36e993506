"""A server with many tools (``--tools N``), each of which gives back its own number and the caller's token.

``--dies-after N`` makes it end without a word in its N-th call.
"""

from __future__ import annotations

import os
from typing import Any

import anyio
from mcp.server import MCPServer
from mcp.types import ToolAnnotations
from running import one_era, options, serve

PARSER = options()
PARSER.add_argument("--tools", type=int, default=50)
PARSER.add_argument("--pause-ms", type=float, default=0)
PARSER.add_argument("--dies-after", type=int, default=0)
CHOSEN = PARSER.parse_args()

server = MCPServer("many", log_level="CRITICAL", middleware=one_era(CHOSEN.era))
calls = 0


def echo(number: int) -> Any:
    async def tool(token: str, times: int = 1) -> dict[str, str | int]:
        global calls  # one process, one count
        calls += 1
        if CHOSEN.dies_after and calls >= CHOSEN.dies_after:
            os._exit(3)
        if CHOSEN.pause_ms:
            await anyio.sleep(CHOSEN.pause_ms / 1000)
        return {"token": token, "tool": number, "pid": os.getpid(), "times": times}

    return tool


for number in range(CHOSEN.tools):
    server.add_tool(
        echo(number),
        name=f"tool_{number}",
        description=f"Give the token back, and the number {number}.",
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


if __name__ == "__main__":
    serve(server, CHOSEN)
