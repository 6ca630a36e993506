"""What is suspicious in a tool's definition: rules that read it as a model would, and tell a person why."""

from mcl.catalog.suspicion.examination import Neighbours, examine, examine_server
from mcl.catalog.suspicion.rules import Suspicion, SuspicionRule, rules
from mcl.catalog.suspicion.texts import revealed

__all__ = ["Neighbours", "Suspicion", "SuspicionRule", "examine", "examine_server", "revealed", "rules"]
