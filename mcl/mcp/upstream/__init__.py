"""Connections to other servers: started when needed, kept to limits, restarted when they die."""

from mcl.mcp.upstream.upstreams import KINDS, Kind, OnListing, Result, Status, Upstreams

__all__ = ["KINDS", "Kind", "OnListing", "Result", "Status", "Upstreams"]
