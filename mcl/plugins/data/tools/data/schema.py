"""What a table has for questions: its columns, what they hold and what they are about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Final

from executor.core.errors import ToolError
from executor.core.words import unaccented
from executor.tools.tool import Bench
from mcl.plugins.data.tools.data.source import JSON, Kind, json_rows, kind_of, kinds_of, open_rows
from mcl.plugins.data.tools.data.table import parsed, read_number
from mcl.plugins.data.tools.data.words import alike, lexicon, members_of, runs, words_in

YES: Final = frozenset(("yes", "ja", "true", "x", "y", "j", "sant"))
NO: Final = frozenset(("no", "nej", "false", "n", "falskt"))
_VALUES: Final = 2000  # of a column that are known one by one
_LONG: Final = 80  # characters of one
_FEW: Final = 60  # values of a column that says kinds
_READINGS: Final = 4  # of a meter that only goes up


@dataclass(eq=False)
class SchemaColumn:
    """One column. values: those it has, as they stand, by their words; rows: how many cells are not empty;
    rising: its numbers never fall."""

    name: str
    kind: Kind
    place: int
    values: dict[tuple[str, ...], str] = field(default_factory=dict)
    cells: int = 0
    more: bool = False
    rising: bool = True
    last: Decimal | None = None

    @cached_property
    def words(self) -> tuple[str, ...]:
        return words_in(self.name)

    @cached_property
    def things(self) -> frozenset[str]:
        """What it is about, by its name."""
        return things_of(self.words)

    @cached_property
    def says_yes(self) -> bool:
        """Whether it holds yes or no."""
        said = {value.casefold() for value in self.values.values()}
        return bool(said) and said <= YES | NO

    @cached_property
    def says_kinds(self) -> bool:
        """Whether rows have the same value in it."""
        few = len(self.values) <= _FEW and not self.more
        return self.kind == "text" and few and (len(self.values) < self.cells or self.cells < _READINGS)

    @property
    def is_meter(self) -> bool:
        """Whether it is read now and then and only goes up, so that differences say what was used."""
        meter = {"distance", "energy"} & self.things
        return self.kind == "number" and self.rising and self.cells >= _READINGS and bool(meter)


@lru_cache(maxsize=50_000)
def things_of(words: tuple[str, ...]) -> frozenset[str]:
    """What words are about: all of them together, else each run of them."""
    whole = members_of("things", words)
    if whole or len(words) < 2:
        return whole
    return frozenset(one for run in runs(words, 3) for one in members_of("things", run))


@dataclass(frozen=True)
class TableSchema:
    """The columns of a table. comma: whether one is the decimal point."""

    path: str
    columns: tuple[SchemaColumn, ...]
    comma: bool
    rows: int

    @cached_property
    def own_words(self) -> tuple[str, ...]:
        """The words of its name: what the rows are."""
        name = self.path.rstrip("/").rpartition("/")[2]
        stem = name.rpartition(".")[0] or name
        return tuple(one for one in words_in(unaccented(stem).replace("-", " ")) if len(one) > 2)

    @cached_property
    def named(self) -> frozenset[str]:
        """What its name says that its rows are."""
        return frozenset(thing for one in self.own_words for thing in members_of("named", (one,)))

    @cached_property
    def known_words(self) -> frozenset[str]:
        """All words of its name, of its columns and of their values."""
        values = (word for one in self.columns for value in one.values for word in value)
        return frozenset((*self.own_words, *(word for one in self.columns for word in one.words), *values))

    @property
    def is_folder(self) -> bool:
        """Whether its rows are the files of a folder."""
        return "." not in self.path.rstrip("/").rpartition("/")[2]

    @cached_property
    def without_accents(self) -> dict[str, str]:
        """Its words, by what they are without accents."""
        return {unaccented(one): one for one in sorted(self.known_words)}

    def of(self, *kinds: Kind) -> list[SchemaColumn]:
        """The columns that hold this."""
        return [one for one in self.columns if one.kind in kinds]

    def about(self, things: Iterable[str]) -> list[SchemaColumn]:
        """The columns that are about one of these."""
        wanted = set(things)
        return [one for one in self.columns if one.things & wanted]

    def is_own(self, word: str) -> bool:
        """Whether a word is one of the table's name: expenses of expenses.csv."""
        if members_of("named", (word,)) & {
            thing for one in self.own_words for thing in members_of("named", (one,))
        }:
            return True
        word = unaccented(word)
        files = (
            name for one in self.columns if one.kind == "text" and "file" in one.things for name in one.values
        )
        if any(word in re.split(r"[\W_]", part) for name in files for part in name):
            return True
        return any(
            alike(word, one)
            or (len(one) > 4 and (word.startswith(one) or alike(word[word.find(one) :], one)))
            for one in self.own_words
        )

    def is_called(self, words: Sequence[str]) -> bool:
        """Whether words say all of its name, in either language: “members list” of members.csv."""
        said = [(word, members_of("named", (word,))) for word in map(unaccented, words)]
        meant = [(one, members_of("named", (one,))) for one in self.own_words]
        return bool(meant) and all(
            any(
                alike(one, word) or (len(one) > 4 and word.startswith(one)) or things & named
                for word, named in said
            )
            for one, things in meant
        )


def schema_of(path: str, bench: Bench, check: Callable[[], None], also: Sequence[str] = ()) -> TableSchema:
    """Read a table once for what it has, in bounded memory. Raises as ``open_rows``."""
    names, kinds = kinds_of(path, bench, check, also)
    with open_rows(path, bench, check, also) as found:
        return described(path, names, kinds, found.rows, comma=found.comma)


@lru_cache(maxsize=64)
def schema_in(path: str, text: str) -> TableSchema | None:
    """The same of a text that holds a whole table; None where it is none."""
    try:
        names, rows, comma = (*json_rows(text, path), False) if path.endswith(JSON) else parsed(text, path)
    except ToolError:
        return None
    kinds = [kind_of([row[place] for row in rows], comma=comma) for place in range(len(names))]
    return described(path, names, kinds, rows, comma=comma) if len(names) > 1 else None


def described(
    path: str, names: Sequence[str], kinds: Sequence[Kind], rows: Iterable[Sequence[str]], *, comma: bool
) -> TableSchema:
    """The schema of these rows."""
    columns = tuple(
        SchemaColumn(name, kind, place) for place, (name, kind) in enumerate(zip(names, kinds, strict=True))
    )
    count = 0
    for row in rows:
        count += 1
        for column, cell in zip(columns, row, strict=False):
            _take(column, cell.strip(), comma=comma)
    return TableSchema(path, columns, comma, count)


def _take(column: SchemaColumn, cell: str, *, comma: bool) -> None:
    if not cell:
        return
    column.cells += 1
    if column.kind == "number":
        number = read_number(cell, comma=comma)
        if number is not None:
            column.rising &= column.last is None or number[0] >= column.last
            column.last = number[0]
    elif column.kind == "text":
        words = words_in(cell) if len(cell) <= _LONG else ()
        if len(column.values) >= _VALUES and words not in column.values:
            column.more = True
        elif words:
            column.values.setdefault(words, cell)


def opposite(things: Iterable[str]) -> frozenset[str]:
    """What the contrary of some things is about: unpaid, of paid."""
    pairs = lexicon()["opposites"]
    return frozenset(str(pairs[one]) for one in things if one in pairs)
