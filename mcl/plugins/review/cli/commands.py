"""The verbs of `mcl review`."""

import typer

from mcl.cli.arguments import example
from mcl.cli.plan import ReviewsByDefault
from mcl.plugins.review.cli import context, drift, file, history, memory, next


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
    for verbs in (file, next, context, history, memory, drift):
        verbs.register(review)
    app.add_typer(review)
