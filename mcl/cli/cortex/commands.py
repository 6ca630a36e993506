"""The verbs of `mcl cortex`."""

import typer

from mcl.cli.arguments import example
from mcl.cli.cortex import proving, reading, writing


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    cortex = typer.Typer(
        name="cortex",
        help="Memories: what is remembered.",
        epilog=example('mcl cortex put Fact "The office is in Oslo"', "mcl cortex find office"),
        rich_markup_mode=None,
    )
    for verbs in (writing, reading, proving):
        verbs.register(cortex)
    app.add_typer(cortex)
