"""Records written out for other programs, one after another, whatever their number."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from typing import Final

from ir.characters import written_in_json, written_out
from mcl.catalog.activity.record import COLUMNS, CallRecord

FORMATS: Final = ("json", "jsonl", "csv")
# What makes a spreadsheet calculate a cell, in the widths that East Asian keyboards have too.
_FORMULA: Final = re.compile(r"\t|\s*[=+\-@\uff1d\uff0b\uff0d\uff20]")


def written(calls: Iterable[CallRecord], form: str) -> Iterator[str]:
    """The records as text, piece by piece. form: one of FORMATS.

    json is one array, jsonl an object a line, csv a head and a line each. Controls and characters that turn
    the direction of writing are escaped: in JSON so that nothing is lost, in csv as ``\\x1b``. A text that a
    spreadsheet would take for a formula has a ``'`` before it in csv.
    """
    if form == "jsonl":
        return (_json(call) + "\n" for call in calls)
    return _array(calls) if form == "json" else _table(calls)


def _array(calls: Iterable[CallRecord]) -> Iterator[str]:
    before = "[\n"
    for call in calls:
        yield before + _json(call)
        before = ",\n"
    yield "\n]\n" if before == ",\n" else "[]\n"


def _table(calls: Iterable[CallRecord]) -> Iterator[str]:
    yield _line(COLUMNS)
    for call in calls:
        yield _line([_cell(value) for value in call.flat().values()])


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
