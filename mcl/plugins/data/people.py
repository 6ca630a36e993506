"""Of which rows of a table a goal means the mail addresses: “each member in members.csv who has not paid”."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Final

from executor.core.errors import ToolError
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.model.cues import TextPlace
from mcl.plugins.data.rows_said import pattern
from mcl.plugins.data.told import tables_named
from mcl.plugins.data.tools.data.asked import Row
from mcl.plugins.data.tools.data.question import names_times, read_question, spoken_of
from mcl.plugins.data.tools.data.schema import SchemaColumn, TableSchema, schema_in
from mcl.plugins.data.tools.data.table import parsed

_ENDINGS: Final = (".csv", ".tsv", ".tab")
_MOST: Final = 60  # people
_MOST_TABLES: Final = 40
_LEAST: Final = 2  # what must be said of a table that is not named
_SOME_DAY: Final = date(2000, 1, 1)  # no times are read
_ADDRESS: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def read_people(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The addresses in the rows that are meant; “each” where everybody gets one of their own. Nothing where
    no table with addresses is spoken of, or what is said of its rows cannot be read."""
    lead = pattern("whom").search(prose)
    if lead is None:
        return ()
    letter = pattern("letter").search(prose, lead.end())
    said = prose[lead.start() : letter.start() if letter else len(prose)]
    found = _table(said, names, {one.path for one in tables_named(prose, names) if one.there})
    if found is None or names_times(said, found[0]):
        return ()
    schema, column, rows = found
    try:
        asked = read_question(said, schema, _SOME_DAY)
    except ToolError:
        return ()
    if any(one.limit or one.having or {name for name, _ in one.figures} - {"sum", "count"} for one in asked):
        return ()  # not each row says by itself whether it is meant: the oldest
    tests = [test for one in asked for test in one.tests]
    meant = [row[column.place].strip() for row in rows if all(test.holds(row) for test in tests)]
    people = list(dict.fromkeys(one for one in meant if _ADDRESS.fullmatch(one)))
    if not 0 < len(people) <= _MOST:
        return ()
    place = TextPlace(lead.start(), len(prose.rstrip()))
    each = pattern("apart").search(prose)
    return [
        FilledInput("people", place, tuple(people)),
        *([FilledInput("each", TextPlace.of(each))] if each else ()),
    ]


def _table(
    said: str, names: FileNames, named: set[str]
) -> tuple[TableSchema, SchemaColumn, list[Row]] | None:
    """The table with addresses that is named, else the one of which most is said."""
    found = list(_with_addresses(names, named))
    told = [(spoken_of(said, one[0], _SOME_DAY), one) for one in found]
    told = [one for one in told if named or one[0].weight >= _LEAST]
    if not told:
        return None
    told.sort(key=lambda one: (-one[0].sure, one[0].unnamed))
    first = [one for one in told if (one[0].sure, one[0].unnamed) == (told[0][0].sure, told[0][0].unnamed)]
    return first[0][1] if len(first) == 1 else None


def _with_addresses(
    names: FileNames, named: set[str]
) -> Iterator[tuple[TableSchema, SchemaColumn, list[Row]]]:
    tables = [one for one in names.files if one.casefold().endswith(_ENDINGS)]
    for path in sorted(named or tables, key=lambda one: one.count("/"))[:_MOST_TABLES]:
        schema = schema_in(path, names.text(path))
        columns = schema.about({"mail"}) if schema is not None else []
        if schema is not None and len(columns) == 1:
            yield schema, columns[0], list(parsed(names.text(path), path)[1])
