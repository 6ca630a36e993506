"""Findings as text: `[SEVERITY] file:line` and the body below it.

What would be read back otherwise is escaped as JSON escapes it: the name of a file that has no plain form
(`[RISK] "a\\u003a3":5`), and a line of a body that looks like a finding (`"\\u005b\\u0052…"`). The rule of a
finding is no part of the text.
"""

import re
from collections.abc import Iterable
from typing import Final

from mcl.plugins.review.findings.finding import Finding
from mcl.plugins.review.findings.lines import Head, head_of, looks_like_a_finding
from mcl.plugins.review.findings.reading import unescaped

NO_FINDINGS: Final = "No findings."
_SPECIAL: Final = re.compile(r"[^a-z0-9/._ -]")


def write_finding(finding: Finding) -> str:
    """One finding as text that `read_findings` reads back."""
    head = f"[{finding.severity}] {finding.file}:{finding.line}"
    if head_of(head) != Head(finding.severity, finding.file, finding.line, "") or len(head.splitlines()) > 1:
        head = f'[{finding.severity}] "{_SPECIAL.sub(_escape, finding.file)}":{finding.line}'
    return "\n".join([head, *map(_line, finding.body.split("\n"))]) if finding.body else head


def write_findings(findings: Iterable[Finding]) -> str:
    """Findings as text, with an empty line between them; `No findings.` where there are none."""
    return "\n\n".join(map(write_finding, findings)) or NO_FINDINGS


def _line(line: str) -> str:
    """A line of a body; one that would be read as something else is written in escapes."""
    if head_of(line) is None and not looks_like_a_finding(line) and unescaped(line) == line:
        return line
    return '"' + "".join(map(_units, line)) + '"'


def _escape(match: re.Match[str]) -> str:
    return _units(match[0])


def _units(letter: str) -> str:
    """A character as JSON escapes of its UTF-16 units."""
    units = letter.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
