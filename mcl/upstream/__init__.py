"""Servers of others that a person let in, and the connections to them: started when needed, kept to limits,
restarted when they die.

It builds on the executor and on mcl's core. What the servers' tools mean, and who approved them, the catalog
above it knows.
"""

from mcl.upstream.answers import KINDS, Kind, Result
from mcl.upstream.upstream import OnListing, Status
from mcl.upstream.upstreams import Upstreams

__all__ = ["KINDS", "Kind", "OnListing", "Result", "Status", "Upstreams"]
