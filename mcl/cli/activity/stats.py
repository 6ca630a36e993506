"""`mcl activity stats`: how often, how long, how much."""

from collections.abc import Mapping

import typer

from mcl.cli.activity.arguments import Fresh, filtered
from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, note


def register(activity: typer.Typer) -> None:
    """Add this verb."""
    activity.command(
        "stats", epilog=example("mcl activity stats --since 1d", "mcl activity stats --server github --json")
    )(count_calls)


@filtered
def count_calls(
    filters: Mapping[str, object],
    fresh: Fresh = False,
    as_json: AsJson = False,
) -> int:
    """Count calls.

    By server, tool, operation, verdict, code and sensitivity: how many, how long half of them and 19 of 20
    took at most, and the bytes of their results.

    Exit code 6 when a record does not verify; it is told, not counted.
    """
    from ir.errors import UNVERIFIED
    from mcl.cli.activity.views import stats_view
    from mcl.cli.home import use_home
    from mcl.usecases.activity import activity_stats

    told, out = activity_stats(filters, fresh=fresh, home=use_home()), Output(as_json)
    out.document(told.to_json())
    out.view(stats_view(told))
    if told.flaws:
        rows = ", ".join(map(str, told.flaws[:10])) + (" …" if len(told.flaws) > 10 else "")
        note(f"not counted, since they do not verify: rows {rows} (mcl log verify tells more)")
    return UNVERIFIED if told.flaws else 0
