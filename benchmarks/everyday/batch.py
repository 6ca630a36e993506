"""Many goals, in worker processes; each result is a line of a file as soon as it is there."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.everyday.goals import Goal
from benchmarks.everyday.trial import Result, Worker, digest_of

_worker: Worker | None = None


def code_here() -> str:
    """The commit of this checkout, with a mark where something is not committed."""
    root = Path(__file__).parent
    said = [
        subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False).stdout.strip()
        for words in (("rev-parse", "--short=12", "HEAD"), ("status", "--porcelain", "--untracked-files=no"))
    ]
    return f"{said[0]}{'+' if said[1] else ''}"


def read_results(path: Path) -> dict[str, Mapping[str, Any]]:
    """The last result of each goal; a line that was cut short is none."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            result = json.loads(line)
        except ValueError:
            continue
        found[result["id"]] = result
    return found


def left(goals: Sequence[Goal], done: Mapping[str, Mapping[str, Any]], code: str) -> list[Goal]:
    """The goals that this code has not been tried with as they are."""
    return [
        goal
        for goal in goals
        if (one := done.get(goal.id)) is None or (one["digest"], one["code"]) != (digest_of(goal), code)
    ]


def tried(goals: Sequence[Goal], out: Path, *, jobs: int, code: str) -> Iterator[Result]:
    """Try goals; every result is appended to `out` before it is given."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("a", encoding="utf-8") as file:
        for result in _results(goals, jobs, code):
            file.write(result.line() + "\n")
            file.flush()
            yield result


def _results(goals: Sequence[Goal], jobs: int, code: str) -> Iterator[Result]:
    if jobs <= 1:
        worker = Worker(code)
        try:
            yield from (worker.tried(goal) for goal in goals)
        finally:
            worker.close()
        return
    with ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_open, initargs=(code,)
    ) as pool:
        waiting = [pool.submit(_try, goal) for goal in goals]
        yield from (one.result() for one in as_completed(waiting))


def _open(code: str) -> None:
    import atexit

    global _worker
    _worker = Worker(code)
    atexit.register(_worker.close)


def _try(goal: Goal) -> Result:
    assert _worker is not None
    return _worker.tried(goal)
