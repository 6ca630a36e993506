"""Engines: in which order, and how many at once, the nodes of a plan have their turn."""

from executor.walker.engine.local import LocalEngine
from executor.walker.engine.protocol import Again, Engine, Failure, Turn, Work

__all__ = ["Again", "Engine", "Failure", "LocalEngine", "Turn", "Work"]
