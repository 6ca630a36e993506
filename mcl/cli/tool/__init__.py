"""`mcl tool`: what can be done, and one thing done."""

from mcl.cli.tool.commands import register

__all__ = ["register"]
