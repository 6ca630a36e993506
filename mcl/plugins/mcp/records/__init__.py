"""What was called over MCP: written to the journal, listed, filtered, counted, exported, watched."""

from mcl.plugins.mcp.records.index import ActivityFlaw, ActivityPage, Reader
from mcl.plugins.mcp.records.record import (
    KIND,
    NAMES,
    OPERATIONS,
    SENSITIVITIES,
    VERDICTS,
    CallRecord,
    Filters,
    bad_filter,
    parse_filters,
)
from mcl.plugins.mcp.records.writer import Activity, ActivityRow

__all__ = [
    "KIND",
    "NAMES",
    "OPERATIONS",
    "SENSITIVITIES",
    "VERDICTS",
    "Activity",
    "ActivityFlaw",
    "ActivityPage",
    "ActivityRow",
    "CallRecord",
    "Filters",
    "Reader",
    "bad_filter",
    "parse_filters",
]
