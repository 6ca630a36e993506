"""A row that a goal gives for a table here: “add a row to cash.csv: 2026-11-27, coffee, out, 350”."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Final

from mcl.compiler.stages.clauses import quotes_of
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.model.cues import TextPlace, within
from mcl.plugins.data.rows_said import pattern
from mcl.plugins.data.told import NamedTable, tables_named
from mcl.plugins.data.tools.data.asked import Row
from mcl.plugins.data.tools.data.periods import Periods
from mcl.plugins.data.tools.data.question import LinkedWord, linked_words
from mcl.plugins.data.tools.data.schema import SchemaColumn, TableSchema, schema_in, things_of
from mcl.plugins.data.tools.data.table import delimiter_of, parsed, read_date, read_number
from mcl.plugins.data.tools.data.words import alike, is_known, length_of, members_of
from mcl.values.durations import read_seconds
from mcl.values.numbers import read_number as read_words

ENDINGS: Final = (".csv", ".tsv", ".tab")
_PARTS: Final = (re.compile(r"\s*[;\t]\s*"), re.compile(r",\s+"), re.compile(r"\s*,\s*"))
_SOME_DAY: Final = date(2000, 1, 1)
_YEAR: Final = re.compile(r"\d{4}")
_HALF_A_YEAR: Final = 183  # days
_LONGEST: Final = 5  # words of a cell, or of a number
_SMALL: Final = 12  # up to which a number in words may be something else
_AMOUNT: Final = re.compile(r"\s*(?:[^\W\d_]+\s+)?(-?\d[\d ]*(?:[.,]\d+)?)(?:\s*[^\W\d_]+\.?)?\s*")
_END: Final = re.compile(r"[.!?](?=\s|$)|\n")
_TIDY: Final = " \t\n\"'“”"


def read_row(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The row as the table writes its cells, and the table; nothing where no text has a cell for each
    column."""
    if pattern("adds").search(prose) is None:
        return ()
    tables = [one for one in tables_named(prose, names) if one.there]
    found = [
        row
        for path in dict.fromkeys(one.path for one in tables)
        if (row := _read(prose, clauses, names, [one for one in tables if one.path == path]))
    ]
    return found[0] if len(found) == 1 else ()


def _read(
    prose: str, clauses: Sequence[SaidClause], names: FileNames, tables: Sequence[NamedTable]
) -> Sequence[FilledInput]:
    """The same for one table, as it is named."""
    text = names.text(tables[0].path)
    schema = schema_in(tables[0].path, text) if text else None
    if schema is None:
        return ()
    rows, delimiter = parsed(text, schema.path)[1], delimiter_of(text, schema.path)
    today = date.fromisoformat(names.at[:10]) if names.at else _SOME_DAY
    for table in tables:
        for place in _places(prose, table):
            if row := _row(prose[slice(*place)], schema, rows, delimiter, today):
                whole = TextPlace(min(place.start, table.place.start), max(place.end, table.place.end))
                read = [one.place for one in clauses if not one.does or within(place, [one.place])]
                return (
                    FilledInput("note", place, (row,)),
                    FilledInput("file", table.place, (table.path,)),
                    *(FilledInput("", one) for one in (whole, *read)),
                )
    said = [one.place for one in clauses]
    if cells := _told(prose, [one.place for one in tables], schema, rows, today):
        place = TextPlace(said[0].start, said[-1].end)
        line = line_of(cells, delimiter)
        return (
            FilledInput("note", place, (line,)),
            FilledInput("file", tables[0].place, (schema.path,)),
            *(FilledInput("", one) for one in said),
        )
    return ()


def _told(
    prose: str,
    names: Sequence[TextPlace],
    schema: TableSchema,
    rows: Sequence[Row],
    today: date,
) -> list[str]:
    """The cells of a row that is told in words, each once: “fika today, 150 kr out”; none where some cell is
    not told, or some word is none's."""
    files = [one for one in names if "." in prose[slice(*one)]]
    led = [one for file in files if (one := _led_into(prose, file.start))]
    words = [  # “hours” may be a column of hours.csv as well
        one
        for one in linked_words(prose, schema)
        if not _stands_in(one, [*led, *(files if one.sure > 1 else names)])
    ]
    if (corrected := _corrected(prose, words)) is None:
        return []
    words = _in_figures(corrected)
    plain = [one.word.word for one in words]
    times = [
        one for one in Periods(plain, [one.word.said for one in words], today).found() if not one.bare_year
    ]
    used = {at for one in times for at in range(one.start, one.end)}
    dates = [one for one in schema.columns if one.kind == "date"]
    days = [_nearest(one.first, one.said, today) for one in times if one.first and one.first == one.last]
    if len(days) != len(times) or not len(set(days)) == len(dates) <= 1:
        return []
    cells = {column.place: str(day) for column, day in zip(dates, days, strict=False)}
    amounts = {one.place: one for one in schema.columns if one.kind == "number"}
    lengths = [one for one in amounts.values() if "hours" in one.things]
    if len(lengths) == 1 and (long := _length(plain, used)):
        cells[lengths[0].place] = f"{long[0]:f}".replace(".", "," if schema.comma else ".")
        used |= set(long[1])
        del amounts[lengths[0].place]
    numbers = [at for at, one in enumerate(words) if one.word.number is not None and at not in used]
    for at in numbers if len(numbers) <= len(amounts) else ():
        sides = [one for one in (at - 1, at + 1) if 0 <= one < len(words)]
        near = [one for side in sides for one in words[side].columns]
        fitting = [amounts[one] for one in near if one in amounts] or list(amounts.values())
        column = fitting[0]
        cell = cell_of(words[at].word.said, column, [], comma=schema.comma)
        if cell is None or (len(fitting) > 1 and not near):
            return []
        del amounts[column.place]
        cells[column.place] = cell
        used |= {at, *(one for one in sides if column.place in words[one].columns)}
    if not cells.keys() & {one.place for one in schema.columns if one.kind == "number"}:
        return []
    spoken = [words[at].word.start for at in used]
    ends = _END.search(prose, max(spoken))
    begins = max((one.end() for one in _END.finditer(prose, 0, min(spoken))), default=0)
    said = range(begins, ends.start() if ends else len(prose))
    usual = [TextPlace.of(one) for one in pattern("usual").finditer(prose)]
    left = [at for at, one in enumerate(words) if one.word.start in said and at not in used]
    leads = (one for name in ("adds", "lead") for one in pattern(name).finditer(prose))
    leads = (one for one in leads if not prose[one.end() : one.end() + 1].isalnum())
    aside = (TextPlace.of(one) for one in pattern("speaker").finditer(prose))
    apart = [*usual, *map(TextPlace.of, leads), *(one for one in aside if not _has_any(spoken, one))]
    left = [at for at in left if not _stands_in(words[at], apart)]
    taken = set[int]()
    for column in (one for one in schema.columns if one.says_kinds and not one.says_yes):
        own = [at for at in left if not length_of("weak", plain, at) or _is_apart(at, words)]
        found = [(value, hit) for value in column.values if (hit := _said_of(value, own, plain))]
        called = [one for one in found if any(_is_named(words, at, column) for at in one[1])]
        found = called or found or _begun(column, own, plain)
        if len(found) > 1 and len({len(value) for value, _ in found}) == 1:
            return []
        way = _way(column, [plain[at] for at in own])
        best = max(found, key=lambda one: len(one[0]), default=(way, []) if way else None)
        if best is not None:
            cells[column.place] = column.values[best[0]]
            taken |= {*best[1]}
            left = [at for at in left if at not in best[1]]
    for column in schema.columns:  # what all rows with these values say alike
        if column.place not in cells:
            cells |= _alike(column, schema, rows, cells)
    untold = [one for one in schema.columns if one.place not in cells and one.kind == "text"]
    left = [at for at in left if not (words[at].empty or _is_lead(prose, words[at].word.start))]
    paid = [
        at for at in left if length_of("spending", plain, at) or "paid" in members_of("things", (plain[at],))
    ]
    left = [at for at in left if plain[at].isalpha() and at not in paid and words[at].sure < 2]
    if len(untold) == 1 and left and left == list(range(left[0], left[-1] + 1)) and len(left) <= _LONGEST:
        start, end = words[left[0]].word.start, words[left[-1]].word.start + len(words[left[-1]].word.said)
        cells[untold[0].place], left = prose[start:end], []
    told = {words[at].word.clause for at in {*used, *taken}}  # in others stands how it came
    strange = [at for at in left if not is_known(plain[at]) and words[at].word.clause in told]
    whole = len(cells) == len(schema.columns) and not strange
    return [cells[one.place] for one in schema.columns] if whole else []


def _nearest(day: date, said: str, today: date) -> date:
    """A day that is said without its year, as the one that is nearest."""
    if _YEAR.search(said) or (today - day).days <= _HALF_A_YEAR:
        return day
    return date(day.year + 1, day.month, min(day.day, 28) if day.month == 2 else day.day)


def _corrected(prose: str, words: Sequence[LinkedWord]) -> list[LinkedWord] | None:
    """The words without what is taken back: “498 no wait 512”; None where it is not clear what that is."""
    left = list(words)
    for match in pattern("corrects").finditer(prose):
        before = [one for one in left if one.word.start < match.start() and one.word.number is not None]
        behind = [one for one in left if one.word.start >= match.end()]
        if not (before and behind) or behind[0].word.number is None:
            return None
        left = [
            one for one in left if one is not before[-1] and not match.start() <= one.word.start < match.end()
        ]
    return left


def _in_figures(words: Sequence[LinkedWord]) -> list[LinkedWord]:
    """The words with each large number that is said in words as one of them: “eight hundred”."""
    left: list[LinkedWord] = []
    at = 0
    while at < len(words):
        for many in range(min(_LONGEST, len(words) - at), 0, -1):
            run = words[at : at + many]
            number = (
                read_words(" ".join(one.word.word for one in run)) if run[0].word.word.isalpha() else None
            )
            if number is not None and number > _SMALL and run[0].word.clause == run[-1].word.clause:
                word = replace(run[0].word, number=number, said=f"{number:f}")
                left.append(run[0]._replace(word=word, columns=(), sure=1))
                break
        else:
            many = 1
            left.append(words[at])
        at += many
    return left


def _length(plain: Sequence[str], used: Collection[int]) -> tuple[Decimal, range] | None:
    """How many hours words say, “an hour and a half”, and which words; None where none or several do."""
    found: list[tuple[Decimal, range]] = []
    for many in range(_LONGEST, 0, -1):
        for first in range(len(plain) - many + 1):
            at = range(first, first + many)
            taken = {*used, *(one for _, some in found for one in some)}
            seconds = None if taken.intersection(at) else read_seconds(" ".join(plain[one] for one in at))
            hours = Decimal(seconds or 0) / 3600
            if seconds and hours == round(hours, 2):
                found.append((round(hours, 2).normalize(), at))
    return found[0] if len(found) == 1 else None


def _stands_in(word: LinkedWord, places: Sequence[TextPlace]) -> bool:
    return any(one.start <= word.word.start < one.end for one in places)


def _has_any(starts: Sequence[int], place: TextPlace) -> bool:
    return any(place.start <= one < place.end for one in starts)


def _is_apart(at: int, words: Sequence[LinkedWord]) -> bool:
    """Whether a little word stands alone, or beside a number: “240 out”."""
    clause = [one for one in words if one.word.clause == words[at].word.clause]
    near = [words[one].word for one in (at - 2, at - 1, at + 1, at + 2) if 0 <= one < len(words)]
    beside = any(one.number is not None and one.clause == words[at].word.clause for one in near)
    return len(clause) == 1 or (beside and words[at] in (clause[0], clause[-1]))


def _alike(
    column: SchemaColumn, schema: TableSchema, rows: Sequence[Row], cells: Mapping[int, str]
) -> dict[int, str]:
    """The cell that all rows with the same values have: of numbers and of what came in or went out; of other
    kinds where some value tells them in the whole table, as a shop tells what is bought there."""
    kinds = [one.place for one in schema.columns if one.says_kinds and one.place in cells]
    if column.kind != "number" and len(column.values) != 2:
        kinds = [one for one in kinds if column.says_kinds and _tells(one, column.place, rows)]
    same = {row[column.place] for row in rows if kinds and all(row[one] == cells[one] for one in kinds)}
    return {column.place: same.pop()} if len(same) == 1 else {}


def _tells(one: int, other: int, rows: Sequence[Row]) -> bool:
    """Whether rows with the same value in a column have the same in another, as far as some repeat."""
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row[one], []).append(row[other])
    repeated = [some for some in found.values() if len(some) > 1]
    return len(repeated) > 1 and all(len(set(some)) == 1 for some in repeated)


def _is_named(words: Sequence[LinkedWord], at: int, column: SchemaColumn) -> bool:
    """Whether the word before names the column that a value is to stand in: “category car”."""
    before = words[at - 1] if at else None
    return before is not None and before.sure > 1 and before.columns == (column.place,)


def _begun(
    column: SchemaColumn, left: Sequence[int], plain: Sequence[str]
) -> list[tuple[tuple[str, ...], list[int]]]:
    """The only value with a word that no other has: “Havre”, of Havre & Co."""
    found = [
        (value, [at])
        for at in left
        if not is_known(plain[at])
        for value in column.values
        if plain[at] in value
    ]
    return found if len({value for value, _ in found}) == 1 else []


def _said_of(value: Sequence[str], left: Sequence[int], plain: Sequence[str]) -> list[int]:
    """Where all words of a value are said; nothing where not all are."""
    found = [next((at for at in left if alike(plain[at], word)), -1) for word in value]
    return found if -1 not in found else []


def _way(column: SchemaColumn, plain: Sequence[str]) -> tuple[str, ...] | None:
    """Of a column that says whether it came in or went out, what words for either say."""
    ways: dict[str, tuple[str, ...]] = {
        thing: value
        for value in column.values
        for thing in ("income", "expense")
        if thing in things_of(value)
    }
    about = {
        "income": {at for at in range(len(plain)) if length_of("earned", plain, at)},
        "expense": {at for at in range(len(plain)) if length_of("spending", plain, at)},
    }
    things = frozenset(thing for word in plain for thing in members_of("things", (word,)))
    said = [one for one in about if about[one] or one in things or (one == "expense" and "paid" in things)]
    return ways.get(said[0]) if len(ways) == 2 and len(said) == 1 else None


def _is_lead(prose: str, start: int) -> bool:
    return any(pattern(name).match(prose, start) for name in ("adds", "row", "unit"))


def _places(prose: str, table: NamedTable) -> Iterator[TextPlace]:
    """Where the cells may stand: behind a colon, in quotes, in one word, between the verb and the table."""
    for colon in re.finditer(r":\s+(?=\S)", prose):
        line = prose.find("\n", colon.end())
        yield TextPlace(colon.end(), line if line > 0 else len(prose.rstrip(" .!")))
    yield from (inner for _, inner in quotes_of(prose))
    yield from (TextPlace.of(one) for one in re.finditer(r"[^\s,;]+(?:[,;][^\s,;]+)+", prose))
    verb = pattern("adds").search(prose)
    link = _led_into(prose, table.place.start)
    if verb is not None and link is not None and verb.end() < link.start:
        yield TextPlace(verb.end(), link.start)


def _led_into(prose: str, start: int) -> TextPlace | None:
    """The words that lead to the name of a table that begins here: “in”, “to the end of”."""
    led = re.compile(rf"\s+(?:{pattern('into').pattern})\s*$", re.IGNORECASE).search(prose, 0, start)
    return TextPlace.of(led) if led is not None else None


def _row(said: str, schema: TableSchema, rows: Sequence[Row], delimiter: str, today: date) -> str:
    """A line of the table with these cells; "" where they are not its cells."""
    for parts in _PARTS:
        cells = parts.split(said.strip(_TIDY).rstrip("."))
        if len(cells) != len(schema.columns):
            continue
        there = zip(cells, schema.columns, strict=True)
        made = [
            cell_of(cell.strip(_TIDY), one, [row[one.place] for row in rows], comma=schema.comma, today=today)
            for cell, one in there
        ]
        if all(one is not None for one in made):
            return line_of([one or "" for one in made], delimiter)
    return ""


def line_of(cells: Sequence[str], delimiter: str) -> str:
    """A line of a table with these cells."""
    line = io.StringIO()
    csv.writer(line, delimiter=delimiter, lineterminator="").writerow(cells)
    return line.getvalue()


def cell_of(
    said: str, column: SchemaColumn, there: Sequence[str], *, comma: bool, today: date = _SOME_DAY
) -> str | None:
    """A cell as those of its column are written; None where it is none of these."""
    if not said or column.kind in ("text", "empty"):
        return said
    if column.kind == "number":
        amount = _AMOUNT.fullmatch(said)
        number = amount[1].replace(" ", "").replace(",", ".") if amount else ""
        if not number or read_number(number, comma=False) is None:
            return None
        return number.replace(".", ",") if comma else number
    if read_date(said) is not None:
        return said
    dates = [found.date() for cell in there if (found := read_date(cell.strip())) is not None]
    if today != _SOME_DAY and not any(one.isdigit() for one in said):  # today, yesterday
        return _day(said, today, exact=True)
    return _day(said, max(dates)) if dates and all(len(one.strip()) == 10 for one in there) else None


def _day(said: str, last: date, *, exact: bool = False) -> str | None:
    """A day without a year: the first of that name from about the last one in the table on."""
    words = said.casefold().split()
    found = list(Periods(words, words, last if exact else last.replace(month=12, day=31)).found())
    if len(found) != 1 or (found[0].start, found[0].end) != (0, len(words)) or found[0].first is None:
        return None
    day = found[0].first
    return day.isoformat() if day == found[0].last else None
