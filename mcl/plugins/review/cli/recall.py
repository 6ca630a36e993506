"""`mcl review recall`: what is known of a workspace."""

from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, Workspace, example
from mcl.cli.output import Output


def register(review: typer.Typer) -> None:
    """Add this verb."""
    review.command(
        "recall", epilog=example('mcl review recall "who talks to SQLite" --limit 2', "mcl review recall")
    )(recall_command)


def recall_command(
    words: Annotated[
        str, typer.Argument(metavar="[WORDS]", help="What it should be about; all of it where left out.")
    ] = "",
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="At most so many; 0: all.")] = 10,
    workspace: Workspace = None,
    as_json: AsJson = False,
) -> None:
    """Find what is remembered about the workspace that shares words with WORDS, the best first."""
    from mcl.cli.home import use_home
    from mcl.plugins.review.cli.remembered import meanings_view
    from mcl.plugins.review.usecases.memory import review_recall

    found = review_recall(words, limit=limit, workspace=workspace, home=use_home())
    out = Output(as_json)
    out.document({"meanings": [one.to_json() for one in found]})
    out.view(meanings_view(found))
