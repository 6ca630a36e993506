"""Patterns of paths: reading them, what they fit, and whether two of them meet."""

from executor.errors import GlobError
from executor.globs.glob import Glob
from executor.globs.scope import Meeting, Scope

__all__ = ["Glob", "GlobError", "Meeting", "Scope"]
