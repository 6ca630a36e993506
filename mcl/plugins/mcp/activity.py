"""What was called over MCP: listed, shown, exported, counted, watched."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from executor import Home, JournalError, Row
from executor.core.files import whole_file
from ir.errors import FAILED, MclError
from mcl.core.errors import McpError
from mcl.core.home import open_home
from mcl.plugins.mcp.records.index import ActivityFlaw, ActivityPage, Found, Reader
from mcl.plugins.mcp.records.index import watch as watched
from mcl.plugins.mcp.records.record import CallRecord, Filters, parse_filters
from mcl.plugins.mcp.records.stats import FORMATS, ActivityStats, written
from mcl.plugins.mcp.records.stats import stats as counted

Given = Mapping[str, object]


@dataclass(frozen=True)
class ShownCall:
    """One call with what belongs to it. row: of the journal; state: of the intent that was made of it, ""
    where there is none; gate: the row of its gate, None where there is none."""

    call: CallRecord
    row: Row
    state: str
    gate: Row | None

    def to_json(self) -> dict[str, object]:
        """The call as a JSON object, with its journal row, intent and gate."""
        row, gate = self.row, self.gate
        journal = {"row": row.seq, "kind": row.kind, "self_hash": row.self_hash, "leaf": row.leaf.hex()}
        told: dict[str, object] = {"journal": {**journal, "prove": f"mcl log prove {row.seq} --json"}}
        if self.call.intent_id:
            told["intent"] = {"id": self.call.intent_id, "state": self.state}
        if self.call.gate_id:
            told["gate"] = {"id": self.call.gate_id, **({"row": gate.seq, "kind": gate.kind} if gate else {})}
        return {**self.call.to_json(), **told}


@dataclass(frozen=True)
class ActivityExport:
    """What was written. flaws: rows that do not verify; they were left out."""

    calls: int
    flaws: tuple[ActivityFlaw, ...]


def list(
    filters: Given | None = None,
    *,
    limit: int = 50,
    cursor: str = "",
    fresh: bool = False,
    home: Home | None = None,
) -> ActivityPage:
    """The calls that are asked for, newest first.

    filters: by name (mcl.plugins.mcp.records.NAMES), a text or a list of texts. limit: 1 to 1000. cursor:
    the `next` of the page before. fresh: check every record again first, and make the index anew.
    Raises McpError BAD_FILTER, HomeError.
    """
    home = home or open_home()
    wanted = _filters(home, filters)
    return Reader(home, fresh=fresh).page(wanted, limit=limit, cursor=cursor)


def show(record: str, *, home: Home | None = None) -> ShownCall:
    """One call, from its signed bytes.

    record: the number of its row, its id or how it begins, or @last. Raises McpError RECORD_UNKNOWN,
    RECORD_AMBIGUOUS; EnvelopeError, JournalError, CborError where the row does not verify.
    """
    home = home or open_home()
    call, row = Reader(home).find(record)
    state, gate = "", None
    if call.intent_id:
        with suppress(MclError):
            state = home.journal.view(call.intent_id).state
    if call.gate_id:
        with suppress(JournalError):
            gate = home.journal.row(call.gate_id)
    return ShownCall(call, row, state, gate)


def export(
    form: str,
    out: Path | TextIO,
    filters: Given | None = None,
    *,
    fresh: bool = False,
    home: Home | None = None,
) -> ActivityExport:
    """Write the calls that are asked for, oldest first.

    form: json, jsonl or csv. out: a file, which is there whole or as it was before, and is readable by its
    owner alone; or a text stream, without translation of newlines.
    Raises McpError BAD_FILTER, BAD_FORMAT, OUT_UNWRITABLE; OSError of a stream.
    """
    if form not in FORMATS:
        allowed = ", ".join(FORMATS)
        raise McpError("BAD_FORMAT", f"{form[:80]!a} is no format", place="format", fix=f"one of {allowed}")
    home = home or open_home()
    found = Reader(home, fresh=fresh).oldest(_filters(home, filters))
    calls, flaws = 0, deque[ActivityFlaw]()

    def believed() -> Iterator[CallRecord]:
        nonlocal calls
        for one in found:
            if isinstance(one, ActivityFlaw):
                flaws.append(one)
                continue
            calls += 1
            yield one

    pieces = written(believed(), form)
    if isinstance(out, Path):
        _write_whole(out, pieces)
    else:
        for piece in pieces:
            out.write(piece)
    return ActivityExport(calls, tuple(flaws))


def stats(filters: Given | None = None, *, fresh: bool = False, home: Home | None = None) -> ActivityStats:
    """How often, how long and how much, of the calls that are asked for. Raises McpError BAD_FILTER."""
    home = home or open_home()
    return counted(home, _filters(home, filters), fresh=fresh)


def watch(
    wait: Callable[[], bool], filters: Given | None = None, *, home: Home | None = None
) -> Iterator[Found]:
    """The calls that are asked for, as any process keeps them, from now on.

    wait: waits a moment, and says whether to go on. Raises McpError BAD_FILTER at once.
    """
    home = home or open_home()
    return watched(home, _filters(home, filters), wait)


def _filters(home: Home, given: Given | None) -> Filters:
    return parse_filters(given or {}, now=home.clock.now())


def _write_whole(path: Path, pieces: Iterator[str]) -> None:
    """The file with all of it, or the file as it was."""
    try:
        path = path.resolve()
        if path.exists() and not path.is_file():
            raise McpError(
                "OUT_UNWRITABLE",
                "is there, and is no file",
                place=str(path),
                fix="name a file, or leave --output out and redirect",
                exit=FAILED,
            )
        with whole_file(path) as file:
            for piece in pieces:
                file.write(piece.encode())
    except (OSError, RuntimeError) as error:  # RuntimeError: links that lead in a circle
        said = getattr(error, "strerror", None) or str(error)
        raise McpError(
            "OUT_UNWRITABLE",
            f"cannot be written: {said}",
            place=str(path),
            fix="name a file in a folder that can be written to",
            exit=FAILED,
        ) from error
