"""What it costs that nothing outlives mcl: starting a command, and how soon it is gone once mcl is killed.

    python -m benchmarks.processes [--runs 200] [--json]

The contenders run `true` in turn, in one process: anyio alone (the floor), a command that hangs on a pipe,
and one below a launcher.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anyio

from executor.sandbox.process import run_command

_COMMAND = ["/bin/true"]
_OWNER = """
import sys, anyio
from pathlib import Path
from executor.sandbox.process import run_command
argv = ["/bin/sh", "-c", "echo $$ > pid.part; mv pid.part pid; exec sleep 60"]
here = Path(sys.argv[1])
anyio.run(lambda: run_command(argv, cwd=here, environment={}, max_output=9, alone=sys.argv[2] == "pipe"))
"""


async def started(runs: int) -> dict[str, list[float]]:
    """Milliseconds of each run, by contender."""

    async def ours(alone: bool) -> None:
        await run_command(_COMMAND, cwd=Path("/"), environment={}, max_output=1000, alone=alone)

    async def floor() -> None:
        await anyio.run_process(_COMMAND, cwd="/", env={}, start_new_session=True)

    contenders = {"anyio": floor, "pipe": lambda: ours(True), "launcher": lambda: ours(False)}
    spent: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(runs):
        for name, work in contenders.items():
            begun = time.perf_counter()
            await work()
            spent[name].append((time.perf_counter() - begun) * 1000)
    return spent


def gone(how: str) -> float:
    """Milliseconds from the end of a killed owner until its command is gone."""
    with tempfile.TemporaryDirectory() as folder:
        owner = subprocess.Popen([sys.executable, "-c", _OWNER, folder, how])
        place = Path(folder, "pid")
        while not place.exists():
            time.sleep(0.005)
        state = Path(f"/proc/{place.read_text().strip()}/stat")
        owner.kill()
        owner.wait()
        begun = time.perf_counter()
        while state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z":
            time.sleep(0.0002)
        return (time.perf_counter() - begun) * 1000


def main() -> None:
    """Print medians, and the best tenth, which other work on the machine touches least."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    spent = anyio.run(started, asked.runs)
    told: dict[str, dict[str, float]] = {}
    for name, times in spent.items():
        tenth, middle = sorted(times)[len(times) // 10], statistics.median(times)
        told[name] = {"best_tenth_ms": round(tenth, 2), "median_ms": round(middle, 2)}
    for name in ("pipe", "launcher"):
        told[name]["gone_ms"] = round(statistics.median(gone(name) for _ in range(9)), 2)
    if asked.json:
        print(json.dumps(told))
        return
    for name, figures in told.items():
        print(f"{name:10}", *(f"{what} {figure:8.2f}" for what, figure in figures.items()))


if __name__ == "__main__":
    main()
