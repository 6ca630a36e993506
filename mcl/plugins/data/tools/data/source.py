"""Rows to ask about, from a table or a JSON file, read one after the other; and what their columns hold."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final, Literal, NoReturn, TypeAlias

from executor.core.errors import ToolError
from executor.tools.tool import Bench
from mcl.plugins.data.tools.data.entries import entries_of, is_folder
from mcl.plugins.data.tools.data.logs import ENDING, NAMES, log_rows, logs_in
from mcl.plugins.data.tools.data.table import MISSING, open_table, read_date, read_number

Kind: TypeAlias = Literal["number", "date", "text", "empty"]

JSON: Final = (".json", ".jsonl", ".ndjson")
_SAMPLE: Final = 500  # rows that tell what a column holds
_MOST_JSON: Final = 64 << 20  # bytes
_MOSTLY: Final = 0.8
_COLUMNS: Final = 1000


@dataclass(frozen=True)
class SourceRows:
    """Named columns and rows of cells, which can be gone through once. comma: whether one is the decimal
    point."""

    path: str
    names: tuple[str, ...]
    comma: bool
    rows: Iterator[list[str]]


@contextmanager
def open_rows(
    path: str, bench: Bench, check: Callable[[], None], also: Sequence[str] = ()
) -> Iterator[SourceRows]:
    """The rows of a CSV, TSV, JSON or JSON-lines file, of a log or a folder of logs, or of a folder of
    entries; each row as many cells as there are columns. also: tables whose rows follow, by the names of
    their columns.

    Raises:
        ToolError: BAD_TABLE, EMPTY_TABLE, NOT_TEXT, BAD_JSON, TOO_LARGE; UNKNOWN_COLUMN where one of those
            has no column of the first. ScopeError as ``Workspace.read``.
    """
    also = [one for one in also if one != path]  # no row counts twice
    if also:
        with ExitStack() as opened:
            tables = [opened.enter_context(open_rows(one, bench, check)) for one in (path, *also)]
            yield _stacked(tables)
        return
    if path.lower().endswith(JSON):
        names, cells = _of_records(records(read_json(path, bench), path))
        yield SourceRows(path, names, False, iter(cells))
        return
    folder = is_folder(path, bench)
    if logs := logs_in(path, bench) if folder else [path] if path.casefold().endswith(ENDING) else []:
        yield SourceRows(path, NAMES, False, iter(log_rows(logs, bench)))
        return
    if folder:
        names, rows = entries_of(path, bench, check)
        yield SourceRows(path, names, False, iter(rows))
        return
    with open_table(path, bench, check) as table:
        width = len(table.names)
        whole = (row[:width] + [""] * (width - len(row)) for row in table.rows())
        yield SourceRows(path, table.names, table.form.delimiter == ";", whole)


def _stacked(tables: Sequence[SourceRows]) -> SourceRows:
    """The rows of tables one after the other; what one has no column for is empty there."""
    first, known = tables[0], {_plain(name): name for one in tables[::-1] for name in one.names[::-1]}
    names = tuple(dict.fromkeys(known[_plain(name)] for one in tables for name in one.names))
    for one in tables[1:]:
        if one.comma != first.comma or not {*map(_plain, one.names)} & {*map(_plain, first.names)}:
            message, fix = f"{one.path!r} has no column of {first.path!r}", "name tables of the same kind"
            raise ToolError("UNKNOWN_COLUMN", message, place=one.path, fix=fix)

    def rows() -> Iterator[list[str]]:
        for one in tables:
            there = [known[_plain(name)] for name in one.names]
            for row in one.rows:
                cells = dict(zip(there, row, strict=False))
                yield [cells.get(name, "") for name in names]

    return SourceRows(first.path, names, first.comma, rows())


def json_rows(text: str, path: str) -> tuple[tuple[str, ...], list[list[str]]]:
    """The names of the columns and the rows of a text that is JSON. Raises ToolError BAD_JSON, NO_ROWS."""
    return _of_records(records(_json_of(text, path), path))


def _of_records(found: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, ...], list[list[str]]]:
    names = tuple(dict.fromkeys(name for one in found for name in one))[:_COLUMNS]
    return names, [[_cell(one.get(name)) for name in names] for one in found]


def read_json(path: str, bench: Bench) -> Any:
    """What a JSON file holds; of JSON lines a list. Raises ToolError BAD_JSON, TOO_LARGE."""
    data, size = bench.workspace.read(path, _MOST_JSON)
    if size > _MOST_JSON:
        message = f"{path!r} has more than {_MOST_JSON:,} bytes"
        raise ToolError("TOO_LARGE", message, place=path, fix="take a smaller file")
    return _json_of(data, path)


def _json_of(data: bytes | str, path: str) -> Any:
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        if path.lower().endswith(JSON[1:]):
            return [_loaded(line) for line in text.splitlines() if line.strip()]
        return _loaded(text)
    except (ValueError, RecursionError) as problem:
        why = " ".join(str(problem).split())[:120]
        message = f"{path!r} is no JSON that can be read: {why}"
        raise ToolError("BAD_JSON", message, place=path, fix="repair the file") from problem


def _loaded(text: str) -> Any:
    def constant(name: str) -> NoReturn:
        raise ValueError(f"{name} is no JSON")

    return json.loads(text, parse_constant=constant)


def records(value: Any, path: str) -> list[dict[str, Any]]:
    """The objects of a JSON value: a list of them, or the only list of them in an object.

    Raises:
        ToolError: NO_ROWS.
    """
    if isinstance(value, dict):
        lists = [one for one in value.values() if isinstance(one, list) and one and isinstance(one[0], dict)]
        value = lists[0] if len(lists) == 1 else [value]
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        message, fix = f"{path!r} holds no list of objects", "name a file with rows; json/query takes others"
        raise ToolError("NO_ROWS", message, place=path, fix=fix)
    return value


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False)


def kinds_of(
    path: str, bench: Bench, check: Callable[[], None], also: Sequence[str] = ()
) -> tuple[tuple[str, ...], tuple[Kind, ...]]:
    """The names of the columns, and what the first rows say that each holds. Raises as ``open_rows``."""
    with open_rows(path, bench, check, also) as found:
        sample = list(islice(found.rows, _SAMPLE))
        columns = ([row[place] for row in sample] for place in range(len(found.names)))
        return found.names, tuple(kind_of(cells, comma=found.comma) for cells in columns)


def kind_of(cells: Sequence[str], *, comma: bool) -> Kind:
    """What cells of a column hold."""
    there = [cell.strip() for cell in cells if cell.strip() and cell.strip().lower() not in MISSING]
    if not there:
        return "empty"
    if sum(read_number(cell, comma=comma) is not None for cell in there) >= _MOSTLY * len(there):
        return "number"
    if sum(read_date(cell) is not None for cell in there) >= _MOSTLY * len(there):
        return "date"
    return "text"


_LEADS: Final = re.compile(r"^(?:the|column|columns|field|each|every|kolumnen|varje|per)\s+", re.IGNORECASE)


def column_of(name: str, names: Sequence[str], path: str) -> int:
    """The place of a column: by its name in any case, by the beginning of it or of one of its words.

    Raises:
        ToolError: UNKNOWN_COLUMN, with the names there are.
    """
    found = likely_column(name, names)
    if found is not None:
        return found
    near = get_close_matches(name, names, n=2) or list(names[:20])
    message = f"{path!r} has no column {name[:80]!r}"
    raise ToolError("UNKNOWN_COLUMN", message, place=path, fix=f"there is: {', '.join(near)}")


def likely_column(name: str, names: Sequence[str]) -> int | None:
    """The same, None where no column or more than one is called so."""
    plain = _plain(name)
    while (shorter := _LEADS.sub("", plain)) != plain:
        plain = shorter
    if not plain:
        return None
    known = [_plain(one) for one in names]
    ways: tuple[Callable[[str], bool], ...] = (
        lambda one: one == plain,
        lambda one: one.rstrip("s") == plain.rstrip("s"),
        lambda one: plain in one.split() or one in plain.split(),
        lambda one: len(plain) > 2 and one.startswith(plain[:-1]),
        lambda one: len(one) > 3 and plain.startswith(one),
    )
    for fits in ways:
        places = [place for place, one in enumerate(known) if fits(one)]
        if len(places) == 1:
            return places[0]
        if places:
            return None
    return None


def _plain(name: str) -> str:
    return " ".join(re.sub(r"[_\-./]+", " ", name).casefold().split()).strip("\"'“”")
