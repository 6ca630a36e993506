"""`mcl policy`: what the operator closes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, note_error

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mcl.usecases.policy import CheckedPolicy


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    policy = typer.Typer(
        name="policy",
        help="What the operator closes: policy.toml.",
        epilog=example("mcl policy check"),
        rich_markup_mode=None,
    )
    policy.command("check", epilog=example("mcl policy check", "mcl policy check --json"))(check)
    app.add_typer(policy)


def check(as_json: AsJson = False) -> int:
    """Show what each entry of policy.toml closes, and start nothing.

    Exit codes: 0 each closes something; 6 some name a tool that its server did not list yet; 2 the file
    cannot be followed, and nothing is called until it is mended.
    """
    from mcl.cli.home import use_home
    from mcl.usecases.policy import check as check_policy

    found, out = check_policy(home=use_home()), Output(as_json)
    out.document(found.to_json())
    out.view(_view(found))
    if found.problem is not None:
        note_error(found.problem)
    return found.exit


def _view(found: "CheckedPolicy") -> "Iterator[RenderableType]":
    from mcl.cli.views.layout import BAD, DIM, GOOD, WARN, listing, plain

    styles = {"closed": GOOD, "unverified": WARN, "unknown": BAD}
    lines = []
    for one in found.entries:
        near = f" (nearest: {', '.join(one.nearest)})" if one.nearest and one.standing == "unverified" else ""
        said = ", ".join(one.tools) or f"{one.message}{near}"
        lines.append(
            ((one.entry, ""), (one.standing, styles[one.standing]), (said, ""), (_line(one.place), DIM))
        )
    if lines:
        yield listing(("deny", "", "", "line"), lines)
    else:
        yield plain("policy.toml denies nothing")


def _line(place: str) -> str:
    line = place.rpartition(":")[2]
    return line if line.isdigit() else ""
