"""Joins two tables by a column that both have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anyio import from_thread, to_thread

from executor.core.errors import ToolError
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.data.tools.data.extract import decimal_comma
from mcl.plugins.data.tools.data.selection import MOST_CELLS, MOST_ROWS
from mcl.plugins.data.tools.data.source import SourceRows, column_of, open_rows
from mcl.plugins.data.tools.data.writing import format_of, table_bytes


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Write each row of the first with what the second has of it."""
    return await to_thread.run_sync(_join, args, bench)


def _join(args: Mapping[str, Any], bench: Bench) -> dict[str, object]:
    left, right, to = str(args["left"]), str(args["right"]), str(args["to"])
    form, check = format_of(to), from_thread.check_cancelled
    with open_rows(left, bench, check) as one, open_rows(right, bench, check) as other:
        on = _shared(str(args.get("on", "")), one, other)
        names, joined, matched, total = _joined(one, other, on, every=args.get("keep") == "all")
    if not joined:
        fix = "look at the values of that column in both"
        raise ToolError("NO_ROWS", f"no row of both has the same {on!r}", place=left, fix=fix)
    data = table_bytes(names, joined, form, comma=decimal_comma(left, bench))
    written = bench.workspace.write(to, data, replace=False, check=check)
    which = f"{matched:,} of {counted(total, 'row')} of {left}"
    text = f"{written.path}: {counted(len(joined), 'row')} by {on} ({which})"
    answer: dict[str, object] = {"path": written.path, "size": written.size, "sha256": written.sha256}
    answer |= {"on": visible(on), "rows": len(joined), "matched": matched}
    return {**answer, "text": visible(text)}


def _joined(
    one: SourceRows, other: SourceRows, on: str, *, every: bool
) -> tuple[list[str], list[list[str]], int, int]:
    """Names and rows of both together; how many rows of the first the second knows, and of how many."""
    mine, theirs = column_of(on, one.names, one.path), column_of(on, other.names, other.path)
    places = [place for place in range(len(other.names)) if place != theirs]
    names = _named(one.names, [other.names[place] for place in places])
    known: dict[str, list[list[str]]] = {}
    cells = 0
    for row in other.rows:
        cells += len(row)
        _bounded(cells, len(known), other.path)
        known.setdefault(_key(row[theirs]), []).append([row[place] for place in places])
    joined, matched, total = list[list[str]](), 0, 0
    for row in one.rows:
        total += 1
        found = known.get(_key(row[mine]), [])
        matched += bool(found)
        for more in found or ([[""] * len(places)] if every else []):
            joined.append([*row, *more])
            cells += len(names)
            _bounded(cells, len(joined), one.path)
    return names, joined, matched, total


def _shared(on: str, one: SourceRows, other: SourceRows) -> str:
    """The column that rows are joined by."""
    if on:
        column_of(on, other.names, other.path)
        return one.names[column_of(on, one.names, one.path)]
    theirs = {name.casefold() for name in other.names}
    both = [name for name in one.names if name.casefold() in theirs]
    ids = [name for name in both if name.casefold().endswith(("id", "nr"))]
    for fitting in (both, ids):
        if len(fitting) == 1:
            return fitting[0]
    fix = f"there is: {', '.join(both) or 'none in both'}"
    raise ToolError("WHICH_COLUMN", "by which column is not said", place="on", fix=fix)


def _named(one: Sequence[str], other: Sequence[str]) -> list[str]:
    names = list(one)
    for name in other:
        made, number = name, 2
        while made in names:
            made, number = f"{name} ({number})", number + 1
        names.append(made)
    return names


def _key(cell: str) -> str:
    return " ".join(cell.split()).casefold()


def _bounded(cells: int, rows: int, path: str) -> None:
    if cells > MOST_CELLS or rows > MOST_ROWS:
        message = f"the tables have more rows than are joined at once ({MOST_ROWS:,})"
        raise ToolError("TOO_LARGE", message, place=path, fix="take fewer rows of each first")
