"""Findings: read from any text, written, put in order, told once, and given to code hosts."""

from mcl.plugins.review.findings.finding import Finding
from mcl.plugins.review.findings.ordering import in_order
from mcl.plugins.review.findings.reading import Reading, Unreadable, read_findings, says_nothing
from mcl.plugins.review.findings.repeats import without_repeats
from mcl.plugins.review.findings.sarif import to_sarif
from mcl.plugins.review.findings.severity import BLOCKING, SEVERITIES, Severity
from mcl.plugins.review.findings.writing import NO_FINDINGS, write_finding, write_findings

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
