"""`mcl review drift`: what a repository says of itself and is not so any more."""

from functools import partial
from pathlib import Path

from executor.gate.workspaces import workspace_of
from executor.store.home import Home
from mcl.catalog.contracts import contracts_of
from mcl.catalog.tools import registry
from mcl.core.awaiting import at_once, outside_loop
from mcl.core.home import open_home
from mcl.plugins.review.drift.drift import DriftReport, find_drift
from mcl.plugins.review.drift.tree import Progress, look, quiet
from mcl.plugins.review.memory import ReviewMemories


def review_drift(
    workspace: Path | None = None, *, progress: Progress = quiet, home: Home | None = None
) -> DriftReport:
    """Look for drift in a repository (default: the current folder). Nothing is written, signed or run.

    progress: told how many of how many parts are done, and which is next.

    Raises:
        ScopeError: the folder may not be opened. ReviewError: TREE_TOO_LARGE. CortexError, HomeError.
    """
    outside_loop("review_drift", plugin=True)
    home = home or open_home()
    place = workspace_of(home, workspace or Path.cwd())
    try:
        tree = at_once(partial(look, place, home.clock))
        return find_drift(
            tree,
            contracts=contracts_of(registry()),
            memories=ReviewMemories(home, place.root),
            cache=home.path / "cache",
            progress=progress,
        )
    finally:
        place.close()
