"""A home and its memories."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from executor import FixedClock, Home
from mcl.memory import MemoryStore

AT = "2026-11-21T10:00:00.000Z"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with Home.open(tmp_path / "home", clock=FixedClock(AT)) as opened:
        yield opened


@pytest.fixture
def cortex(home: Home) -> MemoryStore:
    return MemoryStore(home)
