"""Fixtures that every test folder may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no failure: property tests run without a clock. On CI they try the same examples each
# time, so that a change is judged by what it does; everywhere else they look further each time.
settings.register_profile(
    "no clock",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=os.environ.get("CI") == "true",
)
settings.load_profile("no clock")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with public vectors and data beside the checkout; tests that need it skip without it."""
    place = Path(os.environ.get("MCL_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if not place.is_dir():
        pytest.skip(f"no vectors here: {place} does not exist (set MCL_SHARED)")
    return place
