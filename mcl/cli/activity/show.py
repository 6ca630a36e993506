"""`mcl activity show`: one call with all that is kept of it."""

from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output


def register(activity: typer.Typer) -> None:
    """Add this verb."""
    activity.command("show", epilog=example("mcl activity show @last", "mcl activity show 17 --json"))(
        show_call
    )


def show_call(
    record: Annotated[
        str,
        typer.Argument(
            metavar="RECORD", help="The number of its row, the id of the record or how it begins, or @last."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Show one call.

    What was declared, its arguments without secrets, what was said to it, its intent and its gate, and its
    row in the journal.
    """
    from mcl.cli.activity.views import call_view
    from mcl.cli.home import use_home
    from mcl.usecases.activity import show_activity

    shown, out = show_activity(record, home=use_home()), Output(as_json)
    out.document(shown.to_json())
    out.view(call_view(shown))
