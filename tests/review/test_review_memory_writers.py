"""Processes that write what reviews remember, all at once: nothing is lost, no id is given twice."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from executor import Home, Workspace
from mcl.plugins.memories.verification import verify_home
from mcl.plugins.review.memory.history import ReviewMemories

WRITER = """
import sys
from pathlib import Path
from executor.sandbox.paths import Workspace
from mcl.core.home import open_home
from mcl.plugins.review.finding import ReviewFinding
from mcl.plugins.review.memory.history import ReviewMemories
home, root, name, rounds = open_home(Path(sys.argv[1])), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4])
memories, workspace = ReviewMemories(home, root), Workspace(root, forbidden=(home.path,))
print("ready", flush=True)
sys.stdin.readline()
for n in range(rounds):
    shared = [ReviewFinding("RISK", "shared.py", 1, "the same for all")]
    memories.history.record("shared.py", findings=shared, mode="risk")
    own = [ReviewFinding("NOTE", f"{name}.py", n, "own")]
    memories.history.record(f"{name}.py", findings=own, mode="risk")
    memories.meanings.remember(f"{name} says {n}")
    for file, line in ((f"{name}.py", n), ("shared.py", n)):
        mark = memories.dismissals.maker.of_rule(file, "B1", str(line), 1)
        memories.dismissals.dismiss(ReviewFinding("RISK", file, line, "own", "B1", mark), f"{name} {n}")
    memories.decisions.decide(f"{name} decides {n}", decision="y", workspace=workspace)
    memories.decisions.decide("all decide this", decision="y", workspace=workspace)
    if n % 2:
        memories.decisions.forget(memories.decisions.decide(f"{name} forgets {n}", decision="y")[0].id)
"""


def together(folder: Path, *, writers: int, rounds: int, homes: int = 1) -> Path:
    """Let processes write at the same moment; the workspace they write in."""
    root = folder / "work"
    root.mkdir()
    for number in range(homes):
        Home.open(folder / f"home{number}").close()
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, folder / f"home{number % homes}", root, f"w{number}", str(rounds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(writers)
    ]
    for one in started:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in started:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    for one in started:
        one.communicate(timeout=240)
        assert one.returncode == 0
    return root


@pytest.mark.parametrize(("writers", "rounds"), [(2, 3), pytest.param(8, 25, marks=pytest.mark.slow)])
def test_processes_that_write_at_once_lose_nothing(tmp_path: Path, writers: int, rounds: int) -> None:
    root = together(tmp_path, writers=writers, rounds=rounds)
    with Home.open(tmp_path / "home0") as home:
        memories = ReviewMemories(home, root)
        shared = home.db.read("SELECT id, count(*) FROM memories WHERE type = 'Event' GROUP BY id")
        assert sorted(count for _, count in shared) == [rounds] * writers + [writers * rounds]
        for number in range(writers):
            told = memories.history.last(f"w{number}.py")
            assert [one.findings[0].line for one in told] == list(range(rounds))[::-1][:10]
        assert Counter(one.text for one in memories.meanings.all()) == Counter(
            f"w{number} says {n}" for number in range(writers) for n in range(rounds)
        )
        dismissed, mark = memories.dismissals.all(), memories.dismissals.maker.of_rule
        said = {(one.file, one.line): one for one in dismissed.values()}
        assert len(said) == len(dismissed) == (writers + 1) * rounds
        for (file, n), one in said.items():
            assert one.mark == mark(file, "B1", str(n), 1)  # all made them with the same secret
            assert file == "shared.py" or one.why == f"{file.removesuffix('.py')} {n}"
        decisions = memories.decisions.all()
        titles = [f"w{number} decides {n}" for number in range(writers) for n in range(rounds)]
        assert sorted(one.title for one in decisions) == sorted([*titles, "all decide this"])
        forgotten = writers * (rounds // 2)
        ids = home.db.read("SELECT id, max(version) FROM memories WHERE type = 'Constraint' GROUP BY id")
        assert len(ids) == len(titles) + 1 + forgotten
        assert Counter(version for _, version in ids) == {1: len(titles) + 1, 2: forgotten}
        numbers = sorted(int(id_.rpartition("-")[2]) for id_, _ in ids)
        assert numbers == list(range(1, len(ids) + 1))
        workspace = Workspace(root, forbidden=(home.path,))
        assert memories.decisions.compare(workspace) == ()
        assert len(list(root.rglob("ADR-*.md"))) == len(decisions)
        assert verify_home(home).flaws == []
        assert home.journal.verify().findings == []


@pytest.mark.slow
def test_two_homes_in_one_workspace_give_no_id_of_a_file_twice(tmp_path: Path) -> None:
    root = together(tmp_path, writers=4, rounds=6, homes=2)
    names = [one.name[:8] for one in root.rglob("ADR-*.md")]
    assert len(names) == len(set(names)) == 4 * 6 + 1  # what all decide is one file
