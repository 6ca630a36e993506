"""How the peers are started: over stdio, or over streamable HTTP on a free port that they tell on stdout.

    python plain.py [--http] [--era both|handshake|modern] [--folder PATH]

``--era`` makes a server that knows only one era of the protocol: it refuses how the other one begins.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.types import METHOD_NOT_FOUND

BEGINNINGS = {
    "handshake": "server/discover",
    "modern": "initialize",
}  # what a server of this era does not know


def options(**more: Any) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument(
        "--json-answers", action="store_true", help="answer a POST with JSON, not with a stream"
    )
    parser.add_argument("--era", choices=("both", *BEGINNINGS), default="both")
    parser.add_argument("--folder", type=Path, default=Path.cwd(), help="where the peer keeps what it did")
    return parser


def one_era(era: str) -> list[Any]:
    """Middleware that refuses the beginning of the other era, as a server that never heard of it does."""
    if era == "both":
        return []

    async def refuse(ctx: Any, call_next: Any) -> Any:
        if ctx.method == BEGINNINGS[era]:
            raise MCPError(METHOD_NOT_FOUND, f"Method not found: {ctx.method}")
        return await call_next(ctx)

    return [refuse]


async def _stdio(server: MCPServer, era: str) -> None:
    if era != "handshake":
        await server.run_stdio_async()
        return
    core = server._lowlevel_server
    async with stdio_server() as (reading, writing), core.lifespan(core) as state:
        await serve_loop(core, reading, writing, lifespan_state=state)


def serve(server: MCPServer, chosen: argparse.Namespace) -> None:
    """Serve until standard input ends, or over HTTP until killed."""
    if not chosen.http:
        asyncio.run(_stdio(server, chosen.era))
        return
    import uvicorn

    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", chosen.port))
    app = server.streamable_http_app(json_response=chosen.json_answers)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    listener.listen(128)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    asyncio.run(uvicorn.Server(config).serve(sockets=[listener]))
