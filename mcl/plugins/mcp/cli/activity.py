"""`mcl activity`: the calls of agents over MCP, as they were kept."""

import inspect
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from mcl.cli.arguments import AsJson, AsJsonLines, argument, noun, option, verb
from mcl.cli.home import use_home
from mcl.cli.output import Output, hush, note
from mcl.cli.views.layout import BAD, DIM, STRONG, WARN, joined, listing, moment, plain, rows
from mcl.core.text import one_line, safe, safe_json

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mcl.plugins.mcp.activity import ShownCall
    from mcl.plugins.mcp.records.index import ActivityFlaw, Found
    from mcl.plugins.mcp.records.record import CallRecord
    from mcl.plugins.mcp.records.stats import ActivityStats, Count

_SEVERAL = {  # each filter that may be given several times: metavar, help, and the words that it may be
    "server": ("NAME", "Of this server (mcl: our own tools); may be given several times.", ()),
    "tool": ("TOOL", "Of this tool: its name, or server:tool; several times.", ()),
    "operation": ("WORD", "Declared as {words}; several times.", ("read", "write", "destructive", "none")),
    "sensitivity": (
        *("WORD", "Declared as {words}; several times."),
        ("public", "internal", "private", "unknown"),
    ),
    "status": (
        *("WORD", "What was said to it: {words}; several times."),
        ("allowed", "asked", "denied", "failed"),
    ),
    "code": ("CODE", "Refused or failed with this code; several times.", ()),
    "intent": ("INTENT", "Of this intent: its id or how it begins; several times.", ()),
    "agent": ("DID", "By this agent: its DID or how it begins; several times.", ()),
    "client": ("NAME", "From a client that calls itself so; several times.", ()),
}
_ONCE = {
    "since": ("WHEN", "From then on: 2026-11-21, 2026-11-21T10:00Z, 2h, 3d."),
    "until": ("WHEN", "Before then; as --since."),
    "text": ("WORDS", "With these words in it, whatever their case."),
}


def _option(name: str, metavar: str, help: str, words: tuple[str, ...]) -> Any:
    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    told = help.format(words=", ".join(words))
    return typer.Option(f"--{name}", metavar=metavar, help=told, autocompletion=complete if words else None)


_FILTERS: Final[dict[str, Any]] = {
    **{name: Annotated[list[str] | None, _option(name, *said)] for name, said in _SEVERAL.items()},
    **{name: Annotated[str | None, _option(name, *said, ())] for name, said in _ONCE.items()},
}
Fresh = Annotated[bool, option("--fresh", "Check every record again first, and make the index anew.")]


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


activity = noun(
    "activity",
    "What was called over MCP: every call, with what was declared and what was said to it.",
    "mcl activity list --since 2h --status denied",
    "mcl activity show @last",
)


@verb(activity, "list")
@filtered
def list_calls(
    filters: Mapping[str, object],
    limit: Annotated[int, option("--limit N", "At most so many, up to 1000.", min=1, max=1000)] = 50,
    cursor: Annotated[str, option("--cursor NEXT", "Go on where an earlier list ended.")] = "",
    fresh: Fresh = False,
    as_json: AsJson = False,
) -> int:
    """List calls, newest first.

    Exit code 6 when a record does not verify; it is told, not shown.
    """
    from ir.errors import UNVERIFIED
    from mcl.plugins.mcp import activity

    page = activity.list(filters, limit=limit, cursor=cursor, fresh=fresh, home=use_home())
    out = Output(as_json)
    out.document(page)
    if not as_json:
        out.tell([calls_view(page.calls)])
        if page.next:
            note(f"there are more: --cursor {page.next}")
    for line in flaw_lines(page.flaws):
        note(line)
    return UNVERIFIED if page.flaws else 0


@verb(activity, "show")
def show_call(
    record: Annotated[
        str, argument("RECORD", "The number of its row, the id of the record or how it begins, or @last.")
    ],
    as_json: AsJson = False,
) -> None:
    """Show one call.

    What was declared, its arguments without secrets, what was said to it, its intent and its gate, and its
    row in the journal.
    """
    from mcl.plugins.mcp import activity

    shown, out = activity.show(record, home=use_home()), Output(as_json)
    out.show(shown, call_view(shown))


@verb(activity, "export")
@filtered
def export_calls(
    filters: Mapping[str, object],
    form: Annotated[
        str,
        option(
            "--format FORMAT",
            "jsonl (an object a line), json (one array) or csv.",
            autocompletion=lambda: ["jsonl", "json", "csv"],
        ),
    ] = "jsonl",
    output: Annotated[
        Path | None, option("--output FILE", "A file (default: standard output); whole or not at all.")
    ] = None,
    fresh: Fresh = False,
) -> int:
    """Write calls out, oldest first.

    Exit code 6 when a record does not verify; it is told, not written.
    """
    from ir.errors import UNVERIFIED
    from mcl.plugins.mcp import activity

    sys.stdout.reconfigure(encoding="utf-8", newline="")  # type: ignore[union-attr]  # as for any document
    try:
        done = activity.export(form, output or sys.stdout, filters, fresh=fresh, home=use_home())
    except BrokenPipeError:
        hush(sys.stdout)  # whoever read has enough
        return 0
    if output is not None:
        note(f"wrote {done.calls} calls to {output}")
    for line in flaw_lines(done.flaws):
        note(line)
    return UNVERIFIED if done.flaws else 0


@verb(activity, "stats")
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
    from mcl.plugins.mcp import activity

    told, out = activity.stats(filters, fresh=fresh, home=use_home()), Output(as_json)
    out.show(told, stats_view(told))
    if told.flaws:
        rows = ", ".join(map(str, told.flaws[:10])) + (" …" if len(told.flaws) > 10 else "")
        note(f"not counted, since they do not verify: rows {rows} (mcl log verify tells more)")
    return UNVERIFIED if told.flaws else 0


# ---- `mcl activity watch`: calls as they come.

_BETWEEN = 0.2  # seconds between two looks at the journal


@verb(activity, "watch")
@filtered
def watch_calls(
    filters: Mapping[str, object],
    as_json: AsJsonLines = False,
) -> int:
    """Show calls as they come.

    Of any process that keeps them in this home, until Ctrl-C, or until nobody reads any more.
    """
    from mcl.plugins.mcp import activity

    try:
        for found in activity.watch(_wait, filters, home=use_home()):
            sys.stdout.write(_line(found, as_json=as_json) + "\n")
            sys.stdout.flush()
    except KeyboardInterrupt:
        pass  # how it is meant to end
    except BrokenPipeError:
        hush(sys.stdout)
    return 0


def _line(found: "Found", *, as_json: bool) -> str:
    from mcl.plugins.mcp.records import ActivityFlaw

    if not as_json:
        return call_line(found)
    document = {"flaw": found.to_json()} if isinstance(found, ActivityFlaw) else found.to_json()
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


# ---- Calls as they are shown.

_STYLES = {"asked": WARN, "denied": BAD, "failed": BAD}
_SAID = 160  # characters of a reason in a list


def calls_view(calls: "Sequence[CallRecord]") -> "RenderableType":
    if not calls:
        return plain("nothing", DIM)
    lines = [
        (
            (str(call.seq), DIM),
            (_at(call), DIM),
            (one_line(call.name, 80), ""),
            (call.operation_type or "-", BAD if call.operation_type == "destructive" else ""),
            (call.verdict, _STYLES.get(call.verdict, "")),
            (_ms(call.latency_ms), DIM),
            (_says(call), DIM),
        )
        for call in calls
    ]
    return listing(("row", "at", "tool", "declared", "verdict", "ms", "says"), lines)


def call_line(found: "Found") -> str:
    """One call, or one row that is not believed, on a line."""
    from mcl.plugins.mcp.records import ActivityFlaw

    if isinstance(found, ActivityFlaw):
        return one_line(f"{found.seq}  {found.code}: {found.message}", 300)
    parts = (str(found.seq), _at(found), found.name, found.operation_type or "-", found.verdict)
    return one_line("  ".join((*parts, f"{_ms(found.latency_ms)} ms", _says(found))).rstrip(), 400)


def flaw_lines(flaws: "Sequence[ActivityFlaw]") -> list[str]:
    """What is said beside a result of rows that were not believed."""
    if not flaws:
        return []
    told = [f"  row {flaw.seq}  {flaw.code}: {safe(flaw.message)}" for flaw in flaws[:10]]
    more = [f"  and {len(flaws) - 10} more"] if len(flaws) > 10 else []
    head = "a record does" if len(flaws) == 1 else f"{len(flaws)} records do"
    return [f"{head} not verify and cannot be shown (mcl log verify tells more):", *told, *more]


def call_view(shown: "ShownCall") -> "Iterator[RenderableType]":
    """One call with all that is kept of it."""
    call, row = shown.call, shown.row
    verdict = (call.verdict, _STYLES.get(call.verdict, "green"))
    yield joined(((call.name, STRONG), verdict, (call.code, BAD)))
    kept = call.kept_args
    size = "" if call.args_bytes == len(kept.encode()) else f"{call.args_bytes} bytes as they came"
    args = call.given_args
    written = json.dumps(args, ensure_ascii=False, indent=2) if isinstance(args, dict) else kept
    upstream = "" if call.upstream_ms is None else f"{_ms(call.upstream_ms)} ms"
    client = " ".join(part for part in (call.client, call.client_version) if part)
    pairs = [
        ("at", moment(call.at)),
        ("variant", call.variant),
        ("declared", f"{call.operation_type or '-'}, {call.data_sensitivity}" if call.declared else ""),
        ("reason", call.reason),
        *(("warning", warning) for warning in call.warnings),
        ("arguments", written),
        ("", size),
        ("args hash", call.args_hash),
        ("result", f"{call.result_bytes} bytes"),
        ("took", f"{_ms(call.latency_ms)} ms"),
        ("upstream", upstream),
        ("request", str(call.request_id)),
        ("agent", call.agent),
        ("client", client),
        ("intent", "  ".join(part for part in (call.intent_id, shown.state) if part)),
        ("gate", f"{call.gate_id}  row {shown.gate.seq}" if shown.gate else call.gate_id),
        ("record", f"{call.id}, row {row.seq} of the journal; signed bytes {row.self_hash[:16]}…"),
        ("proof", f"mcl log prove {row.seq}"),
    ]
    yield rows([(name, text) for name, text in pairs if text])


def stats_view(told: "ActivityStats") -> "Iterator[RenderableType]":
    """The numbers, a table for each of what they are counted by."""
    for name, counts in (("all", (told.total,)), *told.by.items()):
        if not counts or not told.total.calls:
            continue
        heads = (name, "calls", "p50 ms", "p95 ms", "bytes")
        yield listing(heads, [_count(count) for count in counts])
        yield ""
    if not told.total.calls:
        yield plain("nothing", DIM)


def _count(count: "Count") -> tuple[tuple[str, str], ...]:
    numbers = (str(count.calls), f"{count.p50_ms:.1f}", f"{count.p95_ms:.1f}", str(count.result_bytes))
    return ((one_line(count.name, 80), ""), *((number, DIM) for number in numbers))


def _says(call: "CallRecord") -> str:
    told = (call.code, *(f"warned: {one}" for one in call.warnings), call.reason)
    return one_line("  ".join(part for part in told if part), _SAID)


def _at(call: "CallRecord") -> str:
    return call.at[:19].replace("T", " ")


def _ms(time: float) -> str:
    return f"{time:.1f}"
