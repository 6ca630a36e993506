"""Two checkouts side by side: what a person or an agent waits for, with the code of each, in turn.

    git worktree add --detach ../before COMMIT
    pip install --target ../before-libraries --no-deps 'bm25s<0.4'   (what only that commit needs)
    python -m benchmarks.checkouts ../before --libraries ../before-libraries [--runs 15]
        [--only commands,hook,node,call] [--json]

Both use this interpreter and its libraries, and each makes homes of its own. Medians in ms of the wall clock;
of what is a process of its own, in brackets the processor's time, and the ratio is of that, which a busy
machine changes least. A node and a proxied call are parts of a process: there both are of the wall clock.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.hook import FILE

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


STEPS, WALKS = 200, 3  # of a durable chain
CALLS = 300  # through each proxy
PREPARE = """
import sys
from pathlib import Path
from benchmarks.mcp import SERVER, prepare
prepare(Path(sys.argv[1]), "bench", *SERVER)
"""  # enters and approves a server, with the checkout's own code

Times = list[tuple[float, float]]  # of the wall clock and of the processor, ms
Both = dict[str, tuple[Times, Times]]  # by name: of this checkout and of the other


class Checkout:
    """A commit's code, with a folder and a home of its own."""

    def __init__(self, code: Path, place: Path, libraries: Path | None = None) -> None:
        self.place, self.home = place, place / "home"
        path = os.pathsep.join(str(one.resolve()) for one in (code, libraries) if one)
        self.env = {**os.environ, "PYTHONPATH": path, "MCL_HOME": str(self.home), "NO_COLOR": "1"}
        (place / "notes").mkdir(parents=True)
        (place / "notes" / "monday.txt").write_text("Invoice 4711 is due on Friday.\n")
        (place / "sales.csv").write_text("month,amount\nJanuary,100\n")
        self.run((*MCL, "init", "--unattended"))

    def run(
        self, line: tuple[str, ...], given: str = "", env: Mapping[str, str] | None = None
    ) -> tuple[float, float, str]:
        """Wall and processor's time of a process in ms, and what it printed. given: its standard input. env:
        further variables."""
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(
            [sys.executable, *line],
            cwd=self.place,
            env={**self.env, **(env or {})},
            input=given,
            capture_output=True,
            text=True,
        )
        wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise SystemExit(f"{' '.join(line)} in {self.place}: {done.stdout}{done.stderr}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return wall * 1000, cpu * 1000, done.stdout

    def govern(self) -> None:
        """Sign work for a coding agent in the folder, and let the agent check it out."""
        (self.place / "src" / "auth").mkdir(parents=True)
        (self.place / "src" / "auth" / "login.py").write_text("one\n" * 2000)
        (self.place / ".orchestration").mkdir()
        (self.place / ".orchestration" / "active_intents.yaml").write_text(FILE)
        noun = "intents"  # as the commands were called once; a commit that knows `mcl work` says so
        with contextlib.suppress(SystemExit):
            self.run((*MCL, "work", "--help"))
            noun = "work"
        self.run((*MCL, noun, "import", "--yes"))
        self.run((*MCL, noun, "select", "INT-001", "--agent", "claude-code"))

    def hook(self, number: int, *, resident: bool) -> tuple[float, float]:
        """How long a host waits for the decision about one write in scope; each is another call."""
        file = str(self.place / "src" / "auth" / "login.py")
        said = {"file_path": file, "content": "x\n" * 2000, "number": number}
        event = {
            "session_id": "s", "cwd": str(self.place), "hook_event_name": "PreToolUse",
            "tool_name": "Write", "tool_input": said, "tool_use_id": f"t{number}",
        }  # fmt: skip
        wall, cpu, answer = self.run(
            (*MCL, "hook", "pre-tool-use"), json.dumps(event), {} if resident else {"MCL_NO_HELPER": "1"}
        )
        assert "deny" not in answer, answer
        return wall, cpu


def commands(both: tuple[Checkout, Checkout], runs: int) -> Both:
    """The commands of a person."""
    spent: Both = {name: ([], []) for name in CASES}
    for number in range(runs + 1):  # the first compiles byte code and fills caches
        for name, line in CASES.items():
            if name == "compile_goal, warm" and number > runs // 3:
                continue  # thirty goals each
            for which in _order(number):
                wall, cpu, said = both[which].run(line)
                if line == CASES["compile_goal, warm"]:
                    wall = cpu = float(said)
                if number:
                    spent[name][which].append((wall, cpu))
    return spent


def hooks(both: tuple[Checkout, Checkout], runs: int) -> Both:
    """A hook's decision by a process alone, and by one that asks the home's resident process."""
    spent: Both = {"a hook, a process alone": ([], []), "a hook, beside a resident process": ([], [])}
    for checkout in both:
        checkout.govern()
    for resident, times in zip((False, True), spent.values(), strict=True):
        for number in range(runs + 1):
            for which in _order(number):
                found = both[which].hook(number + resident * 1000, resident=resident)
                if number:
                    times[which].append(found)
            if resident and not number:
                time.sleep(3.0)  # the first call starts the resident process, and does not wait for it
    return spent


def nodes(both: tuple[Checkout, Checkout], runs: int) -> Both:
    """A node of a long chain, durable before the next begins."""
    times: tuple[Times, Times] = ([], [])
    for number in range(max(1, runs // 3)):
        for which in _order(number):
            _, _, said = both[which].run(("-m", "benchmarks.durable", "ours", str(STEPS), str(WALKS)))
            seconds = json.loads(said.splitlines()[-1])["seconds"]
            times[which].extend((one / STEPS * 1000,) * 2 for one in seconds)
    return {"a durable node": times}


def proxied(both: tuple[Checkout, Checkout], runs: int) -> Both:
    """A declared read of a server's tool, over stdio, through `mcl mcp serve`."""
    times: tuple[Times, Times] = ([], [])
    for checkout in both:
        checkout.run(("-c", PREPARE, str(checkout.place)))
    asyncio.run(_calls(both, times, CALLS * runs // 15 or 1))
    return {"a proxied MCP call": times}


async def _calls(both: tuple[Checkout, Checkout], times: tuple[Times, Times], count: int) -> None:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    from benchmarks.mcp import WARM, declared

    async with contextlib.AsyncExitStack() as stack:
        ways = []
        for one in both:
            server = StdioServerParameters(
                command=sys.executable, args=["-m", "mcl", "mcp", "serve"], env=one.env, cwd=one.place
            )
            client = await stack.enter_async_context(Client(server, mode="legacy"))
            await client.list_tools()
            ways.append(declared(client))
        for number in range(count + WARM):
            for which in _order(number):
                began = time.perf_counter()
                assert await ways[which](f"t{number}") == f"t{number}"
                if number >= WARM:
                    times[which].append(((time.perf_counter() - began) * 1000,) * 2)


def _order(number: int) -> tuple[int, int]:
    """Who begins changes with each run, so that neither always finds the caches warm."""
    return (0, 1) if number % 2 else (1, 0)


KINDS: Mapping[str, Callable[[tuple[Checkout, Checkout], int], Both]] = {
    "commands": commands, "hook": hooks, "node": nodes, "call": proxied,
}  # fmt: skip


def measured(
    other: Path, libraries: Path | None, runs: int, only: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Of each case the medians with this checkout's code and with the other's. libraries: what only the
    other needs."""
    found: dict[str, dict[str, float]] = {}
    for kind in only:
        # Without blanks or links in it: the folder's path is compared by the tools.
        folder = Path(tempfile.mkdtemp(prefix="mcl-checkouts-")).resolve()
        try:
            both = (Checkout(HERE, folder / "this"), Checkout(other, folder / "other", libraries))
            for name, (ours, theirs) in KINDS[kind](both, runs).items():
                found[name] = _medians(ours, theirs)
        finally:
            shutil.rmtree(folder, ignore_errors=True)  # a resident process ends when its home is gone
    return found


def _medians(ours: Times, theirs: Times) -> dict[str, float]:
    wall, cpu = (statistics.median(one[of] for one in ours) for of in (0, 1))
    other_wall, other_cpu = (statistics.median(one[of] for one in theirs) for of in (0, 1))
    return {
        "this_ms": wall, "this_cpu_ms": cpu, "other_ms": other_wall, "other_cpu_ms": other_cpu,
        "ratio": cpu / other_cpu,
    }  # fmt: skip


def main() -> None:
    """Print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("other", type=Path)
    parser.add_argument("--libraries", type=Path, help="a folder with what only the other needs")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--only", default=",".join(KINDS), help="kinds between commas")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measured(given.other, given.libraries, given.runs, given.only.split(","))
    if given.json:
        print(json.dumps(found, indent=1))
        return
    print(f"{'':44}{'this':>18}{'other':>18}{'ratio':>8}")
    for name, one in found.items():
        this, other = (f"{one[f'{who}_ms']:.1f} ({one[f'{who}_cpu_ms']:.1f})" for who in ("this", "other"))
        print(f"{name:44}{this:>18}{other:>18}{one['ratio']:8.2f}")


if __name__ == "__main__":
    main()
