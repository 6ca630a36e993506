"""`mcl mcp install`: how other programs are told to use mcl as a server."""

from mcl.serve.install.changes import Change, change_of, write
from mcl.serve.install.hosts import HOSTS, Entry, Host, entry_for, host_named

__all__ = ["HOSTS", "Change", "Entry", "Host", "change_of", "entry_for", "host_named", "write"]
