"""One file searched: every finding has a place, a severity, a rule and what to do about it."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from mcl.review.scan.source import Source

if TYPE_CHECKING:
    from mcl.review.findings import Finding


def scan_source(source: Source, *, lines: Container[int] | None = None) -> tuple[Finding, ...]:
    """What is found in one file, in the order of lines; severities are RISK, WARNING and NOTE.

    Never raises for what the text holds. What could not be searched as it should be (Python that does not
    parse, a file out of bounds, a rule that failed) is said as a NOTE, and never passes in silence.

    Args:
        source: path and text.
        lines: only findings that touch one of these lines (from 1), as those of a diff; all where None. What
            could not be searched is told on the first of them.
    """
    return ()
