"""Activity counted, and written out for other programs."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from executor.store.home import Home
from ir.characters import written_in_json, written_out
from ir.results import JsonResult
from mcl.plugins.mcp.records.index import ActivityIndex
from mcl.plugins.mcp.records.record import COLUMNS, CallRecord, Filters

# ---- How often, how long, how much: counts over the records, by what they say.


# What is counted by, and the column of it; "" stands for none.
GROUPS: Final = {
    "server": "a.server",
    "tool": "a.server || ':' || a.tool",
    "operation": "a.operation",
    "status": "a.status",
    "code": "a.code",
    "sensitivity": "a.sensitivity",
}


@dataclass(frozen=True, slots=True)
class Count(JsonResult):
    """Some calls together. p50_ms, p95_ms: so long half of them took at most, and 19 of 20 (nearest rank)."""

    name: str
    calls: int
    p50_ms: float
    p95_ms: float
    result_bytes: int


@dataclass(frozen=True, slots=True)
class ActivityStats:
    """All calls that were asked for, and the same by each of GROUPS, the most frequent first. since, until:
    of the first and the last of them, in milliseconds since 1970, None where there is none. flaws: rows that
    do not verify; they are in no count."""

    total: Count
    by: dict[str, tuple[Count, ...]]
    since: int | None
    until: int | None
    flaws: tuple[int, ...]

    def to_json(self) -> dict[str, object]:
        """The numbers as a JSON object."""
        from datetime import UTC, datetime

        from executor.core.clock import instant

        def moment(value: int | None) -> str:
            return "" if value is None else instant(datetime.fromtimestamp(value / 1000, UTC))

        by = {name: [count.to_json() for count in counts] for name, counts in self.by.items()}
        told = {"since": moment(self.since), "until": moment(self.until)}
        return {"total": self.total.to_json(), **told, "by": by, "flaws": list(self.flaws)}


def stats(home: Home, filters: Filters, *, fresh: bool = False) -> ActivityStats:
    """Count the calls that are asked for. fresh: check every record again first.

    Without it the numbers are those of the index, which each record entered with its signature checked, or
    when it was signed here. Raises HomeError.
    """
    ActivityIndex(home).catch_up(fresh=fresh)
    where, values = filters.where()
    names = ", ".join(GROUPS.values())
    # Of calls that are alike in all that is counted by: their latencies, as one text.
    sql = f"""
        SELECT group_concat(a.latency_us), total(a.result_bytes), min(a.at_ms), max(a.at_ms), {names}
        FROM activity a WHERE a.flaw = '' AND {where} GROUP BY {names}"""  # noqa: S608  # fixed texts
    groups: dict[str, dict[str, _Calls]] = {name: {} for name in GROUPS}
    total, moments = _Calls(), list[int]()
    for latencies, size, first, last, *said in home.db.read(sql, values):
        alike = _Calls([int(latency) for latency in latencies.split(",")], int(size))
        total.add(alike)
        moments += (first, last)
        for of, name in zip(groups.values(), said, strict=True):
            if name:
                of.setdefault(name, _Calls()).add(alike)
    flaws = home.db.read("SELECT seq FROM activity WHERE flaw != '' ORDER BY seq")
    return ActivityStats(
        total.count(""),
        {name: _sorted(calls.count(one) for one, calls in of.items()) for name, of in groups.items()},
        min(moments, default=None),
        max(moments, default=None),
        tuple(seq for (seq,) in flaws),
    )


class _Calls:
    """Some calls: their latencies in microseconds, and the bytes of their results."""

    def __init__(self, latencies: Iterable[int] = (), size: int = 0) -> None:
        self._latencies, self._size = list(latencies), size

    def add(self, more: _Calls) -> None:
        self._latencies += more._latencies
        self._size += more._size

    def count(self, name: str) -> Count:
        latencies = sorted(self._latencies)
        return Count(name, len(latencies), _rank(latencies, 0.5), _rank(latencies, 0.95), self._size)


def _sorted(counts: Iterable[Count]) -> tuple[Count, ...]:
    return tuple(sorted(counts, key=lambda count: (-count.calls, count.name)))


def _rank(latencies: Sequence[int], share: float) -> float:
    return latencies[max(ceil(len(latencies) * share), 1) - 1] / 1000 if latencies else 0.0


# ---- Records written out for other programs, one after another, whatever their number.


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
