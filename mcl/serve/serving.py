"""Serving until the client is gone, or the process is asked to end."""

from __future__ import annotations

import json
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import Event, create_task_group, open_signal_receiver
from anyio.abc import TaskStatus

from mcl.serve.opening import opened

if TYPE_CHECKING:
    from executor.store.home import Home
    from mcl.serve.service.compiling import Compiling


async def serve_stdio(
    home: Home, workspace: Path, compiling: Compiling, agent: str, incoming: int, outgoing: int
) -> None:
    """Serve the one client at the other end of two descriptors, until it closes its end."""
    from mcl.serve.stdio import connected

    async with create_task_group() as tasks:
        ended = await tasks.start(_signalled)

        async def until_then() -> None:
            await ended.wait()
            tasks.cancel_scope.cancel()

        tasks.start_soon(until_then)
        async with (
            opened(home, workspace, compiling, agent) as face,
            connected(incoming, outgoing) as (lines, sink),
        ):
            await face.server.run(lines, sink, face.options)
        tasks.cancel_scope.cancel()


async def serve_http(
    home: Home,
    workspace: Path,
    compiling: Compiling,
    agent: str,
    bound: socket.socket,
    token: str,
    token_file: Path,
) -> None:
    """Serve all clients that have the token, until the process is asked to end; what is under way then has a
    moment to finish."""
    from mcl.serve.http import serving

    async with create_task_group() as tasks:
        ended = await tasks.start(_signalled)
        async with opened(home, workspace, compiling, agent) as face, serving(face, bound, token) as url:
            told = {"event": "listening", "url": url, "token_file": str(token_file)}
            sys.stderr.write(json.dumps(told) + "\n")
            sys.stderr.flush()
            await ended.wait()
        tasks.cancel_scope.cancel()


async def _signalled(*, task_status: TaskStatus[Event]) -> None:
    """Give an event that is set when the process is asked to end."""
    ended = Event()
    with open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        task_status.started(ended)
        async for _ in signals:
            ended.set()
