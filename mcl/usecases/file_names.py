"""The names of what is in a workspace, for goals that speak of files in words."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from executor.core.errors import ScopeError
from executor.sandbox.paths import Workspace
from mcl.compiler.stages.clauses import Clauses
from mcl.compiler.stages.file_names import SKIPPED, FileNames, NamedFile
from mcl.compiler.stages.filled import Chooser, Filler
from mcl.compiler.stages.repeats import moments_read
from mcl.compiler.stages.request import GoalRequest
from mcl.language.skills import Skill
from mcl.plugins.hooks import plugins
from mcl.values.pdf_text import pdf_text

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
                data = os.read(descriptor, _MOST_READ)
                return pdf_text(data) or data.decode()
        except (ScopeError, OSError, UnicodeDecodeError):
            return ""
        finally:
            workspace.close()

    reads = cache(partial(_answering, folder, home))  # asked at each stage that may want one

    def moments(*goal: Any) -> tuple[str, Mapping[str, str]] | None:
        with closing(Workspace(folder, forbidden=[home])) as workspace:
            return moments_read(*goal, workspace)

    @cache
    def look() -> FileNames | None:
        try:
            workspace = Workspace(folder, forbidden=[home])
        except ScopeError:
            return None
        try:
            entries = _names(workspace)
            return (
                FileNames(entries, text, reads, moments, _filler, _chooser) if entries is not None else None
            )
        except ScopeError:
            return None
        finally:
            workspace.close()

    return look


def _names(workspace: Workspace) -> tuple[NamedFile, ...] | None:
    entries: list[NamedFile] = []
    for entry in workspace.walk(".", check=lambda: None, skip=SKIPPED.__contains__):
        if entry.kind in ("file", "folder") and not entry.path.rpartition("/")[2].startswith("."):
            entries.append(NamedFile(entry.path, entry.kind == "folder", entry.modified))
        if len(entries) > _MOST:
            return None
    return tuple(entries)


def _answering(folder: Path, home: Path, prose: str, at: str, files: Sequence[str]) -> tuple[str, ...]:
    """The files that answer a goal, by what plug-ins read in them."""
    found: list[str] = []
    with closing(Workspace(folder, forbidden=[home])) as workspace:
        for plugin in plugins():
            if plugin.answers:
                found += plugin.load_named(plugin.answers)(prose, at, workspace, files)
    return tuple(found)


def _filler(skill: str) -> Filler | None:
    """What reads inputs of a skill in files, of several the first that finds some; None for none."""
    found = [plugin.load_named(plugin.fills[skill]) for plugin in plugins() if skill in plugin.fills]
    return (lambda *goal: next(filter(None, (one(*goal) for one in found)), ())) if found else None


def _chooser(request: GoalRequest, skill: Skill, clauses: Clauses) -> Chooser | None:
    """What reads which of the files here a goal means; None where nothing does."""
    for plugin in plugins():
        if plugin.chooses:
            chooser: Chooser = plugin.load_named(plugin.chooses)(request, skill, clauses)
            return chooser
    return None
