"""Two checkouts side by side: what a person waits for, with the code of each, run after run in turn.

    python -m benchmarks.checkouts OTHER [--runs 15] [--json]

OTHER is a folder with another commit (`git worktree add --detach ../before COMMIT`); both use this
interpreter and its libraries. Medians of the wall clock in ms, in brackets the processor's time; the ratio is
of the processor's times, which a busy machine changes least. Each checkout makes a home of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
MCL = ("-c", "import sys; from mcl.cli.main import main; sys.exit(main(sys.argv[1:]))")
GOAL = "which files in notes mention invoice"
WARM = """
import statistics, sys, time
from mcl import compile_goal
goals = ["which files in notes mention invoice", "summarise sales.csv", "create a branch called fix-login"]
compile_goal(goals[0])
spent = []
for number in range(30):
    began = time.process_time()
    compile_goal(f"{goals[number % 3]} {number}" if number % 3 == 1 else goals[number % 3])
    spent.append(time.process_time() - began)
print(statistics.median(spent) * 1000)
"""
# Each is a command line of Python; the last prints its own figure, in ms of the processor.
CASES: Mapping[str, tuple[str, ...]] = {
    "from mcl import accept, compile_goal, run": ("-c", "from mcl import accept, compile_goal, run"),
    "mcl --help": (*MCL, "--help"),
    "mcl compile, cold": (*MCL, "compile", GOAL, "--json", "--no-cache"),
    "mcl compile, the same goal again": (*MCL, "compile", GOAL, "--json"),
    "mcl accept": (*MCL, "accept", "@last", "--yes"),
    "mcl run, one node": (*MCL, "run", "@last"),
    "mcl log verify": (*MCL, "log", "verify"),
    "compile_goal, warm": ("-c", WARM),
}


class Checkout:
    """A commit's code, with a folder and a home of its own."""

    def __init__(self, code: Path, place: Path) -> None:
        self.place = place
        self.env = {**os.environ, "PYTHONPATH": str(code), "MCL_HOME": str(place / "home"), "NO_COLOR": "1"}
        (place / "notes").mkdir(parents=True)
        (place / "notes" / "monday.txt").write_text("Invoice 4711 is due on Friday.\n")
        (place / "sales.csv").write_text("month,amount\nJanuary,100\n")
        self.run((*MCL, "init", "--unattended"))

    def run(self, line: tuple[str, ...]) -> tuple[float, float, str]:
        """Wall and processor's time of a process in ms, and what it printed."""
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(
            [sys.executable, *line], cwd=self.place, env=self.env, capture_output=True, text=True
        )
        wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise SystemExit(f"{' '.join(line)} in {self.place}: {done.stdout}{done.stderr}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return wall * 1000, cpu * 1000, done.stdout


def measured(other: Path, runs: int) -> dict[str, dict[str, float]]:
    """Of each case the medians with this checkout's code and with the other's."""
    folder = Path(tempfile.mkdtemp(prefix="mcl-checkouts-"))
    try:
        both = (Checkout(HERE, folder / "this"), Checkout(other.resolve(), folder / "other"))
        spent: dict[str, tuple[list[tuple[float, float]], ...]] = {name: ([], []) for name in CASES}
        for number in range(runs + 1):  # the first compiles byte code and fills caches
            for name, line in CASES.items():
                if name == "compile_goal, warm" and number > runs // 3:
                    continue  # thirty goals each
                for which in (0, 1) if number % 2 else (1, 0):
                    wall, cpu, said = both[which].run(line)
                    if line == CASES["compile_goal, warm"]:
                        wall = cpu = float(said)
                    if number:
                        spent[name][which].append((wall, cpu))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    found = {}
    for name, (ours, theirs) in spent.items():
        wall, cpu = (statistics.median(one[of] for one in ours) for of in (0, 1))
        other_wall, other_cpu = (statistics.median(one[of] for one in theirs) for of in (0, 1))
        found[name] = {
            "this_ms": wall, "this_cpu_ms": cpu, "other_ms": other_wall, "other_cpu_ms": other_cpu,
            "ratio": cpu / other_cpu,
        }  # fmt: skip
    return found


def main() -> None:
    """Print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measured(given.other, given.runs)
    if given.json:
        print(json.dumps(found, indent=1))
        return
    print(f"{'':44}{'this':>18}{'other':>18}{'ratio':>8}")
    for name, one in found.items():
        this, other = (f"{one[f'{who}_ms']:.1f} ({one[f'{who}_cpu_ms']:.1f})" for who in ("this", "other"))
        print(f"{name:44}{this:>18}{other:>18}{one['ratio']:8.2f}")


if __name__ == "__main__":
    main()
