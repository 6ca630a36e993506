"""Draws a chart of a table."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain, islice
from math import floor, log10
from zlib import crc32

from anyio import from_thread, to_thread

from executor.core.errors import ToolError
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from ir.display import of_value
from mcl.core.text import cut, some
from mcl.plugins.data.tools.data.column import Column
from mcl.plugins.data.tools.data.picture import draw, shown
from mcl.plugins.data.tools.data.summary import place_of
from mcl.plugins.data.tools.data.table import Table, open_table, read_date, read_number

_SAMPLE = 1000  # rows looked at to tell what the columns hold …
_SAMPLE_TEXT = 4 << 20  # … and characters of them
_BARS = 50  # drawn; of more, the largest
_POINTS = 600  # of a line; of more, every second, every third, …
_GROUPS = 50_000  # names that numbers are summed for
_VALUES = 2_000_000  # numbers a histogram is made of; of more, every second, …
_LABEL = 60  # characters
_NAMED = 20  # columns told by name


@dataclass(slots=True)
class _Chart:
    """What will be drawn, and what people should know of it."""

    kind: str
    title: str
    labels: list[str] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Draw, and put the picture in place; an existing file is kept."""
    return await to_thread.run_sync(_draw, args, bench)


def _draw(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    bench.workspace.check(str(args["out"]))  # before the work
    with open_table(str(args["path"]), bench, from_thread.check_cancelled) as table:
        chart = _read(table, str(args.get("kind", "")), str(args.get("x", "")), str(args.get("y", "")))
    picture = draw(chart.kind, chart.title, chart.labels, chart.values)
    written = bench.workspace.write(
        str(args["out"]), picture, replace=False, check=from_thread.check_cancelled
    )
    drawn = f"{len(chart.values):,} {'points' if chart.kind == 'line' else 'bars'}"
    return {
        "path": written.path,
        "size": written.size,
        "sha256": written.sha256,
        "created": written.created,
        "kind": chart.kind,
        "title": chart.title,
        "notes": chart.notes,
        "text": "\n".join([f"{written.path}: {chart.title} ({drawn})", *chart.notes]),
    }


def _read(table: Table, kind: str, x: str, y: str) -> _Chart:
    """The chart of a table; what is not said is chosen from what the columns hold."""
    rows = table.rows()
    sample = list(_first(rows))
    types = _types(table, sample)
    numbers = [place for place, one in enumerate(types) if one in ("integer", "number")]
    names = [place for place, one in enumerate(types) if one in ("date", "text", "boolean")]
    across = place_of(x, table) if x else next(iter(names), None)
    up = place_of(y, table) if y else _only(table, [place for place in numbers if place != across])
    if not kind:
        kind = "histogram" if across is None else "line" if types[across] == "date" else "bar"
    if up is None and (kind != "bar" or across is None):
        raise ToolError(
            "NO_NUMBERS",
            f"{table.path!r} has no column of numbers",
            place=table.path,
            fix="name one in y, or draw bars of how often each value of x is there",
        )
    comma = table.form.delimiter == ";"
    every = chain(sample, rows)
    if kind == "histogram":
        assert up is not None
        return _histogram(table.names[up], up, every, comma=comma)
    if kind == "line":
        assert up is not None
        return _line(table, across, up, every, comma=comma)
    return _bars(table, across, up, every, comma=comma)


def _only(table: Table, numbers: list[int]) -> int | None:
    """The one column of numbers. Raises ToolError COLUMN_UNCLEAR where there are several: which is meant, a
    person says."""
    if len(numbers) > 1:
        named = [of_value(table.names[place], _LABEL) for place in numbers]
        raise ToolError(
            "COLUMN_UNCLEAR",
            f"{table.path!r} has several columns of numbers: {some(named, _NAMED)}",
            place="y",
            fix=f"say which one is drawn: y = {named[0]}, for one",
        )
    return numbers[0] if numbers else None


def _first(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """The rows that tell what the columns hold."""
    room = _SAMPLE_TEXT
    for row in islice(rows, _SAMPLE):
        yield row
        room -= sum(map(len, row))
        if room < 0:
            return


def _types(table: Table, sample: Iterable[list[str]]) -> list[str]:
    columns = [
        Column(name, comma=table.form.delimiter == ";", distinct=_SAMPLE, kept=1) for name in table.names
    ]
    for row in sample:
        for column, cell in zip(columns, row, strict=False):
            column.add(cell)
    return [str(column.figures()["type"]) for column in columns]


def _bars(
    table: Table, across: int | None, up: int | None, rows: Iterable[list[str]], *, comma: bool
) -> _Chart:
    """One bar a name, with the sum of its numbers; without numbers, how often it is there."""
    sums: dict[str, Decimal] = {}
    count = left_out = 0
    for number, row in enumerate(rows, start=1):
        label = _label(row, across, number)
        value = Decimal(1) if up is None else _value(row, up, comma=comma)
        if value is None:
            left_out += 1
            continue
        count += 1
        if label not in sums and len(sums) == _GROUPS:
            raise ToolError(
                "TOO_MANY_VALUES",
                f"there are more than {_GROUPS:,} different values under the bars",
                place=table.path,
                fix="choose a column with fewer values as x, or kind histogram",
            )
        sums[label] = sums.get(label, Decimal(0)) + value
    what = "rows" if up is None else table.names[up]
    by = f" by {_plain(table.names[across])}" if across is not None else ""
    summed = up is not None and len(sums) < count
    chart = _Chart("bar", f"{'sum of ' if summed else ''}{_plain(what)}{by}", notes=_left_out(left_out))
    shown_ = sums
    if len(sums) > _BARS:
        largest = sorted(sums, key=lambda label: -abs(sums[label]))[:_BARS]
        shown_ = {label: sums[label] for label in sums if label in set(largest)}
        chart.notes.append(f"the {_BARS} largest of {len(sums):,} bars are drawn")
    chart.labels, chart.values = list(shown_), [float(value) for value in shown_.values()]
    return _checked(chart, table.path)


def _line(table: Table, across: int | None, up: int, rows: Iterable[list[str]], *, comma: bool) -> _Chart:
    """The numbers in the order of the rows, of dates in theirs; what has the same name is summed.

    Of very many names a share is taken by their own bytes, so that all numbers of those taken are in the sum.
    """
    sums: dict[str, Decimal] = {}
    share, count, left_out = 1, 0, 0
    for number, row in enumerate(rows, start=1):
        value = _value(row, up, comma=comma)
        if value is None:
            left_out += 1
            continue
        count += 1
        label = _label(row, across, number)
        if crc32(label.encode()) % share:
            continue
        sums[label] = sums.get(label, Decimal(0)) + value
        if len(sums) > _GROUPS:
            share *= 2
            sums = {name: one for name, one in sums.items() if crc32(name.encode()) % share == 0}
    points = [(label, float(value)) for label, value in sums.items()]
    moments = [read_date(label) for label, _ in points]
    if all(moment is not None for moment in moments):
        order = sorted(range(len(points)), key=lambda place: (moments[place], place))
        points = [points[place] for place in order]
    by = f" by {_plain(table.names[across])}" if across is not None else ""
    summed = "sum of " if share == 1 and len(sums) < count else ""
    chart = _Chart("line", f"{summed}{_plain(table.names[up])}{by}", notes=_left_out(left_out))
    if (every := -(-len(points) // _POINTS)) > 1 or share > 1:
        points = points[::every]
        chart.notes.append(f"{len(points):,} points are drawn, of {count:,} rows")
    chart.labels, chart.values = [label for label, _ in points], [value for _, value in points]
    return _checked(chart, table.path)


def _histogram(name: str, up: int, rows: Iterable[list[str]], *, comma: bool) -> _Chart:
    """How many numbers lie in each of some ranges of one round width."""
    values, stride, count, left_out = array("d"), 1, 0, 0
    for row in rows:
        value = _value(row, up, comma=comma)
        if value is None:
            left_out += 1
            continue
        count += 1
        if (count - 1) % stride == 0:
            values.append(float(value))
            if len(values) == 2 * _VALUES:
                values, stride = values[::2], stride * 2
    chart = _Chart("histogram", f"how often {_plain(name)} lies where", notes=_left_out(left_out))
    if stride > 1:
        chart.notes.append(f"made of one value in {stride:,}, of {count:,}")
    if values:
        start, width, bins = _ranges(min(values), max(values), len(values))
        counts = [0] * bins
        for number in values:
            counts[min(bins - 1, max(0, int((number - start) / width)))] += 1
        chart.labels = [
            f"{shown(start + width * place)} – {shown(start + width * (place + 1))}" for place in range(bins)
        ]
        chart.values = [float(one) for one in counts]
    return _checked(chart, "")


def _ranges(least: float, most: float, count: int) -> tuple[float, float, int]:
    """Where the first range begins, how wide each is (1, 2 or 5 times a power of ten), how many there are."""
    wished = min(20, max(5, round(count**0.5)))
    span = (most - least) / wished
    if not span:  # one value, or nearly
        return least - 0.5, 1.0, 1
    power = 10.0 ** floor(log10(span))
    width = next((step * power for step in (1, 2, 5) if step * power >= span), 10 * power)
    start = floor(least / width) * width
    return start, width, int((most - start) / width) + 1


def _label(row: list[str], across: int | None, number: int) -> str:
    if across is None:
        return str(number)
    return (_plain(row[across]) if across < len(row) else "") or "(nothing)"


def _plain(text: str) -> str:
    """A text on one line, without what XML has no place for."""
    line = visible(" ".join(text.split())).replace("\ufffe", "").replace("\uffff", "")
    return cut(line, _LABEL)


def _value(row: list[str], place: int, *, comma: bool) -> Decimal | None:
    found = read_number(row[place].strip(), comma=comma) if place < len(row) else None
    return found[0] if found else None


def _left_out(count: int) -> list[str]:
    rows = "1 row without a number is" if count == 1 else f"{count:,} rows without a number are"
    return [f"{rows} left out"] if count else []


def _checked(chart: _Chart, path: str) -> _Chart:
    if not chart.values:
        raise ToolError(
            "NO_NUMBERS", "there is nothing to draw", place=path, fix="name a column of numbers in y"
        )
    return chart
