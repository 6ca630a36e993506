"""Calls as they are shown."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType

from mcl.catalog.activity.index import ActivityFlaw, Found
from mcl.catalog.activity.record import CallRecord
from mcl.catalog.activity.stats import ActivityStats, Count
from mcl.cli.views.layout import BAD, DIM, STRONG, WARN, joined, listing, moment, plain, rows
from mcl.core.text import one_line, safe
from mcl.usecases.activity import ShownCall

_STYLES = {"asked": WARN, "denied": BAD, "failed": BAD}
_SAID = 160  # characters of a reason in a list


def calls_view(calls: Sequence[CallRecord]) -> RenderableType:
    """Calls, one a line."""
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


def call_line(found: Found) -> str:
    """One call, or one row that is not believed, on a line."""
    if isinstance(found, ActivityFlaw):
        return one_line(f"{found.seq}  {found.code}: {found.message}", 300)
    parts = (str(found.seq), _at(found), found.name, found.operation_type or "-", found.verdict)
    return one_line("  ".join((*parts, f"{_ms(found.latency_ms)} ms", _says(found))).rstrip(), 400)


def flaw_lines(flaws: Sequence[ActivityFlaw]) -> list[str]:
    """What is said beside a result of rows that were not believed."""
    if not flaws:
        return []
    told = [f"  row {flaw.seq}  {flaw.code}: {safe(flaw.message)}" for flaw in flaws[:10]]
    more = [f"  and {len(flaws) - 10} more"] if len(flaws) > 10 else []
    head = "a record does" if len(flaws) == 1 else f"{len(flaws)} records do"
    return [f"{head} not verify and cannot be shown (mcl log verify tells more):", *told, *more]


def call_view(shown: ShownCall) -> Iterator[RenderableType]:
    """One call with all that is kept of it."""
    import json

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


def stats_view(told: ActivityStats) -> Iterator[RenderableType]:
    """The numbers, a table for each of what they are counted by."""
    for name, counts in (("all", (told.total,)), *told.by.items()):
        if not counts or not told.total.calls:
            continue
        heads = (name, "calls", "p50 ms", "p95 ms", "bytes")
        yield listing(heads, [_count(count) for count in counts])
        yield ""
    if not told.total.calls:
        yield plain("nothing", DIM)


def _count(count: Count) -> tuple[tuple[str, str], ...]:
    numbers = (str(count.calls), f"{count.p50_ms:.1f}", f"{count.p95_ms:.1f}", str(count.result_bytes))
    return ((one_line(count.name, 80), ""), *((number, DIM) for number in numbers))


def _says(call: CallRecord) -> str:
    told = (call.code, *(f"warned: {one}" for one in call.warnings), call.reason)
    return one_line("  ".join(part for part in told if part), _SAID)


def _at(call: CallRecord) -> str:
    return call.at[:19].replace("T", " ")


def _ms(time: float) -> str:
    return f"{time:.1f}"
