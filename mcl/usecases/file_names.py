"""The names of what is in a workspace, for goals that speak of files in words."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

from executor.core.errors import ScopeError
from executor.sandbox.paths import Workspace
from mcl.compiler.stages.file_names import SKIPPED, FileNames, NamedFile

_MOST_READ: Final = 1 << 20  # bytes of a file
_MOST: Final = 20_000  # in a larger folder words for files are taken as they are


def names_of(folder: Path, home: Path) -> Callable[[], FileNames | None]:
    """Gives the names in a folder and those in it, which are looked up once; None where there are too many,
    or it is no workspace."""

    @cache
    def text(path: str) -> str:
        workspace = Workspace(folder, forbidden=[home])
        try:
            with workspace.open_file(path) as descriptor:
                return os.read(descriptor, _MOST_READ).decode()
        except (ScopeError, OSError, UnicodeDecodeError):
            return ""
        finally:
            workspace.close()

    @cache
    def look() -> FileNames | None:
        try:
            workspace = Workspace(folder, forbidden=[home])
        except ScopeError:
            return None
        try:
            return _names(workspace, text)
        except ScopeError:
            return None
        finally:
            workspace.close()

    return look


def _names(workspace: Workspace, text: Callable[[str], str]) -> FileNames | None:
    entries: list[NamedFile] = []
    for entry in workspace.walk(".", check=lambda: None, skip=SKIPPED.__contains__):
        if entry.kind in ("file", "folder") and not entry.path.rpartition("/")[2].startswith("."):
            entries.append(NamedFile(entry.path, entry.kind == "folder", entry.modified))
        if len(entries) > _MOST:
            return None
    return FileNames(tuple(entries), text)
