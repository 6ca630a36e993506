"""`mcl review next`: what to review first."""

from contextlib import closing
from functools import partial
from pathlib import Path

from executor.gate.workspaces import workspace_of
from executor.store.home import Home
from mcl.core.awaiting import at_once
from mcl.core.home import open_home
from mcl.plugins.review.maps.building import Progress, survey
from mcl.plugins.review.maps.order import DueFile, due
from mcl.plugins.review.maps.ownership import uncommitted
from mcl.plugins.review.maps.reviewed import reviews_of


def next_reviews(
    *,
    workspace: Path | None = None,
    progress: Progress = lambda what, done, total: None,
    home: Home | None = None,
) -> tuple[DueFile, ...]:
    """The files of a workspace (default: the current folder) that changed since their last review, those
    first that matter most. Nothing is written there, and maps need not have been made.

    Raises:
        ScopeError: the folder may not be opened.
    """
    home = home or open_home()
    with closing(workspace_of(home, workspace or Path.cwd())) as opened:
        seen = at_once(partial(survey, opened, cache=home.path / "cache", progress=progress))
        dirty = at_once(partial(uncommitted, opened))
        return due(seen, reviews_of(home, opened.root), dirty)
