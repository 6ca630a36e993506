"""`mcl review dismissals`: what was dismissed, and why."""

from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, Workspace, example
from mcl.cli.output import Output


def register(review: typer.Typer) -> None:
    """Add this verb."""
    review.command(
        "dismissals", epilog=example("mcl review dismissals", "mcl review dismissals src/app.py --json")
    )(dismissals_command)


def dismissals_command(
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="A file of the workspace; all files where left out.")
    ] = "",
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """List the findings that were dismissed here: where they stood, by which rule, why and when.

    To let one count again: mcl review dismiss FILE:LINE --forget.
    """
    from mcl.cli.home import use_home
    from mcl.plugins.review.cli.remembered import dismissals_view
    from mcl.plugins.review.usecases.dismiss import review_dismissals

    found = review_dismissals(file, workspace=workspace, home=use_home())
    out = Output(as_json)
    out.document({"dismissals": [one.to_json() for one in found]})
    out.view(dismissals_view(found))
