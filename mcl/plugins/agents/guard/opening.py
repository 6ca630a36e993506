"""A governed folder, opened so that nothing outside it can be reached."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from executor.sandbox.paths import Workspace
from executor.store.home import Home


@contextmanager
def opened(root: Path, home: Home) -> Iterator[Workspace]:
    """The folder as a workspace to which the home is closed. Raises ScopeError."""
    workspace = Workspace(root, forbidden=[home.path])
    try:
        yield workspace
    finally:
        workspace.close()
