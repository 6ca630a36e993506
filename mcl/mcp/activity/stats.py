"""How often, how long, how much: counts over the records, by what they say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from executor.home import Home
from mcl.mcp.activity.filters import Filters
from mcl.mcp.activity.index import Index

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
class Count:
    """Some calls together. p50_ms, p95_ms: so long half of them took at most, and 19 of 20 (nearest rank)."""

    name: str
    calls: int
    p50_ms: float
    p95_ms: float
    result_bytes: int

    def to_json(self) -> dict[str, object]:
        """The count as a JSON object."""
        told = {"calls": self.calls, "p50_ms": self.p50_ms, "p95_ms": self.p95_ms}
        return {"name": self.name, **told, "result_bytes": self.result_bytes}


@dataclass(frozen=True, slots=True)
class Stats:
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

        from executor.clock import instant

        def moment(value: int | None) -> str:
            return "" if value is None else instant(datetime.fromtimestamp(value / 1000, UTC))

        by = {name: [count.to_json() for count in counts] for name, counts in self.by.items()}
        told = {"since": moment(self.since), "until": moment(self.until)}
        return {"total": self.total.to_json(), **told, "by": by, "flaws": list(self.flaws)}


def stats(home: Home, filters: Filters, *, fresh: bool = False) -> Stats:
    """Count the calls that are asked for. fresh: check every record again first.

    Without it the numbers are those of the index, which each record entered with its signature checked, or
    when it was signed here. Raises HomeError.
    """
    Index(home).catch_up(fresh=fresh)
    where, values = filters.where()
    columns = ", ".join(GROUPS.values())
    sql = f"SELECT a.at_ms, a.latency_us, a.result_bytes, {columns} FROM activity a WHERE a.flaw = '' AND {where}"  # noqa: S608, E501  # fixed texts
    rows = home.db.read(sql, values)
    rows.sort(key=lambda row: row[1])  # once by latency, so that those of each group are in order too
    groups: dict[str, dict[str, list[tuple[int, int]]]] = {name: {} for name in GROUPS}
    for _, latency, size, *said in rows:
        for of, name in zip(groups.values(), said, strict=True):
            of.setdefault(name, []).append((latency, size))
    flaws = home.db.read("SELECT seq FROM activity WHERE flaw != '' ORDER BY seq")
    return Stats(
        _count("", [(latency, size) for _, latency, size, *_ in rows]),
        {name: tuple(_counts(of.items())) for name, of in groups.items()},
        min((row[0] for row in rows), default=None),
        max((row[0] for row in rows), default=None),
        tuple(seq for (seq,) in flaws),
    )


def _counts(groups: Iterable[tuple[str, Sequence[tuple[int, int]]]]) -> list[Count]:
    counts = [_count(name, calls) for name, calls in groups if name]
    return sorted(counts, key=lambda count: (-count.calls, count.name))


def _count(name: str, calls: Sequence[tuple[int, int]]) -> Count:
    """calls: latency in microseconds and bytes, the quickest first."""
    size = sum(size for _, size in calls)
    return Count(name, len(calls), _rank(calls, 0.5), _rank(calls, 0.95), size)


def _rank(calls: Sequence[tuple[int, int]], share: float) -> float:
    return calls[max(ceil(len(calls) * share), 1) - 1][0] / 1000 if calls else 0.0
