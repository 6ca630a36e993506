"""What was called over MCP: kept in the journal, listed, filtered, counted, exported, watched."""

from mcl.catalog.activity.entry import KIND, OPERATIONS, SENSITIVITIES, VERDICTS, Entry
from mcl.catalog.activity.filters import NAMES, Filters, bad_filter, parse_filters
from mcl.catalog.activity.keeping import Activity, Kept
from mcl.catalog.activity.reading import ActivityPage, Flaw, Reader
from mcl.catalog.activity.record import CallRecord

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
