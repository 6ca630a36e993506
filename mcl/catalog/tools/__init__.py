"""The tools of this build: those of the executor, and those that need what only mcl has."""

from mcl.catalog.tools.registry import registry

__all__ = ["registry"]
