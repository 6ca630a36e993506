"""`mcl review history`: what was found before."""

from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, Workspace, example
from mcl.cli.output import Output


def register(review: typer.Typer) -> None:
    """Add this verb."""
    review.command(
        "history", epilog=example("mcl review history", "mcl review history src/app.py --limit 3 --json")
    )(history_command)


def history_command(
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="A file of the workspace; all files where left out.")
    ] = "",
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=10, help="At most so many reviews of the file.")
    ] = 10,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Show the newest reviews of a file, at most 10; or the last review of each file."""
    from mcl.cli.home import use_home
    from mcl.plugins.review.cli.remembered import files_view, history_view
    from mcl.plugins.review.usecases.memory import review_history

    found = review_history(file, limit=limit, workspace=workspace, home=use_home())
    out = Output(as_json)
    out.document({"reviews": [one.to_json() for one in found]})
    out.view(history_view(found) if file else files_view(found))
