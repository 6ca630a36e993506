"""`mcl mcp serve`: tools for other programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from mcl.cli.arguments import ModelPath, NoAi, SkillDirectories, Workspace, noun, option, verb
from mcl.cli.home import use_home
from mcl.cli.output import note

_PORT = 8321


def register(app: typer.Typer) -> None:
    """Add the noun, with the verb that serves."""
    help = "Serve tools to other programs (Model Context Protocol)."
    group = noun("mcp", help, "mcl mcp install --host claude-code")
    verb(group, "serve")(serve_command)
    app.add_typer(group)


def serve_command(
    http: Annotated[
        bool, option("--http", "Listen for clients over HTTP instead of standard input.")
    ] = False,
    host: Annotated[str | None, option("--host ADDRESS", "With --http: the address to listen on.")] = None,
    port: Annotated[int | None, option("--port N", "With --http: the port; 0 takes any free one.")] = None,
    unsafe_bind: Annotated[
        bool, option("--unsafe-bind", "With --http: let other machines connect, unencrypted.")
    ] = False,
    agent: Annotated[
        str,
        option(
            "--agent NAME",
            "What the agent is called in folders with signed work (default: $MCL_AGENT, else what its"
            " client calls itself).",
        ),
    ] = "",
    workspace: Workspace = None,
    model: ModelPath = None,
    no_ai: NoAi = False,
    skills: SkillDirectories = None,
) -> int:
    """Serve tools over the Model Context Protocol, until the client is gone.

    A client starts this itself (mcl mcp install). With --http it listens on 127.0.0.1, port 8321, and says on
    standard error where that is and where the token is that clients must send.
    """
    if not http and (host is not None or port is not None or unsafe_bind):
        raise typer.BadParameter("--host, --port and --unsafe-bind go with --http")

    return serve(
        http=http,
        host=host or "127.0.0.1",
        port=_PORT if port is None else port,
        unsafe_bind=unsafe_bind,
        agent=agent,
        workspace=workspace,
        model=model,
        ai=not no_ai,
        skills=tuple(skills or ()),
    )


# ---- What `mcl mcp serve` does: a home, a workspace and a transport, from the command line's words.


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
        InputError: EXTRA_MISSING, NO_WORKSPACE. WorkError: BAD_AGENT_NAME. McpError: NO_STANDARD_STREAMS,
        KEYS_SEALED, and what the transport raises. Also what opening the home and the workspace raises.
    """
    with _one_error(), ExitStack() as stack:
        if not http:  # before anything is loaded that could print
            from mcl.plugins.mcp.descriptors import claimed

            if sys.stdin is not None and sys.stdin.isatty():
                note("waiting for messages of a client; mcl mcp install tells programs how to start this")
            incoming, outgoing = stack.enter_context(claimed())
        from mcl.core.distribution import require_sdk

        require_sdk("uvicorn", "starlette")
        import anyio

        from executor.sandbox.reach import allowed_roots
        from mcl.core.environment import AGENT
        from mcl.plugins.mcp.process import serve_http, serve_stdio
        from mcl.plugins.mcp.service import GoalCompiler

        place, agent = workspace or _started_in(), agent or os.environ.get(AGENT, "")
        home = stack.enter_context(use_home(signs=True))
        allowed_roots(home.allowed, home.path)  # a wrong one is told to who started this, not to a client
        compiler = GoalCompiler(home, model=model, ai=ai, skills=skills, workspace=place)
        if not http:
            anyio.run(serve_stdio, home, place, compiler, agent, incoming, outgoing)
            return 0
        from mcl.plugins.mcp.http import TOKEN_FILE, listening, token_of

        token = token_of(home.path)
        bound = stack.enter_context(listening(host, port, anywhere=unsafe_bind))
        anyio.run(serve_http, home, place, compiler, agent, bound, token, home.path / TOKEN_FILE)
        return 0


@contextmanager
def _one_error() -> Iterator[None]:
    """Of the errors of the tasks that a server consists of, the first."""
    try:
        yield
    except BaseExceptionGroup as group:
        from executor.walker.questions import first_error

        raise first_error(group) from group


def _started_in() -> Path:
    """The current folder. Programs that work in none start their servers in the root of the disk, which
    nobody means."""
    from mcl.core.errors import InputError

    here = Path.cwd()
    if here == Path(here.root):
        raise InputError(
            "NO_WORKSPACE",
            "it is started in the root of the disk, which is no folder to work in",
            place="--workspace",
            fix="name the folder that tools may work in: --workspace FOLDER",
        )
    return here
