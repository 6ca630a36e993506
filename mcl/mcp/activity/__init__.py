"""What was called over MCP: kept in the journal, listed, filtered, counted, exported, watched."""

from mcl.mcp.activity.entry import KIND, OPERATIONS, SENSITIVITIES, VERDICTS, Entry
from mcl.mcp.activity.keeping import Activity, Kept

__all__ = ["KIND", "OPERATIONS", "SENSITIVITIES", "VERDICTS", "Activity", "Entry", "Kept"]
