"""The verbs of `mcl tool`."""

import typer

from mcl.cli.tool import call, shelf, standing


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    tools = typer.Typer(name="tool", help="Tools: what a plan may call.", rich_markup_mode=None)
    for verbs in (shelf, call, standing):
        verbs.register(tools)
    app.add_typer(tools)
