"""All that is wrong with a file: with its text and with what it means, one mistake told once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcl.language.mtx.check import check
from mcl.language.mtx.finding import Finding
from mcl.language.mtx.parse import Parsed
from mcl.language.mtx.source import MAX_FINDINGS

_OF_WHOLE_FILES = ("V14", "V15")  # a digest and a reach that follow from every line


def findings_of(parsed: Parsed, *, name: str = "", strict: bool = False) -> tuple[Finding, ...]:
    """The findings of a parsed file and of its checks, in the order of their places, at most 200.

    name, strict: as `check` takes them. What only follows from an error in the text is left out: checks of a
    line that could not be read to its end, of the whole of a file that is not whole, and of a file of which
    nothing could be read.
    """
    if parsed.ok:
        return tuple(_exact(parsed, check(parsed.file, name=name, strict=strict))[:MAX_FINDINGS])
    if not parsed.file.sections:
        return parsed.findings
    checks = (
        finding
        for finding in _exact(parsed, check(parsed.file, name=name, strict=strict))
        if finding.code not in _OF_WHOLE_FILES and finding.line not in parsed.broken
    )
    return tuple(sorted({*parsed.findings, *checks})[:MAX_FINDINGS])


def _exact(parsed: Parsed, checks: Sequence[Finding]) -> list[Finding]:
    """The same, each at the column of its own text, where a check names that of the words around it."""
    lines, exact, last = parsed.text.split("\n") if checks else [], [], dict[Finding, int]()
    for finding in checks:
        if len(finding.text) > 1 and finding.line:
            start = last.get(finding, finding.column - 1)
            column = _word(lines[finding.line - 1], finding.text, start) + 1
            if column:
                last[finding] = column
                finding = replace(finding, column=column)
        exact.append(finding)
    return sorted(exact)


def _word(line: str, text: str, start: int) -> int:
    """Where a text stands in a line from an offset on, and not within a longer word; -1 for nowhere."""
    at = line.find(text, start)
    while at > 0 and f"{line[at - 1]}{text[0]}".isalnum():
        at = line.find(text, at + 1)
    return at
