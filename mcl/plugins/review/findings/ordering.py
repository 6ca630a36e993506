"""The order in which findings are told."""

from collections.abc import Iterable

from mcl.plugins.review.findings.finding import Finding
from mcl.plugins.review.findings.severity import RANK


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings by severity, then line, then file, body and rule: a total order."""
    return tuple(sorted(findings, key=_rank))


def _rank(finding: Finding) -> tuple[int, int, str, str, str]:
    return RANK[finding.severity], finding.line, finding.file, finding.body, finding.rule
