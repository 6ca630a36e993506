"""`mcl config`: what holds for every goal of a home."""

from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    config = typer.Typer(
        name="config",
        help="Config: what holds for every goal.",
        epilog=example("mcl config zone"),
        rich_markup_mode=None,
    )
    config.callback()(lambda: None)
    config.command(
        "zone",
        epilog=example("mcl config zone", "mcl config zone Europe/Stockholm", "mcl config zone system"),
    )(zone)
    app.add_typer(config)


def zone(
    name: Annotated[
        str | None, typer.Argument(metavar="[ZONE]", help="Such as Europe/Stockholm; system: the machine's.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell the time zone that days and times of day in goals are meant in, or choose one.

    Each goal keeps the zone that it was read in.
    """
    from mcl.cli.home import use_home
    from mcl.usecases.config import zone as config_zone

    found, chosen = config_zone(name, home=use_home(signs=False))
    Output(as_json).document({"zone": found, "chosen": chosen})
    if not as_json:
        from mcl.cli.views.layout import plain

        Output().tell([plain(f"{found}, {'chosen' if chosen else 'that of this machine'}")])
