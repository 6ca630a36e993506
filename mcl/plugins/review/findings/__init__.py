"""Findings: read from any text, written, put in order, told once, and given to code hosts."""

from mcl.plugins.review.findings.finding import (
    BLOCKING,
    SEVERITIES,
    Finding,
    Severity,
    in_order,
    without_repeats,
)
from mcl.plugins.review.findings.reading import (
    NO_FINDINGS,
    Reading,
    Unreadable,
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
    "Finding",
    "Reading",
    "Severity",
    "Unreadable",
    "in_order",
    "read_findings",
    "says_nothing",
    "to_sarif",
    "without_repeats",
    "write_finding",
    "write_findings",
]
