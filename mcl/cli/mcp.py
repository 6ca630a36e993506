"""`mcl mcp`: tools for other programs, and how they are told to use them."""

from pathlib import Path
from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, ModelPath, NoAi, SkillDirectories, Workspace, example


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    group = typer.Typer(help="Serve tools to other programs (Model Context Protocol).", no_args_is_help=True)
    group.command(
        "serve", epilog=example("mcl mcp serve --workspace ~/project", "mcl mcp serve --http --port 8321")
    )(serve_command)
    group.command(
        "install",
        epilog=example(
            "mcl mcp install", "mcl mcp install --host claude-code", "mcl mcp install --host zed --write"
        ),
    )(install_command)
    app.add_typer(group, name="mcp")


def serve_command(
    http: Annotated[
        bool, typer.Option("--http", help="Listen for clients over HTTP instead of standard input.")
    ] = False,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="With --http: the address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", help="With --http: the port; 0 takes any free one.")
    ] = 8321,
    unsafe_bind: Annotated[
        bool, typer.Option("--unsafe-bind", help="With --http: let other machines connect, unencrypted.")
    ] = False,
    workspace: Workspace = None,
    model: ModelPath = None,
    no_ai: NoAi = False,
    skills: SkillDirectories = None,
) -> int:
    """Serve tools over the Model Context Protocol, until the client is gone.

    A client starts this itself (mcl mcp install). With --http it says on standard error where it listens, and
    where the token is that clients must send.
    """
    from mcl.mcp.serve.command import serve

    return serve(
        http=http,
        host=host,
        port=port,
        unsafe_bind=unsafe_bind,
        workspace=workspace or Path.cwd(),
        model=model,
        ai=not no_ai,
        skills=tuple(skills or ()),
    )


def install_command(
    host: Annotated[
        str,
        typer.Option("--host", metavar="NAME", help="The program to configure; left out: all are listed."),
    ] = "",
    workspace: Workspace = None,
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help="What the server is called there.")
    ] = "mcl",
    write: Annotated[
        bool, typer.Option("--write", help="Write it into the file, keeping what is there; shows the change.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Print the configuration that makes a program use mcl as a server.

    Nothing is written without --write. No secret is in it.
    """
    raise NotImplementedError
