"""Making the maps of a workspace: its files read, its log read, put together."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import anyio
from anyio import from_thread, to_thread

from executor.sandbox.paths import Workspace
from mcl.core.loops import at_once
from mcl.plugins.review.maps.cache import MapCache
from mcl.plugins.review.maps.files import Source, Sources, listed, read_all
from mcl.plugins.review.maps.imports import Importing, importers
from mcl.plugins.review.maps.maps import MOMENT, Mapped, Maps
from mcl.plugins.review.maps.ownership import Changes, Log, read_log
from mcl.plugins.review.maps.roles import rules

Progress = Callable[[str, int, int], None]
Answer = TypeVar("Answer")
READING: Final = "reading files"
_TEST: Final = "test"
_CUT: Final = "symbols of files with very many, or above 1 MiB of text"


@dataclass(frozen=True)
class Survey:
    """A workspace, looked at: its files and its log, from which the maps follow."""

    sources: Sources
    log: Log

    def maps(self, reviews: Mapping[str, str] | None = None) -> Maps:
        """The maps. reviews: when files were reviewed last, ISO 8601 UTC by path."""
        files = self.sources.files
        asked = rules()

        def counts(path: str) -> bool:
            one = files[path]
            return asked.of(path, one.language, one.shown.marks, 0).role != _TEST

        imported = importers(
            {
                path: Importing(one.language, one.shown.imports, one.shown.provides)
                for path, one in files.items()
            },
            counts,
        )
        owned = self.log.of(files)
        reviewed = reviews or {}
        mapped = {
            path: _mapped(path, one, imported[path], owned.get(path), reviewed.get(path, ""))
            for path, one in sorted(files.items())
        }
        left_out = dict(self.sources.left_out)
        if cut := sum(one.shown.cut for one in files.values()):
            left_out[_CUT] = cut
        return Maps(mapped, self.log.head, tree_of(files), self.log.history, left_out)


def build(
    workspace: Workspace,
    *,
    cache: Path | None = None,
    reviews: Mapping[str, str] | None = None,
    progress: Progress = lambda what, done, total: None,
) -> Maps:
    """Look at every source file of a workspace; nothing is written there.

    Args:
        cache: a folder (of the home) in which what was read is kept, so that only what changed is read again.
        reviews: when files were reviewed last, ISO 8601 UTC by path.
        progress: is told what is being done, how many files are done, and of how many.

    Raises:
        ScopeError: the workspace may not be opened.
    """
    return at_once(partial(survey, workspace, cache=cache, progress=progress)).maps(reviews)


async def survey(
    workspace: Workspace,
    *,
    cache: Path | None = None,
    progress: Progress = lambda what, done, total: None,
) -> Survey:
    """Look at a workspace. The arguments are those of `build`."""
    paths = await listed(workspace)
    kept = await to_thread.run_sync(MapCache, cache, workspace.root)
    logs: list[Log] = []

    async def ask_git() -> None:
        logs.append(await read_log(workspace, kept.log))

    def told(done: int) -> None:
        from_thread.check_cancelled()
        if done % 50 == 0:
            progress(READING, done, len(paths))

    async with anyio.create_task_group() as both:  # git walks its log while files are read
        both.start_soon(ask_git)
        found = await to_thread.run_sync(read_all, workspace, paths, kept.get, told)
    await to_thread.run_sync(kept.keep, found.files, logs[0])
    return Survey(found, logs[0])


def tree_of(files: Mapping[str, Source]) -> str:
    """One hash over the paths and contents of these files."""
    total = hashlib.sha256()
    for path in sorted(files):
        total.update(f"{path}\0{files[path].size}\0{files[path].sha256}\n".encode())
    return total.hexdigest()


def _mapped(path: str, one: Source, imported: int, changes: Changes | None, reviewed: str) -> Mapped:
    rule = rules().of(path, one.language, one.shown.marks, imported)
    return Mapped(
        path,
        sha256=one.sha256,
        size=one.size,
        lines=one.lines,
        language=one.language,
        read=one.shown.read,
        symbols=one.shown.symbols,
        rule=rule.id,
        role=rule.role,
        importers=imported,
        author=changes.author if changes else "",
        changes=changes.count if changes else 0,
        modified=changes.modified if changes else "",
        reviewed=reviewed if MOMENT.match(reviewed) else "",
    )
