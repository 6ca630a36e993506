"""Processes that die, processes that write together: nothing told is lost, nothing is half there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from executor import Home

WRITER = """
import sys
from pathlib import Path
from executor import Home
home = Home.open(Path(sys.argv[1]))
for number in range(int(sys.argv[2])):
    print(home.journal.record("record.note", {"writer": sys.argv[3], "number": number}).id, flush=True)
"""


def writer(path: Path, count: int, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), str(count), name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("survived", [1, 7, 40])
def test_a_writer_killed_in_the_middle_leaves_a_journal_that_verifies_and_goes_on(
    tmp_path: Path, survived: int
) -> None:
    Home.open(tmp_path / "home").close()
    child = writer(tmp_path / "home", 1_000_000, "doomed")
    assert child.stdout
    acknowledged = [child.stdout.readline().strip() for _ in range(survived)]
    child.kill()
    acknowledged += child.stdout.read().split("\n")[:-1]
    child.wait()
    child.stdout.close()
    with Home.open(tmp_path / "home") as home:
        report = home.journal.verify()
        assert report.findings == []
        stored = [row.id for row in home.journal.rows()]
        assert stored[: len(acknowledged)] == acknowledged
        assert len(stored) <= len(acknowledged) + 1  # the last one may have been stored and not yet told
        home.journal.record("record.note", {})
        assert home.journal.verify().ok


def test_four_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    Home.open(tmp_path / "home").close()
    children = [writer(tmp_path / "home", 25, f"w{number}") for number in range(4)]
    told = {child.communicate(timeout=120)[0] for child in children}
    assert [child.returncode for child in children] == [0] * 4
    ids = {line for out in told for line in out.split()}
    with Home.open(tmp_path / "home") as home:
        assert {row.id for row in home.journal.rows()} == ids
        assert home.journal.size() == len(ids) == 100
        assert home.journal.verify().findings == []
