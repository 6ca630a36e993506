"""`mcl activity watch`: calls as they come."""

import sys
from collections.abc import Mapping

import typer

from mcl.cli.activity.arguments import filtered
from mcl.cli.arguments import AsJsonLines, example
from mcl.cli.output import hush

_BETWEEN = 0.2  # seconds between two looks at the journal


def register(activity: typer.Typer) -> None:
    """Add this verb."""
    activity.command(
        "watch", epilog=example("mcl activity watch", "mcl activity watch --status denied --json")
    )(watch_calls)


@filtered
def watch_calls(
    filters: Mapping[str, object],
    as_json: AsJsonLines = False,
) -> int:
    """Show calls as they come.

    Of any process that keeps them in this home, until Ctrl-C, or until nobody reads any more.
    """
    from mcl.cli.home import use_home
    from mcl.usecases.activity import watch_activity

    try:
        for found in watch_activity(_wait, filters, home=use_home()):
            sys.stdout.write(_line(found, as_json=as_json) + "\n")
            sys.stdout.flush()
    except KeyboardInterrupt:
        pass  # how it is meant to end
    except BrokenPipeError:
        hush(sys.stdout)
    return 0


def _line(found: object, *, as_json: bool) -> str:
    import json

    from mcl.catalog.activity.reading import Flaw
    from mcl.catalog.activity.record import CallRecord
    from mcl.cli.activity.views import call_line
    from mcl.core.safe import safe_json

    assert isinstance(found, CallRecord | Flaw)
    if not as_json:
        return call_line(found)
    document = {"flaw": found.to_json()} if isinstance(found, Flaw) else found.to_json()
    return safe_json(json.dumps(document, ensure_ascii=False))


def _wait() -> bool:
    """Wait a moment. Whether anybody still reads: a closed pipe says so before it is written to."""
    import select
    import time

    time.sleep(_BETWEEN)
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        return not any(event & (select.POLLERR | select.POLLNVAL) for _, event in poll.poll(0))
    except (AttributeError, OSError, ValueError):  # no poll here, no file behind the stream
        return True
