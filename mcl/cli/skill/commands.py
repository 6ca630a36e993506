"""The verbs of `mcl skill`."""

import typer

from mcl.cli.skill import file, shelf


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    skills = typer.Typer(name="skill", help="Skills: what can be asked for.", rich_markup_mode=None)
    for verbs in (shelf, file):
        verbs.register(skills)
    app.add_typer(skills)
