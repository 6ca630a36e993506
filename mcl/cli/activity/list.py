"""`mcl activity list`: what was called, newest first."""

from collections.abc import Mapping
from typing import Annotated

import typer

from mcl.cli.activity.arguments import Fresh, filtered
from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, note


def register(activity: typer.Typer) -> None:
    """Add this verb."""
    activity.command(
        "list",
        epilog=example(
            "mcl activity list",
            "mcl activity list --status denied --status failed --since 2h",
            "mcl activity list --server github --operation destructive --json",
        ),
    )(list_calls)


@filtered
def list_calls(
    filters: Mapping[str, object],
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=1000, help="At most so many, up to 1000.")
    ] = 50,
    cursor: Annotated[
        str, typer.Option("--cursor", metavar="NEXT", help="Go on where an earlier list ended.")
    ] = "",
    fresh: Fresh = False,
    as_json: AsJson = False,
) -> int:
    """List calls, newest first.

    Exit code 6 when a record does not verify; it is told, not shown.
    """
    from ir.errors import UNVERIFIED
    from mcl.cli.activity.views import calls_view, flaw_lines
    from mcl.cli.home import use_home
    from mcl.usecases.activity import list_activity

    page = list_activity(filters, limit=limit, cursor=cursor, fresh=fresh, home=use_home())
    out = Output(as_json)
    out.document(page.to_json())
    if not as_json:
        out.tell([calls_view(page.calls)])
        if page.next:
            note(f"there are more: --cursor {page.next}")
    for line in flaw_lines(page.flaws):
        note(line)
    return UNVERIFIED if page.flaws else 0
