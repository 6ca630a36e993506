"""Which changes of an Intent or a plan need a new accept."""

from executor.store.materiality.intents import FIXED_IN_INTENT as FIXED_IN_INTENT
from executor.store.materiality.plans import FIXED_IN_PLAN as FIXED_IN_PLAN
from executor.store.materiality.plans import Documents as Documents
from executor.store.materiality.plans import compare as compare
from executor.store.materiality.rules import RULES as RULES
from executor.store.materiality.rules import Change as Change
from executor.store.materiality.rules import Rule as Rule
from executor.store.materiality.rules import is_material as is_material
