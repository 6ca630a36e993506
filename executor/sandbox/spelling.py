"""Paths by their text alone: what is no plain path of a folder, and no secret, is refused before a look."""

from __future__ import annotations

from executor.core.errors import ScopeError
from executor.sandbox.files import out_of_scope
from executor.sandbox.protected import is_protected

MAX_PATH = 4096  # bytes, as PATH_MAX
MAX_COMPONENT = 255  # bytes, as NAME_MAX


def components(path: str, *, absolute: bool = False) -> tuple[str, ...]:
    """The components of a path by its text alone; one that may be ``absolute`` loses its first slash.

    Raises ScopeError as ``Workspace.split``.
    """
    if len(path.encode("utf-8", "replace")) > MAX_PATH:
        out_of_scope(path[:60] + "…", "the path is longer than 4,096 bytes")
    if any(ord(char) < 32 or ord(char) == 127 or 0xD800 <= ord(char) <= 0xDFFF for char in path):
        out_of_scope(path, "the path holds a control character or is no valid text")
    if not absolute and (path.startswith(("/", "~/")) or path == "~"):
        out_of_scope(path, "the path is not relative to the workspace")
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if ".." in parts:
        out_of_scope(path, "the path goes up with '..'")
    if any(len(part.encode()) > MAX_COMPONENT for part in parts):
        out_of_scope(path[:60] + "…", "a component of the path is longer than 255 bytes")
    if is_protected(parts):
        raise ScopeError(
            "PROTECTED_PATH",
            f"{path!r} is a protected path (secrets, keys, .git, …)",
            place=path,
            fix="leave secret files alone; no grant opens them",
        )
    return parts
