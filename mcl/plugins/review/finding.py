"""One thing that a review found."""

import textwrap
from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal, get_args

from ir.results import WHERE_SAID, JsonResult
from mcl.core.errors import ReviewError

# ---- The labels of a finding, from the worst to the least.

Severity = Literal["CRITICAL", "RISK", "ARCHITECTURE", "WARNING", "MISSING", "SUGGESTION", "NOTE"]

SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)
BLOCKING: Final[frozenset[Severity]] = frozenset({"CRITICAL", "RISK", "ARCHITECTURE", "WARNING"})

# Labels of one family say the same kind of thing, more or less strongly.
FAMILIES: Final[tuple[tuple[Severity, ...], ...]] = (
    ("CRITICAL", "RISK", "WARNING"),
    ("ARCHITECTURE",),
    ("MISSING",),
    ("SUGGESTION", "NOTE"),
)
FAMILY: Final[dict[Severity, int]] = {
    label: number for number, family in enumerate(FAMILIES) for label in family
}
RANK: Final[dict[Severity, int]] = {label: rank for rank, label in enumerate(SEVERITIES)}

# What other tools and models say in place of a label: never read as one, and never passed over.
FOREIGN: Final[tuple[str, ...]] = (
    *("BLOCKER", "BLOCKING", "FATAL", "SEVERE", "HIGH", "MEDIUM", "MODERATE", "LOW", "MAJOR", "MINOR"),
    *("ERROR", "ERR", "WARN", "INFO", "DANGER", "CAUTION", "IMPORTANT", "BUG", "SECURITY"),
    *("VULNERABILITY", "VULN", "ISSUE", "PROBLEM", "HINT", "NIT", "STYLE"),
)

MAX_LINE = 999_999_999
_FENCE = "```"


def canonical_body(text: str) -> str:
    """A body as a finding holds it: its lines at the left edge, without blanks at their ends, empty lines
    around them, or a code fence at the end that closes nothing.
    """
    lines = _without_empty_ends([line.rstrip() for line in text.splitlines()])
    fences = sum(line.lstrip().startswith(_FENCE) for line in lines)
    if fences % 2 == 1 and lines[-1].strip() == _FENCE:
        lines = _without_empty_ends(lines[:-1])
    return textwrap.dedent("\n".join(lines))


def _without_empty_ends(lines: list[str]) -> list[str]:
    said = [number for number, line in enumerate(lines) if line]
    return lines[said[0] : said[-1] + 1] if said else []


@dataclass(frozen=True, slots=True)
class ReviewFinding(JsonResult):
    """One finding.

    severity: one of `SEVERITIES`. file: a path as it was told, never empty. line: 1-based; 0 is the whole
    file. body: what is said, any number of lines; it is kept in `canonical_body` form. rule: the id of the
    rule that found it (B602, secret-aws…), "" where a model said it. mark: what a dismissal knows it by
    (`mcl.plugins.review.memory.dismissals`), "" where it has none; it makes no difference between findings.
    Raises ReviewError FINDING_NOT_VALID.
    """

    JSON: ClassVar = "severity location line body rule mark"
    severity: Severity
    file: str
    line: int
    body: str
    rule: str = field(default="", metadata=WHERE_SAID)
    mark: str = field(default="", compare=False, metadata=WHERE_SAID)

    def __post_init__(self) -> None:
        if self.severity not in SEVERITIES:
            raise _not_valid("severity", f"{self.severity!r} is no label of a finding")
        if not self.file:
            raise _not_valid("file", "a finding names a file")
        if isinstance(self.line, bool) or not isinstance(self.line, int) or not 0 <= self.line <= MAX_LINE:
            raise _not_valid("line", f"{self.line!r} is no line of a file")
        object.__setattr__(self, "body", canonical_body(self.body))

    @property
    def location(self) -> str:
        """Where it is: `file:line`."""
        return f"{self.file}:{self.line}"

    @property
    def blocking(self) -> bool:
        """Whether its label stops what is reviewed."""
        return self.severity in BLOCKING

    def marked_in(self, marks: Container[str]) -> bool:
        """Is its mark one of these?"""
        return bool(self.mark) and self.mark in marks


def _not_valid(place: str, message: str) -> ReviewError:
    fix = f"a label is one of {', '.join(SEVERITIES)}; a line is from 0 to {MAX_LINE}"
    return ReviewError("FINDING_NOT_VALID", message, place=place, fix=fix)


# ---- The order in which findings are told.


def in_order(findings: Iterable[ReviewFinding]) -> tuple[ReviewFinding, ...]:
    """Findings by severity, then line, then file, body and rule: a total order."""
    return tuple(sorted(findings, key=_rank))


def _rank(finding: ReviewFinding) -> tuple[int, int, str, str, str]:
    return RANK[finding.severity], finding.line, finding.file, finding.body, finding.rule


# ---- Findings that say the same thing at the same place, once.

_MARKS = str.maketrans("", "", "`\"'")


def without_repeats(findings: Iterable[ReviewFinding]) -> tuple[ReviewFinding, ...]:
    """One finding for each location, family of labels and normalised body: the most severe one stays.

    Two different bodies on one line both stay. Of two that are equally severe, the one with a rule stays.
    The order is that in which each was first met.
    """
    kept: dict[tuple[str, int, int, str], ReviewFinding] = {}
    for finding in findings:
        key = (finding.file, finding.line, FAMILY[finding.severity], normalised(finding.body))
        known = kept.get(key)
        if known is None or _weight(finding) < _weight(known):
            kept[key] = finding
    return tuple(kept.values())


def normalised(body: str) -> str:
    """A body without what carries no meaning: case, blanks, quotes, emphasis, the stop at its end."""
    words = body.replace("**", "").translate(_MARKS).casefold().split()
    return " ".join(words).rstrip(" .!;:,")


def _weight(finding: ReviewFinding) -> tuple[int, bool, str, str]:
    return RANK[finding.severity], not finding.rule, finding.rule, finding.body
