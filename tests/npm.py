"""What npm brings to the tests, into the venv: `make test` installs it, where npm is."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

PACKAGES = Path(sys.executable).parents[1] / "npm" / "node_modules"


def npm_package(name: str) -> Path:
    """The folder of one of npm's packages, with a node to run it; skips where there is none."""
    place = PACKAGES / name
    if shutil.which("node") is None or not place.is_dir():
        pytest.skip(f"npm: no node here that has {name}")
    return place
