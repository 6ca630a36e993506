"""What was called over MCP: written to the journal, listed, filtered, counted, exported, watched."""

from mcl.catalog.activity.index import ActivityFlaw, ActivityPage, Reader
from mcl.catalog.activity.record import (
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
from mcl.catalog.activity.writer import Activity, ActivityRow

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
