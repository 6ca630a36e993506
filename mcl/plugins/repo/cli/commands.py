"""The verbs of `mcl repo`."""

import typer

from mcl.plugins.repo.cli import execute, repositories, route, run


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    repo = typer.Typer(
        name="repo", help="Repositories: fifteen things to ask of one, in plain words.", rich_markup_mode=None
    )
    for verb in (route, run, execute, repositories):
        verb.register(repo)
    app.add_typer(repo)
