"""The verbs of `mcl work`."""

import typer

from mcl.cli.arguments import example
from mcl.plugins.agents.cli import file, work


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    intents = typer.Typer(
        name="work",
        help="What coding agents may work on: people sign it, agents check it out.",
        epilog=example("mcl work check", "mcl work import", "mcl work list"),
        rich_markup_mode=None,
    )
    for verbs in (file, work):
        verbs.register(intents)
    app.add_typer(intents)
