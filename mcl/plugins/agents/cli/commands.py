"""The verbs of `mcl intents`."""

import typer

from mcl.cli.arguments import example
from mcl.plugins.agents.cli import complete, export, import_, list, map, select, trace, validate


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    intents = typer.Typer(
        name="intents",
        help="What coding agents may work on: people sign it, agents check it out.",
        epilog=example("mcl intents validate", "mcl intents import", "mcl intents list"),
        rich_markup_mode=None,
    )
    for verb in (import_, export, list, select, complete, trace, map, validate):
        verb.register(intents)
    app.add_typer(intents)
