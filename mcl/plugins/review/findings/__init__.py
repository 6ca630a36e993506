"""Findings: read from any text, written, put in order, told once, and given to code hosts."""

from mcl.plugins.review.findings.finding import (
    BLOCKING,
    SEVERITIES,
    ReviewFinding,
    Severity,
    in_order,
    without_repeats,
)
from mcl.plugins.review.findings.reading import (
    NO_FINDINGS,
    FindingsRead,
    UnreadableLine,
    read_findings,
    says_nothing,
    write_finding,
    write_findings,
)
from mcl.plugins.review.findings.sarif import to_sarif

__all__ = [
    "BLOCKING",
    "NO_FINDINGS",
    "SEVERITIES",
    "FindingsRead",
    "ReviewFinding",
    "Severity",
    "UnreadableLine",
    "in_order",
    "read_findings",
    "says_nothing",
    "to_sarif",
    "without_repeats",
    "write_finding",
    "write_findings",
]
