"""Which changes of an Intent or a plan need a new accept."""

from executor.materiality.compare import Documents, compare
from executor.materiality.intents import FIXED_IN_INTENT
from executor.materiality.plans import FIXED_IN_PLAN
from executor.materiality.rules import RULES, Change, Rule, is_material

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
