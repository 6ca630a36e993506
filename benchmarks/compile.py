"""How long a compile takes: warm (model loaded) and cold (a process of its own), with the split of each.

    python -m benchmarks.compile [--runs 60] [--model PATH] [--json]

The floor is the model's own work: the same prompts evaluated by llama.cpp alone. Every figure is a
median of whole runs on one thread; `ratio` is the compile against that floor, taken in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

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


def median_ms(seconds: list[float]) -> float:
    return statistics.median(seconds) * 1000


def warm(runs: int, model_path: Path | None) -> dict[str, float]:
    """Medians in ms: compile_goal with durable storing, the same without, and the model alone."""
    from mcl.acts.skills import installed
    from mcl.compiler import compile_goal
    from mcl.home import open_home
    from mcl.model import load_model
    from mcl.mtx.core import load_core

    with tempfile.TemporaryDirectory() as folder:
        home = open_home(Path(folder))
        skills, core = installed(home.path, ()), load_core(cache=home.path / "cache")
        model = load_model(model_path, home_path=home.path)
        spent: list[float] = []

        class Timed:
            """The model, with the time spent inside it written down."""

            digest, version, grammar = model.digest, model.version, model.grammar

            def choose(self, *args: object) -> object:
                return self._timed(model.choose, *args)

            def extract(self, *args: object) -> object:
                return self._timed(model.extract, *args)

            @staticmethod
            def _timed(ask: Callable[..., object], *args: object) -> object:
                start = time.perf_counter()
                answer = ask(*args)
                spent.append(time.perf_counter() - start)
                return answer

        whole, stages, inside = [], [], []
        for run in range(runs + len(GOALS)):
            goal = GOALS[run % len(GOALS)]
            spent.clear()
            start = time.perf_counter()
            compile_goal(goal, home=home, skills=skills, model=Timed(), core=core)  # type: ignore[arg-type]
            stored = time.perf_counter() - start
            in_model = sum(spent)
            start = time.perf_counter()
            compile_goal(goal, home=home, skills=skills, model=model, core=core, store=False)
            unstored = time.perf_counter() - start
            if run >= len(GOALS):  # the first round fills the caches
                whole.append(stored)
                stages.append(unstored)
                inside.append(in_model)
        floor = _floor(model_path, runs)
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
    return result


def _floor(model_path: Path | None, runs: int) -> float | None:
    """Median ms that llama.cpp alone needs for the bodies of the prompts (headers are in its KV cache)."""
    from mcl.acts.skills import installed
    from mcl.model import form as shape
    from mcl.model import load_model
    from mcl.model.protocol import Candidate, ExtractForm, SlotForm
    from mcl.model.tags import TagModel

    model = load_model(model_path, home_path=None)
    if not isinstance(model, TagModel):
        return None
    with tempfile.TemporaryDirectory() as folder:
        skills = list(installed(Path(folder), ()))
    candidates = [Candidate(s.id, s.display, s.description, s.verbs, s.examples) for s in skills]
    slots = {s.id: tuple(SlotForm(x.name, x.type, x.hint, x.options) for x in s.slots) for s in skills}
    forms = [ExtractForm(s.id, s.description, slots[s.id]) for s in skills]
    context, taken = model._context, []
    for run in range(runs):
        goal = GOALS[run % len(GOALS)]
        prompts = [
            shape.choose_prompt(goal, candidates),
            shape.extract_prompt(goal, shape.words(goal), forms[run % len(forms)]),
        ]
        seconds = 0.0
        for prompt in prompts:
            header = [token for piece in prompt.header for token in model._tokens(piece)]
            body = [token for piece in prompt.body for token in model._tokens(piece)]
            context.keep(0)
            context.feed(header, whole=True)
            start = time.perf_counter()
            context.feed(body, reads=[len(body) - 1], whole=True)
            seconds += time.perf_counter() - start
        taken.append(seconds)
    return median_ms(taken)


COLD = """
import time, sys
t0 = time.perf_counter()
from mcl.acts.skills import installed
from mcl.compiler import compile_goal
from mcl.home import open_home
from mcl.model import load_model
from mcl.mtx.core import load_core
t1 = time.perf_counter()
home = open_home()
t2 = time.perf_counter()
skills, core = installed(home.path, ()), load_core(cache=home.path / "cache")
t3 = time.perf_counter()
model = load_model(None, home_path=home.path)
t4 = time.perf_counter()
compile_goal(sys.argv[1], home=home, skills=skills, model=model, core=core, store=False)
t5 = time.perf_counter()
compile_goal(sys.argv[1], home=home, skills=skills, model=model, core=core)
t6 = time.perf_counter()
print(t1 - t0, t2 - t1, t3 - t2, t4 - t3, t5 - t4, t6 - t5)
"""


def cold(runs: int) -> dict[str, float]:
    """Medians in ms: the command as a whole process, Python's own start, and the parts inside."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "MCL_HOME": folder, "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "mcl", "compile", GOALS[0], "--json"]
        split_command = [sys.executable, "-c", COLD, GOALS[0]]
        whole, bare, parts = [], [], []
        for run in range(runs + 1):
            start = time.perf_counter()
            subprocess.run(command, env=env, check=True, capture_output=True)
            spent = time.perf_counter() - start
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", "pass"], env=env, check=True)
            python = time.perf_counter() - start
            said = subprocess.run(split_command, env=env, check=True, capture_output=True, text=True).stdout
            if run:  # the first makes the home and its caches
                whole.append(spent)
                bare.append(python)
                parts.append([float(part) for part in said.split()])
    names = ("import", "home", "skills and core", "model load", "first compile, not stored", "second, stored")
    columns = list(zip(*parts, strict=True))
    return {
        "whole process": median_ms(whole),
        "python itself": median_ms(bare),
        **{name: median_ms(list(column)) for name, column in zip(names, columns, strict=True)},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    figures = {"warm ms": warm(options.runs, options.model), "cold ms": cold(max(5, options.runs // 6))}
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
