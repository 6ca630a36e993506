"""The verbs of `mcl review`."""

import typer

from mcl.cli.arguments import example
from mcl.cli.groups import ReviewsByDefault
from mcl.plugins.review.cli import (
    bootstrap,
    context,
    decide,
    decisions,
    dismiss,
    dismissals,
    drift,
    file,
    history,
    next,
    parse,
    recall,
    remember,
)


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    review = typer.Typer(
        name="review",
        cls=ReviewsByDefault,
        help="Reviews of code. `mcl review FILE` is `mcl review file FILE`.",
        epilog=example("mcl review app.py", "mcl review --diff", "mcl review src --no-ai"),
        rich_markup_mode=None,
        subcommand_metavar="[FILE] | COMMAND [ARGS]...",
    )
    remembered = (history, dismiss, dismissals, decide, decisions, remember, recall, bootstrap)
    for verb in (file, parse, context, next, *remembered, drift):
        verb.register(review)
    app.add_typer(review)
