"""The words of a question, and the columns of a table that they mean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from difflib import get_close_matches
from functools import cached_property, lru_cache
from typing import Final, NamedTuple, NoReturn

from executor.core.errors import ToolError
from executor.core.words import one_slip
from mcl.plugins.data.tools.data.asked import Having, TableQuestion, Term, Test
from mcl.plugins.data.tools.data.periods import Period, Periods
from mcl.plugins.data.tools.data.schema import SchemaColumn, TableSchema, things_of
from mcl.plugins.data.tools.data.table import read_number
from mcl.plugins.data.tools.data.words import (
    alike,
    is_known,
    length_of,
    lexicon,
    member_of,
    members_of,
    spellings,
    with_accents,
    words_in,
)

_TOKEN: Final = re.compile(
    r"\S*\w\.(?:csv|tsv|tab|json|jsonl|ndjson|md|txt|log)\b|[\w@.+-]*\w/[\w./-]*\w"
    r"|\d{4}-\d\d(?:-\d\d)?(?!\d)|\d\d?(?:st|nd|rd|th|:[ae])(?!\w)"
    r"|\d+(?:[ \u00a0]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*(?![^\W\d_])"
    r"|[^\W_]+(?:['’-][^\W_]+)*|>=|<=|!=|[<>≥≤=*×/+%−-]|[,.;:!?()\"“”\n]"
)
_BREAKS: Final = frozenset(",.;:!?()\n")
NEAR: Final = 6  # words
_NEARLY: Final = 0.8
_LONG_WORD: Final = 5  # letters of one that may be spelled wrongly
_AMOUNTS: Final = ("actual", "amount")
NO_AMOUNTS: Final = frozenset(
    ("since", "sedan", "id", "nr", "no", "number", "year", "år", "month", "månad", "day", "dag")
)


@dataclass
class QuestionWord:
    said: str  # as it stands
    word: str
    clause: int
    number: Decimal | None = None
    start: int = 0  # its place in the text


class ColumnLink(NamedTuple):
    """Columns that words mean. sure: 3 by name, 2 by a word of the name, 1 by what they are about."""

    columns: tuple[SchemaColumn, ...]
    sure: int
    length: int


def words_of(said: str, schema: TableSchema) -> list[QuestionWord]:
    """The words of a text, each as it is written: as it is said in speech, or nearly spelled, counts too."""
    spoken = lexicon()["spoken"]
    words = list(_tokens(said))
    for at, one in enumerate(words):
        if at and one.said[0].isupper():
            continue
        if one.word not in schema.known_words and one.word.isalpha():
            known = one.word if is_known(one.word) else _accented(one.word, schema)
            one.word = spoken.get(one.word) or _spelled(known)
    return [part for one in words for part in _parts_of(one, schema)]


def _parts_of(one: QuestionWord, schema: TableSchema) -> Sequence[QuestionWord]:
    """A word, or the two of a compound that are both about something: “matbudgeten”."""
    word = one.word
    if word in schema.known_words or is_known(word):
        return [one]
    first, _, last = word.rpartition("-")
    if first in schema.known_words and (schema.is_own(last) or length_of("rows", (last,), 0)):  # “ICA-köp”
        at = one.start + len(first) + 1
        heads = one.said[: len(first)], one.said[len(first) + 1 :]
        return [replace(one, word=first, said=heads[0]), replace(one, word=last, said=heads[1], start=at)]
    if not word.isalpha():
        return [one]
    for at in range(3, len(word) - 2):
        first, last = word[:at], word[at:]
        about = members_of("things", (first,)) and members_of("things", (last,)) and is_known(first)
        said = first in schema.known_words or member_of("months", (first,), 0)[0]
        if about or (said and length_of("rows", (last,), 0)):  # “novemberraderna”
            return [replace(one, word=first, said=first), replace(one, word=last, said=last)]
    return [one]


def _accented(word: str, schema: TableSchema) -> str:
    """A word written without its accents as the table or the lexicon has it; else itself."""
    return schema.without_accents.get(word) or with_accents(word)


@lru_cache(maxsize=10_000)
def _spelled(word: str) -> str:
    """The word of the lexicon that this one is but for one slip; else itself."""
    if len(word) < _LONG_WORD - 1 or is_known(word):
        return word
    if len(word) < _LONG_WORD:
        mixed = [one for one in spellings(word[0]) if sorted(one) == sorted(word)]
        return mixed[0] if len(mixed) == 1 else word
    near = [one for one in get_close_matches(word, spellings(word[0]), 2, _NEARLY) if one_slip(word, one)]
    return near[0] if len(near) == 1 else word


def _tokens(said: str) -> Iterator[QuestionWord]:
    clause = 0
    for match in _TOKEN.finditer(said):
        text = match[0]
        if text in _BREAKS:
            clause += 1
            continue
        if text in '"“”':
            continue
        number = None
        if text[0].isdigit():
            plain = re.sub(r"[ \u00a0]", "", text)
            found = read_number(plain, comma=False) if re.search(r",\d{3}\b", plain) else None
            found = found or read_number(plain.replace(",", "."), comma=False)
            number = found[0] if found else None
        plain = text.casefold().replace("’", "'")
        yield QuestionWord(text, plain.removesuffix("'s"), clause, number, match.start())


class QuestionWords:
    """The words of one question, what is read of them so far, and how a word is looked up."""

    def __init__(
        self, words: Sequence[QuestionWord], schema: TableSchema, today: date, before: TableQuestion | None
    ) -> None:
        self.words, self.schema, self.today, self.before = words, schema, today, before
        self.plain = [one.word for one in words]
        self.used: set[int] = set()
        self._meant: dict[tuple[str, ...], ColumnLink | None] = {}
        self.asked = TableQuestion()
        self.mentions: list[tuple[int, SchemaColumn, int]] = []
        self.terms: list[tuple[int, Term]] = []
        self.measured: list[tuple[int, Test, Having]] = []
        self.group_places: list[int] = []
        self._grouped_by_which = False
        self.named: set[int] = set()
        self.value_places: set[int] = set()
        self.per_head = False  # each pays so much
        self.whole_at = 0  # where the whole is named that something is a share of
        self.late = [timedelta(0)]  # how far behind a period its last reading may be
        self.given: dict[tuple[int, bool], list[tuple[str, ...]]] = {}
        self.literal: dict[tuple[int, bool], list[tuple[str, ...]]] = {}  # of these, as they stand

    @cached_property
    def times(self) -> Sequence[Period]:
        """The times that are named."""
        return list(Periods(self.plain, [one.said for one in self.words], self.today).found())

    def _ways(self) -> tuple[SchemaColumn | None, dict[str, tuple[str, ...]]]:
        """The column that says of each row that it came in, or went out, and the value for either."""
        for one in self.schema.of("text"):
            ways: dict[str, tuple[str, ...]] = {
                thing: value
                for value in one.values
                for thing in ("income", "expense")
                if thing in things_of(value)
            }
            if one.says_kinds and len(ways) == 2:
                return one, ways
        return None, {}

    def _down(self, which: str, column: SchemaColumn | None) -> bool:
        """Whether the first is the highest: the oldest has the earliest date, but the highest age."""
        aged = column is not None and "age" in column.things and "birth" not in column.things
        if which in ("old", "young"):
            return (which == "old") == aged
        return which == "high"

    def _spoken_of(self, at: int, length: int) -> list[SchemaColumn]:
        """The columns that a superlative speaks of by itself: of the longest, those of lengths."""
        about = members_of("speaks_of", tuple(self.plain[at : at + length]))
        if "age" in about:
            aged = self.schema.about({"birth"}) or self.schema.about({"age"})
            aged = aged or self.schema.of("date") or self.schema.about({"year"})
            return [one for one in aged if one.kind in ("number", "date")]
        if "date" in about:
            return self.schema.of("date")
        return [one for one in self.schema.about(about) if one.kind == "number"]

    def _counted(self, at: int) -> bool:
        """Whether a word stands just behind how many."""
        return any(
            length_of("figure.count", self.plain, one) == at - one for one in range(max(0, at - 2), at)
        )

    def _superlative(self, at: int) -> tuple[str, int]:
        if self.plain[at] in ("last", "sist") and not any(
            self.plain[one] in ("when", "när") for one in self._clause(at) if one < at
        ):
            return "", 0  # “when did we last …”
        if self.plain[at] == "min" and (
            self._counted(at) or at + 1 == len(self.words) or self.link(at + 1) is None
        ):
            return "", 0  # in Swedish, what is mine; minutes
        return member_of("top_words", self.plain, at)

    def _count(self, at: int) -> int | None:
        """The whole number that a word says."""
        number = self.words[at].number
        if number is not None and number == number.to_integral_value() and 0 < number <= 1000:
            return int(number)
        named, length = member_of("numerals", self.plain, at)
        return int(named) if length else None

    def _negated(self, at: int) -> bool:
        ones = at + 1 + (self.plain[at + 1 : at + 2] in (["ones"], ["one"]))
        behind = self.words[ones : ones + 1]
        length = length_of("negation_behind", self.plain, ones) if behind else 0
        if length and behind[0].clause == self.words[at].clause:
            self._use(ones, length)
        else:
            length = 0
        for there in range(at - 1, max(-1, at - NEAR), -1):
            before = length_of("negation", self.plain, there)
            if self.words[there].clause != self.words[at].clause:
                break
            if before and there + before <= at:
                self._use(there, before)
                return True
            known = there not in self.used and self.link(there) is not None
            if known and not self._empty(there):
                break
        return length > 0 or self._is_left(at)

    def _is_left(self, at: int) -> bool:
        """“leave the income out”."""
        same = self._clause(at)
        before = next(
            (one for one in same if at - 3 <= one < at and length_of("leaves", self.plain, one)), -1
        )
        behind = next(
            (one for one in same if at < one < at + 3 and length_of("leaves_out", self.plain, one)), -1
        )
        if before < 0 or behind < 0:
            return False
        self._use(before, 1)
        self._use(behind, length_of("leaves_out", self.plain, behind))
        return True

    def _amount(self, *, quiet: bool = False) -> SchemaColumn | None:
        """The column of numbers that is meant where none is named. Raises UNCLEAR, unless quiet."""
        numbers = [one for one in self.schema.of("number") if one.name.casefold() not in NO_AMOUNTS]
        for thing in _AMOUNTS:
            fitting = [one for one in numbers if thing in one.things and "planned" not in one.things]
            if len(fitting) == 1:
                return fitting[0]
            if len(fitting) > 1:
                break
        if self._only_number(numbers) is not None:
            return numbers[0]
        if not quiet:
            self._unclear("the column", numbers)
        return None

    @staticmethod
    def _only_number(numbers: Sequence[SchemaColumn]) -> SchemaColumn | None:
        return numbers[0] if len(numbers) == 1 else None

    def link(self, at: int, *, weak: bool = False) -> ColumnLink | None:
        """The columns that the words from a place on mean, by as many words as can be."""
        best: ColumnLink | None = None
        for length in range(min(4, len(self.words) - at), 0, -1):
            if any(one.clause != self.words[at].clause for one in self.words[at : at + length]):
                continue
            if length == 1 and self._weak(at) and not weak:
                continue
            found = self.link_of(tuple(self.plain[at : at + length]))
            if found is not None and (best is None or found.sure > best.sure):
                best = found
        return best

    def link_of(self, words: tuple[str, ...]) -> ColumnLink | None:
        """The columns that these words mean, all of them together."""
        if words not in self._meant:
            self._meant[words] = self._link_of(words)
        return self._meant[words]

    def _link_of(self, words: tuple[str, ...]) -> ColumnLink | None:
        columns, length = self.schema.columns, len(words)
        parted = tuple(each for one in words for each in words_in(one))
        same = [one for one in columns if one.words == parted]
        near = same or [
            one for one in columns if len(one.words) == len(parted) and all(map(alike, one.words, parted))
        ]
        if near:
            return ColumnLink(tuple(near), 3, length)
        if length == 1:
            part = [one for one in columns if any(alike(words[0], each) for each in one.words)]
            if part:
                return ColumnLink(tuple(part), 2, length)
        things = members_of("things", words)
        about = [one for one in columns if things & one.things]
        if about:
            return ColumnLink(tuple(about), 1, length)
        if length == 1 and len(words[0]) > 3:
            begun = [one for one in columns if any(each.startswith(words[0]) for each in one.words)]
            if len(begun) == 1:
                return ColumnLink(tuple(begun), 1, length)
        return None

    def _links(self) -> Iterator[tuple[int, SchemaColumn, int]]:
        for at in range(len(self.words)):
            found = self.link(at) if at not in self.used else None
            for one in found.columns if found else ():
                yield at, one, found.sure if found else 0

    def _column_near(self, at: int, kind: str, there: int | None = None) -> SchemaColumn:
        """The column that a comparison is about: the last that is named before it, the next behind it, else
        the only one, or that of the amounts."""
        clause = self._clause(at)
        links = [
            (place, one)
            for place in clause
            if (found := self.link(place)) is not None
            for one in found.columns
            if one.kind == kind
        ]
        before = [one for place, one in links if place < at]
        behind = [(place, one) for place, one in links if place > (there or at)]
        if before:
            return before[-1]
        if behind:
            return behind[0][1]
        fitting = [one for one in self.schema.columns if one.kind == kind]
        if len(fitting) == 1:
            return fitting[0]
        earlier = [one for place, one, _ in self._links() if place < at and one.kind == kind]
        column = earlier[-1] if earlier else self._amount() if kind == "number" else None
        if column is None:
            self._unclear(self.words[at].said, fitting)
        return column

    def _clause(self, at: int) -> list[int]:
        return [place for place, one in enumerate(self.words) if one.clause == self.words[at].clause]

    def _use(self, at: int, length: int) -> None:
        self.used.update(range(at, at + length))

    def _use_column(self, column: SchemaColumn) -> None:
        for at in range(len(self.words)):
            found = self.link(at) if at not in self.used else None
            if found is not None and column in found.columns:
                self._use(at, found.length)

    def _unit(self, at: int) -> None:
        """The unit behind a number belongs to it."""
        if at + 1 < len(self.words) and members_of("things", tuple(self.plain[at + 1 : at + 2])):
            self.used.add(at + 1)

    def _skip(self, at: int) -> int:
        """The next place with a word that says something."""
        articles = ("the", "a", "an", "den", "det", "de", "ett", "en", "of", "av", "på", "their", "its", "is")
        while at < len(self.words) - 1 and self.plain[at] in articles:
            at += 1
        return at

    def _any(self, name: str) -> bool:
        found = [at for at in range(len(self.words)) if length_of(name, self.plain, at)]
        for at in found:
            if name in ("rising", "falling"):
                self._use(at, length_of(name, self.plain, at))
        return bool(found)

    def _empty(self, at: int) -> bool:
        before = range(max(0, at - 2), at + 1)
        return any(length_of("empty", self.plain, one) + one > at for one in before)

    def _weak(self, at: int) -> bool:
        return length_of("weak", self.plain, at) > 0

    def _unclear(self, said: str, columns: Sequence[SchemaColumn], why: str = "") -> NoReturn:
        names = ", ".join(one.name for one in columns[:20])
        if columns and len(columns) < len(self.schema.columns):
            message = f"“{said}” may be any of {names}" if len(columns) > 1 else f"“{said}” is not clear"
        else:
            message = f"“{said}” says nothing of {self.schema.path!r}" + (f": {why}" if why else "")
        kinds = [one for one in self.schema.columns if one.says_kinds][:3]
        told = "; ".join(f"{one.name}: {', '.join(list(one.values.values())[:8])}" for one in kinds)
        every = ", ".join(one.name for one in self.schema.columns[:20])
        fix = f"ask with words of the table: its columns are {every}" + (f" ({told})" if told else "")
        raise ToolError("UNCLEAR", message, place="question", fix=fix)
