"""Days, months, seasons and years that a question names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property
from typing import Final

from mcl.plugins.data.tools.data.table import read_date
from mcl.plugins.data.tools.data.words import length_of, member_of

_SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}  # their first months
_WAYS: Final = {"this": 0, "last": 1, "next": -1}  # how many back
_PLACED: Final = frozenset(
    ("in", "during", "of", "for", "since", "i", "under", "för", "from", "until", "till")
)
_BETWEEN: Final = frozenset(("between", "mellan", "from", "från"))
_TO: Final = frozenset(("to", "till", "until", "through", "-"))
_AND: Final = _TO | {"and", "och"}


@dataclass(frozen=True)
class Period:
    """A time that is named, from the word `start` to `end`. month, year: 0 for any; first, last: its days,
    where they are known. weak: it may be no time at all. bare_year: a year alone."""

    start: int
    end: int
    said: str
    month: int = 0
    year: int = 0
    first: date | None = None
    last: date | None = None
    weak: bool = False
    bare_year: bool = False

    @cached_property
    def told(self) -> str:
        """As it was read."""
        if self.first is not None and self.last is not None:
            if self.last == date.max:
                return f"{self.first} and later"
            if self.first == date.min:
                return f"{self.last} and earlier"
            return f"{self.first} to {self.last}" if self.first != self.last else f"{self.first}"
        if self.month:
            name = date(2000, self.month, 1).strftime("%B")
            return f"{name} {self.year}" if self.year else name
        return str(self.year)

    def holds(self, day: date) -> bool:
        """Whether a day is in it."""
        if self.first is not None and self.last is not None:
            return self.first <= day <= self.last
        return (not self.month or day.month == self.month) and (not self.year or day.year == self.year)

    def is_month(self, cell: str) -> bool:
        """Whether a cell names its month."""
        text = cell.strip().casefold()
        if text.isdigit():
            return int(text) == self.month
        named, _ = member_of("months", text.split() or [""], 0)
        dated = re.fullmatch(r"\d{4}-(\d\d)(?:-\d\d)?", text)
        return (bool(named) and int(named) == self.month) or (bool(dated) and int(dated[1]) == self.month)  # type: ignore[index]


class Periods:
    """The times in the words of a question. said: the words as they stand."""

    def __init__(self, plain: Sequence[str], said: Sequence[str], today: date) -> None:
        self._plain, self._said, self._today = plain, said, today

    def found(self) -> Iterator[Period]:
        """Each, from the first word on; two with between or from before them are one."""
        at, waiting = 0, None
        found: list[Period] = []
        while at < len(self._plain):
            one = self._at(at)
            at = one.end if one is not None else at + 1
            if one is not None and (not found or found[-1].end <= one.start):
                found.append(one)
        for place, one in enumerate(found):
            if waiting is not None:
                yield self._range(waiting, one)
                waiting = None
                continue
            behind = found[place + 1] if place + 1 < len(found) else None
            opens = one.start and self._plain[one.start - 1] in _BETWEEN
            joined = behind is not None and behind.start == one.end + 1 and self._plain[one.end] in _AND
            if joined and (opens or self._plain[one.end] in _TO):
                waiting = one
            else:
                yield self._edge(one)

    def _edge(self, one: Period) -> Period:
        """A time that something begins or ends with: since august, before 2026-10-01."""
        for back in (3, 2, 1):
            at = one.start - back
            name, length = member_of("edges", self._plain, at) if at >= 0 else ("", 0)
            if not name or length != back or (self._plain[at] == "till" and one.bare_year):
                continue
            year = one.year or (self._past(one.month) if one.month else 0)
            if name == "before" and one.month > self._today.month and not one.year:
                year = self._today.year  # all there is until then
            if not year and one.first is None:
                return one
            first, last = _days(replace(one, year=year))
            said = " ".join(self._said[at : one.end])
            made = Period(at, one.end, said, weak=one.weak, bare_year=one.bare_year)
            if length_of("edges.after", self._plain, at):
                return replace(made, first=last + timedelta(1), last=date.max)
            if name == "since":
                return replace(made, first=first, last=date.max)
            return replace(made, first=date.min, last=first - timedelta(1))
        return self._led_on(one)

    def _led_on(self, one: Period) -> Period:
        """A time that is meant with all behind it, or before it: 1980 or later."""
        inside = one.end < len(self._plain)
        name, length = member_of("edges_behind", self._plain, one.end) if inside else ("", 0)
        year = one.year or (self._past(one.month) if one.month else 0)
        if not name or not (year or one.first is not None):
            return one
        first, last = _days(replace(one, year=year))
        said = " ".join(self._said[one.start : one.end + length])
        made = Period(one.start, one.end + length, said, bare_year=one.bare_year)
        if name == "since":
            return replace(made, first=first, last=date.max)
        return replace(made, first=date.min, last=last)

    def _range(self, one: Period, other: Period) -> Period:
        year = one.year or other.year or self._today.year
        first, _ = _days(replace(one, year=year))
        _, last = _days(replace(other, year=other.year or year))
        said = " ".join(self._said[one.start : other.end])
        start = one.start - (one.start > 0 and self._plain[one.start - 1] in _BETWEEN)
        return Period(start, other.end, said, first=first, last=last)

    def _at(self, at: int) -> Period | None:
        word = self._plain[at]
        if re.fullmatch(r"\d{4}-\d\d-\d\d", word) and (moment := read_date(word)) is not None:
            return self._made(at, 1, first=moment.date(), last=moment.date(), weak=True)
        if found := re.fullmatch(r"(\d{4})-(\d\d)", word):
            return self._made(at, 1, month=int(found[2]), year=int(found[1]))
        if re.fullmatch(r"(?:19|20)\d\d", word):
            return self._made(at, 1, year=int(word), weak=True, bare_year=True)
        return self._named_month(at) or self._relative(at) or self._season(at) or self._nth(at)

    def _named_month(self, at: int) -> Period | None:
        named, length = member_of("months", self._plain, at)
        if not named:
            return None
        year = year_said = self._year_at(at + length)
        before = self._plain[at - 1] if at else ""
        word = self._plain[at]
        day = self._day(at - 1) if at else 0
        if day and self._is_day(int(named), year, day):
            first = date(year or self._past_day(int(named), day), int(named), day)
            return self._made(at - 1, 1 + length + bool(year), first=first, last=first)
        day = self._day(at + length)
        if day and word != "may" and self._is_day(int(named), 0, day):
            year = self._year_at(at + length + 1)
            first = date(year or self._past_day(int(named), day), int(named), day)
            return self._made(at, 1 + length + bool(year), first=first, last=first)
        if word == "may" and before not in _PLACED and not year:
            return None
        past = before in ("last", "förra")
        year = year or (self._past(int(named)) if past else 0)
        return self._made(at, length + bool(year_said), month=int(named), year=year)

    def _day(self, at: int) -> int:
        """The day of a month that a word says: 2, 2nd, 2:a."""
        word = self._plain[at] if at < len(self._plain) else ""
        found = re.fullmatch(r"(\d\d?)(?:st|nd|rd|th|:[ae])?", word)
        return int(found[1]) if found and 0 < int(found[1]) < 32 else 0

    def _nth(self, at: int) -> Period | None:
        """“the 24th”: the last day of that number."""
        named = re.fullmatch(r"(\d\d?)(?:st|nd|rd|th|:[ae])", self._plain[at])
        led = at and self._plain[at - 1] in ("the", "den")
        led = led and not length_of("of_each", self._plain, min(at + 1, len(self._plain) - 1))
        day, first = self._day(at) if named and led else 0, self._today.replace(day=1)
        while day and not (
            self._is_day(first.month, first.year, day) and first.replace(day=day) <= self._today
        ):
            first = (first - timedelta(1)).replace(day=1)
        one = first.replace(day=day) if day else None
        return self._made(at - 1, 2, first=one, last=one) if one else None

    @staticmethod
    def _is_day(month: int, year: int, day: int) -> bool:
        return day <= _before((year or 2000) + month // 12, month % 12 + 1).day

    def _past_day(self, month: int, day: int) -> int:
        return self._today.year - ((month, day) > (self._today.month, self._today.day))

    def _past(self, month: int) -> int:
        return self._today.year - (month > self._today.month)

    def _relative(self, at: int) -> Period | None:
        today = self._today
        for name, day in (
            ("today", today),
            ("yesterday", today - timedelta(1) if today > date.min else today),
        ):
            if length := length_of(f"periods.{name}", self._plain, at):
                return self._made(at, length, first=day, last=day, weak=True)
        if length := length_of("periods.last_year", self._plain, at):
            return self._made(at, length, year=today.year - 1)
        if length := length_of("periods.this_year", self._plain, at):
            return self._made(at, length, year=today.year)
        ways = [(length_of(f"periods.{one}", self._plain, at), back) for one, back in _WAYS.items()]
        length, back = next((one for one in ways if one[0]), (0, 0))
        there = at + length
        if not length or there >= len(self._plain):
            return None
        if length := length_of("periods.year", self._plain, there):
            return self._made(at, there + length - at, year=today.year - back)
        if self._plain[at] == "i":
            return None
        if length := length_of("periods.month", self._plain, there):
            own = today.replace(day=1)
            first = (own + timedelta(31) if back < 0 else own - timedelta(back)).replace(day=1)
            return self._made(at, there + length - at, month=first.month, year=first.year)
        if length := length_of("periods.week", self._plain, there):
            monday = today - timedelta(today.weekday() + 7 * back)
            return self._made(at, there + length - at, first=monday, last=monday + timedelta(6))
        return None

    def _season(self, at: int) -> Period | None:
        for name, month in _SEASONS.items():
            length = length_of(f"periods.{name}", self._plain, at)
            if not length:
                continue
            before = (
                at - 2 if at > 1 and length_of("periods.season_before", self._plain, at - 2) == 2 else at - 1
            )
            lead = at > 0 and length_of("periods.season_before", self._plain, before)
            year = self._year_at(at + length)
            if not lead and not year:
                return None
            past = bool(lead) and self._plain[before] in ("last", "förra")
            first, last = self._latest(month, year, past=past)
            start = before if lead else at
            return self._made(start, at + length + bool(year) - start, first=first, last=last, weak=True)
        return None

    def _latest(self, month: int, year: int, *, past: bool) -> tuple[date, date]:
        """The days of a season: of this year, else the last that has begun; past: the one before it, where
        it still goes on."""
        begun = year or self._today.year - (month > self._today.month)
        first = date(begun, month, 1)
        last = _before(begun + (month + 3 > 12), (month + 2) % 12 + 1)
        if past and not year and last >= self._today:
            return first.replace(year=begun - 1), _before(last.year - 1, (month + 2) % 12 + 1)
        return first, last

    def _year_at(self, at: int) -> int:
        word = self._plain[at] if at < len(self._plain) else ""
        return int(word) if re.fullmatch(r"(?:19|20)\d\d", word) else 0

    def _made(
        self,
        at: int,
        length: int,
        *,
        month: int = 0,
        year: int = 0,
        first: date | None = None,
        last: date | None = None,
        weak: bool = False,
        bare_year: bool = False,
    ) -> Period:
        said = " ".join(self._said[at : at + length])
        return Period(at, at + length, said, month, year, first, last, weak, bare_year)


def _before(year: int, month: int) -> date:
    """The day before a month begins."""
    return date(year, month, 1) - timedelta(1)


def _days(one: Period) -> tuple[date, date]:
    """The first and the last day of a period with a year."""
    if one.first is not None and one.last is not None:
        return one.first, one.last
    if one.month:
        return date(one.year, one.month, 1), _before(one.year + one.month // 12, one.month % 12 + 1)
    return date(one.year, 1, 1), date(one.year, 12, 31)
