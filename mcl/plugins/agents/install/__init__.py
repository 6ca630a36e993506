"""`mcl mcp install`: how other programs are told to use mcl as a server."""

from mcl.plugins.agents.install.changes import ConfigChange, change_of, write
from mcl.plugins.agents.install.hosts import HOSTS, Host, HostEntry, entry_for, host_named

__all__ = ["HOSTS", "ConfigChange", "Host", "HostEntry", "change_of", "entry_for", "host_named", "write"]
