"""Connections to other servers: started when needed, kept to limits, restarted when they die."""

from mcl.catalog.upstream.answers import KINDS, Kind, Result
from mcl.catalog.upstream.upstream import OnListing, Status
from mcl.catalog.upstream.upstreams import Upstreams

__all__ = ["KINDS", "Kind", "OnListing", "Result", "Status", "Upstreams"]
