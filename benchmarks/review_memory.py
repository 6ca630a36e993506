"""Eight processes that write review memory at once, and how long a review waits for its context.

    python -m benchmarks.review_memory [--writers 8] [--rounds 25] [--files 2000] [--json]

Each process records `rounds` reviews of one file that all share, and as many decisions with their Markdown
files, each under the next free id. Beside it the same with one JSON file for reviews and one for decisions,
as simple tools keep them: read, changed, written to a file beside it, synced and put in place; once under a
lock (flock) and once without. Counted is what is there afterwards. `context` is what a review of one file is
told, among so many files with a review each, 200 decisions and 500 texts.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from benchmarks.timing import median_ms
from executor import FixedClock, Home, Workspace
from mcl.plugins.review.context import context_for
from mcl.plugins.review.finding import SEVERITIES, ReviewFinding
from mcl.plugins.review.memory.history import ReviewMemories

FOUND = [
    ReviewFinding(severity, "shared.py", 3, "something that is worth a look " * 3) for severity in SEVERITIES
]
WAYS = ("mcl", "json under a lock", "json without one")


def write(way: str, folder: Path, name: str, rounds: int) -> None:
    """What one process does."""
    print("ready", flush=True)
    sys.stdin.readline()
    if way == "mcl":
        with Home.open(folder / "home") as home:
            memories = ReviewMemories(home, folder / "work")
            workspace = Workspace(folder / "work", forbidden=(home.path,))
            for number in range(rounds):
                memories.history.record("shared.py", findings=FOUND, mode="risk")
                memories.decisions.decide(f"{name} {number}", decision="y", workspace=workspace)
        return
    for number in range(rounds):
        with locked(folder) if way == WAYS[1] else nullcontext():
            change(folder / "history.json", {"findings": [one.to_json() for one in FOUND]})
        with locked(folder) if way == WAYS[1] else nullcontext():
            id = change(folder / "decisions.json", {"title": f"{name} {number}"})
            (folder / f"{id}.md").write_text(f"# {id}: {name} {number}\n")


@contextmanager
def locked(folder: Path) -> Any:
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def change(path: Path, entry: dict[str, Any]) -> str:
    try:
        entries = json.loads(path.read_bytes())
    except FileNotFoundError:
        entries = []
    id = f"ADR-{len(entries) + 1:04d}"
    part = path.with_name(f"{path.name}.{os.getpid()}")
    with part.open("w") as file:
        json.dump([*entries, {**entry, "id": id}], file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    return id


def together(way: str, writers: int, rounds: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "work").mkdir()
        if way == "mcl":
            Home.open(folder / "home").close()
        command = [sys.executable, "-m", "benchmarks.review_memory", "--write", way, "--folder", name]
        started = [
            subprocess.Popen(
                [*command, "--name", f"w{number}", "--rounds", str(rounds)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for number in range(writers)
        ]
        for one in started:
            assert one.stdout is not None
            one.stdout.readline()
        begun = time.perf_counter()
        for one in started:
            assert one.stdin is not None
            one.stdin.write("go\n")
            one.stdin.flush()
        for one in started:
            one.communicate()
            if one.returncode:
                raise SystemExit(f"a writer failed: {way}")
        seconds = time.perf_counter() - begun
        reviews, decisions, files = kept(way, folder)
        wanted = writers * rounds
        return {
            "way": way,
            "writes": 2 * wanted,
            "seconds": round(seconds, 2),
            "per_second": round(2 * wanted / seconds),
            "reviews_lost": wanted - reviews,
            "decisions_lost": wanted - decisions,
            "files_lost": wanted - files,
        }


def kept(way: str, folder: Path) -> tuple[int, int, int]:
    """How many reviews and decisions are remembered, and how many files of decisions there are."""
    if way != "mcl":
        histories, decisions = (
            json.loads((folder / f"{one}.json").read_bytes()) for one in ("history", "decisions")
        )
        return len(histories), len(decisions), len(list(folder.glob("ADR-*.md")))
    with Home.open(folder / "home") as home:
        rows = home.db.read("SELECT count(*) FROM memories WHERE type = 'Event'")
        decided = ReviewMemories(home, folder / "work").decisions.all()
        return (
            int(rows[0][0]),
            len({one.id for one in decided}),
            len(list((folder / "work").rglob("ADR-*.md"))),
        )


def told(files: int) -> dict[str, object]:
    """How long it takes to be told the context of one file, among so many."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Home.open(folder / "home", clock=FixedClock("2026-11-22T10:00:00.000Z")) as home:
            memories = ReviewMemories(home, folder)
            begun = time.perf_counter()
            with home.db.write():
                for number in range(files):
                    memories.history.record(
                        f"src/room{number % 40}/file{number}.py", findings=FOUND, mode="risk"
                    )
                for number in range(200):
                    memories.decisions.decide(
                        f"d{number}", decision="y" * 400, files=[f"src/room{number % 40}/**"]
                    )
                for number in range(500):
                    memories.meanings.remember(
                        f"room{number % 40} does {number} things " + "with words " * 20
                    )
            filled = time.perf_counter() - begun
            asked = "src/room7/file7.py"
            return {
                "files": files,
                "fill_seconds": round(filled, 2),
                "context_ms": round(median_ms(lambda: context_for(memories, None, asked, "risk"), 9), 1),
                "context_characters": len(context_for(memories, None, asked, "risk").text),
                "last_ms": round(median_ms(lambda: memories.history.last(asked), 9), 2),
                "open_ms": round(median_ms(memories.history.open, 3), 1),
            }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--files", type=int, default=2_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", default="")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--name", default="")
    given = parser.parse_args()
    if given.write:
        write(given.write, given.folder, given.name, given.rounds)
        return
    result = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "load": round(os.getloadavg()[0], 1),
        "writing": [together(way, given.writers, given.rounds) for way in WAYS],
        "telling": told(given.files),
    }
    if given.json:
        print(json.dumps(result, indent=2))
        return
    print(f"{result['machine']}, load {result['load']}; {given.writers} writers")
    for one in result["writing"]:  # type: ignore[union-attr]
        print("  ".join(f"{name} {value}" for name, value in one.items()))  # type: ignore[union-attr]
    print("  ".join(f"{name} {value}" for name, value in result["telling"].items()))  # type: ignore[union-attr]


if __name__ == "__main__":
    main()
