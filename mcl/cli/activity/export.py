"""`mcl activity export`: calls for other programs."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from mcl.cli.activity.arguments import Fresh, filtered
from mcl.cli.arguments import example
from mcl.cli.output import hush, note


def register(activity: typer.Typer) -> None:
    """Add this verb."""
    activity.command(
        "export",
        epilog=example(
            "mcl activity export --since 1d > today.jsonl",
            "mcl activity export --format csv --output calls.csv",
        ),
    )(export_calls)


@filtered
def export_calls(
    filters: Mapping[str, object],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="jsonl (an object a line), json (one array) or csv.",
            autocompletion=lambda: ["jsonl", "json", "csv"],
        ),
    ] = "jsonl",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", metavar="FILE", help="A file (default: standard output); whole or not at all."
        ),
    ] = None,
    fresh: Fresh = False,
) -> int:
    """Write calls out, oldest first.

    Exit code 6 when a record does not verify; it is told, not written.
    """
    from ir.errors import UNVERIFIED
    from mcl.cli.activity.views import flaw_lines
    from mcl.cli.home import use_home
    from mcl.usecases.activity import export_activity

    sys.stdout.reconfigure(encoding="utf-8", newline="")  # type: ignore[union-attr]  # as for any document
    try:
        done = export_activity(form, output or sys.stdout, filters, fresh=fresh, home=use_home())
    except BrokenPipeError:
        hush(sys.stdout)  # whoever read has enough
        return 0
    if output is not None:
        note(f"wrote {done.calls} calls to {output}")
    for line in flaw_lines(done.flaws):
        note(line)
    return UNVERIFIED if done.flaws else 0
