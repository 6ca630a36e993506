"""What bandit's results amount to here: weights.toml, by rule, its severity and its confidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Literal

from executor.core.globs import fits_name
from executor.core.tables import table_beside
from executor.sandbox.redaction import Redactor, visible
from mcl.plugins.review.finding import BLOCKING, Severity

if TYPE_CHECKING:
    from mcl.plugins.review.scan.syntax import BanditIssue


# ---- What a rule found in a text, before anybody is told.


@dataclass(frozen=True, slots=True)
class ScanHit:
    """A rule's id, how bad it is, the line that is told, the lines it is about (from 1, both included), and
    what is said of it. remark: it is about the search, not about the text."""

    rule: str
    severity: Severity
    line: int
    first: int
    last: int
    body: str
    remark: bool = False


def remark(rule: str, line: int, body: str) -> ScanHit:
    """What could not be searched as it should be."""
    return ScanHit(rule, "NOTE", line, line, line, body, remark=True)


# ---- Where a file lies: places.toml. In tests and examples a danger is no danger to who uses the program.

Place = Literal["product", "tests", "examples"]


def place_of(path: str) -> Place:
    """What a file is for, by its path alone."""
    *folders, name = path.lower().split("/")
    for place, inside, names in _places():
        if any(one in inside for one in folders) or fits_name(names, name):
            return place
    return "product"


@cache
def _places() -> tuple[tuple[Place, frozenset[str], tuple[str, ...]], ...]:
    table = table_beside(__file__, "places")
    places: tuple[Place, ...] = ("tests", "examples")
    return tuple((one, frozenset(table[one]["folders"]), tuple(table[one]["names"])) for one in places)


_NONE: Final = "none"
_LOOKED_AT: Final = 2_000  # characters of a finding's lines that `where` looks at


def weighed(issue: BanditIssue, rows: Sequence[str], place: Place) -> ScanHit | None:
    """The finding that a result of bandit is, or None where it is told to nobody.

    rows: the lines of the text. What is said never quotes them.
    """
    known: Mapping[str, Any] = _weights()["rules"].get(issue.rule, {})
    severity = _severity(issue, known, rows)
    if severity in BLOCKING:
        severity = _lowered(severity, issue, known)
    if place != "product" and severity != _NONE:
        severity = known.get("elsewhere", "NOTE")
    if severity == _NONE:
        return None
    says = known.get("says") or Redactor().text(visible(issue.text))[:300]
    fix = f"\nFix: {known['fix']}." if "fix" in known else ""
    return ScanHit(issue.rule, severity, issue.line, issue.first, issue.last, says + fix)


def _severity(issue: BanditIssue, known: Mapping[str, Any], rows: Sequence[str]) -> Any:
    usual = _weights()["severity"].get(issue.severity, {}).get(issue.confidence, "NOTE")
    severity = known.get(issue.severity, {}).get(issue.confidence, known.get("is", usual))
    if special := known.get("where"):
        some = rows[issue.first - 1 : min(issue.last, issue.first + _LOOKED_AT)]
        lines = (row.partition(" #")[0] for row in some)  # less its comments
        text = "\n".join(lines)[:_LOOKED_AT]
        for one in special:
            if re.search(one["fits"], text):
                return one["is"]
    return severity


def _lowered(severity: Any, issue: BanditIssue, known: Mapping[str, Any]) -> Any:
    """What it is where something around it takes the danger from it."""
    for one in known.get("given", ()):
        if issue.around.holds(one["around"], issue.node, one.get("guards", ())):
            return one["is"]
    return severity


def _weights() -> Mapping[str, Any]:
    return table_beside(__file__)


# ---- What a person dismissed, as the search needs it: each finding has a mark by which it is found again.

Marking = Callable[[str, str, str, int], str]


@dataclass(frozen=True, slots=True)
class KnownMarks:
    """mark: gives the mark of a path, a rule, the text of the lines that it is about, and which of the places
    with this text in the file it is (from 1); None where findings need no marks. dismissed: marks."""

    mark: Marking | None = None
    dismissed: Container[str] = ()

    def of(self, hit: ScanHit, path: str, places: LinePlaces) -> str:
        """The mark of a hit; "" for a remark: what could not be searched cannot be dismissed."""
        if hit.remark or self.mark is None:
            return ""
        return self.mark(path, hit.rule, *places.of(hit.first, hit.last))

    def is_gone(self, mark: str) -> bool:
        """Is this the mark of what was dismissed?"""
        return bool(mark) and mark in self.dismissed


class LinePlaces:
    """The lines of a text, and where each stands."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._rows: Sequence[str] = ()
        self._where: dict[str, list[int]] = {}

    def of(self, first: int, last: int) -> tuple[str, int]:
        """Lines (from 1, both included) without the blanks around each, and which of the places in the text
        that have just these it is, from 1."""
        if not self._rows:
            self._rows = [row.strip() for row in self._text.split("\n")]
            for place, row in enumerate(self._rows):
                self._where.setdefault(row, []).append(place)
        wanted = self._rows[first - 1 : last]
        if not wanted:
            return "", 1
        nth = 0
        for begin in self._where[wanted[0]]:
            if begin >= first:
                break
            nth += len(wanted) == 1 or self._rows[begin : begin + len(wanted)] == wanted
        return "\n".join(wanted), nth
