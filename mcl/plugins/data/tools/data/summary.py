"""The figures of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from anyio import from_thread, to_thread

from executor.core.errors import ToolError
from executor.sandbox.redaction import visible_value
from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.data.tools.data.column import Column
from mcl.plugins.data.tools.data.picture import aligned, shown
from mcl.plugins.data.tools.data.table import Table, open_table

_COLUMNS = 100  # told at once
_DISTINCT = 400_000  # different values counted one by one, shared among the columns
_KEPT = 4_000_000  # numbers kept for medians, shared among the columns


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the figures of each column, or of the ``columns`` named."""
    return await to_thread.run_sync(_summary, args, bench)


def _summary(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    wanted: Any = args.get("columns") or []
    header = None if "header" not in args else bool(args["header"])
    with open_table(str(args["path"]), bench, from_thread.check_cancelled, header=header) as table:
        places = [place_of(name, table) for name in wanted] or list(range(len(table.names)))[:_COLUMNS]
        share = max(1, len(places))
        columns = [
            Column(
                table.names[place],
                comma=table.form.delimiter == ";",
                distinct=_DISTINCT // share,
                kept=_KEPT // share,
            )
            for place in places
        ]
        rows, ragged = _count(table, list(zip(places, columns, strict=True)))
    figures = [column.figures() for column in columns]
    left_out = 0 if wanted else len(table.names) - len(places)
    answer = {
        "path": "/".join(bench.workspace.split(table.path)),
        "rows": rows,
        "ragged": ragged,
        "header": table.form.header,
        "delimiter": table.form.delimiter,
        "encoding": table.form.encoding,
        "columns": figures,
        "truncated": left_out > 0,
        "text": "\n".join(_told(table, rows, ragged, figures, left_out)),
    }
    return {name: visible_value(value) for name, value in answer.items()}


def place_of(name: object, table: Table) -> int:
    """The place of a column by its name, in any case if only one fits.

    Raises:
        ToolError: UNKNOWN_COLUMN, with the names there are.
    """
    names = table.names
    if name in names:
        return names.index(str(name))
    alike = [place for place, one in enumerate(names) if one.casefold() == str(name).strip().casefold()]
    if len(alike) == 1:
        return alike[0]
    from difflib import get_close_matches  # a cost at every start, for a rare mistake

    near = get_close_matches(str(name), names, n=2) or names[:20]
    raise ToolError(
        "UNKNOWN_COLUMN",
        f"{table.path!r} has no column {str(name)[:80]!r}",
        place=table.path,
        fix=f"there is: {', '.join(near)}",
    )


def _count(table: Table, columns: Sequence[tuple[int, Column]]) -> tuple[int, int]:
    """Go through all rows: how many there are, and how many have another number of cells than the first."""
    rows = ragged = 0
    width = len(table.names)
    for row in table.rows():
        rows += 1
        there = len(row)
        ragged += there != width
        for place, column in columns:
            if place < there:
                column.add(row[place])
            else:
                column.lack()
    return rows, ragged


def _told(
    table: Table, rows: int, ragged: int, figures: Sequence[Mapping[str, Any]], left_out: int
) -> Iterator[str]:
    form, width = table.form, len(table.names)
    what = f"{counted(rows, 'row')}, {counted(width, 'column')}"
    yield f"{table.path}: {what} ({form.separator}, {form.encoding})"
    if not form.header:
        yield "the first row is taken for data, not for names"
    if ragged:
        yield f"{ragged:,} row{'s have' if ragged > 1 else ' has'} more or fewer cells than the first"
    numbers = [one for one in figures if one["type"] in ("integer", "number")]
    others = [one for one in figures if one["type"] not in ("integer", "number")]
    if numbers:
        names = ("count", "missing", "min", "median", "mean", "max", "sum", "stdev")
        yield ""
        head = ["numbers", *names]
        yield from aligned([head, *([one["name"], *(_cell(one, name) for name in names)] for one in numbers)])
    if others:
        yield ""
        head = ["others", "type", "count", "missing", "distinct", "values"]
        body = [
            [one["name"], one["type"], *(_cell(one, name) for name in head[2:5]), _values(one)]
            for one in others
        ]
        yield from aligned([head, *body], left=(0, 1, 5))
    for one in figures:
        if one["note"]:
            yield f"{one['name']}: {one['note']}"
    if any(one["approximate"] for one in figures):
        yield "~ about: there are too many different values to count each"
    if left_out:
        yield f"{left_out:,} more columns are not told; name them in columns"


def _cell(figures: Mapping[str, Any], name: str) -> str:
    return ("~" if name in figures["approximate"] else "") + shown(figures[name])


def _values(figures: Mapping[str, Any]) -> str:
    if figures["type"] == "date":
        return f"{figures['min']} … {figures['max']}"
    top = ", ".join(f"{_short(one['value'])} ({one['count']:,})" for one in figures["top"][:3])
    more = ", …" if figures["distinct"] > 3 else ""
    return ("~" if "top" in figures["approximate"] else "") + top + more


def _short(value: str) -> str:
    line = " ".join(value.split())
    return line if len(line) <= 24 else line[:23] + "…"
