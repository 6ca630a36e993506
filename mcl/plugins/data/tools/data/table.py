"""A table in a text file (CSV, TSV), read row by row however large it is."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from executor.core.errors import ToolError
from executor.tools.tool import Bench

# ---- What a cell of a table says: a number, a date, yes or no. Nothing is guessed: 007 is no number.

# Up to 30 digits before and after the point, so that sums stay exact in bounded room.
_DOT: Final = re.compile(
    r"[+-]?(?:(?:0|[1-9]\d{0,29}|[1-9]\d{0,2}(?:,\d{3}){1,9})(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,2})?",
    re.ASCII,
)
# Where cells are separated by semicolons, a comma is the decimal point.
_COMMA: Final = re.compile(
    r"[+-]?(?:(?:0|[1-9]\d{0,29}|[1-9]\d{0,2}(?:\.\d{3}){1,9})(?:,\d{0,30})?|,\d{1,30})(?:[eE][+-]?\d{1,2})?",
    re.ASCII,
)
_INTEGER: Final = re.compile(r"[+-]?\d+", re.ASCII)
_DATE: Final = re.compile(
    r"(?:(\d{4})([-/])(\d\d)\2(\d\d)|(\d\d?)\.(\d\d?)\.(\d{4}))"
    r"(?:[T ](\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)\s?(Z|[+-]\d\d:?\d\d)?)?",
    re.ASCII,
)
BOOLEANS: Final = {"true": True, "yes": True, "false": False, "no": False}
MISSING: Final = frozenset({"na", "n/a", "nan", "null", "none", "-", "?"})  # none of which is a number


def is_number(text: str, *, comma: bool) -> bool:
    """Is it a number, with a decimal comma (``comma``) or a decimal point?"""
    return (_COMMA if comma else _DOT).fullmatch(text) is not None


def read_number(text: str, *, comma: bool) -> tuple[Decimal, bool] | None:
    """The exact number and whether it is written as an integer; None for what is no number."""
    if (_COMMA if comma else _DOT).fullmatch(text) is None:
        return None
    plain = text.replace(".", "").replace(",", ".") if comma else text.replace(",", "")
    return Decimal(plain), _INTEGER.fullmatch(plain) is not None


def read_date(text: str) -> datetime | None:
    """The moment of a date (2026-11-21, 2026/11/21, 21.11.2026, with a time or without); None for others.

    Without an offset from UTC the time counts as UTC, for comparing only.
    """
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    year, _, month, day, day_first, month_second, year_last, clock, offset = found.groups()
    date = f"{year or year_last}-{int(month or month_second):02}-{int(day or day_first):02}"
    try:
        moment = datetime.fromisoformat(f"{date}T{(clock or '00:00').replace(',', '.')}{offset or ''}")
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


_SAMPLE = 1 << 18  # bytes looked at to tell how a table is written
_SAMPLE_ROWS = 200
_MOST_PARSED = 20_000
_LINE = 1 << 20  # characters of a line
_COLUMNS = 10_000
_CHECK_ROWS = 5000  # rows between two looks at whether anybody still waits
_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)


@dataclass(frozen=True, slots=True)
class TableForm:
    """How a table is written: ``codec`` for Python, ``encoding`` and ``separator`` for people."""

    codec: str
    encoding: str
    delimiter: str
    named: bool  # is there a line that says what the separator is?
    header: bool

    @property
    def separator(self) -> str:
        return _DELIMITERS.get(self.delimiter, repr(self.delimiter))


class Table:
    """An open table; ``names`` of its columns, and ``rows`` once."""

    def __init__(self, path: str, descriptor: int, form: TableForm, check: Callable[[], None]) -> None:
        self.path = path
        self.form = form
        self._check = check
        os.lseek(descriptor, 0, os.SEEK_SET)
        file = io.open(descriptor, "rb", buffering=1 << 18, closefd=False)  # noqa: SIM115, UP020
        self._lines = io.TextIOWrapper(file, form.codec, newline="")
        self._rows = self._read()
        if form.named:
            self._lines.readline(_LINE)
        self._first = next(self._rows, [])
        if len(self._first) > _COLUMNS:
            raise _bad(path, f"it has more than {_COLUMNS:,} columns")
        self.names = _names(self._first, header=form.header)

    def rows(self) -> Iterator[list[str]]:
        """Each row as it stands, however many cells it has.

        Raises:
            ToolError: BAD_TABLE, with the line.
        """
        if self._first and not self.form.header:
            yield self._first
        yield from self._rows

    def _read(self) -> Iterator[list[str]]:
        reader = csv.reader(self._bounded(), delimiter=self.form.delimiter)
        count = 0
        try:
            for row in reader:
                count += 1
                if count % _CHECK_ROWS == 0:
                    self._check()
                if row:
                    yield row
        except csv.Error as problem:
            raise _bad(
                self.path, f"line {reader.line_num:,}: {problem}; is a quote missing before it?"
            ) from problem
        except UnicodeDecodeError as problem:
            raise _bad(
                self.path, f"after line {reader.line_num:,} it is no {self.form.encoding}"
            ) from problem

    def _bounded(self) -> Iterator[str]:
        while line := self._lines.readline(_LINE):
            if len(line) == _LINE:
                raise _bad(self.path, f"a line is longer than {_LINE:,} characters")
            yield line


@contextmanager
def open_table(
    path: str, bench: Bench, check: Callable[[], None], *, header: bool | None = None
) -> Iterator[Table]:
    """Open a table and find out how it is written.

    Args:
        path: relative to the workspace.
        check: called now and then; may stop a long read by raising.
        header: does the first row name the columns? None to find out.

    Raises:
        ToolError: NOT_TEXT, EMPTY_TABLE, BAD_TABLE. ScopeError: as ``Workspace.open_file``.
    """
    with bench.workspace.open_file(path) as descriptor:
        codec, encoding = _encoding(descriptor, path, check)
        sample = _sample(descriptor, codec)
        if not sample.strip():
            raise ToolError(
                "EMPTY_TABLE", f"there is no row in {path!r}", place=path, fix="name a file with rows"
            )
        first, _, rest = sample.partition("\n")
        named = first.strip().lower().startswith("sep=") and len(first.strip()) == 5
        delimiter = first.strip()[4] if named else delimiter_of(sample, path)
        rows = list(_sampled(rest if named else sample, delimiter))
        known = _has_header(rows, delimiter) if header is None else header
        yield Table(path, descriptor, TableForm(codec, encoding, delimiter, named, known), check)


def parsed(text: str, path: str) -> tuple[tuple[str, ...], list[list[str]], bool]:
    """The names of the columns of a table, its rows, and whether a comma is the decimal point, of a text that
    holds all of it. Raises ToolError EMPTY_TABLE."""
    if not text.strip():
        raise ToolError(
            "EMPTY_TABLE", f"there is no row in {path!r}", place=path, fix="name a file with rows"
        )
    delimiter = delimiter_of(text, path)
    rows = list(_sampled(text, delimiter, most=_MOST_PARSED))
    names = _names(rows[0] if rows else [], header=_has_header(rows[:_SAMPLE_ROWS], delimiter))
    whole = [row[: len(names)] + [""] * (len(names) - len(row)) for row in rows[1:]]
    return names, whole, delimiter == ";"


def _encoding(descriptor: int, path: str, check: Callable[[], None]) -> tuple[str, str]:
    """The codec and its name: by a mark at the start, else UTF-8 where the whole file is that."""
    head = os.pread(descriptor, 4, 0)
    for mark, codec, name in _BOMS:
        if head.startswith(mark):
            return codec, name
    decoder = codecs.getincrementaldecoder("utf-8")()
    place, valid = 0, True
    while piece := os.pread(descriptor, 1 << 20, place):
        check()
        if b"\0" in piece:
            raise ToolError(
                "NOT_TEXT", f"{path!r} is no text", place=path, fix="name a CSV or TSV file; save it as one"
            )
        if valid:
            try:
                decoder.decode(piece)
            except UnicodeDecodeError:
                valid = False
        place += len(piece)
    if valid:
        try:
            decoder.decode(b"", final=True)
            return "utf-8", "UTF-8"
        except UnicodeDecodeError:
            pass
    return "latin-1", "Latin-1, as it is no UTF-8"


def _sample(descriptor: int, codec: str) -> str:
    data = os.pread(descriptor, _SAMPLE, 0)
    text = codecs.getincrementaldecoder(codec)(errors="replace").decode(data)
    if len(data) == _SAMPLE:
        text = text[: text.rfind("\n") + 1] or text  # a row that is cut says nothing
    return text


def _sampled(text: str, delimiter: str, most: int = _SAMPLE_ROWS) -> Iterator[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            if row:
                yield row
            if reader.line_num >= most:
                return
    except csv.Error:
        return


def delimiter_of(text: str, path: str) -> str:
    """The separator that cuts the rows into the same number of cells, more than one, most often."""
    best, delimiter = (0.0, 0), "\t" if path.lower().endswith((".tsv", ".tab")) else ","
    for candidate in (delimiter, *_DELIMITERS):
        widths = Counter(len(row) for row in _sampled(text, candidate))
        if not widths:
            continue
        width, often = max(widths.items(), key=lambda item: (item[1], item[0]))
        score = (often / widths.total(), width)
        if width > 1 and score > best:
            best, delimiter = score, candidate
    return delimiter


def _has_header(rows: list[list[str]], delimiter: str) -> bool:
    """Does the first row name the columns? It does where it is no number above numbers."""
    if len(rows) < 2:
        return bool(rows) and not any(_is_value(cell, delimiter) for cell in rows[0])
    votes = 0
    for place, cell in enumerate(rows[0]):
        below = [row[place] for row in rows[1:] if place < len(row) and row[place].strip()]
        if below and sum(_is_value(one, delimiter) for one in below) > len(below) / 2:
            votes += -1 if _is_value(cell, delimiter) else 1
    return votes > 0 or (votes == 0 and not any(_is_value(cell, delimiter) for cell in rows[0]))


def _is_value(cell: str, delimiter: str) -> bool:
    return is_number(cell.strip(), comma=delimiter == ";") or read_date(cell.strip()) is not None


def _names(first: list[str], *, header: bool) -> tuple[str, ...]:
    """A name for each column, none of them twice."""
    names: dict[str, int] = {}  # and how often each was there
    for number, cell in enumerate(first, start=1):
        plain = " ".join(cell.split())[:200] if header else ""
        name = plain = plain or f"column {number}"
        while name in names:
            names[plain] += 1
            name = f"{plain} ({names[plain]})"
        names[name] = 1
    return tuple(names)


def _bad(path: str, why: str) -> ToolError:
    return ToolError(
        "BAD_TABLE", f"{path!r} is no table that can be read: {why}", place=path, fix="repair the file"
    )
