"""How long `mcl do` of a read takes, as a process of its own on a warm machine.

    python -m benchmarks.do [--runs 9] [--json]

Each run is compile, accept and run in one process. A goal that was read before asks no model; a new one loads
it. The floor is a Python that loads the same weights by llama.cpp and reads the same goal once. Figures are
medians, in ms; `processor` is what the process used of it, which a busy machine changes less. The rounds of
all alternate, so that what else the machine does meets each alike.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from executor.store.home import Home

ROOT: Final = Path(__file__).resolve().parents[1]
_GOAL: Final = "which files in notes mention {}"
_NOUNS: Final = (
    "plumber",
    "coffee",
    "milk",
    "insurance",
    "rent",
    "dentist",
    "train",
    "garden",
    "bicycle",
    "paper",
    "school",
)
_FLOOR: Final = """
import sys
from mcl.model.loader import bundled_path
from mcl.model.llama.embedding import EmbeddingContext
from mcl.model.llama.weights import Weights
weights = Weights(bundled_path())
EmbeddingContext(weights).vectors(weights.tokens(sys.argv[1], specials=True, begin=True))
"""


def spent(words: list[str], cwd: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Milliseconds of the wall clock and of the processor that a process takes."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(words, cwd=cwd, env=environment, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall * 1000, used * 1000


def measured(runs: int) -> dict[str, tuple[float, float]]:
    """Medians by what was run: the wall clock, the processor."""
    with tempfile.TemporaryDirectory() as name:
        folder, home = Path(name), Path(name) / "home"
        (folder / "notes").mkdir()
        (folder / "notes" / "monday.txt").write_text("Call the plumber.\nInvoice 4711 is due on Friday.\n")
        Home.open(home, unattended=True).close()
        environment = {**os.environ, "MCL_HOME": str(home), "PYTHONPATH": str(ROOT)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # it is installed with byte code
        step = [sys.executable, "-m", "mcl", "do", "--yes"]
        kinds = {
            "mcl do, a new goal": lambda run: [*step, _GOAL.format(_NOUNS[run % len(_NOUNS)])],
            "mcl do, the same goal again": lambda run: [*step, _GOAL.format("invoice")],
            "mcl --version": lambda run: [sys.executable, "-m", "mcl", "--version"],
            "floor: Python, llama.cpp, one goal read": lambda run: [sys.executable, "-c", _FLOOR, _GOAL],
        }
        for words in kinds.values():  # byte code, skills, and the first goal
            subprocess.run(words(-1), cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
        found: dict[str, list[tuple[float, float]]] = {kind: [] for kind in kinds}
        for run in range(runs):
            for kind, words in kinds.items():
                found[kind].append(spent(words(run), folder, environment))
    return {
        kind: (statistics.median(wall for wall, _ in times), statistics.median(used for _, used in times))
        for kind, times in found.items()
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measured(given.runs)
    if given.json:
        print(json.dumps({kind: {"wall": wall, "processor": used} for kind, (wall, used) in found.items()}))
        return
    print(f"load {os.getloadavg()[0]:.1f}, {given.runs} runs\n\n| ms | wall | processor |\n|---|---|---|")
    for kind, (wall, used) in found.items():
        print(f"| {kind} | {wall:.0f} | {used:.0f} |")


if __name__ == "__main__":
    main()
