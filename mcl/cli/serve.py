"""What `mcl mcp serve` does: a home, a workspace and a transport, from the command line's words."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from mcl.cli.output import note
from mcl.core.distribution import install_line
from mcl.core.errors import InputError

_NEEDED: Final = ("mcp", "bm25s", "uvicorn", "starlette")


def serve(
    *,
    http: bool,
    host: str,
    port: int,
    unsafe_bind: bool,
    agent: str,
    workspace: Path | None,
    model: Path | None,
    ai: bool,
    skills: tuple[Path, ...],
) -> int:
    """Serve until the client is gone or the process is asked to end; the exit code.

    agent: what agents are called here; "": $MCL_AGENT, else what their clients call themselves.

    Raises:
        InputError: MCP_MISSING, NO_WORKSPACE. WorkError: BAD_AGENT_NAME. McpError: NO_STANDARD_STREAMS,
        KEYS_SEALED, and what the transport raises. Also what opening the home and the workspace raises.
    """
    with _one_error(), ExitStack() as stack:
        if not http:  # before anything is loaded that could print
            from mcl.serve.descriptors import claimed

            if sys.stdin is not None and sys.stdin.isatty():
                note("waiting for messages of a client; mcl mcp install tells programs how to start this")
            incoming, outgoing = stack.enter_context(claimed())
        require_sdk()
        import anyio

        from executor.gate.roots import allowed_roots
        from mcl.cli.home import use_home
        from mcl.core.environment import AGENT
        from mcl.serve.service.service import Compiling
        from mcl.serve.serving import serve_http, serve_stdio

        place, agent = workspace or _started_in(), agent or os.environ.get(AGENT, "")
        home = stack.enter_context(use_home(signs=True))
        allowed_roots(home.allowed, home.path)  # a wrong one is told to who started this, not to a client
        compiling = Compiling(home, model=model, ai=ai, skills=skills)
        if not http:
            anyio.run(serve_stdio, home, place, compiling, agent, incoming, outgoing)
            return 0
        from mcl.serve.http import TOKEN_FILE, listening, token_of

        token = token_of(home.path)
        bound = stack.enter_context(listening(host, port, anywhere=unsafe_bind))
        anyio.run(serve_http, home, place, compiling, agent, bound, token, home.path / TOKEN_FILE)
        return 0


@contextmanager
def _one_error() -> Iterator[None]:
    """Of the errors of the tasks that a server consists of, the first."""
    try:
        yield
    except BaseExceptionGroup as group:
        raise _first(group) from group


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    found = group.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found


def _started_in() -> Path:
    """The current folder. Programs that work in none start their servers in the root of the disk, which
    nobody means."""
    here = Path.cwd()
    if here == Path(here.root):
        raise InputError(
            "NO_WORKSPACE",
            "it is started in the root of the disk, which is no folder to work in",
            place="--workspace",
            fix="name the folder that tools may work in: --workspace FOLDER",
        )
    return here


def require_sdk() -> None:
    """Raise InputError MCP_MISSING where what speaks the protocol is not installed."""
    from importlib.util import find_spec

    missing = [name for name in _NEEDED if sys.modules.get(name) is None and find_spec(name) is None]
    if missing:
        raise InputError(
            "MCP_MISSING",
            f"the parts that speak MCP are not installed: {', '.join(missing)}",
            fix=install_line("mcp"),
        )
