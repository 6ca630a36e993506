"""What was called over MCP: written to the journal, listed, filtered, counted, exported, watched."""

from mcl.plugins.mcp.records.index import ActivityFlaw as ActivityFlaw
from mcl.plugins.mcp.records.index import ActivityPage as ActivityPage
from mcl.plugins.mcp.records.index import Reader as Reader
from mcl.plugins.mcp.records.record import KIND as KIND
from mcl.plugins.mcp.records.record import NAMES as NAMES
from mcl.plugins.mcp.records.record import OPERATIONS as OPERATIONS
from mcl.plugins.mcp.records.record import SENSITIVITIES as SENSITIVITIES
from mcl.plugins.mcp.records.record import VERDICTS as VERDICTS
from mcl.plugins.mcp.records.record import CallRecord as CallRecord
from mcl.plugins.mcp.records.record import Filters as Filters
from mcl.plugins.mcp.records.record import bad_filter as bad_filter
from mcl.plugins.mcp.records.record import parse_filters as parse_filters
from mcl.plugins.mcp.records.writer import Activity as Activity
from mcl.plugins.mcp.records.writer import ActivityRow as ActivityRow
