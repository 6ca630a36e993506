"""The verbs of `mcl activity`."""

import typer

from mcl.cli.activity import export, list, show, stats, watch
from mcl.cli.arguments import example


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    activity = typer.Typer(
        name="activity",
        help="What was called over MCP: every call, with what was declared and what was said to it.",
        epilog=example("mcl activity list --since 2h --status denied", "mcl activity show @last"),
        rich_markup_mode=None,
    )
    for verb in (list, show, export, stats, watch):
        verb.register(activity)
    app.add_typer(activity)
