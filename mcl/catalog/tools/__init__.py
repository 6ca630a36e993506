"""The tools of this build: those of the executor, and those of plug-ins."""

from mcl.catalog.tools.registry import registry

__all__ = ["registry"]
