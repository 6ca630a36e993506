"""Patterns of paths: reading them, what they fit, and whether two of them meet."""

from executor.core.errors import GlobError
from executor.core.globs.glob import Glob, Meeting, Scope, anywhere, fits_name

__all__ = ["Glob", "GlobError", "Meeting", "Scope", "anywhere", "fits_name"]
