"""What is wrong with a text, with the part of the line that is meant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from mcl.language.mtx.finding import Finding
from mcl.language.mtx.parse import Parsed, parse
from mcl.language.mtx.verdict import findings_of
from mcl.plugins.editor.document import Document, Span

_WORD = re.compile(r"§?[\w.-]+|\S")


@dataclass(frozen=True)
class Problem:
    """A finding with the span that it means. hint: what to write instead, or ""."""

    span: Span
    code: str
    message: str
    hint: str = ""
    severity: Literal["error", "warning"] = "error"


@dataclass(frozen=True)
class Reading:
    """A text as the parser read it, and all that is wrong with it, in the order of its lines: the findings,
    and each with the span that is meant.
    """

    parsed: Parsed
    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]


def read(document: Document, name: str = "") -> Reading:
    """Parse and check a text. name: the id that it should carry ("" for any)."""
    parsed = parse(document.data)
    findings = findings_of(parsed, name=name)
    return Reading(parsed, findings, tuple(problem_of(finding, document.lines) for finding in findings))


def problem_of(finding: Finding, lines: Sequence[str]) -> Problem:
    """A finding in the lines of its text."""
    return Problem(span_of(finding, lines), finding.code, finding.message, finding.hint, finding.severity)


def span_of(finding: Finding, lines: Sequence[str]) -> Span:
    """The part of a line that a finding means: its offending text at or behind its place, else the word
    there; for the whole file the first line.
    """
    number = min(max(finding.line, 1), len(lines))
    line = lines[number - 1]
    if not finding.line:
        return Span(number, 1, len(line) + 1)
    start = min(max(finding.column, 1), len(line) + 1) - 1
    text = finding.text.split("\n")[0].rstrip()
    found = line.find(text, start) if text else -1
    if found >= 0:
        return Span(number, found + 1, found + len(text) + 1)
    word = _WORD.match(line, start)
    return Span(number, start + 1, word.end() + 1 if word else len(line) + 1)
