"""Which rows are meant: conditions in words ("amount over 100 and country is Sweden", "food in october")."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final, TypeAlias

from executor.core.errors import ToolError
from mcl.plugins.data.tools.data.source import Kind, column_of, likely_column
from mcl.plugins.data.tools.data.table import read_date, read_number

Test: TypeAlias = Callable[[Sequence[str]], bool]

_WAYS: Final = (  # by their signs and words, longer ones first
    (">=", ">=|≥", r"at least|no less than|minst|från och med"),
    ("<=", "<=|≤", r"at most|no more than|up to|högst|till och med"),
    ("!=", "!=|<>|≠", r"is not|isn't|are not|is no|inte är|är inte|not equal to|other than|inte|not"),
    (
        *(">", ">"),
        r"is over|is above|over|above|(?:is )?more than|(?:is )?(?:greater|larger|higher|bigger) than|exceeds"
        r"|exceeding|är över|över|(?:är )?(?:mer|större|högre) än|(?:is )?(?:after|later than)|since|efter"
        r"|sedan",
    ),
    (
        *("<", "<"),
        r"is under|is below|under|below|(?:is )?(?:less|fewer|smaller|lower) than|är under"
        r"|(?:är )?(?:mindre|lägre|färre) än|(?:is )?(?:before|earlier than)|före|innan",
    ),
    ("in", "~", r"contains|containing|includes|including|innehåller|has|have|har"),
    ("=", "==|=", r"is|are|equals|equal to|was|är|lika med"),
)
_WAY: Final = re.compile(
    "|".join(
        rf"(?P<w{number}>(?<![^\W_])(?:{words})(?![^\W_])|{signs})"
        for number, (_, signs, words) in enumerate(_WAYS)
    ),
    re.IGNORECASE,
)
_LEAD: Final = re.compile(
    r"^(?:where|with|whose|only|just|rows?|those|that|which|from|for|on|of|the|in|during|där|med|vars|bara|endast"
    r"|rader|som|från|för|på|i|under)\s+",
    re.IGNORECASE,
)
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january januari jan", "february februari feb", "march mars mar", "april apr", "may maj",
            "june juni jun", "july juli jul", "august augusti aug", "september sep sept",
            "october oktober oct okt", "november nov", "december dec",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_WHEN: Final = re.compile(
    rf"(?:(?P<name>{_MONTH})(?:\s+(?P<year>\d{{4}}))?|(?P<y>\d{{4}})(?:-(?P<m>\d\d))?)", re.IGNORECASE
)
_CUT: Final = re.compile(
    rf"\s+(?:in|i|during|under|from|från)\s+(?=(?:{_MONTH}|\d{{4}}(?:-\d\d)?)\b)", re.IGNORECASE
)
_BETWEEN: Final = re.compile(r"(?:between|mellan)\s+(\S+)\s+(?:and|och)\s+(\S+)", re.IGNORECASE)
_AND: Final = re.compile(r"\s+(?:and|och)\s+|\s*[,;&]+\s*", re.IGNORECASE)
_MONEY: Final = re.compile(
    r"\s*(?:kr|kronor|sek|eur|euros?|usd|dollars?|%|[$€£])\s*$|^[$€£]\s*", re.IGNORECASE
)
_MARKS: Final = " \t\"'“”‘’`.?!"


@dataclass(frozen=True)
class Conditions:
    """tests: what each row must hold. told: the conditions as they were read."""

    tests: tuple[Test, ...] = ()
    told: tuple[str, ...] = ()

    def hold(self, row: Sequence[str]) -> bool:
        """Whether a row is meant."""
        return all(test(row) for test in self.tests)


def read_conditions(
    said: str, names: Sequence[str], kinds: Sequence[Kind], path: str, *, comma: bool
) -> Conditions:
    """Conditions in words. A value alone is one that a cell of the row has; a month is that of a date in it.

    Raises:
        ToolError: BAD_CONDITION, UNKNOWN_COLUMN.
    """
    reader = _Reader(names, kinds, path, comma)
    text = _BETWEEN.sub(r"at least \1 & at most \2", said.strip(_MARKS))
    last = ""
    for part in _AND.split(text):
        for piece in _CUT.split(part):
            if piece.strip(_MARKS):
                last = reader.read(piece.strip(_MARKS), last)
    return Conditions(tuple(reader.tests), tuple(reader.told))


class _Reader:
    def __init__(self, names: Sequence[str], kinds: Sequence[Kind], path: str, comma: bool) -> None:
        self._names, self._kinds, self._path, self._comma = names, kinds, path, comma
        self.tests: list[Test] = []
        self.told: list[str] = []

    def read(self, piece: str, last: str) -> str:
        """One condition; gives the column that it is about, which the next one may leave out."""
        while (shorter := _LEAD.sub("", piece)) != piece:
            piece = shorter
        if when := _WHEN.fullmatch(piece):
            self._when(when)
            return last
        found = _WAY.search(piece)
        if found is None:
            return self._value(piece, last)
        way = _WAYS[int(str(found.lastgroup)[1:])][0]
        left, right = piece[: found.start()].strip(_MARKS), piece[found.end() :].strip(_MARKS)
        if not right:
            self._bad(piece)
        if (when := _WHEN.fullmatch(right)) and way in ("=", "in") and not left:
            self._when(when)
            return last
        name = (
            self._names[column_of(left, self._names, self._path)]
            if left
            else last or self._default(way, right)
        )
        self._compare(name, way, right)
        return name

    def _default(self, way: str, value: str) -> str:
        """The column that is meant where none is named: the only one that holds such values."""
        kind: Kind = "date" if read_date(value) else "number" if way in ("<", ">", "<=", ">=") else "text"
        fitting = [name for name, one in zip(self._names, self._kinds, strict=True) if one == kind]
        if len(fitting) != 1:
            fix = f"say which column: {', '.join(self._names[:20])}"
            raise ToolError("BAD_CONDITION", f"{way} {value!r} of what?", place=self._path, fix=fix)
        return fitting[0]

    def _when(self, when: re.Match[str]) -> None:
        month = _MONTHS[when["name"].casefold()] if when["name"] else int(when["m"] or 0)
        year = int(when["year"] or when["y"] or 0)
        dates = [place for place, kind in enumerate(self._kinds) if kind == "date"]
        if not dates:
            named = [
                place
                for place, name in enumerate(self._names)
                if name.casefold() in ("month", "månad", "year", "år")
            ]
            if not named:
                fix = "name a table with a column of dates"
                raise ToolError(
                    "NO_DATES", f"{self._path!r} has no column of dates", place=self._path, fix=fix
                )
            return self._named_month(named, month, year, when[0])
        place = dates[0]
        self.told.append(f"{self._names[place]} in {when[0]}")

        def test(row: Sequence[str]) -> bool:
            date = read_date(row[place].strip())
            return date is not None and (not month or date.month == month) and (not year or date.year == year)

        self.tests.append(test)
        return None

    def _named_month(self, places: Sequence[int], month: int, year: int, said: str) -> None:
        self.told.append(said)

        def test(row: Sequence[str]) -> bool:
            cells = [row[place].strip().casefold() for place in places]
            months = (str(month), f"{month:02}")
            fits = any(_MONTHS.get(one) == month or one in months for one in cells) if month else True
            return fits and (not year or any(str(year) in one for one in cells))

        self.tests.append(test)

    def _value(self, said: str, last: str) -> str:
        column = likely_column(said, self._names)
        pair = said.split(None, 1)
        if len(pair) == 2 and (named := likely_column(pair[0], self._names)) is not None and column is None:
            self._compare(self._names[named], "=", pair[1].strip(_MARKS))  # "country Sweden"
            return self._names[named]
        wanted = said.casefold()
        word = re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)")
        self.told.append(f"some cell has {said!r}")
        self.tests.append(lambda row: any(word.search(cell.casefold()) is not None for cell in row))
        return last

    def _compare(self, name: str, way: str, value: str) -> None:
        place, comma = self._names.index(name), self._comma
        self.told.append(f"{name} {'has' if way == 'in' else way} {value}")
        number = _number(value, comma=comma)
        date = read_date(value)
        text = value.casefold()

        def test(row: Sequence[str]) -> bool:
            cell = row[place].strip()
            if way == "in":
                return text in cell.casefold()
            if number is not None and (own := read_number(cell, comma=comma)) is not None:
                return _holds(way, own[0], number)
            if date is not None and (there := read_date(cell)) is not None:
                return _holds(way, there, date)
            if way in ("=", "!="):
                return (cell.casefold() == text) == (way == "=")
            return number is None and date is None and bool(cell) and _holds(way, cell.casefold(), text)

        self.tests.append(test)

    def _bad(self, piece: str) -> None:
        fix = "write it like: amount over 100 and country is Sweden"
        raise ToolError("BAD_CONDITION", f"{piece[:80]!r} is no condition", place="where", fix=fix)


def _number(text: str, *, comma: bool) -> Decimal | None:
    plain = _MONEY.sub("", text)
    found = read_number(plain.replace(" ", ""), comma=comma) or read_number(plain, comma=False)
    return found[0] if found else None


def _holds(way: str, one: Decimal | datetime | str, other: Decimal | datetime | str) -> bool:
    left, right = (one, other)
    return {
        "=": left == right,
        "!=": left != right,
        "<": left < right,  # type: ignore[operator]
        ">": left > right,  # type: ignore[operator]
        "<=": left <= right,  # type: ignore[operator]
        ">=": left >= right,  # type: ignore[operator]
    }[way]
