"""Processes that die, processes that write together: no half memory, and tree and journal agree."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from executor import Home
from mcl.memory import MemoryStore
from mcl.plugins.memories import memories
from mcl.plugins.memories.verification import verify_home

IMPORTER = """
import json, sys
from pathlib import Path
from mcl.plugins.memories import memories
from mcl.core.home import open_home
def told(done, whole):
    if done % 100 == 0:
        print(done, flush=True)
lines = (json.dumps({"type": "Fact", "text": f"fact {n}", "id": f"{sys.argv[2]}{n}"}).encode()
         for n in range(int(sys.argv[3])))
memories.add_lines(lines, home=open_home(Path(sys.argv[1])), progress=told)
"""
WRITER = """
import sys
from pathlib import Path
from mcl.plugins.memories import memories
from mcl.core.home import open_home
home = open_home(Path(sys.argv[1]))
for n in range(int(sys.argv[3])):
    memories.add("Fact", f"{sys.argv[2]} says {n}", id="shared", home=home)
    memories.add("Fact", f"own {n}", id=f"{sys.argv[2]}{n}", home=home)
    if n % 5 == 4:
        memories.remove(f"matrix://cortex/Fact/{sys.argv[2]}{n}", home=home)
"""


def child(script: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
@pytest.mark.parametrize("after", [100, 700])
def test_an_import_that_is_killed_leaves_nothing_and_is_done_again(tmp_path: Path, after: int) -> None:
    path = tmp_path / "home"
    with Home.open(path) as home:
        MemoryStore(home).put("Fact", "before", id="before")
    doomed = child(IMPORTER, path, "a", 100_000)
    assert doomed.stdout
    for line in doomed.stdout:
        if int(line) >= after:
            break
    doomed.kill()
    doomed.wait()
    doomed.stdout.close()
    lines = [f'{{"type":"Fact","text":"fact {n}","id":"a{n}"}}'.encode() for n in range(150)]
    with Home.open(path) as home:
        assert MemoryStore(home).snapshot().size == 1
        assert verify_home(home).flaws == []
        assert home.journal.verify().findings == []
        assert memories.add_lines(lines, home=home).written == 150
        again = memories.add_lines(lines, home=home)
        assert (again.written, again.unchanged, again.size) == (0, 150, 151)
        assert verify_home(home).flaws == []


def test_two_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "home"
    Home.open(path).close()
    writers = [child(WRITER, path, name, 15) for name in ("a", "b")]
    for writer in writers:
        writer.communicate(timeout=120)
        assert writer.returncode == 0
    with Home.open(path) as home:
        cortex = MemoryStore(home)
        assert cortex.snapshot().size == 2 * (15 * 2 + 3)
        history = cortex.memories().history("matrix://cortex/Fact/shared")
        assert [one.version for one in history] == list(range(1, 31))
        assert verify_home(home).flaws == []
        assert home.journal.verify().findings == []


def test_a_reader_beside_an_import_sees_all_of_it_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "home"
    Home.open(path).close()
    with Home.open(path) as home:
        cortex = MemoryStore(home)
        writer = child(IMPORTER, path, "a", 600)
        seen = set()
        while writer.poll() is None:
            seen.add(cortex.snapshot().size)
            time.sleep(0.05)
        seen.add(cortex.snapshot().size)
        assert writer.stdout
        writer.stdout.close()
        assert seen <= {0, 600}
        assert cortex.snapshot().size == 600
