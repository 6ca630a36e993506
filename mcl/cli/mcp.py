"""`mcl mcp`: tools for other programs, and how they are told to use them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from mcl.cli.arguments import (
    AsJson,
    ModelPath,
    NoAi,
    SkillDirectories,
    Workspace,
    folder,
    noun,
    option,
    verb,
)
from mcl.cli.home import use_home
from mcl.cli.output import Output, note, write_text
from mcl.cli.views.layout import DIM, GOOD, STRONG, joined, listing, plain

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mcl.serve.install import ConfigChange, Host

_PORT = 8321


group = noun(
    "mcp",
    "Serve tools to other programs (Model Context Protocol).",
    "mcl mcp install --host claude-code",
)


@verb(group, "serve", "mcl mcp serve --workspace ~/project", "mcl mcp serve --http --port 8321")
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


@verb(
    group,
    "install",
    "mcl mcp install",
    "mcl mcp install --host claude-code",
    "mcl mcp install --host cursor --write",
)
def install_command(
    host: Annotated[str, option("--host NAME", "The program to configure; left out: all are listed.")] = "",
    workspace: Annotated[
        Path | None,
        option(
            "--workspace DIR",
            "The folder that tools may work in (default: that of the program, else this one).",
            parser=folder,
        ),
    ] = None,
    name: Annotated[str, option("--name NAME", "What the server is called there.")] = "mcl",
    write: Annotated[
        bool, option("--write", "Write it where the file is plain JSON; shows the change.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Print the configuration that makes a program use mcl as a server.

    Nothing is written without --write. No secret is in it.
    """
    from mcl.serve.install import HOSTS, change_of, entry_for, host_named
    from mcl.serve.install import write as write_change

    out, user = Output(as_json), Path.home()
    if not host:
        if write:
            raise typer.BadParameter("--write goes with --host")
        listed = [(one, one.place(user, os.environ)) for one in HOSTS]
        out.show(
            {"hosts": [{"name": one.name, "title": one.title, "file": str(place)} for one, place in listed]},
            hosts_view(listed),
        )
        return 0
    program = host_named(host)
    entry = entry_for(program, name, workspace=workspace, environment=os.environ)
    place = program.place(user, os.environ)
    told: dict[str, object] = {
        "host": program.name,
        "file": str(place),
        "format": program.format,
        "key": program.key,
        "name": entry.name,
        "entry": entry.value,
        "snippet": entry.snippet,
        "command": entry.by_command,
        "docs": program.docs,
        "written": False,
    }
    if not write:
        out.document(told)
        if not as_json:
            write_text(entry.snippet)
            out_of_file(f"# {program.title}: goes into {place}", entry.by_command, program.docs)
        return 0
    change = change_of(entry, place)
    if change.needed:
        write_change(change)
    out.show(
        {**told, "written": change.needed, "diff": change.diff},
        written_view(program.title, program.docs, change),
    )
    return 0


def out_of_file(head: str, command: str, docs: str) -> None:
    """What a person must know besides; standard output stays the file's own text."""
    note(head)
    if command:
        note(f"# or: {command}")
    note(f"# see {docs}")


def hosts_view(hosts: Sequence[tuple[Host, Path]]) -> Iterator[RenderableType]:
    """The programs, and where each keeps its servers."""
    lines = [((host.name, STRONG), (host.title, ""), (str(place), DIM)) for host, place in hosts]
    yield listing(("name", "program", "file"), lines)


def written_view(title: str, docs: str, change: ConfigChange) -> Iterator[RenderableType]:
    """What was written into a program's file. docs: where its form is described."""
    if not change.needed:
        yield joined(((title, STRONG), ("it is there already", DIM)))
        return
    for line in change.diff.splitlines():
        yield plain(line, GOOD if line.startswith("+") else "")
    yield joined(((title, STRONG), ("written", GOOD), (f"start it anew; see {docs}", DIM)))


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
            from mcl.serve.descriptors import claimed

            if sys.stdin is not None and sys.stdin.isatty():
                note("waiting for messages of a client; mcl mcp install tells programs how to start this")
            incoming, outgoing = stack.enter_context(claimed())
        from mcl.core.distribution import require_sdk

        require_sdk("uvicorn", "starlette")
        import anyio

        from executor.sandbox.reach import allowed_roots
        from mcl.core.environment import AGENT
        from mcl.serve.process import serve_http, serve_stdio
        from mcl.serve.service import GoalCompiler

        place, agent = workspace or _started_in(), agent or os.environ.get(AGENT, "")
        home = stack.enter_context(use_home(signs=True))
        allowed_roots(home.allowed, home.path)  # a wrong one is told to who started this, not to a client
        compiler = GoalCompiler(home, model=model, ai=ai, skills=skills, workspace=place)
        if not http:
            anyio.run(serve_stdio, home, place, compiler, agent, incoming, outgoing)
            return 0
        from mcl.serve.http import TOKEN_FILE, listening, token_of

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


GROUPS: Final = (group,)
