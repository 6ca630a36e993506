"""What agents and people changed in a governed folder, a line a change, each bound to the one before."""

from mcl.plugins.agents.trace.changed_lines import FileChange, changed_lines
from mcl.plugins.agents.trace.line import TraceLine
from mcl.plugins.agents.trace.trace import Trace

__all__ = ["FileChange", "Trace", "TraceLine", "changed_lines"]
