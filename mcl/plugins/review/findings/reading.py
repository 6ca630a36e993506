"""The findings in a text: whatever a model or a person wrote, nothing that looks like one is passed over."""

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from mcl.plugins.review.findings.finding import (
    ReviewFinding,
    Severity,
    canonical_body,
    in_order,
    without_repeats,
)
from mcl.plugins.review.findings.lines import FindingHead, folded, head_of, looks_like_a_finding, visible

MAX_TOLD: Final = 500  # characters of a line that cannot be read
_FENCES: Final = ("```", "~~~")
_ESCAPED: Final = re.compile(r'"(?:\\u[0-9a-f]{4})++"')


@dataclass(frozen=True, slots=True)
class UnreadableLine:
    """A line that looks like a finding and cannot be read.

    line: 1-based, in the text that was read. text: its first `MAX_TOLD` characters.
    """

    line: int
    text: str

    def to_json(self) -> dict[str, object]:
        """The line as a JSON object."""
        return {"line": self.line, "text": self.text}


@dataclass(frozen=True, slots=True)
class FindingsRead:
    """What was read: the findings in the order of the text, and what could not be read.

    outside: those of the findings whose label the contract does not have.
    """

    findings: tuple[ReviewFinding, ...] = ()
    unreadable: tuple[UnreadableLine, ...] = ()
    outside: tuple[ReviewFinding, ...] = ()

    @property
    def blocking(self) -> bool:
        """Whether a finding stops what is reviewed, or something could not be read."""
        return bool(self.unreadable) or any(finding.blocking for finding in self.findings)

    def to_json(self) -> dict[str, object]:
        """The reading as a JSON object."""
        return {
            "findings": [finding.to_json() for finding in self.findings],
            "blocking": self.blocking,
            "unreadable": [line.to_json() for line in self.unreadable],
        }


def read_findings(text: str, *, labels: Collection[Severity] | None = None) -> FindingsRead:
    """Read the findings in a text. It never raises, and takes time linear in the text.

    A finding is a line `[SEVERITY] file:line` with the lines to the next one as its body, but for those that
    cannot be read; prose before the first is no finding. labels: those of the contract; a finding with
    another label is a finding all the same, and is told in `outside` too.
    """
    heads: list[tuple[FindingHead, list[str]]] = []
    unreadable: list[UnreadableLine] = []
    body: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        said = bool(line.strip())  # texts may be a million empty lines
        head = head_of(line) if said else None
        if head is not None:
            body = []
            heads.append((head, body))
        written = unescaped(line) if head is None else line
        if head.doubtful if head else written is line and said and looks_like_a_finding(line):
            unreadable.append(UnreadableLine(number, line.strip()[:MAX_TOLD]))
        elif head is None:
            body.append(written)
    findings = tuple(
        ReviewFinding(head.severity, head.file, head.line, _body(head, lines)) for head, lines in heads
    )
    return FindingsRead(findings, tuple(unreadable), _outside(findings, labels))


def says_nothing(text: str) -> bool:
    """Whether a text has no words: it is empty, of blanks, unseen characters and marks alone, a fence around
    nothing, or JSON's null. Nobody reviewed anything who said so."""
    lines = (folded(visible(line)).strip() for line in text.splitlines())
    said = "".join(line for line in lines if not line.startswith(_FENCES))
    return said.casefold() == "null" or not any(map(str.isalnum, said))


def settled(reading: FindingsRead) -> FindingsRead:
    """The same with each finding once and the worst first."""
    findings = in_order(without_repeats(reading.findings))
    return FindingsRead(findings, reading.unreadable, in_order(without_repeats(reading.outside)))


def _outside(
    findings: tuple[ReviewFinding, ...], labels: Collection[Severity] | None
) -> tuple[ReviewFinding, ...]:
    return () if labels is None else tuple(found for found in findings if found.severity not in labels)


def unescaped(line: str) -> str:
    """A line of a body as it was before it was written: see `mcl.plugins.review.findings.reading`."""
    return str(json.loads(line)) if _ESCAPED.fullmatch(line) else line


def _body(head: FindingHead, lines: list[str]) -> str:
    said = "\n".join(lines)
    return f"{head.rest}\n{canonical_body(said)}" if head.rest else said


# ---- Findings as text: `[SEVERITY] file:line` and the body below it.

NO_FINDINGS: Final = "No findings."
_SPECIAL: Final = re.compile(r"[^a-z0-9/._ -]")


def write_finding(finding: ReviewFinding) -> str:
    """One finding as text that `read_findings` reads back."""
    head = f"[{finding.severity}] {finding.file}:{finding.line}"
    if (
        head_of(head) != FindingHead(finding.severity, finding.file, finding.line, "")
        or len(head.splitlines()) > 1
    ):
        head = f'[{finding.severity}] "{_SPECIAL.sub(_escape, finding.file)}":{finding.line}'
    return "\n".join([head, *map(_line, finding.body.split("\n"))]) if finding.body else head


def write_findings(findings: Iterable[ReviewFinding]) -> str:
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
