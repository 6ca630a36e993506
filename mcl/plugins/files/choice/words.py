"""What words say of files beside their names: from when they are, how old, what stands in them, a number in
them. Pure; the words are in words.toml.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import Final, NamedTuple

from executor.core.tables import table_beside
from executor.core.words import unaccented
from mcl.compiler.stages.word_forms import stems
from mcl.plugins.files.selection import day_of, named_day
from mcl.values.durations import in_english
from mcl.values.numbers import read_number
from mcl.values.periods import MONTHS

_TOKEN: Final = re.compile(
    r"\"[^\"\n]+\"|“[^”\n]+”|«[^»\n]+»|(?<!\w)['‘][^'’\n]{2,}['’](?!\w)|\(\d{1,2}(?:\)|$)|[^\s,;!?()\"“”«»]+|[,;!?]"
)
_ALIKE: Final = 0.8
_SLIP: Final = 3  # letters of a word that may be one
_MONTH_LONG: Final = 31
_DAY_OF: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th|:?e|:a)?")
_YEAR: Final = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)")
_NUMBER: Final = re.compile(r"\d[\d .,]*\d|\d")
_STATED: Final = re.compile(r"^[^\W\d][\w ]{0,30}:[ \t]+([^\W\d_]+)", re.MULTILINE)


class SaidWord(NamedTuple):
    """A word of a goal or a quote, with its place; text: in small letters, without the marks around it."""

    text: str
    start: int
    end: int
    quoted: bool = False


def tokens_of(prose: str, start: int, end: int) -> list[SaidWord]:
    """The words between two places of a goal, and the marks that part them."""
    found = []
    for match in _TOKEN.finditer(prose, start, end):
        word = match[0]
        quoted = len(word) > 2 and word[0] in "\"“«'‘"
        text = word[1:-1] if quoted else word.rstrip(".:") or word
        first = match.start() + quoted
        said = f"{text.rstrip(')')})" if word[0] == "(" else text.strip().casefold()
        found.append(SaidWord(said, first, first + len(text), quoted))
    return found


@dataclass(frozen=True)
class Words:
    """The lists of words.toml: those of single words as sets, of phrases as runs of words, the longest
    first."""

    sets: Mapping[str, frozenset[str]]
    phrases: Mapping[str, tuple[tuple[str, ...], ...]]
    tables: Mapping[str, Mapping[str, int]]

    def mended(self, word: str) -> str:
        """A word, or the one around the names of files that it is a slip of: “cald” is “called”."""
        if len(word) < _SLIP or any(word in one for one in self.sets.values()):
            return word
        close = difflib.get_close_matches(
            word, [one for one in self.sets["slipped"] if one[0] == word[0]], 1, _ALIKE
        )
        return close[0] if close else word

    def at(self, name: str, tokens: Sequence[SaidWord], place: int) -> int:
        """How many of the tokens from a place on are one of these phrases; 0 where none is."""
        first = tokens[place].text if place < len(tokens) else ""
        for phrase in self.phrases[name]:
            if phrase[0] != first:
                continue
            said = tokens[place : place + len(phrase)]
            if len(said) == len(phrase) and all(
                one.text == word and not one.quoted for one, word in zip(said, phrase, strict=True)
            ):
                return len(phrase)
        return 0

    def number_at(self, name: str, tokens: Sequence[SaidWord], place: int) -> tuple[int, int | None]:
        """The same of a table: how many tokens, and what it says of them."""
        for many in (3, 2, 1):
            said = " ".join(one.text for one in tokens[place : place + many])
            if len(tokens) >= place + many and said in self.tables[name]:
                return many, self.tables[name][said]
        return 0, None


@cache
def pattern_beside(module: str, name: str) -> re.Pattern[str]:
    """Whole words of the table of a module, by its ``__file__``, whatever their case."""
    return re.compile(rf"(?<![\w'])(?:{table_beside(module)[name]})(?!\w)", re.IGNORECASE)


@cache
def words() -> Words:
    """The words, read once."""
    table = dict(table_beside(__file__))
    tables = {name: table.pop(name) for name in ("units", "years", "seasons")}
    sets, phrases = {}, {}
    for name, spelled in table.items():
        bare = " ".join(one if one in ("å", "åt") else unaccented(one) for one in spelled.split())
        said = f"{spelled} {'|' if '|' in spelled else ''} {bare}"
        sets[name] = frozenset(said.replace("|", " ").split())
        runs = (
            (tuple(one.split()) for one in said.split("|")) if "|" in said else ((one,) for one in sets[name])
        )
        phrases[name] = tuple(sorted(runs, key=len, reverse=True))
    return Words(sets, phrases, tables)


# ---- What must hold of a file. Each is read at a place of the goal: how many tokens it takes, and a test.


class Facts(NamedTuple):
    """What is known of a file: its path, when it was changed (nanoseconds since 1970). read: gives what
    stands in one."""

    path: str
    modified: int
    read: Callable[[str], str]

    def text(self) -> str:
        """What stands in it."""
        return self.read(self.path)


Test = Callable[[Facts], bool]
Read = tuple[int, Test]


def _between(first: date, last: date) -> Test:
    def test(facts: Facts) -> bool:
        name = facts.path.rpartition("/")[2]
        said = _named_days(name)
        if said is not None and (said[1] < first or said[0] > last):
            return False
        if said is not None and first <= said[0] and said[1] <= last:
            return True
        return first <= day_of(facts.modified) <= last

    return test


def _named_days(name: str) -> tuple[date, date] | None:
    """The days that a name says: one, those of a month, or of a year."""
    if day := named_day(name, whole=True):
        return day, day
    if day := named_day(name, whole=False):
        return _months(day.year, day.month, 1)
    year = _YEAR.search(name)
    return _months(int(year[1]), 1, 12) if year else None


def _months(year: int, month: int, many: int) -> tuple[date, date]:
    after = date(year + (month + many - 1) // 12, (month + many - 1) % 12 + 1, 1)
    return date(year, month, 1), after - timedelta(days=1)


def when(tokens: Sequence[SaidWord], place: int, today: date, *, led: bool) -> Read | None:
    """From when a file is: “july”, “juli 2025”, “2025”, “last year”, “höstens”, “2026-10”, “before 2026”.
    led: behind a word such as “from”."""
    for name in ("before", "after", "since"):
        if lead := words().at(name, tokens, place):
            found = _days(tokens, place + lead, today, led=True)
            if found is None:
                return None
            many, first, last = found
            day = timedelta(days=1)
            bounds = {"before": (date.min, first - day), "after": (last + day, date.max)}
            return lead + many, _between(*bounds.get(name, (first, date.max)))
    found = _days(tokens, place, today, led=led)
    return (found[0], _between(*found[1:])) if found is not None else None


def _days(tokens: Sequence[SaidWord], place: int, today: date, *, led: bool) -> tuple[int, date, date] | None:
    """How many words say a span of days, and its first and last."""
    said = words()
    many, shift = said.number_at("years", tokens, place)
    if shift is not None:
        return many, *_months(today.year + shift, 1, 12)
    many, month = said.number_at("seasons", tokens, place)
    if month is not None:
        return many, *_months(today.year - (month > today.month), month, 3)
    word = tokens[place].text if place < len(tokens) else ""
    if day := _said_day(tokens, place, today, led=led):
        return day[0], day[1], day[1]
    if word in said.sets["months" if led else "bare_months"]:
        number = MONTHS[in_english(word)]
        after = tokens[place + 1].text if place + 1 < len(tokens) else ""
        if re.fullmatch(r"(?:19|20)\d\d", after):
            return 2, *_months(int(after), number, 1)
        return 1, *_months(today.year - (number > today.month), number, 1)
    if led and re.fullmatch(r"((?:19|20)\d\d)(?:-(0[1-9]|1[0-2]))?(?:-(\d\d))?", word):
        days = _named_days(word)
        return (1, *days) if days is not None else None
    return None


def _said_day(tokens: Sequence[SaidWord], place: int, today: date, *, led: bool) -> tuple[int, date] | None:
    """How many words say a day of a month, and the last such day: “2 november”, “November 2nd”; led: also
    “the 25th”."""
    pair = [one.text for one in tokens[place : place + 2]]
    if led and pair and (digits := _DAY_OF.fullmatch(pair[0])) and not pair[0].isdigit():
        if pair[1:] and pair[1] in words().sets["months"]:
            led = False
        days = (today - timedelta(days=back) for back in range(_MONTH_LONG if led else 0))
        if found := next((one for one in days if one.day == int(digits[1])), None):
            return 1, found
    if len(pair) < 2:
        return None
    for number, month in (pair, pair[::-1]):
        digits = _DAY_OF.fullmatch(number)
        if digits is None or month not in words().sets["months"]:
            continue
        for year in (today.year, today.year - 1):
            try:
                found = date(year, MONTHS[in_english(month)], int(digits[1]))
            except ValueError:
                return None
            if found <= today:
                return 2, found
    return None


def age(tokens: Sequence[SaidWord], place: int, today: date) -> Read | None:
    """How old a file is at least: “older than a year”, “over 6 months old”, “äldre än ett år”."""
    said = words()
    lead = said.at("older", tokens, place)
    if not lead:
        return None
    at = place + lead
    number, at = _count(tokens, at)
    unit = said.tables["units"].get(tokens[at].text) if at < len(tokens) else None
    if number is None or unit is None:
        return None
    at += 1
    named = tokens[place].text not in said.sets["above"]
    if at < len(tokens) and tokens[at].text in said.sets["old"]:
        at += 1
    elif not named:
        return None  # “over a week” says nothing of age by itself
    last = today - timedelta(days=round(number * unit))

    def test(facts: Facts) -> bool:
        day = _named_days(facts.path.rpartition("/")[2])
        exact = day is not None and day[0] == day[1]
        return (day[0] if day is not None and exact else day_of(facts.modified)) <= last

    return at - place, test


def _count(tokens: Sequence[SaidWord], at: int) -> tuple[float | None, int]:
    said = words()
    if at < len(tokens) and tokens[at].text in said.sets["half"]:
        return 0.5, at + 1 + (at + 1 < len(tokens) and tokens[at + 1].text in said.sets["indefinite"])
    if at + 1 < len(tokens) and tokens[at + 1].text in said.sets["half"]:
        return 0.5, at + 2
    if at >= len(tokens):
        return None, at
    text = tokens[at].text
    if text in said.sets["indefinite"]:
        return 1.0, at + 1
    if text == "halvår":
        return 1.0, at
    number = read_number(text)
    return (float(number), at + 1) if number is not None else (None, at)


def amount(tokens: Sequence[SaidWord], place: int) -> Read | None:
    """A number that stands behind a word in a file: “with a total above 500”."""
    said, at = words(), place
    while at < len(tokens) and tokens[at].text in said.sets["lead_amount"]:
        at += 1
    if at == place or at >= len(tokens) or tokens[at].text in said.sets["thing"]:
        return None
    wanted, at = stems(tokens[at].text), at + 1
    if at < len(tokens) and tokens[at].text in said.sets["amounting"]:
        at += 1
    above = said.at("above", tokens, at)
    many = above or said.at("below", tokens, at)
    number = read_number(tokens[at + many].text) if many and at + many < len(tokens) else None
    if number is None:
        return None
    money = at + many + 1 < len(tokens) and tokens[at + many + 1].text in said.sets["money"]
    if not money and tokens[at].text in said.sets["dated"] and _YEAR.fullmatch(tokens[at + many].text):
        return None  # “the bills from 2025”
    at += many + 1 + money
    bound = float(number)

    def test(facts: Facts) -> bool:
        for line in facts.text().casefold().splitlines():
            if not any(stems(one) & wanted for one in re.findall(r"[^\W\d_]+", line)):
                continue
            figures = [read_number(one.strip(" .,")) for one in _NUMBER.findall(line)]
            values = [float(one) for one in figures if one is not None]
            if values and (values[-1] > bound if above else values[-1] < bound):
                return True
        return False

    return at - place, test


def states(text: str) -> frozenset[str]:
    """What a text says in lines with a name before them, each by its first word: “Status: unpaid”."""
    return frozenset(word.casefold() for word in _STATED.findall(text))


def is_stated(wanted: frozenset[str]) -> Test:
    """One of these is what a line of a file says behind its name."""
    return lambda facts: any(stems(one) & wanted for one in states(facts.text()))


def says(text: str) -> Test:
    """These words stand in a file, one after the other."""
    wanted = re.compile(rf"(?<!\w){re.escape(' '.join(text.casefold().split()))}")  # “paid” is not “unpaid”
    return lambda facts: wanted.search(" ".join(facts.text().casefold().split())) is not None
