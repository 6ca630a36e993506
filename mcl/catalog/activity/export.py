"""Records written out for other programs, one after another, whatever their number."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from executor.store.home import Home
from executor.store.journal.rows import Row
from ir.characters import written_in_json, written_out
from ir.errors import MclError
from mcl.catalog.activity.entry import KIND
from mcl.catalog.activity.filters import Filters, believed
from mcl.catalog.activity.reading import Flaw, Found
from mcl.catalog.activity.record import CallRecord

FORMATS: Final = ("json", "jsonl", "csv")
COLUMNS: Final = (
    "row",
    "id",
    "at",
    "server",
    "tool",
    "tool_variant",
    "operation_type",
    "data_sensitivity",
    "reason",
    "verdict",
    "code",
    "args",
    "args_bytes",
    "args_hash",
    "result_bytes",
    "latency_ms",
    "upstream_ms",
    "request_id",
    "agent",
    "client_name",
    "client_version",
    "intent_id",
    "gate_id",
    "warnings",
)
# What makes a spreadsheet calculate a cell, in the widths that East Asian keyboards have too.
_FORMULA: Final = re.compile(r"\t|\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")


def written(found: Iterable[Found], form: str, flaws: list[Flaw]) -> Iterator[str]:
    """The records as text, piece by piece. form: one of FORMATS.

    json is one array, jsonl an object a line, csv a head and a line each. Controls and characters that turn
    the direction of writing are escaped: in JSON so that nothing is lost, in csv as ``\\x1b``. A text that a
    spreadsheet would take for a formula has a ``'`` before it in csv. flaws: takes the rows that were not
    believed; they are not written.
    """
    calls = _believed(found, flaws)
    if form == "jsonl":
        return (_json(call) + "\n" for call in calls)
    return _array(calls) if form == "json" else _table(calls)


def _believed(found: Iterable[Found], flaws: list[Flaw]) -> Iterator[CallRecord]:
    for one in found:
        if isinstance(one, Flaw):
            flaws.append(one)
        else:
            yield one


def _array(calls: Iterable[CallRecord]) -> Iterator[str]:
    before = "[\n"
    for call in calls:
        yield before + _json(call)
        before = ",\n"
    yield "\n]\n" if before == ",\n" else "[]\n"


def _table(calls: Iterable[CallRecord]) -> Iterator[str]:
    yield _line(COLUMNS)
    for call in calls:
        flat = call.flat()
        yield _line([_cell(flat[name]) for name in COLUMNS])


def _line(cells: Iterable[object]) -> str:
    line = io.StringIO()
    csv.writer(line).writerow(cells)  # RFC 4180: \r\n between lines
    return line.getvalue()


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = written_out(value)
    return f"'{text}" if _FORMULA.match(text) else text


def _json(call: CallRecord) -> str:
    text = json.dumps(call.to_json(), ensure_ascii=False)
    return written_in_json(text)


# ---- New records as they come, whichever process keeps them.

_CHUNK: Final = 200  # rows that are read at once


def watch(home: Home, filters: Filters, wait: Callable[[], bool]) -> Iterator[Found]:
    """The records that are kept from now on, in order; rows that do not verify are flaws, whatever is asked
    for.

    wait: waits a moment, and says whether to go on. Raises HomeError.
    """
    place = home.journal.size()
    stamp: object = None
    while True:
        now = home.db.stamp("journal")
        if now != stamp:
            stamp = now
            # By size first: what is written while these are read has a later number.
            size = home.journal.size()
            while rows := home.journal.rows(after=place, kind=KIND, limit=_CHUNK):
                for row in rows:
                    place = row.seq
                    found = _found(home, row)
                    if isinstance(found, Flaw) or filters.matches(found):
                        yield found
            place = max(place, size)
        if not wait():
            return


def _found(home: Home, row: Row) -> Found:
    try:
        return believed(home, row)
    except MclError as problem:
        return Flaw(row.seq, problem.code, problem.message)
