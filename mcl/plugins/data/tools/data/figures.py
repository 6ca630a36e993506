"""Sums, means and the like of a column, of all rows or group by group, in bounded memory."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from typing import Any, Final

from executor.core.errors import ToolError
from executor.tools.tool import Bench
from mcl.plugins.data.tools.data.conditions import Conditions, read_conditions
from mcl.plugins.data.tools.data.source import Kind, column_of, kinds_of, likely_column, open_rows
from mcl.plugins.data.tools.data.table import read_date, read_number

FIGURES: Final = ("sum", "mean", "count", "min", "max", "median")
_GROUPS: Final = 50_000
_KEPT: Final = 2_000_000  # numbers kept for a median
_EXACT: Final = Context(prec=60)
_PLACES: Final = Decimal("0.000001")
_AMOUNTS: Final = ("amount", "belopp", "sum", "summa", "total", "price", "pris", "cost", "kostnad")
_NO_AMOUNTS: Final = ("id", "nr", "no", "year", "år", "month", "månad", "day", "dag")
_PARTS: Final = {
    **dict.fromkeys(("month", "månad", "months", "månader"), 7),
    **dict.fromkeys(("year", "år", "years"), 4),
    **dict.fromkeys(("day", "dag", "date", "datum", "days"), 10),
}


@dataclass
class Group:
    """What is gathered of one group."""

    count: int = 0
    total: Decimal = Decimal(0)
    least: Decimal | None = None
    most: Decimal | None = None
    kept: array[float] = field(default_factory=lambda: array("d"))

    def add(self, number: Decimal, *, keep: bool) -> None:
        """Take a number."""
        self.count += 1
        self.total = _EXACT.add(self.total, number)
        self.least = number if self.least is None or number < self.least else self.least
        self.most = number if self.most is None or number > self.most else self.most
        if keep:
            self.kept.append(float(number))

    def figure(self, name: str) -> Decimal | None:
        """One of FIGURES; None where there is no number for it."""
        if name == "count":
            return Decimal(self.count)
        if not self.count:
            return Decimal(0) if name == "sum" else None
        if name == "median":
            ordered = sorted(self.kept)
            middle = len(ordered) // 2
            odd = len(ordered) % 2
            return Decimal(str(ordered[middle] if odd else (ordered[middle - 1] + ordered[middle]) / 2))
        if name == "mean":
            return _EXACT.divide(self.total, Decimal(self.count))
        return {"sum": self.total, "min": self.least, "max": self.most}[name]


@dataclass(frozen=True)
class FigureTable:
    """The answer: of which column ("" for rows), by what, and each group's figure in its order."""

    figure: str
    column: str
    by: str
    groups: tuple[tuple[str, Decimal | None], ...]
    rows: int
    of: int
    skipped: int
    told: tuple[str, ...]


def figures_of(args: Mapping[str, Any], bench: Bench, check: Callable[[], None]) -> FigureTable:
    """A figure of ``column`` of the rows of ``path`` that hold ``where``, by each value of ``by``.

    Raises:
        ToolError: UNKNOWN_COLUMN, WHICH_COLUMN, NO_NUMBERS, TOO_MANY_GROUPS, and as ``choose_rows``.
    """
    path, figure = str(args["path"]), str(args.get("figure", "sum"))
    also = [str(one) for one in args.get("also", ())]
    names, kinds = kinds_of(path, bench, check, also)
    place = _column(str(args.get("column", "")), figure, names, kinds, path)
    said = str(args.get("by", ""))
    groups: dict[str, Group] = {}
    rows = of = skipped = 0
    with open_rows(path, bench, check, also) as found:
        where = str(args.get("where", ""))
        conditions = (
            read_conditions(where, names, kinds, path, comma=found.comma) if where.strip() else Conditions()
        )
        by, label = _grouping(said, names, kinds, path)
        for row in found.rows:
            of += 1
            if not conditions.hold(row):
                continue
            rows += 1
            group = groups.get(name := label(row))
            if group is None:
                if len(groups) >= _GROUPS:
                    message = f"{by!r} has more than {_GROUPS:,} values"
                    raise ToolError("TOO_MANY_GROUPS", message, place=path, fix="group by another column")
                group = groups[name] = Group()
            if place is None:
                group.count += 1
                continue
            number = read_number(row[place].strip(), comma=found.comma)
            if number is None:
                skipped += 1
            else:
                group.add(number[0], keep=figure == "median")
                if figure == "median" and rows > _KEPT:
                    message, fix = f"more than {_KEPT:,} numbers", "ask for the mean"
                    raise ToolError("TOO_LARGE", message, place=path, fix=fix)
    if not said and not groups:
        groups[""] = Group()
    if place is not None and figure != "count" and rows and not any(one.count for one in groups.values()):
        message = f"column {names[place]!r} of {path!r} holds no numbers"
        raise ToolError("NO_NUMBERS", message, place=path, fix="name a column of numbers")
    made = [(name, rounded(group.figure(figure))) for name, group in groups.items()]
    column = names[place] if place is not None else ""
    return FigureTable(
        figure, column, by, tuple(_in_order(made, args, by)), rows, of, skipped, conditions.told
    )


def _column(said: str, figure: str, names: Sequence[str], kinds: Sequence[Kind], path: str) -> int | None:
    """The place of the column that is asked about; None where rows are counted."""
    if figure == "count":
        return None
    if said:
        return column_of(said, names, path)
    numbers = [place for place, kind in enumerate(kinds) if kind == "number"]
    plain = [place for place in numbers if names[place].casefold() not in _NO_AMOUNTS]
    usual = [place for place in plain if names[place].casefold() in _AMOUNTS]
    for fitting in (usual, plain, numbers):
        if len(fitting) == 1:
            return fitting[0]
    code, what = "NO_NUMBERS", "it has no numbers"
    if numbers:
        code, what = "WHICH_COLUMN", "which column is not said"
    there = ", ".join(names[place] for place in numbers[:20]) or ", ".join(names[:20])
    raise ToolError(code, f"{path!r}: {what}", place=path, fix=f"there is: {there}")


def _grouping(
    said: str, names: Sequence[str], kinds: Sequence[Kind], path: str
) -> tuple[str, Callable[[Sequence[str]], str]]:
    """What rows are grouped by, and the group of a row; a month, year or day is that of the first date."""
    if not said.strip():
        return "", lambda row: ""
    dates = [place for place, kind in enumerate(kinds) if kind == "date"]
    part = _PARTS.get(said.strip().casefold().removeprefix("each ").removeprefix("varje "))
    if part and dates and likely_column(said, names) in (None, *dates):
        place = dates[0]

        def label(row: Sequence[str]) -> str:
            date = read_date(row[place].strip())
            return date.date().isoformat()[:part] if date is not None else ""

        return said.strip(), label
    column = column_of(said, names, path)
    return names[column], lambda row: " ".join(row[column].split())


def _in_order(
    made: Sequence[tuple[str, Decimal | None]], args: Mapping[str, Any], by: str
) -> Iterator[tuple[str, Decimal | None]]:
    """By the figure where that is asked for, else by name; at most as many as wanted."""
    ordered = sorted(made, key=lambda one: one[0].casefold())
    if args.get("order"):
        down = args["order"] == "descending"
        ordered.sort(key=lambda one: (one[1] is None, -(one[1] or 0) if down else (one[1] or 0)))
    limit = int(args.get("limit") or 0)
    yield from ordered[:limit] if limit else ordered


def rounded(value: Decimal | None) -> Decimal | None:
    """A figure with at most six decimals."""
    if value is None or value == value.to_integral_value():
        return value if value is None else value.quantize(Decimal(1)) if abs(value) < 10**28 else value
    return value.quantize(_PLACES, context=_EXACT).normalize() if abs(value) < 10**28 else value


def plain(value: Decimal | None) -> str:
    """A number without an exponent; nothing where there is none."""
    return "" if value is None else format(value, "f")
