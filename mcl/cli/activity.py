"""`mcl activity`: the calls of agents over MCP, as they were kept."""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from mcl.cli.arguments import AsJson, AsJsonLines, example
from mcl.cli.output import Output, hush, note

_OPERATIONS = ("read", "write", "destructive", "none")
_SENSITIVITIES = ("public", "internal", "private", "unknown")
_VERDICTS = ("allowed", "asked", "denied", "failed")


def _completes(words: Sequence[str]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


Server = Annotated[
    list[str] | None,
    typer.Option(
        "--server", metavar="NAME", help="Of this server (mcl: our own tools); may be given several times."
    ),
]
Tool = Annotated[
    list[str] | None,
    typer.Option("--tool", metavar="TOOL", help="Of this tool: its name, or server:tool; several times."),
]
Operation = Annotated[
    list[str] | None,
    typer.Option(
        "--operation",
        metavar="WORD",
        help=f"Declared as {', '.join(_OPERATIONS)}; several times.",
        autocompletion=_completes(_OPERATIONS),
    ),
]
Sensitivity = Annotated[
    list[str] | None,
    typer.Option(
        "--sensitivity",
        metavar="WORD",
        help=f"Declared as {', '.join(_SENSITIVITIES)}; several times.",
        autocompletion=_completes(_SENSITIVITIES),
    ),
]
Status = Annotated[
    list[str] | None,
    typer.Option(
        "--status",
        metavar="WORD",
        help=f"What was said to it: {', '.join(_VERDICTS)}; several times.",
        autocompletion=_completes(_VERDICTS),
    ),
]
Code = Annotated[
    list[str] | None,
    typer.Option("--code", metavar="CODE", help="Refused or failed with this code; several times."),
]
OfIntent = Annotated[
    list[str] | None,
    typer.Option(
        "--intent", metavar="INTENT", help="Of this intent: its id or how it begins; several times."
    ),
]
Agent = Annotated[
    list[str] | None,
    typer.Option("--agent", metavar="DID", help="By this agent: its DID or how it begins; several times."),
]
Client = Annotated[
    list[str] | None,
    typer.Option("--client", metavar="NAME", help="From a client that calls itself so; several times."),
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="WHEN", help="From then on: 2026-11-21, 2026-11-21T10:00Z, 2h, 3d."),
]
Until = Annotated[str | None, typer.Option("--until", metavar="WHEN", help="Before then; as --since.")]
Text = Annotated[
    str | None,
    typer.Option("--text", metavar="WORDS", help="With these words in it, whatever their case."),
]
Fresh = Annotated[
    bool, typer.Option("--fresh", help="Check every record again first, and make the index anew.")
]
_FILTERS: Final[dict[str, Any]] = {
    "server": Server,
    "tool": Tool,
    "operation": Operation,
    "sensitivity": Sensitivity,
    "status": Status,
    "code": Code,
    "intent": OfIntent,
    "agent": Agent,
    "client": Client,
    "since": Since,
    "until": Until,
    "text": Text,
}


def filtered(command: Callable[..., int]) -> Callable[..., int]:
    """A command with the filters as its first options, handed to it as its first argument: what was given of
    them, by name. An empty one was given too, and is refused where it is read."""

    @wraps(command)
    def run(**values: Any) -> int:
        given = {name: values.pop(name) for name in _FILTERS}
        return command({name: value for name, value in given.items() if value not in (None, [])}, **values)

    said = inspect.signature(command)
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in _FILTERS.items()
    ]
    own = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in list(said.parameters.values())[1:]]
    run.__signature__ = said.replace(parameters=[*options, *own])  # type: ignore[attr-defined]  # what Typer reads
    run.__annotations__ = {one.name: one.annotation for one in (*options, *own)}
    return run


# ---- `mcl activity export`: calls for other programs.


def _add_export(activity: typer.Typer) -> None:
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
    from mcl.cli.home import use_home
    from mcl.cli.views.activity import flaw_lines
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


# ---- `mcl activity list`: what was called, newest first.


def _add_list(activity: typer.Typer) -> None:
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
    from mcl.cli.home import use_home
    from mcl.cli.views.activity import calls_view, flaw_lines
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


# ---- `mcl activity show`: one call with all that is kept of it.


def _add_show(activity: typer.Typer) -> None:
    """Add this verb."""
    activity.command("show", epilog=example("mcl activity show @last", "mcl activity show 17 --json"))(
        show_call
    )


def show_call(
    record: Annotated[
        str,
        typer.Argument(
            metavar="RECORD", help="The number of its row, the id of the record or how it begins, or @last."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Show one call.

    What was declared, its arguments without secrets, what was said to it, its intent and its gate, and its
    row in the journal.
    """
    from mcl.cli.home import use_home
    from mcl.cli.views.activity import call_view
    from mcl.usecases.activity import show_activity

    shown, out = show_activity(record, home=use_home()), Output(as_json)
    out.document(shown.to_json())
    out.view(call_view(shown))


# ---- `mcl activity stats`: how often, how long, how much.


def _add_stats(activity: typer.Typer) -> None:
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
    from mcl.cli.home import use_home
    from mcl.cli.views.activity import stats_view
    from mcl.usecases.activity import activity_stats

    told, out = activity_stats(filters, fresh=fresh, home=use_home()), Output(as_json)
    out.document(told.to_json())
    out.view(stats_view(told))
    if told.flaws:
        rows = ", ".join(map(str, told.flaws[:10])) + (" …" if len(told.flaws) > 10 else "")
        note(f"not counted, since they do not verify: rows {rows} (mcl log verify tells more)")
    return UNVERIFIED if told.flaws else 0


# ---- `mcl activity watch`: calls as they come.

_BETWEEN = 0.2  # seconds between two looks at the journal


def _add_watch(activity: typer.Typer) -> None:
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
    from mcl.cli.views.activity import call_line
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


# ---- The verbs of `mcl activity`.


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    activity = typer.Typer(
        name="activity",
        help="What was called over MCP: every call, with what was declared and what was said to it.",
        epilog=example("mcl activity list --since 2h --status denied", "mcl activity show @last"),
        rich_markup_mode=None,
    )
    for add in (_add_list, _add_show, _add_export, _add_stats, _add_watch):
        add(activity)
    app.add_typer(activity)
