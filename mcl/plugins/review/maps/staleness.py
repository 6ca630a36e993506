"""In what the maps differ from the workspace as it is."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from anyio import from_thread, to_thread

from executor.sandbox.paths import Workspace
from mcl.core.loops import at_once
from mcl.plugins.review.maps.cache import MapCache
from mcl.plugins.review.maps.files import listed, read_all
from mcl.plugins.review.maps.maps import Maps, Stale
from mcl.plugins.review.maps.ownership import head_of


def stale(workspace: Workspace, maps: Maps, *, cache: Path | None = None) -> tuple[Stale, ...]:
    """Where the maps are old: HEAD moved, files that changed, are new, or are gone; () where nothing is.

    cache: as for `build`; without it every file is read.

    Raises:
        ScopeError: the workspace may not be opened.
    """
    return at_once(partial(staleness, workspace, maps, cache=cache))


async def staleness(workspace: Workspace, maps: Maps, *, cache: Path | None = None) -> tuple[Stale, ...]:
    """The same, inside of an event loop."""
    found: list[Stale] = []
    head = await head_of(workspace)
    now = head[0] if head else ""
    if now != maps.head:
        found.append(Stale("", f"the last commit is {_short(now)}, and was {_short(maps.head)}"))
    paths = await listed(workspace)
    kept = await to_thread.run_sync(MapCache, cache, workspace.root)

    def told(done: int) -> None:
        from_thread.check_cancelled()

    read = await to_thread.run_sync(read_all, workspace, paths, kept.get, told)
    for path in sorted(maps.files.keys() | read.files.keys()):
        was, is_now = maps.files.get(path), read.files.get(path)
        if was is None:
            found.append(Stale(path, "new"))
        elif is_now is None:
            found.append(Stale(path, "gone"))
        elif (was.sha256, was.size) != (is_now.sha256, is_now.size):
            found.append(Stale(path, "changed"))
    return tuple(found)


def _short(commit: str) -> str:
    return commit[:12] or "none"
