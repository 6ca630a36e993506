"""How long a compile takes: warm (model loaded) and cold (a process of its own), with the split of each.

    python -m benchmarks.compile [--runs 60] [--skills 500] [--model PATH] [--cpu] [--json]

The floor is the model's own work: the same prompts evaluated by llama.cpp alone. Every figure is a
median of whole runs on one thread; `ratio` is the compile against that floor, taken in the same run. A cold
start has its byte code compiled beforehand, as an installed package has.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from unittest import mock

if TYPE_CHECKING:
    from mcl.language.skills import Skills

GOALS = (
    "which files in notes mention invoice",
    "list all markdown files in docs",
    "write a report of every line with overdue in contracts to overdue.md by friday",
    "show the last 5 commits",
    "create a branch called fix/login-timeout",
    "what has changed in this repository",
    "Find the phrase late fee in src and keep it under 20 euros, preferably before 2026-12-01",
    "search the folder reports for Henderson",
)


Timer: TypeAlias = Callable[[], float]  # seconds that only grow


def median_ms(seconds: list[float]) -> float:
    return statistics.median(seconds) * 1000


def warm(runs: int, model_path: Path | None, now: Timer) -> dict[str, float]:
    """Medians in ms: compile_goal with durable storing, the same without, and the model alone."""
    from mcl.compiler.compiler import compile_goal
    from mcl.core.home import open_home
    from mcl.language.mtx.core import load_core
    from mcl.model import load_model
    from mcl.usecases.installed import installed

    with tempfile.TemporaryDirectory() as folder:
        home = open_home(Path(folder))
        skills, core = installed(home.path, ()), load_core(cache=home.path / "cache")
        model = load_model(model_path, home_path=home.path)
        spent: list[float] = []

        def timed(ask: Callable[..., object]) -> Callable[..., object]:
            def asked(*given: object) -> object:
                start = now()
                answer = ask(*given)
                spent.append(now() - start)
                return answer

            return asked

        for name in ("choose", "extract"):
            setattr(model, name, timed(getattr(model, name)))
        whole, stages, inside = [], [], []
        for run in range(runs + len(GOALS)):
            goal = GOALS[run % len(GOALS)]
            spent.clear()
            start = now()
            compile_goal(goal, home=home, skills=skills, model=model, core=core)
            stored = now() - start
            in_model = sum(spent)
            start = now()
            compile_goal(goal, home=home, skills=skills, model=model, core=core, store=False)
            unstored = now() - start
            if run >= len(GOALS):  # the first round fills the caches
                whole.append(stored)
                stages.append(unstored)
                inside.append(in_model)
        floor = _floor(model_path, runs, now)
    result = {
        "whole": median_ms(whole),
        "p95": sorted(whole)[int(len(whole) * 0.95)] * 1000,
        "stages": median_ms(stages),
        "of which model": median_ms(inside),
        "sign and store": median_ms([a - b for a, b in zip(whole, stages, strict=True)]),
    }
    if floor:
        result["floor"] = floor
        result["ratio"] = result["whole"] / floor
    result["memory, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return result


def shelf(count: int, runs: int, model_path: Path | None, now: Timer) -> dict[str, float]:
    """Medians in ms of the stages with so many skills on the shelf beside those that are shipped, nothing
    stored; the first compile makes the index of their words."""
    from benchmarks.mtx import write_skills
    from mcl.compiler.compiler import compile_goal
    from mcl.core.home import open_home
    from mcl.language.mtx.core import load_core
    from mcl.model import load_model
    from mcl.usecases.installed import installed

    with tempfile.TemporaryDirectory() as folder:
        home, more = open_home(Path(folder) / "home"), Path(folder) / "skills"
        write_skills(more, count)
        core, model = load_core(cache=home.path / "cache"), load_model(model_path, home_path=home.path)
        if hasattr(model, "goals_kept"):
            model.goals_kept = 1  # each goal is read anew
        installed(home.path, [more])  # fills the digest cache

        def seconds(work: Callable[[], object]) -> float:
            start = now()
            work()
            return now() - start

        def compiled(goal: str, shelf: Skills) -> float:
            return seconds(
                lambda: compile_goal(goal, home=home, skills=shelf, model=model, core=core, store=False)
            )

        found = [seconds(lambda: installed(home.path, [more])) for _ in range(3)]
        few, many = installed(home.path, ()), installed(home.path, [more])
        first = [compiled(GOALS[0], installed(home.path, [more])) for _ in range(3)]
        for goal in GOALS:
            compiled(goal, few), compiled(goal, many)
        few_ms, many_ms = [], []
        for run in range(runs):
            few_ms.append(compiled(GOALS[run % len(GOALS)], few))
            many_ms.append(compiled(GOALS[(run + 4) % len(GOALS)], many))
    return {
        f"{len(few)} skills": median_ms(few_ms),
        f"{len(many)} skills": median_ms(many_ms),
        "added": median_ms(many_ms) - median_ms(few_ms),
        "found again, digest cache": median_ms(found),
        "the first compile with them": median_ms(first),
    }


def _floor(model_path: Path | None, runs: int, now: Timer) -> float | None:
    """Median ms that llama.cpp alone needs to read a goal; None for a model that does not encode."""
    from mcl.model import load_model
    from mcl.model.encoder import EncoderModel

    model = load_model(model_path, home_path=None)
    if not isinstance(model, EncoderModel):
        return None
    model.goals_kept = 0
    context, spent, taken = model._context, [0.0], []
    vectors = context.vectors

    def timed(tokens: Sequence[int]) -> object:
        start = now()
        found = vectors(tokens)
        spent[0] += now() - start
        return found

    with mock.patch.object(context, "vectors", timed):
        for run in range(runs):
            spent[0] = 0.0
            model.vector(GOALS[run % len(GOALS)])
            taken.append(spent[0])
    return median_ms(taken)


COLD = """
import sys
from time import CLOCK as now
t0 = now()
from mcl.usecases.installed import installed
from mcl.compiler.compiler import compile_goal
from mcl.core.home import open_home
from mcl.model import load_model
from mcl.language.mtx.core import load_core
t1 = now()
home = open_home()
t2 = now()
skills, core = installed(home.path, ()), load_core(cache=home.path / "cache")
t3 = now()
model = load_model(None, home_path=home.path)
t4 = now()
compile_goal(sys.argv[1], home=home, skills=skills, model=model, core=core, store=False)
t5 = now()
compile_goal(sys.argv[1], home=home, skills=skills, model=model, core=core)
t6 = now()
print(t1 - t0, t2 - t1, t3 - t2, t4 - t3, t5 - t4, t6 - t5)
"""


def cold(runs: int, *, cpu: bool) -> dict[str, float]:
    """Medians in ms: the command as a whole process, Python's own start, and the parts inside."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "MCL_HOME": folder, "OMP_NUM_THREADS": "1"}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        env["PYTHONPYCACHEPREFIX"] = f"{folder}/pyc"
        mcl = [sys.executable, "-m", "mcl"]
        command = [*mcl, "compile", GOALS[0], "--json"]
        clock = "process_time" if cpu else "perf_counter"
        split_command = [sys.executable, "-c", COLD.replace("CLOCK", clock), GOALS[0]]
        asked = {
            "whole process": [*command, "--no-cache"],
            "the same goal again, no model": command,
            "mcl --help": [*mcl, "--help"],
            "mcl --version": [*mcl, "--version"],
            "python itself": [sys.executable, "-c", "pass"],
        }
        whole: dict[str, list[float]] = {name: [] for name in asked}
        parts = []
        for run in range(runs + 1):
            for name, words in asked.items():
                start = _of_children() if cpu else time.perf_counter()
                subprocess.run(words, env=env, check=True, capture_output=True)
                spent = (_of_children() if cpu else time.perf_counter()) - start
                whole[name] += [spent] if run else []  # the first makes home and caches
            said = subprocess.run(split_command, env=env, check=True, capture_output=True, text=True).stdout
            parts += [[float(part) for part in said.split()]] if run else []
    names = ("import", "home", "skills and core", "model load", "first compile, not stored", "second, stored")
    columns = list(zip(*parts, strict=True))
    return {
        **{name: median_ms(taken) for name, taken in whole.items()},
        **{name: median_ms(list(column)) for name, column in zip(names, columns, strict=True)},
    }


def _of_children() -> float:
    """Seconds that the processor worked for processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--skills", type=int, default=500)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--cpu", action="store_true", help="time of the processor, for a machine in use")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    now = time.process_time if options.cpu else time.perf_counter
    figures = {
        "warm ms": warm(options.runs, options.model, now),
        "cold ms": cold(max(5, options.runs // 6), cpu=options.cpu),
        "a long shelf, ms": shelf(options.skills, options.runs, options.model, now),
    }
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"{machine}, {options.runs} runs")
    for title, rows in figures.items():
        print(f"\n{title}")
        for name, value in rows.items():
            print(f"  {name:28}{value:9.2f}")


if __name__ == "__main__":
    main()
