"""In which folders outside a workspace its history may lie: what a person granted, allowed or named."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from executor.core.errors import PolicyError
from executor.gate.grants import Grants
from executor.gate.roots import allowed_roots
from executor.sandbox.known import Known
from executor.sandbox.paths import Workspace
from executor.store.home import Home


def workspace_of(home: Home, root: Path) -> Workspace:
    """A folder to work in: the home is closed to it, and what the home knows is known. Raises ScopeError."""
    return Workspace(root, forbidden=[home.path], known=partial(known_to, home))


def known_to(home: Home) -> Known:
    """As things stand now. A folder of `Home.allowed` that cannot be opened to reading opens nothing."""
    granted = Grants(home).roots(home.keyring.agent.did)
    try:
        allowed = allowed_roots(home.allowed, home.path)
    except PolicyError:
        allowed = frozenset()
    return Known(tuple(sorted(granted | allowed)), home.repositories())
