"""The verbs of `mcl tool`."""

import typer

from mcl.cli.tool import approve, call, classify, describe, list


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    tools = typer.Typer(name="tool", help="Tools: what a plan may call.", rich_markup_mode=None)
    for verb in (list, describe, call, approve, classify):
        verb.register(tools)
    app.add_typer(tools)
