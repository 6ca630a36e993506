"""A workspace with something worth stealing beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from walks import Walks

from executor import Home

SECRET = "the-secret-outside"


@pytest.fixture
def tmp_path(on_disk: Path) -> Path:
    """All that is attacked lies where nothing is refused for being in /dev."""
    return on_disk


@pytest.fixture
def walks(tmp_path: Path) -> Iterator[Walks]:
    (tmp_path / "work").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.txt").write_text(SECRET)
    with Home.open(tmp_path / "home") as home:
        yield Walks(home, tmp_path / "work")
