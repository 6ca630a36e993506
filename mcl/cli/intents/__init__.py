"""`mcl intents`: what coding agents may work on, and who does."""

from mcl.cli.intents.commands import register

__all__ = ["register"]
