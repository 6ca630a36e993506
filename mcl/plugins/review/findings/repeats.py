"""Findings that say the same thing at the same place, once."""

from collections.abc import Iterable

from mcl.plugins.review.findings.finding import Finding
from mcl.plugins.review.findings.severity import FAMILY, RANK

_MARKS = str.maketrans("", "", "`\"'")


def without_repeats(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding for each location, family of labels and normalised body: the most severe one stays.

    Two different bodies on one line both stay. Of two that are equally severe, the one with a rule stays.
    The order is that in which each was first met.
    """
    kept: dict[tuple[str, int, int, str], Finding] = {}
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


def _weight(finding: Finding) -> tuple[int, bool, str, str]:
    return RANK[finding.severity], not finding.rule, finding.rule, finding.body
