"""An open document, and its positions as the parser and as an editor count them.

The parser counts lines and characters of the text it made (no BOM, LF, NFC), from 1. An editor counts lines
that end in LF, CRLF or CR, and code units of UTF-16 (or UTF-8 or UTF-32, as agreed), from 0, of the text as
it stands there.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

from mcl.language.mtx.parser import Parsed, findings_of, parse
from mcl.language.mtx.source import MtxFinding

Encoding: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]
BOM = "\ufeff"
_EOL = re.compile(r"\r\n|\n|\r")
# what NFC may join is an ASCII character and what follows it, or a run without one
_CHUNK = re.compile(r"[\x00-\x7f][^\x00-\x7f]*|[^\x00-\x7f]+")


class EditorPlace(NamedTuple):
    """A place as the parser counts: line and column from 1, in characters."""

    line: int
    column: int


class EditorSpan(NamedTuple):
    """Part of one line: columns from 1, `stop` the first that is not in it."""

    line: int
    start: int
    stop: int


class Point(NamedTuple):
    """A place as the editor counts: line and code unit from 0."""

    line: int
    character: int


class OpenDocument:
    """One state of a text. encoding: the code units that the editor counts in."""

    def __init__(self, text: str, encoding: Encoding = "utf-16") -> None:
        self.text = text
        self.encoding = encoding
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._client_starts = [0, *(match.end() for match in _EOL.finditer(text))]

    @property
    def data(self) -> bytes:
        """The text as bytes for the parser; half a surrogate pair, which no file holds, becomes `?`."""
        return self.text.encode("utf-8", "replace")

    @cached_property
    def lines(self) -> list[str]:
        """The lines as the parser sees them, without their ends; line 1 is `lines[0]`."""
        return [unicodedata.normalize("NFC", self._raw(number)) for number in range(1, len(self._starts) + 1)]

    def line(self, number: int) -> str:
        """One line by its number from 1; "" for one that is not there."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def point(self, line: int, column: int) -> Point:
        """The editor's count of a place; a place outside the text is the nearest one in it."""
        line = min(max(line, 1), len(self._starts))
        raw = self._raw(line)
        offset = self._first(line) + _raw_column(raw, max(column - 1, 0))
        client = bisect_right(self._client_starts, offset) - 1
        return Point(client, self._units(self.text[self._client_starts[client] : offset]))

    def place(self, line: int, character: int) -> EditorPlace:
        """The parser's count of an editor's place; one outside the text is the nearest one in it."""
        offset = self._offset(line, character)
        number = bisect_right(self._starts, offset)
        before = self._raw(number)[: max(offset - self._first(number), 0)]
        return EditorPlace(number, len(unicodedata.normalize("NFC", before)) + 1)

    def end(self) -> Point:
        """Where the text ends, in the editor's count."""
        return Point(len(self._client_starts) - 1, self._units(self.text[self._client_starts[-1] :]))

    def _first(self, line: int) -> int:
        """The offset at which a line's text begins: behind a BOM."""
        return self._starts[line - 1] + (line == 1 and self.text.startswith(BOM))

    def _raw(self, line: int) -> str:
        """A line as it stands, less BOM and line end."""
        if line < len(self._starts):
            return self.text[self._first(line) : self._starts[line] - 1].removesuffix("\r")
        return self.text[self._first(line) :]

    def _offset(self, line: int, character: int) -> int:
        if line >= len(self._client_starts):
            return len(self.text)
        start = self._client_starts[max(line, 0)]
        end = _EOL.search(self.text, start)
        stop = end.start() if end else len(self.text)
        if self.encoding == "utf-32":
            return min(start + max(character, 0), stop)
        units = 0
        for offset in range(start, stop):
            units += self._units(self.text[offset])
            if units > character:
                return offset
        return stop

    def _units(self, text: str) -> int:
        if self.encoding == "utf-32" or text.isascii():
            return len(text)
        if self.encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text) + sum(character > "\uffff" for character in text)


def rows(text: str) -> list[str]:
    """The lines of a text as an editor counts them, with their ends; none for what follows the last end."""
    starts = [0, *(match.end() for match in _EOL.finditer(text)), len(text)]
    return [text[start:stop] for start, stop in pairwise(starts) if stop > start]


def _raw_column(raw: str, column: int) -> int:
    """How many characters of a line as it stands make the first `column` characters of its NFC form."""
    if unicodedata.is_normalized("NFC", raw):
        return min(column, len(raw))
    for start, chunk in _chunks(raw):
        width = len(unicodedata.normalize("NFC", chunk))
        if column < width:
            return start + min(column, len(chunk))
        column -= width
    return len(raw)


def _chunks(raw: str) -> Iterator[tuple[int, str]]:
    for match in _CHUNK.finditer(raw):
        yield match.start(), match.group()


# ---- What is wrong with a text, with the part of the line that is meant.

_WORD = re.compile(r"§?[\w.-]+|\S")


@dataclass(frozen=True)
class Problem:
    """A finding with the span that it means. hint: what to write instead, or ""."""

    span: EditorSpan
    code: str
    message: str
    hint: str = ""
    severity: Literal["error", "warning"] = "error"


@dataclass(frozen=True)
class TextReading:
    """A text as the parser read it, and all that is wrong with it, in the order of its lines: the findings,
    and each with the span that is meant.
    """

    parsed: Parsed
    findings: tuple[MtxFinding, ...]
    problems: tuple[Problem, ...]


def read(document: OpenDocument, name: str = "") -> TextReading:
    """Parse and check a text. name: the id that it should carry ("" for any)."""
    parsed = parse(document.data)
    findings = findings_of(parsed, name=name)
    return TextReading(parsed, findings, tuple(problem_of(finding, document.lines) for finding in findings))


def problem_of(finding: MtxFinding, lines: Sequence[str]) -> Problem:
    """A finding in the lines of its text."""
    return Problem(span_of(finding, lines), finding.code, finding.message, finding.hint, finding.severity)


def span_of(finding: MtxFinding, lines: Sequence[str]) -> EditorSpan:
    """The part of a line that a finding means: its offending text at or behind its place, else the word
    there; for the whole file the first line.
    """
    number = min(max(finding.line, 1), len(lines))
    line = lines[number - 1]
    if not finding.line:
        return EditorSpan(number, 1, len(line) + 1)
    start = min(max(finding.column, 1), len(line) + 1) - 1
    text = finding.text.split("\n")[0].rstrip()
    found = line.find(text, start) if text else -1
    if found >= 0:
        return EditorSpan(number, found + 1, found + len(text) + 1)
    word = _WORD.match(line, start)
    return EditorSpan(number, start + 1, word.end() + 1 if word else len(line) + 1)
