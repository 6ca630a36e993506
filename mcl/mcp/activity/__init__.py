"""What was called over MCP: kept in the journal, listed, filtered, counted, exported, watched."""

from mcl.mcp.activity.entry import KIND, OPERATIONS, SENSITIVITIES, VERDICTS, Entry
from mcl.mcp.activity.filters import NAMES, Filters, bad_filter, parse_filters
from mcl.mcp.activity.keeping import Activity, Kept
from mcl.mcp.activity.reading import ActivityPage, Flaw, Reader
from mcl.mcp.activity.record import CallRecord

__all__ = [
    "KIND",
    "NAMES",
    "OPERATIONS",
    "SENSITIVITIES",
    "VERDICTS",
    "Activity",
    "ActivityPage",
    "CallRecord",
    "Entry",
    "Filters",
    "Flaw",
    "Kept",
    "Reader",
    "bad_filter",
    "parse_filters",
]
