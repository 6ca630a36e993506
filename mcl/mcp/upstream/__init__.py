"""Connections to other servers: started when needed, kept to limits, restarted when they die."""

from mcl.mcp.upstream.answers import Result
from mcl.mcp.upstream.listing import KINDS, Kind
from mcl.mcp.upstream.upstream import OnListing, Status
from mcl.mcp.upstream.upstreams import Upstreams

__all__ = ["KINDS", "Kind", "OnListing", "Result", "Status", "Upstreams"]
