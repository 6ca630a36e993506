"""The figures of one column, gathered value by value in bounded memory."""

from __future__ import annotations

import hashlib
import heapq
from array import array
from datetime import datetime
from decimal import Context, Decimal
from fractions import Fraction
from typing import Literal, TypeAlias

from mcl.plugins.data.tools.data.table import BOOLEANS, MISSING, read_date, read_number

Type: TypeAlias = Literal["integer", "number", "date", "boolean", "text", "empty"]

_EXACT = Context(prec=2000)  # enough for every sum of squares of what cells.read_number takes
_ROUNDED = Context(prec=50)
_SKETCH = 1024  # smallest hashes kept to estimate how many different values there are (± 3 %)
_SHOWN = 80  # characters of a value
_LONG = 200  # characters of a value that are kept; longer ones are told apart by their hash
_TOP = 5
_MOSTLY = 0.9  # share of numbers from which the rest is worth a word


class Column:
    """Takes cells, then tells figures.

    Args:
        name: of the column.
        comma: may a comma be the decimal point?
        distinct: how many different values are counted one by one; beyond that their number is estimated,
            and which are most frequent is told of those seen first.
        kept: how many numbers beyond those are kept for the median; beyond that it is taken of every second
            one, every fourth, and so on.
    """

    def __init__(self, name: str, *, comma: bool, distinct: int, kept: int) -> None:
        self.name = name
        self._comma = comma
        self._limit = distinct
        self._kept = kept
        self._counts: dict[str, int] = {}
        self._missing = 0
        self._beyond: _Figures | None = None  # of the values that are not counted one by one
        self._hashes: list[int] = []  # negative: heapq keeps the smallest first
        self._known: set[int] = set()

    def add(self, cell: str) -> None:
        """Take the next cell."""
        value = cell.strip()
        if len(value) > _LONG:
            value = f"{value[:_LONG]}…{hashlib.blake2b(value.encode()).hexdigest()}"
        if not value:
            self._missing += 1
        elif value in self._counts:
            self._counts[value] += 1
        elif len(self._counts) < self._limit:
            self._counts[value] = 1
        else:
            if self._beyond is None:
                self._beyond = _Figures(self._comma, self._kept)
            self._beyond.add(value, 1, one_of_many=True)
            self._sketch(value)

    def lack(self) -> None:
        """Take a cell that is not there."""
        self._missing += 1

    def figures(self) -> dict[str, object]:
        """name, type, count, missing, distinct, then what the type allows; None for what it does not."""
        found = self._beyond or _Figures(self._comma, self._kept)
        markers = 0
        for value, count in self._counts.items():
            if value.lower() in MISSING:
                markers += count
            else:
                found.add(value, count)
        kind = found.type()
        # In a text a word such as "none" is a word; among numbers and dates it stands for nothing.
        words = kind in ("text", "empty") and markers
        if words:
            kind = "text"
        counted = self._counts if kind == "text" else self._without_markers()
        distinct, approximate = len(counted), []
        if self._beyond is not None:
            distinct = len(counted) + self._estimate()
            approximate = ["distinct", "top"]
        figures = found.told(kind)
        if found.thinned and kind in ("integer", "number"):
            approximate.append("median")
        top = sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:_TOP]
        return {
            "name": self.name,
            "type": kind,
            "count": found.count + (markers if words else 0),
            "missing": self._missing + (0 if words else markers),
            "distinct": distinct,
            **figures,
            "top": [
                {"value": value[:_SHOWN], "count": count}
                for value, count in top
                if count > 1 or kind in ("text", "boolean")
            ],
            "approximate": approximate,
            "note": found.note() if kind == "text" else "",
        }

    def _without_markers(self) -> dict[str, int]:
        return {value: count for value, count in self._counts.items() if value.lower() not in MISSING}

    def _sketch(self, value: str) -> None:
        number = int.from_bytes(hashlib.blake2b(value.encode(), digest_size=8).digest(), "big")
        if number in self._known:
            return
        if len(self._hashes) < _SKETCH:
            heapq.heappush(self._hashes, -number)
        elif number < -self._hashes[0]:
            self._known.discard(-heapq.heapreplace(self._hashes, -number))
        else:
            return
        self._known.add(number)

    def _estimate(self) -> int:
        if len(self._hashes) < _SKETCH:
            return len(self._hashes)
        return round((_SKETCH - 1) * 2**64 / -self._hashes[0])


class _Figures:
    """Every type that all values so far could be, and the figures of each."""

    def __init__(self, comma: bool, kept: int) -> None:
        self.count = 0
        self.thinned = False
        self._comma = comma
        self._kept = kept
        self._numbers = self._integers = self._dates = self._booleans = 0
        self._sum = self._squares = Decimal(0)
        self._least: Decimal | None = None
        self._most: Decimal | None = None
        self._first: tuple[datetime, str] | None = None
        self._last: tuple[datetime, str] | None = None
        self._values = array("d")
        self._counted: dict[Decimal, int] = {}
        self._stride, self._skipped = 1, 0
        self._other = ""

    def add(self, value: str, count: int, *, one_of_many: bool = False) -> None:
        self.count += count
        if (number := read_number(value, comma=self._comma)) is not None:
            self._number(number[0], count, one_of_many=one_of_many)
            self._integers += count if number[1] else 0
        elif (moment := read_date(value)) is not None:
            self._dates += count
            if self._first is None or moment < self._first[0]:
                self._first = (moment, value)
            if self._last is None or moment > self._last[0]:
                self._last = (moment, value)
        elif value.lower() in MISSING:
            self.count -= count
        else:
            self._booleans += count if value.lower() in BOOLEANS else 0
            self._other = self._other or value

    def _number(self, number: Decimal, count: int, *, one_of_many: bool) -> None:
        self._numbers += count
        self._sum = _EXACT.fma(number, count, self._sum)
        self._squares = _EXACT.fma(_EXACT.multiply(number, number), count, self._squares)
        if self._least is None or number < self._least:
            self._least = number
        if self._most is None or number > self._most:
            self._most = number
        if not one_of_many:
            self._counted[number] = self._counted.get(number, 0) + count
            return
        self._skipped += 1
        if self._skipped % self._stride == 0:
            self._values.append(float(number))
            if len(self._values) > self._kept:
                self._values = self._values[1::2]
                self._stride *= 2
                self.thinned = True

    def type(self) -> Type:
        if not self.count:
            return "empty"
        for kind, number in (
            ("integer", self._integers),
            ("number", self._numbers),
            ("date", self._dates),
            ("boolean", self._booleans),
        ):
            if number == self.count:
                return kind  # type: ignore[return-value]  # each is one of the literals
        return "text"

    def told(self, kind: Type) -> dict[str, object]:
        names = ("min", "max", "mean", "median", "sum", "stdev")
        nothing: dict[str, object] = dict.fromkeys(names)
        if kind == "date" and self._first and self._last:
            return {**nothing, "min": self._first[1], "max": self._last[1]}
        if kind not in ("integer", "number"):
            return nothing
        whole = kind == "integer"
        return {
            "min": _plain(self._least, whole=whole),
            "max": _plain(self._most, whole=whole),
            "mean": float(Fraction(self._sum) / self._numbers),
            "median": self._median(whole=whole),
            "sum": _plain(self._sum, whole=whole),
            "stdev": self._stdev(),
        }

    def note(self) -> str:
        others = self.count - self._numbers
        if not others or self._numbers < _MOSTLY * self.count:
            return ""
        return f"{others:,} of {self.count:,} values are no numbers, such as {self._other[:_SHOWN]!r}"

    def _stdev(self) -> float | None:
        """Of the sample (n - 1), from exact sums: no digits are lost where values are large and near."""
        n = self._numbers
        if n < 2:
            return None
        variance = (Fraction(self._squares) - Fraction(self._sum) ** 2 / n) / (n - 1)
        root = _ROUNDED.sqrt(_ROUNDED.divide(Decimal(variance.numerator), Decimal(variance.denominator)))
        return float(root)

    def _median(self, *, whole: bool) -> int | float | None:
        # A decimal of up to 15 digits is what its nearest float is written as.
        streamed = ((Decimal(repr(value)), self._stride) for value in self._values)
        pairs = sorted([*self._counted.items(), *streamed])
        total = sum(count for _, count in pairs)
        if not total:
            return None
        middle = (Fraction(_at(pairs, (total - 1) // 2)) + Fraction(_at(pairs, total // 2))) / 2
        return int(middle) if whole and middle.denominator == 1 else float(middle)


def _at(pairs: list[tuple[Decimal, int]], place: int) -> Decimal:
    for value, count in pairs:
        if place < count:
            return value
        place -= count
    return pairs[-1][0]


def _plain(number: Decimal | None, *, whole: bool) -> int | float | None:
    if number is None:
        return None
    return int(number) if whole else float(number)
