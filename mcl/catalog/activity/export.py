"""Records written out for other programs, one after another, whatever their number."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from typing import Final

from ir.characters import written_in_json, written_out
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
