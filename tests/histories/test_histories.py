"""Homes that earlier versions wrote: this version opens, migrates, verifies and replays them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

import mcl
from executor import Home
from executor.core.clock import FixedClock
from executor.gate.approvals import Approvals
from executor.gate.grants import Grants
from mcl.core.home import open_home
from mcl.memory import MemoryStore
from mcl.plugins.checking.replay import replay
from mcl.plugins.memories.verification import verify_home

HERE = Path(__file__).parent
FORMATS = sorted(one.name for one in HERE.iterdir() if (one / "place.tar.xz").is_file())


@pytest.fixture(scope="module", params=FORMATS)
def unpacked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a format, as it was written."""
    place = tmp_path_factory.mktemp("history")
    with tarfile.open(HERE / request.param / "place.tar.xz") as archive:
        archive.extractall(place, filter="tar")
    shutil.copy(HERE / request.param / "expected.json", place)
    return place


@pytest.fixture
def place(unpacked: Path, tmp_path: Path) -> Path:
    """A copy of the test's own."""
    shutil.copytree(unpacked, tmp_path / "place", symlinks=True)
    return tmp_path / "place"


@pytest.fixture
def expected(unpacked: Path) -> dict[str, Any]:
    """What the version that wrote it said of it."""
    said: dict[str, Any] = json.loads((unpacked / "expected.json").read_text())
    return said


@pytest.fixture
def home(place: Path) -> Home:
    return open_home(place / "home")


def test_every_row_is_there_and_verifies(home: Home, expected: dict[str, Any]) -> None:
    report = home.journal.verify()
    assert report.findings == []
    rows = home.journal.rows()
    kinds: dict[str, int] = {}
    for row in rows[: expected["rows"]]:
        home.journal.open(row.wire)
        kinds[row.kind] = kinds.get(row.kind, 0) + 1
    assert kinds == expected["kinds"]
    assert home.journal.prove(1, size=expected["rows"]).holds(bytes.fromhex(expected["root"]))


def test_a_second_open_changes_nothing_more(home: Home, place: Path) -> None:
    size = home.journal.size()
    home.close()
    with open_home(place / "home") as again:
        assert again.journal.size() == size
        assert again.journal.verify().ok


def test_states_are_what_they_were(home: Home, expected: dict[str, Any]) -> None:
    assert {id: home.journal.view(id).state for id in expected["states"]} == expected["states"]


def test_what_was_granted_and_used_up_still_counts(home: Home, expected: dict[str, Any]) -> None:
    told = subprocess.run(
        [sys.executable, "-m", "mcl", "grant", "list", "--json"],
        env={**os.environ, "MCL_HOME": str(home.path)},
        capture_output=True,
        check=True,
    )
    now = {**json.loads(told.stdout), "used": expected["grants"]["used"]}  # counted over a day that is over
    assert now == expected["grants"]
    home.clock = FixedClock(now["grants"][-1]["since"])
    then = Grants(home)
    assert {name: then.used(now["agent"], name) for name in now["used"]} == now["used"]
    approvals = Approvals(home)
    assert all(approvals.used(gate) for gate in expected["approvals_used"])


def test_memories_are_those_that_were(home: Home, expected: dict[str, Any]) -> None:
    snapshot = MemoryStore(home).snapshot()
    assert (snapshot.root, snapshot.size) == (expected["cortex"]["root"], expected["cortex"]["size"])
    assert verify_home(home).ok
    assert [one.uri for one in mcl.memories.list(home=home)] == expected["memories"]


def test_what_was_compiled_compiles_to_the_same_bytes(home: Home, expected: dict[str, Any]) -> None:
    """Where the skill, the model and the grammar are those of then; else what is gone is named."""
    for id in expected["replayed"]:
        told = replay(id, home=home)
        verdicts = {item.name: item.verdict for item in told.items}
        assert [verdicts[name] for name in ("signature", "hash", "seed")] == ["same"] * 3
        parts = [verdicts[name] for name in ("skill", "model", "grammar")]
        assert told.same or parts != ["same"] * 3, told.items


def test_the_home_goes_on(home: Home, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place / "work")
    monkeypatch.setenv("MCL_HOME", str(home.path))
    made = mcl.compile_goal("list the last 5 commits", skill="repo-status", home=home)
    assert isinstance(made, mcl.Compiled)
    mcl.cancel(made.intent.id, home=home)
    assert home.journal.view(made.intent.id).state == "cancelled"
    assert home.journal.verify().ok
