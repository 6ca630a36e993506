"""`mcl intents`: what coding agents may work on, and who does."""

from mcl.plugins.agents.cli.commands import register

__all__ = ["register"]
