"""Rows chosen, put in order and cut, in bounded memory."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import Any, Final

from executor.core.errors import ToolError
from executor.tools.tool import Bench
from mcl.plugins.data.tools.data.conditions import Conditions, read_conditions
from mcl.plugins.data.tools.data.source import Kind, column_of, kinds_of, open_rows
from mcl.plugins.data.tools.data.table import read_date, read_number

MOST_ROWS: Final = 500_000  # that are put in order, or written
MOST_CELLS: Final = 20_000_000

Key = tuple[int, float | Decimal | datetime | str]


@dataclass(frozen=True)
class Chosen:
    """What was chosen: names of its columns, its rows, of how many, and the conditions as they were read."""

    names: tuple[str, ...]
    rows: list[list[str]]
    of: int
    told: tuple[str, ...]


def order_key(cell: str, kind: Kind, *, comma: bool) -> Key:
    """How cells of a column are ordered: numbers by value, dates by time, else by their letters; what is none
    of these behind them."""
    text = cell.strip()
    if kind == "number":
        number = read_number(text, comma=comma)
        return (0, number[0]) if number is not None else (1, Decimal(0))
    if kind == "date":
        date = read_date(text)
        return (0, date.timestamp()) if date is not None else (1, 0.0)
    return (0 if text else 1, text.casefold())


def choose_rows(args: Mapping[str, Any], bench: Bench, check: Callable[[], None]) -> Chosen:
    """The rows of ``path`` that hold ``where``, by ``sort``, at most ``limit``, with ``columns``.

    Raises:
        ToolError: UNKNOWN_COLUMN, BAD_CONDITION, TOO_LARGE, and as ``open_rows``.
    """
    path, also = str(args["path"]), [str(one) for one in args.get("also", ())]
    names, kinds = kinds_of(path, bench, check, also)
    limit = int(args.get("limit") or 0)
    sort, descending = str(args.get("sort", "")), args.get("order") == "descending"
    place = _sorting(sort, names, kinds, path, limit) if sort or args.get("order") else None
    wanted = [column_of(str(one), names, path) for one in args.get("columns", ())] or list(range(len(names)))
    seen = 0
    with open_rows(path, bench, check, also) as found:
        conditions = _conditions(args, names, kinds, path, comma=found.comma)

        def holding() -> Iterator[list[str]]:
            nonlocal seen
            for row in found.rows:
                seen += 1
                if conditions.hold(row):
                    yield row

        def key(row: list[str]) -> Key:
            return order_key(row[place or 0], kinds[place or 0], comma=found.comma)

        by = key if place is not None else None
        rows = list(in_order(holding(), by, limit, path, descending=descending))
    kept = [[row[at] for at in wanted] for row in rows]
    return Chosen(tuple(names[at] for at in wanted), kept, seen, conditions.told)


def _conditions(
    args: Mapping[str, Any], names: Sequence[str], kinds: Sequence[Kind], path: str, *, comma: bool
) -> Conditions:
    where = str(args.get("where", ""))
    return read_conditions(where, names, kinds, path, comma=comma) if where.strip() else Conditions()


def _sorting(sort: str, names: Sequence[str], kinds: Sequence[Kind], path: str, limit: int) -> int:
    if sort:
        return column_of(sort, names, path)
    numbers = [place for place, kind in enumerate(kinds) if kind == "number"]
    if len(numbers) != 1:
        fix = f"say by which column: {', '.join(names[:20])}"
        raise ToolError("WHICH_COLUMN", "by which column is not said", place="sort", fix=fix)
    return numbers[0]


def in_order(
    rows: Iterator[list[str]],
    key: Callable[[list[str]], Key] | None,
    limit: int,
    path: str,
    *,
    descending: bool,
) -> Iterator[list[str]]:
    """Rows by a key, as they come without one; at most `limit`, 0 for all of them. Raises TOO_LARGE."""
    if key is None:
        yield from islice(rows, limit) if limit else bounded(rows, path)
        if limit:
            for _ in rows:  # so that all are counted
                pass
        return
    if limit:

        def best(row: list[str]) -> tuple[int, Any]:
            first, value = key(row)
            return (-first if descending else first), value

        yield from (heapq.nlargest if descending else heapq.nsmallest)(limit, rows, key=best)
        return
    there = list(bounded(rows, path))
    full = sorted((row for row in there if key(row)[0] == 0), key=key, reverse=descending)
    yield from [*full, *(row for row in there if key(row)[0] != 0)]


def bounded(rows: Iterator[list[str]], path: str) -> Iterator[list[str]]:
    """The rows, as long as there are not too many of them to keep. Raises TOO_LARGE."""
    cells = 0
    for number, row in enumerate(rows, 1):
        cells += len(row)
        if number > MOST_ROWS or cells > MOST_CELLS:
            message, fix = f"more than {MOST_ROWS:,} rows of {path!r}", "say which rows, or how many of them"
            raise ToolError("TOO_LARGE", message, place=path, fix=fix)
        yield row
