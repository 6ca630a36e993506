"""`mcl cortex`: memories."""

from mcl.cli.cortex.commands import register

__all__ = ["register"]
