"""A run that is killed while it carries several files, and goes on: nothing is lost, doubled or half written,
and one undo takes all of it back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from walks import Walks, tool

from executor import Home
from executor.walker.undo.undo import undo

TESTS = Path(__file__).parents[1]
SCRIPT = """
import os, signal, sys
from pathlib import Path
from executor import Home
from executor.sandbox import writing
from mcl.plugins.files import transfer
from walks import Walks
home, work, intent, at, done = sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), 0
def dying(module, name):
    real = getattr(module, name)
    def step(*given, **more):
        global done
        done += 1
        if done == at:
            os.kill(os.getpid(), signal.SIGKILL)
        found = real(*given, **more)
        done += 1
        if done == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return found
    setattr(module, name, step)
dying(transfer, "_rename")
dying(transfer, "put_new")
with Home.open(Path(home)) as opened:
    outcome = Walks(opened, work).run(intent)
    assert outcome.failure is None, outcome.failure
"""
NAMES = [f"IMG_2024{month:02}17_{number}.jpg" for month in (3, 5) for number in range(3)]
CALLS: Mapping[str, dict[str, Any]] = {
    "move": {"paths": ["in"], "glob": "*.jpg", "to": "out"},
    "copy": {"paths": ["in"], "to": "out"},
    "arrange": {"path": "in", "by": "month"},
}


def contents(folder: Path) -> dict[str, bytes]:
    found = (one for one in folder.rglob("*") if one.is_file())
    return {str(one.relative_to(folder)): one.read_bytes() for one in found}


def carried(folder: Path, name: str, kill_at: int) -> bool:
    """Run it, kill it at this step, go on, and take it back. False where it came to its end unkilled."""
    work = folder / "work"
    (work / "in").mkdir(parents=True)
    for one in NAMES:
        (work / "in" / one).write_bytes(one.encode() * 1000)
    before = contents(work)
    with Home.open(folder / "home") as home:
        walks = Walks(home, work)
        args = {key: one if isinstance(one, str) else json.dumps(one) for key, one in CALLS[name].items()}
        intent = walks.accept(tool("n1", f"fs/{name}", "write", **args), verb="modify")
        ended = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(home.path), str(work), intent, str(kill_at)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)])},
            capture_output=True,
            text=True,
        )
        assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
        killed = ended.returncode != 0
        if killed:
            assert set(before.values()) <= set(contents(work).values())
            outcome = walks.run(intent, resume=True)
            assert outcome.failure is None, outcome.failure
        after = contents(work)
        assert sorted(set(after.values())) == sorted(before.values())
        assert len(after) == len(before) * (2 if name == "copy" else 1)
        assert undo(home, intent).state == "undone"
        assert contents(work) == before
        assert [one.name for one in work.iterdir()] == ["in"]
        assert home.journal.verify().ok
    return killed


@pytest.mark.parametrize(("name", "kill_at"), [("move", 6), ("arrange", 7), ("copy", 8)])
def test_a_run_that_is_killed_between_two_files_goes_on_with_the_rest(
    tmp_path: Path, name: str, kill_at: int
) -> None:
    assert carried(tmp_path, name, kill_at)


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_it_may_be_killed_at_any_step(tmp_path: Path, name: str) -> None:
    steps = 0
    while carried(tmp_path / f"{steps}", name, steps + 1):
        steps += 1
    assert steps == 2 * len(NAMES)
