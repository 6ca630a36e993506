"""How much longer a run takes at the end of a long journal than of a short one.

    python -m benchmarks.journal_length [--rows 100,100000] [--runs 15] [--json]

A run is what a process does that was just started: the home is opened, the intent and its plan are checked
from their bytes, the plan (one search) is walked, and the home is closed. The homes are asked in turn, so
that whatever else the machine does falls on all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from pathlib import Path

import mcl
from executor import Home, Statement
from mcl.core.home import open_home

_BATCH = 1000  # rows in one commit while a journal is filled


def filled(place: Path, rows: int) -> list[str]:
    """A home whose journal has so many rows; gives intents that were accepted behind them."""
    with open_home(place / "home") as home:
        missing = rows
        while missing > 0:
            home.journal.record_many(
                [
                    Statement("record.example", {"number": missing - one})
                    for one in range(min(_BATCH, missing))
                ]
            )
            missing -= _BATCH
        return [_accepted(home) for _ in range(RUNS)]


def _accepted(home: Home) -> str:
    goal = "find the word invoice in the folder notes"
    slots = {"text": "invoice", "folder": "notes"}
    made = mcl.compile_goal(goal, skill="files-find", verb="find", slots=slots, ai=False, home=home)
    id = made.require().intent.id
    mcl.accept(id, home=home)
    return id


def seconds(place: Path, id: str) -> tuple[float, float]:
    """What opening the home took, and all of it with the run."""
    began = time.perf_counter()
    with open_home(place / "home") as home:
        opened = time.perf_counter()
        outcome = mcl.run(id, workspace=place / "work", home=home)
        assert outcome.state == "completed", outcome
    return opened - began, time.perf_counter() - began


def main() -> None:
    """Print one line for each length, and the ratio to the shortest."""
    global RUNS
    words = argparse.ArgumentParser()
    words.add_argument("--rows", default="100,100000")
    words.add_argument("--runs", type=int, default=RUNS)
    words.add_argument("--json", action="store_true")
    given = words.parse_args()
    RUNS = given.runs
    lengths = [int(one) for one in given.rows.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MCL_STATE"] = str(Path(folder) / "states")
        places = {rows: Path(folder) / str(rows) for rows in lengths}
        intents: dict[int, list[str]] = {}
        for rows, place in places.items():
            (place / "work" / "notes").mkdir(parents=True)
            (place / "work" / "notes" / "a.txt").write_text("an invoice\n")
            intents[rows] = filled(place, rows)
        took: dict[int, list[tuple[float, float]]] = {rows: [] for rows in lengths}
        for turn in range(RUNS):
            for rows, place in places.items():
                took[rows].append(seconds(place, intents[rows][turn]))
    told = [
        {
            "rows": rows,
            "open_ms": round(1000 * statistics.median(one for one, _ in took[rows][1:]), 2),
            "run_ms": round(1000 * statistics.median(one for _, one in took[rows][1:]), 2),
        }
        for rows in lengths
    ]
    for one in told:
        one["ratio"] = round(one["run_ms"] / told[0]["run_ms"], 2)
    if given.json:
        print(json.dumps(told))
        return
    for one in told:
        times = f"open {one['open_ms']:7.2f} ms  run {one['run_ms']:7.2f} ms"
        print(f"{one['rows']:>9,} rows  {times}  {one['ratio']:.2f} x")


RUNS = 15

if __name__ == "__main__":
    main()
