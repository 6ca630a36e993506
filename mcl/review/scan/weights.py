"""What bandit's results amount to here: weights.toml, by rule, its severity and its confidence."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from executor.sandbox.redaction import Redactor, visible
from mcl.review.scan.hit import Hit
from mcl.review.scan.places import Place

if TYPE_CHECKING:
    from mcl.review.findings import Severity
    from mcl.review.scan.walking import Issue

_NONE = "none"


def weighed(issue: Issue, place: Place) -> Hit | None:
    """The finding that a result of bandit is, or None where it is told to nobody."""
    table = _table()
    known: Mapping[str, Any] = table["rules"].get(issue.rule, {})
    severity = known.get(issue.severity, {}).get(issue.confidence) or known.get("severity")
    severity = severity or table["severity"].get(issue.severity, {}).get(issue.confidence, "NOTE")
    if place != "product":
        severity = known.get(place, known.get("elsewhere", "NOTE" if severity != _NONE else _NONE))
    if severity == _NONE:
        return None
    says = known.get("says") or Redactor().text(visible(issue.text))[:300]
    fix = f"\nFix: {known['fix']}." if "fix" in known else ""
    label: Severity = severity
    return Hit(issue.rule, label, issue.line, issue.first, issue.last, says + fix)


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
