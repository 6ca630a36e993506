"""How long the executor takes for a node beside what durable storage itself takes, and beside its peers.

    python -m benchmarks.executor [--nodes 200] [--large 10000] [--rounds 5] [--rows 10000] [--json]

A chain of trivial steps is walked by each contender in processes of their own, one after another in each
round, so that all meet the same machine; every figure is a median. The floor of a step is two commits of one
row each, in SQLite with WAL and synchronous=FULL; the floor of checking a row is its ed25519 signature alone.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.durable import CONTENDERS, Ours, installed, measured

FLOOR, OURS = "two SQLite commits", "ours"


def chains(nodes: int, rounds: int) -> dict[str, dict[str, float]]:
    """Median ms a step of each contender, and how many times the floor that is."""
    names = [name for name, (_, module) in CONTENDERS.items() if installed(module)]
    taken: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            taken[name] += measured(name, nodes, 2)["seconds"]
    medians = {name: statistics.median(seconds) for name, seconds in taken.items()}
    return {
        name: {
            f"{nodes} steps, s": seconds,
            "ms a step": seconds / nodes * 1000,
            "of the floor": seconds / medians[FLOOR],
            "of ours": seconds / medians[OURS],
        }
        for name, seconds in medians.items()
    }


def growth(large: int, rounds: int) -> dict[str, float]:
    """A plan ten times as long: time and memory a node, and how much more than ten times as much it is."""
    small = large // 10
    seconds: dict[int, list[float]] = {small: [], large: []}
    memory: dict[int, list[float]] = {0: [], small: [], large: []}
    for _ in range(rounds):
        memory[0].append(measured(OURS, 10, 1)["memory"])
        for nodes in (small, large):
            found = measured(OURS, nodes - 1, 1)  # and the root, which makes the most that a plan may have
            seconds[nodes] += found["seconds"]
            memory[nodes].append(found["memory"])
    times = {nodes: statistics.median(taken) / nodes * 1000 for nodes, taken in seconds.items()}
    used = {nodes: statistics.median(found) for nodes, found in memory.items()}
    per_node = {nodes: (used[nodes] - used[0]) / nodes for nodes in (small, large)}
    return {
        f"{small} nodes, ms a node": times[small],
        f"{large} nodes, ms a node": times[large],
        "time a node, large of small": times[large] / times[small],
        f"{small} nodes, KiB a node": per_node[small],
        f"{large} nodes, KiB a node": per_node[large],
        "memory a node, large of small": per_node[large] / per_node[small],
        f"{large} nodes, MiB in all": used[large] / 1024,
    }


def journal(rows: int, rounds: int) -> dict[str, float]:
    """Telling: ms a commit. Checking: rows a second of `mcl log verify`, and of their signatures alone."""
    import nacl.bindings

    import ir
    from executor import Statement

    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(Path(folder))
        told = ours.home.journal
        intent = ours.accept(rows // 2)
        plan = told.view(intent).plan
        assert plan is not None

        def step(number: int, status: str, result: str) -> Statement:
            return Statement("plan.step", ir.PlanStepBody(plan.id, f"n{number}", status, result))

        key = '{"attempt":1,"key":"' + "0" * 64 + '"}'
        pairs = [
            (step(number, "running", key), step(number, "completed", f'{{"sum":{number}}}'))
            for number in range(rows // 2)
        ]
        single, double, alone, checked, cpu_alone, cpu_checked = [], [], [], [], [], []
        few = min(200, len(pairs) // 4)
        for pair in pairs[:few]:
            single += [_seconds(lambda: told.tell(intent, pair[0]))]  # noqa: B023  # called at once
            single += [_seconds(lambda: told.tell(intent, pair[1]))]  # noqa: B023
        for pair in pairs[few : 2 * few]:
            double += [_seconds(lambda: told.tell(intent, *pair))]  # noqa: B023
        for start in range(2 * few, len(pairs), 100):
            told.tell(intent, *(one for pair in pairs[start : start + 100] for one in pair))
        wires = [row.wire for row in told.rows()]
        signed = [
            (wire[-64:] + bytes((wire[0] - 1,)) + wire[1:-67], ir.key_of(told.open(wire).from_))
            for wire in wires
        ]
        for _ in range(rounds):
            started, cpu = time.perf_counter(), time.process_time()
            for message, public in signed:
                nacl.bindings.crypto_sign_open(message, public)
            alone.append(time.perf_counter() - started)
            cpu_alone.append(time.process_time() - cpu)
            started, cpu = time.perf_counter(), time.process_time()
            assert told.verify().ok
            checked.append(time.perf_counter() - started)
            cpu_checked.append(time.process_time() - cpu)
        count = len(wires)
    return {
        "one envelope told, ms": statistics.median(single) * 1000,
        "two told in one commit, ms": statistics.median(double) * 1000,
        "signatures alone, rows/s": count / statistics.median(alone),
        "mcl log verify, rows/s": count / statistics.median(checked),
        "the same by processor time, rows/s": count / statistics.median(cpu_checked),
        "of the floor": statistics.median(
            [whole / part for whole, part in zip(cpu_checked, cpu_alone, strict=True)]
        ),
    }


def _seconds(work: Any) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, default=200, help="steps of a chain")
    parser.add_argument("--large", type=int, default=10_000, help="nodes of the long plan")
    parser.add_argument("--rows", type=int, default=10_000, help="rows of the journal that is checked")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = {
        "a durable chain": chains(options.nodes, options.rounds),
        "a long plan": growth(options.large, max(1, options.rounds // 2)),
        "the journal": journal(options.rows, options.rounds),
    }
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"{machine}, load {os.getloadavg()[0]:.1f}, {options.rounds} rounds")
    for title, rows in figures.items():
        print(f"\n{title}")
        for name, value in rows.items():
            if isinstance(value, dict):
                columns = "   ".join(f"{column} {number:.3f}" for column, number in value.items())
                print(f"  {name:36}{columns}")
            else:
                print(f"  {name:36}{value:10.3f}")


if __name__ == "__main__":
    main()
