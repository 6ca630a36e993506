"""What is wrong with a file: one finding a place, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from unicodedata import combining, east_asian_width

from mcl.language.mtx.ast import Node


@dataclass(frozen=True, order=True)
class Finding:
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
) -> Finding:
    """A finding at the place of a node."""
    severity: Literal["error", "warning"] = "warning" if warning else "error"
    return Finding(node.at.line, node.at.column, code, message, text[:200], hint, severity)


def show(finding: Finding, path: str, source: str) -> str:
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
