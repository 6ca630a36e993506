"""Making the maps of a workspace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from executor.sandbox.paths import Workspace
from mcl.review.maps.maps import Maps


def build(
    workspace: Workspace,
    *,
    cache: Path | None = None,
    reviews: Mapping[str, str] | None = None,
    progress: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> Maps:
    """Look at every source file of a workspace; nothing is written there.

    Args:
        cache: a folder (of the home) in which what was read is kept, so that only what changed is read again.
        reviews: when files were reviewed last, ISO 8601 UTC by path.
        progress: is told what is being done, how many files are done, and of how many.

    Raises:
        ScopeError: the workspace may not be opened.
    """
    return Maps({})
