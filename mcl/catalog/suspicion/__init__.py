"""What is suspicious in a tool's definition: rules that read it as a model would, and tell a person why."""

from mcl.catalog.suspicion.examine import Neighbours, examine, examine_server
from mcl.catalog.suspicion.finding import Finding, Rule, rules
from mcl.catalog.suspicion.hidden import revealed

__all__ = ["Finding", "Neighbours", "Rule", "examine", "examine_server", "revealed", "rules"]
