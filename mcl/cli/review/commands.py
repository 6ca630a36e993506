"""The verbs of `mcl review`."""

from importlib import import_module
from importlib.util import find_spec
from typing import Final

import typer

from mcl.cli.arguments import example
from mcl.cli.groups import ReviewsByDefault

# Each module has register(app), which adds its commands; in the order of the help.
VERBS: Final = (
    "file",
    "parse",
    "context",
    "next",
    "history",
    "decide",
    "decisions",
    "remember",
    "recall",
    "bootstrap",
    "drift",
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
    for verb in VERBS:
        if find_spec(f"mcl.cli.review.{verb}") is not None:
            import_module(f"mcl.cli.review.{verb}").register(review)
    app.add_typer(review)
