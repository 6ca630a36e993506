"""What maps may cost: 2,000 files of real source with a history, as whole processes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.maps import COLD_S, MCL, WARM_S, repository, seconds

BUILD = [str(MCL), "review", "context", "build", "--yes", "--json"]


@pytest.mark.slow
def test_two_thousand_files_take_twenty_seconds_at_most_and_two_when_nothing_changed(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    repository(folder, 2000, 300)
    environment = {**os.environ, "MCL_HOME": str(tmp_path / "home")}

    # The processor's time: what others do on this machine says nothing of the maps.
    assert seconds(BUILD, folder, environment)[1] < COLD_S
    first = {path: path.read_bytes() for path in (folder / "generated/architecture").iterdir()}
    assert len(first) == 3
    assert seconds(BUILD, folder, environment)[1] < WARM_S
    assert seconds([*BUILD[:3], "status"], folder, environment)[1] < WARM_S
    assert {path: path.read_bytes() for path in first} == first
