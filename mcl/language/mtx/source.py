"""The text of a .mtx file: what is refused before a grammar is asked, and what is found wrong with it."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal
from unicodedata import combining, east_asian_width

from mcl.language.mtx.ast import Node

# ---- What is wrong with a file: one finding a place, and how it is shown.


@dataclass(frozen=True, order=True)
class MtxFinding:
    """One thing that is wrong (or, as a warning, doubtful) in a .mtx file.

    code: "V1" … "V15" for a check of the language, else UPPER_SNAKE for the text itself.
    line, column: from 1, in characters; 0 when the whole file is meant. text: the offending text.
    hint: what to write instead, or "".
    """

    line: int
    column: int
    code: str
    message: str
    text: str = ""
    hint: str = ""
    severity: Literal["error", "warning"] = "error"

    def place(self, path: str) -> str:
        """`path:line:column`."""
        return f"{path}:{self.line}:{self.column}" if self.line else path

    def to_json(self) -> dict[str, object]:
        """The finding as a JSON object."""
        return {
            "code": self.code,
            "line": self.line,
            "column": self.column,
            "message": self.message,
            "text": self.text,
            "hint": self.hint,
        }


def found(
    node: Node, code: str, message: str, text: str = "", hint: str = "", *, warning: bool = False
) -> MtxFinding:
    """A finding at the place of a node."""
    severity: Literal["error", "warning"] = "warning" if warning else "error"
    return MtxFinding(node.at.line, node.at.column, code, message, text[:200], hint, severity)


def show(finding: MtxFinding, path: str, source: str) -> str:
    """The finding for a person: place, message, source line with a caret, hint; no trailing newline."""
    parts = [f"{finding.place(path)}: {finding.severity}: {finding.message} [{finding.code}]"]
    lines = source.split("\n")
    if 0 < finding.line <= len(lines):
        line = lines[finding.line - 1]
        start = max(0, finding.column - 60)  # a long prompt line is cut to what surrounds the place
        excerpt = "".join(c if c.isprintable() else " " for c in line[start : start + 100])
        offset = finding.column - 1 - start
        meant = finding.text.split("\n")[0]
        if not excerpt.startswith(meant, offset):  # what is missing stands nowhere: its place is a word's
            meant = (excerpt[offset:].split() or [""])[0]
        meant = excerpt[offset : offset + len(meant)]
        parts += [f"    {excerpt}", "    " + " " * _cells(excerpt[:offset]) + "^" * max(1, _cells(meant))]
    if finding.hint:
        parts.append(f"    {finding.hint}")
    return "\n".join(parts)


def _cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def nearest(word: str, legal: Iterable[str], *, likeness: float = 0.6) -> str:
    """`did you mean "…"?` for the legal word nearest to this one (0 to 1, at least `likeness`), or ""."""
    import difflib  # here, because a file without errors needs no suggestions

    by_case = {word.lower(): word for word in sorted(set(legal))}
    found = difflib.get_close_matches(word[:64].lower(), by_case, n=1, cutoff=likeness)
    return f'did you mean "{by_case[found[0]]}"?' if found else ""


# ---- Bytes to text.

MAX_BYTES = 1024 * 1024
MAX_SECTIONS = 10_000
MAX_FINDINGS = 200  # of one file; what follows is noise
# before words only: blank lines and comments mean nothing
_TAB_INDENT = re.compile(r"^ *+\t[ \t]*+(?![\n#])", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0d\x0e-\x1f\x7f-\x9f]")
_HEAD = re.compile(r"^§", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """The text that positions refer to ("" where it cannot be read), and what is wrong with it.

    readable: the same without its control characters.
    """

    text: str
    findings: tuple[MtxFinding, ...] = ()
    readable: str = ""

    def causes(self, finding: MtxFinding) -> bool:
        """Whether another finding only follows from these: a replaced character breaks its line, a tab makes
        the indentation doubtful.
        """
        return any(
            one.line == finding.line and (one.code == "CONTROL" or finding.code == "INDENT")
            for one in self.findings
        )


def read_source(data: bytes) -> Source:
    """Decode a file: UTF-8, a BOM dropped, CRLF as LF, NFC, with a newline at the end.

    A file that is too long, has too many sections, or is no UTF-8, gives an empty text; tabs and control
    characters are replaced by blanks.
    """
    if len(data) >= MAX_BYTES:
        # its size is not said: readers stop here
        return _refused(0, 0, "TOO_LONG", f"too long: a file has less than {MAX_BYTES} bytes")
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        start = data.rfind(b"\n", 0, error.start) + 1
        line, column = data.count(b"\n", 0, error.start) + 1, len(data[start : error.start].decode()) + 1
        bad = data[error.start : error.end].hex(" ")
        return _refused(line, column, "NOT_UTF8", f"not UTF-8 text (byte {bad})", "save it as UTF-8")
    # Before any place is counted: columns are those of the text as it is read.
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n"))
    if not text.endswith("\n"):
        text += "\n"
    lines = Lines(text)
    head = next(islice(_HEAD.finditer(text), MAX_SECTIONS - 1, None), None)
    if head is not None:
        line, column = lines.position(head.start())
        return _refused(line, column, "TOO_MANY_SECTIONS", f"a file has less than {MAX_SECTIONS} sections")
    findings = (*islice(_tabs(text, lines), MAX_FINDINGS), *islice(_controls(text, lines), MAX_FINDINGS))
    if findings:
        text = _TAB_INDENT.sub(lambda match: " " * len(match.group()), text)
        return Source(_CONTROL.sub(" ", text), findings, _CONTROL.sub("", text))
    return Source(text, findings, text)


def _refused(line: int, column: int, code: str, message: str, hint: str = "") -> Source:
    return Source("", (MtxFinding(line, column, code, message, "", hint),))


def _tabs(text: str, lines: Lines) -> Iterator[MtxFinding]:
    for match in _TAB_INDENT.finditer(text):
        line, column = lines.position(match.start() + match.group().index("\t"))
        yield MtxFinding(line, column, "TAB", "a tab in the indentation", "\t", "indent with spaces")


def _controls(text: str, lines: Lines) -> Iterator[MtxFinding]:
    alone = False
    for match in _CONTROL.finditer(text):
        line, column = lines.position(match.start())
        if match.group() == "\r":
            if not alone:  # one of them is a slip, many are the line ends of an old system: told once
                message = "a carriage return (U+000D) that no line feed follows"
                yield MtxFinding(line, column, "CONTROL", message, "\r", "end lines with LF or CRLF")
            alone = True
            continue
        name = "NUL" if match.group() == "\0" else f"control character U+{ord(match.group()):04X}"
        yield MtxFinding(line, column, "CONTROL", f"a {name} in the text", match.group(), "remove it")


class Lines:
    """Offsets of a text as lines and columns."""

    def __init__(self, text: str) -> None:
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column (from 1) of an offset."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1
