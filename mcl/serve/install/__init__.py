"""`mcl mcp install`: how other programs are told to use mcl as a server."""

from mcl.serve.install.entry import Entry, entry_for
from mcl.serve.install.hosts import HOSTS, Host, host_named
from mcl.serve.install.writing import Change, change_of, write

__all__ = ["HOSTS", "Change", "Entry", "Host", "change_of", "entry_for", "host_named", "write"]
