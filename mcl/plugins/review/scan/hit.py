"""What a rule found in a text, before anybody is told."""

from dataclasses import dataclass

from mcl.plugins.review.findings import Severity


@dataclass(frozen=True, slots=True)
class Hit:
    """A rule's id, how bad it is, the line that is told, the lines it is about (from 1, both included), and
    what is said of it. remark: it is about the search, not about the text."""

    rule: str
    severity: Severity
    line: int
    first: int
    last: int
    body: str
    remark: bool = False


def remark(rule: str, line: int, body: str) -> Hit:
    """What could not be searched as it should be."""
    return Hit(rule, "NOTE", line, line, line, body, remark=True)
