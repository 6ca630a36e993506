"""What may be corrected without a new accept, as the table `rules.toml`: one row a kind of change.

What is not known is material, such as a field without a rule. Texts of arguments are compared as texts: `007`
is not `7`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from executor.core.tables import table_beside
from ir.results import JsonResult


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table. why: what the change is, in plain words."""

    material: bool
    why: str


@dataclass(frozen=True, slots=True)
class Change(JsonResult):
    """One difference between two documents.

    place: a path as `mcl correct --set` takes it (`budget.max_calls`, `plan.search.args.query`). before,
    after: JSON values, None where there is nothing. why: what it is, and what of it counts.
    """

    code: str
    place: str
    before: object
    after: object
    why: str
    material: bool


RULES: Final[Mapping[str, Rule]] = {
    code: Rule(kind == "material", why)
    for kind, rows in table_beside(__file__).items()
    for code, why in rows.items()
}


def changed(code: str, place: str, before: object, after: object, detail: str = "") -> Change:
    """A change of a kind that the table has. detail: what of it counts, where the table does not say."""
    rule = RULES[code]
    why = f"{rule.why}: {detail}" if detail else rule.why
    return Change(code, place, before, after, why, rule.material)


def is_material(changes: Iterable[Change]) -> bool:
    """Whether any of them needs a new accept."""
    return any(change.material for change in changes)
