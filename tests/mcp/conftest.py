"""What the tests of MCP share.

- ``home``, ``workspace``, ``environment``: an open home; a folder to work in; all that child processes see.
- ``peers``: the honest servers in ``peers/``: ``peers.command("plain")``, or ``peers.http("plain")``.
- ``desk``: the same home from outside, as a person and an agent have it: ``desk("server", "list")`` runs mcl
  as a process, ``async with desk.client(mode="legacy") as client`` talks to `mcl mcp serve`.

Both kinds, and ``talk`` that runs a conversation, lie in ``desks.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from desks import Desk, Peers, surroundings

from executor import Home
from mcl.core.home import open_home


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    """An open home with its first grants."""
    with open_home(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """All that a child process may see: its home lies in the test's folder, and no proxy is named."""
    return surroundings(tmp_path)


@pytest.fixture
def peers(tmp_path: Path, environment: dict[str, str]) -> Peers:
    return Peers(tmp_path, environment)


@pytest.fixture
def desk(tmp_path: Path, workspace: Path, environment: dict[str, str]) -> Desk:
    return Desk(tmp_path / "home", workspace, environment)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """For servers that live as long as the test."""
    with ExitStack() as opened:
        yield opened
