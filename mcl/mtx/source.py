"""Bytes to text: what is refused before a grammar is asked."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from itertools import islice

from mcl.mtx.finding import Finding

MAX_BYTES = 256 * 1024
MAX_FINDINGS = 200  # of one file; what follows is noise
_TAB_INDENT = re.compile(r"^ *\t[ \t]*", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0d\x0e-\x1f\x7f]")


def read_source(data: bytes) -> tuple[str, list[Finding]]:
    """Decode a file: UTF-8, a BOM dropped, CRLF as LF, NFC, with a newline at the end.

    Returns the text that positions refer to, and what is wrong with it. A file that is too long or no UTF-8
    gives an empty text; tabs and control characters are replaced by blanks so that the rest can be read.
    """
    if len(data) > MAX_BYTES:
        return "", [Finding(0, 0, "TOO_LONG", f"{len(data)} bytes; a file has at most {MAX_BYTES}")]
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        bad = data[error.start : error.end].hex(" ")
        return "", [
            Finding(line, column, "NOT_UTF8", f"not UTF-8 text (byte {bad})", hint="save it as UTF-8")
        ]
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n"))
    if not text.endswith("\n"):
        text += "\n"
    lines = Lines(text)
    findings = []
    for match in islice(_TAB_INDENT.finditer(text), MAX_FINDINGS):
        line, column = lines.position(match.start() + match.group().index("\t"))
        findings.append(Finding(line, column, "TAB", "a tab in the indentation", "\t", "indent with spaces"))
    for match in islice(_CONTROL.finditer(text), MAX_FINDINGS):
        line, column = lines.position(match.start())
        name = "NUL" if match.group() == "\0" else f"control character U+{ord(match.group()):04X}"
        findings.append(Finding(line, column, "CONTROL", f"a {name} in the text", match.group(), "remove it"))
    text = _CONTROL.sub(" ", _TAB_INDENT.sub(lambda match: " " * len(match.group()), text))
    return text, findings


class Lines:
    """Offsets of a text as lines and columns."""

    def __init__(self, text: str) -> None:
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column (from 1) of an offset."""
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1
