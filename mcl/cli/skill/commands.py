"""The verbs of `mcl skill`."""

import typer

from mcl.cli.skill import fmt, hash, list, new, parse, publish, show, test, validate


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    skills = typer.Typer(name="skill", help="Skills: what can be asked for.", rich_markup_mode=None)
    for verb in (list, show, validate, parse, hash, fmt, new, test, publish):
        verb.register(skills)
    app.add_typer(skills)
