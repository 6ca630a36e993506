"""Fixtures that every test folder may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no failure: property tests run without a clock.
settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with public vectors and data beside the checkout; tests that need it skip without it."""
    place = Path(os.environ.get("MCL_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if not place.is_dir():
        pytest.skip(f"no vectors here: {place} does not exist (set MCL_SHARED)")
    return place
