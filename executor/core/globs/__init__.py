"""Patterns of paths: reading them, what they fit, and whether two of them meet."""

from executor.core.errors import GlobError
from executor.core.globs.glob import Glob
from executor.core.globs.scope import Meeting, Scope

__all__ = ["Glob", "GlobError", "Meeting", "Scope"]
