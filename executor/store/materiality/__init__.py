"""Which changes of an Intent or a plan need a new accept."""

from executor.store.materiality.intents import FIXED_IN_INTENT
from executor.store.materiality.plans import FIXED_IN_PLAN, Documents, compare
from executor.store.materiality.rules import RULES, Change, Rule, is_material

__all__ = [
    "FIXED_IN_INTENT",
    "FIXED_IN_PLAN",
    "RULES",
    "Change",
    "Documents",
    "Rule",
    "compare",
    "is_material",
]
