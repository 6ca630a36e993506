"""Cells of a table here that a goal wants to be others, and rows that it wants gone: “mark Havre as paid in
clients.csv”, “ta bort raden för Kalle”. All else of the table stays as it is written."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple

from mcl.compiler.stages.clauses import quotes_of
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.model.cues import TextPlace, free, within
from mcl.plugins.data.rows_added import ENDINGS, cell_of, line_of
from mcl.plugins.data.rows_said import pattern
from mcl.plugins.data.told import NamedTable, tables_named
from mcl.plugins.data.tools.data.asked import Row
from mcl.plugins.data.tools.data.periods import Period, Periods
from mcl.plugins.data.tools.data.question import linked_words
from mcl.plugins.data.tools.data.question_words import NO_AMOUNTS
from mcl.plugins.data.tools.data.schema import NO, YES, SchemaColumn, TableSchema, schema_in
from mcl.plugins.data.tools.data.table import delimiter_of, parsed, read_date
from mcl.plugins.data.tools.data.words import length_of, words_in

_MOST: Final = 20  # tables that are looked at
_OFFERED: Final = 20
_LONGEST: Final = 5  # words of a value
_SOME_DAY: Final = date(2000, 1, 1)
_SHAPES: Final[Mapping[str, re.Pattern[str]]] = {
    "mail": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "date": re.compile(r"(?<!\w)\d{4}-\d\d-\d\d(?!\w)"),
    "phone": re.compile(r"(?<![\w.])\+?\d{1,4}-\d[\d ]{4,}\d(?!\w)"),
    "number": re.compile(r"(?<![\w.,-])-?(?:\d{1,3}(?: \d{3})+|\d+)(?:[.,]\d+)?(?![\w-])"),
}
_PAIRS: Final = (("ja", "nej"), ("yes", "no"), ("true", "false"), ("j", "n"), ("y", "n"))
_SIGN: Final = re.compile(r"[,;.!?](?=\s|$)")
_TIDY: Final = " \t\n\"'“”,.;:!?"


class _Table(NamedTuple):
    """A table here. lines: where in its text each row stands; places: of the words that name it."""

    schema: TableSchema
    lines: tuple[str, ...]
    at: tuple[int, ...]
    rows: Sequence[Row]
    delimiter: str
    places: tuple[TextPlace, ...]


class _Word(NamedTuple):
    """A word of a goal. columns: the places of those that it names, and how surely; empty: it says
    nothing."""

    place: TextPlace
    said: str
    word: str
    columns: tuple[int, ...]
    sure: int
    empty: bool


class _New(NamedTuple):
    """What a cell may be to hold, and where that is said. shape: of which form it is; "yes": or no, as the
    name of a column says."""

    place: TextPlace
    text: str
    shape: str = ""


class _Hit(NamedTuple):
    """Words that rows have in some of their columns: which rows."""

    place: TextPlace
    columns: frozenset[int]
    rows: frozenset[int]


class _Edit(NamedTuple):
    """Lines of a table as they are to be, by where they stand; and the words that say so."""

    table: _Table
    lines: tuple[tuple[int, str], ...]
    row: TextPlace
    new: TextPlace
    read: tuple[TextPlace, ...]


def read_cell(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The lines of a table as they are and as they are to be, for a skill that replaces words; nothing where
    it is not clear which cell of which row is meant, and what it is to hold."""
    scope = _scope(prose, clauses, "changes")
    if not scope or any(pattern("excepting").search(prose, *one) for one in scope):
        return ()
    edits = [edit for table in _tables(prose, scope, names) for edit in _edits(prose, scope, table)]
    if len({(one.table.schema.path, one.lines) for one in edits}) != 1:
        return ()
    edit, table = edits[0], edits[0].table
    first, last = edit.lines[0][0], edit.lines[-1][0]
    old = "\n".join(table.lines[first : last + 1])
    new = "\n".join(dict(edit.lines).get(at, table.lines[at]) for at in range(first, last + 1))
    if "\n".join(table.lines).count(old) != 1:
        return ()
    told = (one.place for one in clauses if not one.does and not one.keeps)
    return (
        FilledInput("old", edit.row, (old,)),
        FilledInput("new", edit.new, (new,)),
        FilledInput("files", table.places[0] if table.places else edit.row, (table.schema.path,)),
        *(FilledInput("", one) for one in (*edit.read, *told)),
    )


def read_row_gone(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The lines of rows that are taken away, for a skill that takes entries off lists; all of them, to be
    asked, where it is not clear which are meant."""
    scope = _scope(prose, clauses, "removes")
    tables = list(_tables(prose, scope, names)) if any(_named(prose, scope, names)) else []
    if len(tables) != 1:
        return ()
    table = tables[0]
    said = _words(prose, scope, table)
    words = [one for one in said if not _says(prose, one, ("removes", "row", "every"))]
    rows, hits = _rows(said, table) or ([], [])
    meant = {column for hit in hits for column in hit.columns}
    cell = any(one.columns and not one.empty and not meant & set(one.columns) for one in words)
    but = _places("but", prose, scope)
    other = any(one.said[0].isupper() for one in _strange(words, hits))
    if but or cell or other or (len(rows) > 1 and table.delimiter == ";"):
        rows = []
    lines = [table.lines[at].strip() for at in (table.at[one] for one in rows or range(len(table.rows)))]
    verb = _places("removes", prose, scope)[0]
    line = FilledInput("line", verb, tuple(lines[:_OFFERED]), unsure=True)
    return (
        FilledInput("line", _around(hits), ("; ".join(lines),)) if rows else line,
        FilledInput("file", table.places[0], (table.schema.path,)),
        FilledInput("what", verb, ("remove",)),
        *(FilledInput("", one.place) for one in clauses if not one.does and not one.keeps),
        *(FilledInput("", one) for one in _places("row", prose, scope)),
    )


def read_doubled(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The table of which one row is there twice, and a cell of it is said, for a skill that keeps each line
    once; nothing where other rows would go too."""
    said = [one.place for one in clauses if not one.keeps]
    twice = _places("doubled", prose, said)
    asks = [place for name in ("removes", "changes") for place in _places(name, prose, said)]
    spoken, found = words_in(prose), list[tuple[_Table, TextPlace]]()
    for table in _tables(prose, said, names) if twice and asks else ():
        lines = [table.lines[at] for at in table.at]
        double = {tuple(table.rows[row]) for row, line in enumerate(lines) if lines.count(line) > 1}
        cells = [words_in(one) for one in next(iter(double))] if len(double) == 1 else []
        if any(cell and len("".join(cell)) > 1 and _has(spoken, cell) for cell in cells):
            found.append((table, (*table.places, twice[0])[0]))
    if len(found) != 1:
        return ()
    table, place = found[0]
    read = (FilledInput("", one) for one in (*said, *twice))
    return (FilledInput("file", place, (table.schema.path,)), FilledInput("result", place), *read)


def _scope(prose: str, clauses: Sequence[SaidClause], verbs: str) -> list[TextPlace]:
    """The clauses up to the second wish, where the first says that something is changed."""
    begins = pattern(verbs)
    does = [at for at, one in enumerate(clauses) if one.does or begins.match(prose, one.place.start)]
    does = [at for at in does if not clauses[at].keeps]
    mends = pattern("mends") if verbs == "changes" else begins
    does = does or [at for at, one in enumerate(clauses) if mends.search(prose, *one.place)][:1]
    if not does or begins.search(prose, *clauses[does[0]].place) is None:
        return []
    last = does[1] if len(does) > 1 else len(clauses)
    return [one.place for one in clauses[:last] if not one.keeps]


def _places(name: str, prose: str, scope: Sequence[TextPlace]) -> list[TextPlace]:
    return [TextPlace.of(match) for one in scope for match in pattern(name).finditer(prose, *one)]


def _named(prose: str, scope: Sequence[TextPlace], names: FileNames) -> list[NamedTable]:
    return [one for one in tables_named(prose, names) if within(one.place, scope)]


def _tables(prose: str, scope: Sequence[TextPlace], names: FileNames) -> Iterator[_Table]:
    """The table that is named, else all that may be meant."""
    named = _named(prose, scope, names)
    paths = list(dict.fromkeys(one.path for one in named))
    if len(paths) > 1 or not all(one.there for one in named):
        return
    if not named:
        tables = (one for one in names.files if one.casefold().endswith(ENDINGS))
        paths = sorted(tables, key=lambda one: one.count("/"))[:_MOST]
    for path in paths:
        text = names.text(path).replace("\r\n", "\n")
        if (schema := schema_in(path, text)) is None:
            continue
        lines, rows = text.split("\n"), parsed(text, path)[1]
        at = [place for place, line in enumerate(lines) if line.strip()][1:]
        if len(at) == len(rows):
            places = tuple(one.place for one in named)
            yield _Table(schema, tuple(lines), tuple(at), rows, delimiter_of(text, path), places)


def _words(prose: str, scope: Sequence[TextPlace], table: _Table) -> list[_Word]:
    words = [
        _Word(
            TextPlace(one.start, one.start + len(one.said)),
            one.said,
            one.word,
            link.columns,
            link.sure,
            link.empty,
        )
        for link in linked_words(prose, table.schema)
        for one in (link.word,)
    ]
    names = [one for one in table.places if "." in prose[slice(*one)]]
    named = [one for one in table.places if one not in names]  # “hours” may be its column as well
    words = [one for one in words if within(one.place, scope) and free(one.place, names)]
    return [one for one in words if one.sure > 1 or free(one.place, named)]


def _edits(prose: str, scope: Sequence[TextPlace], table: _Table) -> Iterator[_Edit]:
    """The changes that the words may mean, by the surest way in which they say what a cell is to hold."""
    words = _words(prose, scope, table)
    said = ("changes", "becomes", "row")
    words = [one._replace(empty=one.empty or _says(prose, one, said)) for one in words]
    times = [_span(words[one.start : one.end]) for one in _times(words, _SOME_DAY)]
    for ways in _news(prose, scope, [*table.places, *times], table):
        found = [one for new in ways if (one := _edit(words, scope, new, table)) is not None]
        if found:
            yield from found
            return


def _news(
    prose: str, scope: Sequence[TextPlace], apart: Sequence[TextPlace], table: _Table
) -> Iterator[list[_New]]:
    """What a cell may be to hold: in quotes; behind a word for it, as little as can be; what has a form of
    its own; as yes or no. apart: of other words."""
    yield [_New(one, prose[slice(*one)]) for _, one in quotes_of(prose) if within(one, scope)]
    for place in scope:
        for match in list(pattern("becomes").finditer(prose, *place))[::-1]:
            end = min((one.start for one in table.places if one.start > match.end()), default=place.end)
            end = min((one.start() for one in _SIGN.finditer(prose, match.end(), end)), default=end)
            ends = [one.start() for one in pattern("stops").finditer(prose, match.end(), end)]
            for stop in (*ends, end):
                article = pattern("article").match(prose, match.end(), stop)
                begin = article.end() if article else match.end()
                text = prose[begin:stop].strip(_TIDY)
                start = prose.find(text, begin)
                if text and len(text.split()) <= _LONGEST:
                    shape = next((name for name, form in _SHAPES.items() if form.fullmatch(text)), "")
                    yield [_New(TextPlace(start, start + len(text)), text, shape)]
    yield [
        _New(TextPlace.of(match), match[0], "answer")
        for place in scope
        for match in pattern("answer").finditer(prose, *place)
    ]
    shaped: list[_New] = []
    for shape, form in _SHAPES.items():
        for match in form.finditer(prose):
            place = TextPlace.of(match)
            if within(place, scope) and free(place, [*apart, *(one.place for one in shaped)]):
                shaped.append(_New(place, match[0], shape))
    yield shaped
    yield [_New(scope[-1], "", "yes")]


def _says(prose: str, word: _Word, names: Sequence[str]) -> bool:
    return any(pattern(one).match(prose, word.place.start) for one in names)


def _strange(words: Sequence[_Word], hits: Sequence[_Hit]) -> list[_Word]:
    """Words that no row has, and that say something."""
    left = [one for one in words if not (one.empty or one.columns or one.word[0].isdigit())]
    return [one for one in left if free(one.place, [hit.place for hit in hits])]


def _says_day(word: _Word) -> bool:
    return pattern("weekday").fullmatch(word.word) is not None


def _is_told(word: _Word, scope: Sequence[TextPlace], new: _New) -> bool:
    """Whether a word only tells how it came, before the clause with the new value: “she gave me her money
    last night, so put her down as yes”. A name there, but for a first word, may be somebody else's."""
    clause = next((one for one in scope if within(word.place, [one])), None)
    if clause is None or not free(new.place, [clause]) or clause.start > new.place.start:
        return False
    return word.said[0].islower() or word.place.start == clause.start


def _edit(words: Sequence[_Word], scope: Sequence[TextPlace], new: _New, table: _Table) -> _Edit | None:
    """The change to a new value, where the other words say of which row, and in which column."""
    said = [one for one in words if not free(one.place, [new.place])]
    if not new.shape and any(table.schema.columns[at].says_yes for one in said for at in one.columns):
        return None  # “as paid” says yes of a column
    known = new.shape == "yes"
    left = [one for one in words if known or free(one.place, [new.place])]
    naming = [one for one in left if len(one.columns) == 1 and (one.sure > 1 or not one.empty)]
    surest = max((one.sure for one in naming), default=0)
    named = [one for one in naming if one.sure == surest]
    columns = {one.columns[0] for one in named}
    found = _rows([one for one in left if one not in named], table)
    if found is None or len(columns) > 1:
        return None
    rows, hits = found
    no = [one for one in words if pattern("negated").fullmatch(one.said)]
    no = [one for one in no if known and free(one.place, [hit.place for hit in hits])]
    strange = _strange([one for one in left if one not in (*named, *no)], hits)
    strange = [one for one in strange if not (_is_told(one, scope, new) or _says_day(one))]
    if any(one.said[0].isupper() or not columns for one in strange):
        return None  # of another row, or of another column
    column = table.schema.columns[columns.pop()] if columns else _column(new, hits, table)
    if column is None or (new.shape == "answer" and not column.says_yes):
        return None
    value = _value(new, column, table, yes=not no)
    if value is None or (known and not column.says_yes):
        return None
    lines = tuple((table.at[one], _line(table, table.at[one], column.place, value)) for one in rows)
    if not all(line and line != table.lines[at] for at, line in lines):
        return None
    read = tuple(one.place for one in named)
    where = read[0] if known else new.place
    whole = [one for one in scope if not free(one, [where])]
    whole = [one for one in whole if all(free(word.place, [one]) for word in strange)]
    return _Edit(table, lines, _around(hits), where, (*read, *whole))


def _column(new: _New, hits: Sequence[_Hit], table: _Table) -> SchemaColumn | None:
    """The column that is meant where none is named: the one that has such a value, of a table that is."""
    if new.shape == "answer":
        answers = [one for one in table.schema.columns if one.says_yes]
        return answers[0] if len(answers) == 1 else None
    if not table.places or new.shape == "yes":
        return None
    columns, words = table.schema.columns, words_in(new.text)
    kinds = [one for one in columns if one.says_kinds and words in one.values]
    if kinds or not new.shape:
        return kinds[0] if len(kinds) == 1 and not new.shape else None
    if new.shape in ("mail", "phone"):
        fitting = table.schema.about({new.shape})
    else:
        fitting = [one for one in columns if one.kind == new.shape and one.name.casefold() not in NO_AMOUNTS]
        old = [one for one in fitting if any(hit.columns == {one.place} for hit in hits)]
        fitting = old or fitting
    return fitting[0] if len(fitting) == 1 else None


def _value(new: _New, column: SchemaColumn, table: _Table, *, yes: bool) -> str | None:
    """The new value as the column writes it; None where it is none of it."""
    there = {value.casefold(): value for value in column.values.values()}
    if new.shape in ("yes", "answer"):
        meant = YES if (new.text.casefold() in YES if new.text else yes) else NO
        other = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
        found = [there[one] for one in there if one in meant] or [other[one] for one in there if one in other]
        return found[0] if found else None
    if new.text.casefold() in there:
        return there[new.text.casefold()]
    if column.says_yes and new.text.casefold() not in YES | NO:
        return None
    cells = [row[column.place] for row in table.rows]
    return cell_of(new.text, column, cells, comma=table.schema.comma)


def _rows(words: Sequence[_Word], table: _Table) -> tuple[list[int], list[_Hit]] | None:
    """The rows that words mean, and which words; None where that is not clear: each of the first is one, or
    all are wanted."""
    hits = list(_hits(words, table))
    groups: list[list[_Hit]] = []
    for one in hits:
        beside = [some for some in groups if any(one.columns & each.columns for each in some)]
        groups += [] if beside else [[]]
        (beside or groups[-1:])[0].append(one)
    rows = set(range(len(table.rows)))
    for some in groups:
        common = frozenset.intersection(*(one.rows for one in some))
        rows &= common or frozenset[int]().union(*(one.rows for one in some))
    every = any(pattern("every").fullmatch(one.said) for one in words)
    most = max((len(some) for some in groups), default=0)
    return (sorted(rows), hits) if hits and 0 < len(rows) <= (len(table.rows) if every else most) else None


def _hits(words: Sequence[_Word], table: _Table) -> Iterator[_Hit]:
    """The longest runs of words that cells have, and the days and months that are named."""
    columns = [one for one in table.schema.columns if one.kind != "empty" and not one.says_yes]
    cells = [
        [(one.place, words_in(row[one.place])) for one in columns if "@" not in row[one.place]]
        for row in table.rows
    ]
    dated = [one.place for one in columns if one.kind == "date"]
    days = {
        (row, one): read_date(cells_of[one].strip())
        for row, cells_of in enumerate(table.rows)
        for one in dated
    }
    last = max((one.date() for one in days.values() if one), default=_SOME_DAY)
    times, at = _times(words, last.replace(month=12, day=31)), 0
    while at < len(words):
        time = next((one for one in times if one.start == at and dated), None)
        if time is not None:
            rows = frozenset(row for (row, _), day in days.items() if day and time.holds(day.date()))
            said = [one.word for one in words]
            if rows or not any(length_of(f"periods.{day}", said, at) for day in ("today", "yesterday")):
                yield _Hit(_span(words[at : time.end]), frozenset(dated), rows)
            at = time.end
            continue
        for many in range(min(_LONGEST, len(words) - at), 0, -1):
            hit = _hit(words[at : at + many], cells)
            if hit is not None:
                yield hit
                at += many
                break
        else:
            at += 1


def _times(words: Sequence[_Word], today: date) -> list[Period]:
    return list(Periods([one.word for one in words], [one.said for one in words], today).found())


def _hit(words: Sequence[_Word], cells: Sequence[Sequence[tuple[int, tuple[str, ...]]]]) -> _Hit | None:
    """The rows that have these words in a cell, or as a part of one."""
    first = words[0]
    if len(words) == 1 and (
        first.empty or first.sure > 1 or (len(first.word) < 2 and not first.word.isdigit())
    ):
        return None
    forms = {tuple(one.word for one in words)}
    forms |= {(*one[:-1], one[-1].removesuffix("s")) for one in forms if len(one[-1]) > 3}
    for whole in (True, False):
        found = [
            (row, column)
            for row, cells_of in enumerate(cells)
            for column, cell in cells_of
            if any(cell == one if whole else _has(cell, one) for one in forms)
        ]
        if found:
            columns = frozenset(column for _, column in found)
            return _Hit(_span(words), columns, frozenset(row for row, _ in found))
    return None


def _has(cell: Sequence[str], words: Sequence[str]) -> bool:
    many = len(words)
    return any(tuple(cell[at : at + many]) == tuple(words) for at in range(len(cell) - many + 1))


def _line(table: _Table, at: int, column: int, value: str) -> str:
    """A line with another cell, all else as it is written; "" where that cannot be."""
    line, mark = table.lines[at], table.delimiter
    cells = next(csv.reader([line], delimiter=mark))
    if len(cells) != len(table.schema.columns):
        return ""
    if '"' not in line and not any(one in value for one in (mark, '"', "\n")):
        now = cells[column]
        put = now.replace(now.strip(), value) if now.strip() else value
        return mark.join((*cells[:column], put, *cells[column + 1 :]))
    made = [line_of(some, mark) for some in (cells, [*cells[:column], value, *cells[column + 1 :]])]
    return made[1] if made[0] == line else ""


def _span(words: Sequence[_Word]) -> TextPlace:
    return TextPlace(words[0].place.start, words[-1].place.end)


def _around(hits: Sequence[_Hit]) -> TextPlace:
    return TextPlace(min(one.place.start for one in hits), max(one.place.end for one in hits))
