"""For which rows of a table a goal wants something of their own: “one folder per client in clients.csv”."""

from __future__ import annotations

import csv
import functools
import io
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Final

from executor.core.errors import ToolError
from executor.core.tables import table_beside
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.compiler.stages.word_forms import alike, folded, stems
from mcl.model.cues import TextPlace, blanked
from mcl.plugins.data.tools.data.question import read_question
from mcl.plugins.data.tools.data.schema import schema_in
from mcl.plugins.data.tools.data.table import delimiter_of

_ENDINGS: Final = (".csv", ".tsv")
_MOST: Final = 60  # rows
_LEAST: Final = 4  # letters of a value by which rows are chosen, or of a word that another begins with
_PATH: Final = re.compile(r"[\w&()+-][\w.&()+/-]*")
_ANSWERS: Final = frozenset(("ja", "nej", "yes", "no", "true", "false", "x", ""))
_NO: Final = frozenset(("nej", "no", "false", ""))
Row = Mapping[str, str]


@functools.cache
def pattern(name: str) -> re.Pattern[str]:
    """Words of goals for rows."""
    words = table_beside(__file__)
    return re.compile(rf"(?<!\w)(?:{words[name]})", re.IGNORECASE)


def read_folders(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The folders that are made, one for each row that is meant; nothing where no table is spoken of."""
    each = next((one for one in pattern("each").finditer(prose) if _word(prose, one.end())), None)
    if each is None or pattern("folder").search(prose) is None:
        return ()
    noun = _word(prose, each.end())
    table = _table_of(prose, noun, names)
    rows = _rows(names.text(table), table) if table else []
    column = _column(prose, noun, rows)
    if not column:
        return ()
    place, parent = _parent(prose, table, names)
    parts = _left_out(prose, clauses, each.end())
    out = [one for one in parts if any(_said(row[column], prose[slice(*one)]) for row in rows)]
    apart = [*out, *([place] if place else [])]
    if _is_same(noun, table.rpartition("/")[2].rpartition(".")[0]):
        apart.append(TextPlace(each.end(), each.end() + len(noun)))
    kept = [row for row in rows if _is_meant(row, column, rows, blanked(prose, apart))]
    letter = pattern("letter").search(prose, each.end())
    told = _told(prose[each.start() : letter.start() if letter else len(prose)], names.text(table), table)
    if told is not None:
        kept = [row for row in rows if told(list(row.values()))]
    kept = [row for row in kept if not any(_said(row[column], prose[slice(*one)]) for one in out)]
    values = list(dict.fromkeys(row[column].strip() for row in kept if row[column].strip()))
    if not 0 < len(values) <= _MOST or any("/" in one or one.startswith(".") for one in values):
        return ()
    said = next((TextPlace.of(match) for match in re.finditer(re.escape(table), prose)), None)
    where = TextPlace(each.start(), max(said.end if said else 0, each.end() + len(noun)))
    where = TextPlace(where.start, min([where.end, *(one.start for one in out if one.start > where.start)]))
    made = FilledInput("folders", where, tuple(f"{parent}{one}" for one in values))
    wish = [one.place for one in clauses if pattern("folder").search(prose, *one.place) and not one.keeps]
    return (made, *(FilledInput("", one) for one in (*out, *wish, *([place] if place else []))))


def _told(said: str, text: str, path: str) -> Callable[[Sequence[str]], bool] | None:
    """Whether a row is one of those that words say, where these can be read of a column without a value:
    “där betyget är tomt”."""
    schema = schema_in(path, text)
    try:
        asked = read_question(said, schema, date(2000, 1, 1)) if schema is not None else []
    except ToolError:
        return None
    tests = [test for one in asked for test in one.tests if "empty" in test.told]
    return (lambda row: all(test.holds(row) for test in tests)) if tests else None


def _is_same(word: str, other: str) -> bool:
    """Whether two words are one, or other words for the same."""
    said, there = folded(word), folded(other)
    meant = stems(said)
    begins = any(there.startswith(one) for one in meant if len(one) >= _LEAST)
    return begins or alike(said, there) or not meant.isdisjoint(stems(there))


def _word(prose: str, start: int) -> str:
    match = re.compile(r"[^\W\d_]+").match(prose, start)
    return match[0] if match else ""


def _table_of(prose: str, noun: str, names: FileNames) -> str:
    """The table that is named, else the only one that is called as its rows are."""
    tables = [one for one in names.files if one.casefold().endswith(_ENDINGS)]
    base = {one: one.rpartition("/")[2] for one in tables}
    named = [one for one in tables if one in prose] or [one for one in tables if base[one] in prose]
    called = [one for one in tables if _is_same(noun, base[one].rpartition(".")[0])]
    top = min((one.count("/") for one in called), default=0)
    called = [one for one in called if one.count("/") == top]
    return max(named, key=len) if named else called[0] if len(called) == 1 else ""


def _rows(text: str, path: str) -> list[Row]:
    return [
        {str(name).strip(): value or "" for name, value in row.items() if isinstance(value, str | None)}
        for row in csv.DictReader(io.StringIO(text), delimiter=delimiter_of(text, path))
    ]


def _column(prose: str, noun: str, rows: Sequence[Row]) -> str:
    """The column that says what they are called: the one that is named, else by what it is called."""
    columns = list(rows[0]) if rows else []
    after = pattern("after").search(prose)
    told = _word(prose, after.end()) if after else ""
    wanted = [one for word in (told, noun) if word for one in columns if _is_same(word, one)]
    usual = [one for one in columns if pattern("named").fullmatch(one)]
    return next(iter((*wanted, *usual)), "")


def _parent(prose: str, table: str, names: FileNames) -> tuple[TextPlace | None, str]:
    """Where they are made, with a stroke behind it; "" for the top."""
    folders, base = {one.path for one in names.entries if one.folder}, table.rpartition("/")[2]
    for match in pattern("inside").finditer(prose):
        path = _PATH.match(prose, match.end())
        text = path[0].rstrip("/.,") if path else ""
        if path is None or not text or text in (table, base) or text.casefold().endswith(_ENDINGS):
            continue
        sure = pattern("below").match(match[0]) is not None
        if sure or match["fresh"] or "/" in path[0] or text in folders:
            return TextPlace(match.start(), match.end() + len(text)), f"{text}/"
    return None, ""


def _left_out(prose: str, clauses: Sequence[SaidClause], start: int) -> list[TextPlace]:
    """Where rows stand that are left out: behind a word for it, up to the end of what is said of them."""
    found = [TextPlace(*one.place) for one in clauses if one.keeps]
    for match in pattern("but").finditer(prose, start):
        ends = re.compile(r"[,;.!?](?=\s|$)|\)").search(prose, match.end())
        found.append(TextPlace(match.start(), ends.start() if ends else len(prose)))
    return found


def _is_meant(row: Row, column: str, rows: Sequence[Row], prose: str) -> bool:
    """Whether a row has all that is said of those that are meant."""
    for name in row:
        values = {one.get(name, "").strip().casefold() for one in rows}
        if values <= _ANSWERS:
            said = _answer(prose, name)
            if said is not None and said is (row[name].strip().casefold() in _NO):
                return False
        elif name != column:
            wanted = {one for one in values if len(one) >= _LEAST and _said(one, prose)}
            if wanted and row[name].strip().casefold() not in wanted:
                return False
    return True


def _answer(prose: str, column: str) -> bool | None:
    """Whether those are meant for which a column says yes; None where nothing is said of it."""
    for match in re.finditer(r"[^\W\d_]+", prose):
        word = match[0].casefold()
        bare = re.sub(r"^(?:un|o)(?=\w{4})", "", word)
        if _is_same(bare, column) or _is_same(word, column):
            near = prose[max(0, match.start() - 24) : match.end() + 12]
            return bare == word and re.search(pattern("negated").pattern + r"(?!\w)|n't", near) is None
    return None


def _said(value: str, text: str) -> bool:
    words = " ".join(value.casefold().split())
    return bool(words) and re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text.casefold()) is not None
