"""`mcl activity`: what was called over MCP."""

from mcl.cli.activity.commands import register

__all__ = ["register"]
