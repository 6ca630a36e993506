"""What bandit's results amount to here: weights.toml, by rule, its severity and its confidence."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from executor.sandbox.redaction import Redactor, visible
from mcl.plugins.review.findings import BLOCKING
from mcl.plugins.review.scan.hit import Hit
from mcl.plugins.review.scan.places import Place

if TYPE_CHECKING:
    from mcl.plugins.review.scan.walking import Issue

_NONE: Final = "none"
_LOOKED_AT: Final = 2_000  # characters of a finding's lines that `where` looks at


def weighed(issue: Issue, rows: Sequence[str], place: Place) -> Hit | None:
    """The finding that a result of bandit is, or None where it is told to nobody.

    rows: the lines of the text. What is said never quotes them.
    """
    known: Mapping[str, Any] = _table()["rules"].get(issue.rule, {})
    severity = _severity(issue, known, rows)
    if severity in BLOCKING:
        severity = _lowered(severity, issue, known)
    if place != "product" and severity != _NONE:
        severity = known.get("elsewhere", "NOTE")
    if severity == _NONE:
        return None
    says = known.get("says") or Redactor().text(visible(issue.text))[:300]
    fix = f"\nFix: {known['fix']}." if "fix" in known else ""
    return Hit(issue.rule, severity, issue.line, issue.first, issue.last, says + fix)


def _severity(issue: Issue, known: Mapping[str, Any], rows: Sequence[str]) -> Any:
    usual = _table()["severity"].get(issue.severity, {}).get(issue.confidence, "NOTE")
    severity = known.get(issue.severity, {}).get(issue.confidence, known.get("is", usual))
    if special := known.get("where"):
        some = rows[issue.first - 1 : min(issue.last, issue.first + _LOOKED_AT)]
        lines = (row.partition(" #")[0] for row in some)  # less its comments
        text = "\n".join(lines)[:_LOOKED_AT]
        for one in special:
            if re.search(one["fits"], text):
                return one["is"]
    return severity


def _lowered(severity: Any, issue: Issue, known: Mapping[str, Any]) -> Any:
    """What it is where something around it takes the danger from it."""
    for one in known.get("given", ()):
        if issue.around.holds(one["around"], issue.node, one.get("guards", ())):
            return one["is"]
    return severity


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
