"""Servers entered in a home, and connections to them, for the tests of upstreams."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from executor import Home
from mcl.catalog.servers import Servers
from mcl.core.errors import McpError
from mcl.plugins.mcp.upstream.upstreams import Upstreams

PEERS = Path(__file__).parent / "peers"
PATIENCE = 60.0  # seconds; a busy machine is no failure


@asynccontextmanager
async def entered(
    home: Home,
    peers: Mapping[str, Sequence[str]],
    *,
    variables: Mapping[str, str] | None = None,
    **more: Any,
) -> AsyncIterator[Upstreams]:
    """Connections to servers in ``peers/``, by their names with their options. variables: of each."""
    servers = Servers(home)
    for name, (script, *options) in peers.items():
        # Without site packages they start in a few hundredths of a second.
        command = [sys.executable, "-S", str(PEERS / f"{script}.py"), *options]
        servers.add(name, command=command, folder=home.path, environment=variables or {})
    async with Upstreams(servers, **{"jitter": lambda: 0.0, **more}) as upstreams:
        yield upstreams


async def told(call: Awaitable[Any]) -> McpError:
    """The error that a call fails with."""
    with pytest.raises(McpError) as caught:
        await call
    return caught.value


async def up_again(upstreams: Upstreams, name: str) -> None:
    """Wait until a server is up."""
    with anyio.fail_after(PATIENCE):
        while next(one for one in upstreams.status() if one.server == name).state != "up":
            await anyio.sleep(0.02)
