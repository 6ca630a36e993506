"""What is suspicious in a tool's definition: rules that read it as a model would, and tell a person why."""

from mcl.mcp.suspicion.examine import examine, examine_server
from mcl.mcp.suspicion.finding import Finding, Rule, rules
from mcl.mcp.suspicion.hidden import revealed
from mcl.mcp.suspicion.neighbours import Neighbours

__all__ = ["Finding", "Neighbours", "Rule", "examine", "examine_server", "revealed", "rules"]
