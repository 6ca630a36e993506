"""The commands of `mcl` by name. Nothing heavy is imported before a command runs."""

from typing import Annotated

import typer

from mcl.cli import (
    accept,
    compile,
    gate,
    grants,
    init,
    key,
    log,
    model,
    plan,
    replay,
    run,
    show,
    skill,
)
from mcl.cli.arguments import example

app = typer.Typer(
    name="mcl",
    help="Say what you want in plain words; read it, sign it, run it, replay it.",
    epilog=example('mcl compile "which files in notes mention invoice"', "mcl accept @last", "mcl run @last"),
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show_version(asked: bool) -> None:
    """Print the version and end, where it is asked for."""
    if asked:
        from mcl import __version__

        typer.echo(f"mcl {__version__}")
        raise typer.Exit


@app.callback()
def all_commands(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """The options that stand before any command."""


for noun in (init, compile, show, accept, plan, run, gate, log, replay, key, grants, skill, model):
    noun.register(app)
