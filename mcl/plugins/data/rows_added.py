"""A row that a goal gives for a table here: “add a row to cash.csv: 2026-11-27, coffee, out, 350”."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Final

from mcl.compiler.stages.clauses import quotes_of
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.model.cues import TextPlace, within
from mcl.plugins.data.rows_said import pattern
from mcl.plugins.data.told import NamedTable, tables_named
from mcl.plugins.data.tools.data.asked import Row
from mcl.plugins.data.tools.data.periods import Periods
from mcl.plugins.data.tools.data.schema import SchemaColumn, TableSchema, schema_in
from mcl.plugins.data.tools.data.table import delimiter_of, parsed, read_date, read_number

_PARTS: Final = (re.compile(r"\s*[;\t]\s*"), re.compile(r",\s+"), re.compile(r"\s*,\s*"))
_AMOUNT: Final = re.compile(r"\s*(-?\d[\d ]*(?:[.,]\d+)?)(?:\s*[^\W\d_]+\.?)?\s*")
_TIDY: Final = " \t\n\"'“”"


def read_row(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The row as the table writes its cells, and the table; nothing where no text has a cell for each
    column."""
    if pattern("adds").search(prose) is None:
        return ()
    tables = [one for one in tables_named(prose, names) if one.there]
    text = names.text(tables[0].path) if len({one.path for one in tables}) == 1 else ""
    schema = schema_in(tables[0].path, text) if text else None
    if schema is None:
        return ()
    rows, delimiter = parsed(text, schema.path)[1], delimiter_of(text, schema.path)
    for table in tables:
        for place in _places(prose, table):
            if row := _row(prose[slice(*place)], schema, rows, delimiter):
                whole = TextPlace(min(place.start, table.place.start), max(place.end, table.place.end))
                read = [one.place for one in clauses if not one.does or within(place, [one.place])]
                return (
                    FilledInput("note", place, (row,)),
                    FilledInput("file", table.place, (table.path,)),
                    *(FilledInput("", one) for one in (whole, *read)),
                )
    return ()


def _places(prose: str, table: NamedTable) -> Iterator[TextPlace]:
    """Where the cells may stand: behind a colon, in quotes, in one word, between the verb and the table."""
    for colon in re.finditer(r":\s+(?=\S)", prose):
        line = prose.find("\n", colon.end())
        yield TextPlace(colon.end(), line if line > 0 else len(prose.rstrip(" .!")))
    yield from (inner for _, inner in quotes_of(prose))
    yield from (TextPlace.of(one) for one in re.finditer(r"[^\s,;]+(?:[,;][^\s,;]+)+", prose))
    verb = pattern("adds").search(prose)
    link = re.compile(rf"\s+(?:{pattern('into').pattern})\s*$", re.IGNORECASE).search(
        prose, 0, table.place.start
    )
    if verb is not None and link is not None and verb.end() < link.start():
        yield TextPlace(verb.end(), link.start())


def _row(said: str, schema: TableSchema, rows: Sequence[Row], delimiter: str) -> str:
    """A line of the table with these cells; "" where they are not its cells."""
    for parts in _PARTS:
        cells = parts.split(said.strip(_TIDY).rstrip("."))
        if len(cells) != len(schema.columns):
            continue
        there = zip(cells, schema.columns, strict=True)
        made = [
            cell_of(cell.strip(_TIDY), one, [row[one.place] for row in rows], comma=schema.comma)
            for cell, one in there
        ]
        if all(one is not None for one in made):
            line = io.StringIO()
            csv.writer(line, delimiter=delimiter, lineterminator="").writerow(made)
            return line.getvalue()
    return ""


def cell_of(said: str, column: SchemaColumn, there: Sequence[str], *, comma: bool) -> str | None:
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
    return _day(said, max(dates)) if dates and all(len(one.strip()) == 10 for one in there) else None


def _day(said: str, last: date) -> str | None:
    """A day without a year: the first of that name from about the last one in the table on."""
    words = said.casefold().split()
    found = list(Periods(words, words, last.replace(month=12, day=31)).found())
    if len(found) != 1 or (found[0].start, found[0].end) != (0, len(words)) or found[0].first is None:
        return None
    day = found[0].first
    return day.isoformat() if day == found[0].last else None
