"""`mcl review bootstrap`: first memories from what a repository says of itself."""

import typer

from mcl.cli.arguments import AsJson, Workspace, example
from mcl.cli.output import Output


def register(review: typer.Typer) -> None:
    """Add this verb."""
    review.command("bootstrap", epilog=example("mcl review bootstrap", "mcl review bootstrap --json"))(
        bootstrap_command
    )


def bootstrap_command(workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Remember what README, ROADMAP, contracts, safety documents and settings of the workspace say.

    They are cut into sections, each with its place. Done again, it changes what they say otherwise now, and
    forgets what they say no more.
    """
    from mcl.cli.home import use_home
    from mcl.plugins.review.cli.remembered import bootstrap_view
    from mcl.plugins.review.usecases.memory import review_bootstrap

    done = review_bootstrap(workspace=workspace, home=use_home(signs=True))
    out = Output(as_json)
    out.document(done.to_json())
    out.view(bootstrap_view(done))
