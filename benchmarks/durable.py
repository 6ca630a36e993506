"""Durable chains of trivial steps: our walker's, LangGraph's, DBOS's, and two SQLite commits a step.

Each contender does the same work: so many steps one after another, each adds one to a number, and what each
gave is on disk before the next begins. A contender is made in a fresh folder, so that none inherits a long
file.
"""

from __future__ import annotations

import importlib.util
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

TOOL = "matrix://tool/bench/add@1.0.0"


class Contender(Protocol):
    """One way. `walk` gives the seconds that the steps took, from the call to the last durable answer."""

    def walk(self, steps: int) -> float: ...


class TwoCommits:
    """The floor: two commits of one row each, of the size that a step's rows have, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self._connection = sqlite3.connect(folder / "floor.db", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE TABLE rows (seq INTEGER PRIMARY KEY, wire BLOB NOT NULL) STRICT")

    def walk(self, steps: int) -> float:
        rows = (os.urandom(468), os.urandom(374))
        start = time.perf_counter()
        for _ in range(steps):
            for row in rows:
                self._connection.execute("BEGIN IMMEDIATE")
                self._connection.execute("INSERT INTO rows (wire) VALUES (?)", (row,))
                self._connection.execute("COMMIT")
        return time.perf_counter() - start


class Ours:
    """A sequential plan of tool calls: compiled, accepted and walked as `mcl run` does it."""

    def __init__(self, folder: Path) -> None:
        from executor import Home

        (folder / "work").mkdir()
        self.home = Home.open(folder / "home")
        self._folder = folder

    def walk(self, steps: int) -> float:
        import anyio

        from executor import Manifest, Registry, Tool, Walker

        async def add(args: Mapping[str, object], bench: object) -> dict[str, object]:
            value = args["to"]
            assert isinstance(value, int)
            return {"sum": value + 1}

        whole = {"type": "object", "additionalProperties": False}
        manifest = Manifest.model_validate(
            {
                "uri": TOOL,
                "description": "One more.",
                "effects": ["read"],
                "operation": "read",
                "idempotent": True,
                "timeout_ms": 60_000,
                "max_output": 4096,
                "safety": "A",
                "scope": {"kind": "none"},
                "args": {**whole, "required": ["to"], "properties": {"to": {"type": "integer"}}},
                "output": {**whole, "required": ["sum"], "properties": {"sum": {"type": "integer"}}},
            }
        )
        intent = self.accept(steps)

        async def run() -> float:
            registry = Registry.builtin([Tool(manifest, add)])
            async with Walker(self.home, registry, workspace=self._folder / "work") as walker:
                start = time.perf_counter()
                outcome = await walker.run(intent)
                seconds = time.perf_counter() - start
            assert outcome.failure is None, outcome.failure
            assert outcome.outputs[f"n{steps - 1}"] == {"sum": steps}
            return seconds

        return anyio.run(run)

    def accept(self, steps: int) -> str:
        """An accepted intent with a plan of so many steps, each of which adds one to what the last gave."""
        import ir

        home, keys = self.home, self.home.keyring
        id = home.clock.new_id()
        calls = [
            ir.PlanNode(
                id=f"n{number}",
                kind="tool_call",
                tool_call=ir.ToolCall(
                    tool_ref=TOOL,
                    side_effect_class="read",
                    args={"to": f"${{n{number - 1}.output.sum}}" if number else "0"},
                ),
            )
            for number in range(steps)
        ]
        intent = ir.with_hash(
            ir.Intent(
                id=id,
                actor=keys.user.did,
                agent=keys.agent.did,
                prose="count",
                frame=ir.Frame(verb="find"),
                state="proposed",
                confidence=0.9,
                created_at=home.clock.now(),
            )
        )
        plan = ir.with_hash(
            ir.PlanTree(
                id=home.clock.new_id(),
                intent_id=id,
                created_at=home.clock.now(),
                created_by=f"matrix://agent/{keys.agent.did}",
                skill_ref="matrix://skill/files@1.0.0",
                root=ir.PlanNode(id="root", kind="sequential", children=tuple(calls)),
            )
        )
        for kind, body in (
            ("intent.draft", ir.IntentDraftBody(intent.prose)),
            ("intent.compiled", ir.IntentCompiledBody(ir.canonical_bytes(intent))),
            ("plan.proposed", ir.PlanProposedBody(ir.canonical_bytes(plan))),
            ("intent.accept", ir.IntentAcceptBody(intent.hash, home.clock.now(), plan_hash=plan.hash)),
        ):
            signer = keys.user if ir.ROLE_OF_KIND[kind] == "user" else keys.agent
            header = ir.Header(home.clock.new_id(), home.clock.now(), signer.did, f"matrix://intent/{id}")
            home.journal.append(ir.seal(kind, body, header, signer.signing_key))
        return id


class LangGraph:
    """A graph of so many nodes in a row, with the SQLite saver and durability="sync"."""

    def __init__(self, folder: Path) -> None:
        from langgraph.checkpoint.sqlite import SqliteSaver

        self._saver = SqliteSaver(sqlite3.connect(folder / "graph.db", check_same_thread=False))
        self._saver.setup()
        self._threads = 0

    def walk(self, steps: int) -> float:
        from langgraph.graph import END, START, StateGraph

        def add(state: Any) -> Any:
            return {"sum": state["sum"] + 1}

        graph: Any = StateGraph(_state())
        names = [f"n{number}" for number in range(steps)]
        for name in names:
            graph.add_node(name, add)
        for one, next_one in zip([START, *names], [*names, END], strict=True):
            graph.add_edge(one, next_one)
        return self._run(graph.compile(checkpointer=self._saver), {"sum": 0}, steps)

    def _run(self, app: Any, given: Any, steps: int) -> float:
        self._threads += 1
        config = {"configurable": {"thread_id": str(self._threads)}, "recursion_limit": steps + 10}
        start = time.perf_counter()
        found = app.invoke(given, config, durability="sync")
        seconds = time.perf_counter() - start
        assert found["sum"] == steps
        return seconds


class LangGraphTasks(LangGraph):
    """LangGraph's functional interface: one entry point that calls a task so many times.

    It does not do quite the same: also with durability="sync" the next task begins while the result of the
    last is still being written (three or four were missing on disk at most), and no start is written.
    """

    def walk(self, steps: int) -> float:
        from langgraph.func import entrypoint, task

        @task
        def add(value: int) -> int:
            return value + 1

        @entrypoint(checkpointer=self._saver)
        def chain(value: int) -> Any:
            for _ in range(steps):
                value = add(value).result()
            return {"sum": value}

        return self._run(chain, 0, steps)


class Dbos:
    """A DBOS workflow that calls a step so many times, its system database in SQLite."""

    def __init__(self, folder: Path) -> None:
        from dbos import DBOS

        @DBOS.step()
        def add(value: int) -> int:
            return value + 1

        @DBOS.workflow()
        def chain(steps: int) -> int:
            value = 0
            for _ in range(steps):
                value = add(value)
            return value

        self._chain = chain
        DBOS(config={"name": "bench", "system_database_url": f"sqlite:///{folder}/dbos.db"})
        DBOS.launch()

    def walk(self, steps: int) -> float:
        start = time.perf_counter()
        found = self._chain(steps)
        seconds = time.perf_counter() - start
        assert found == steps
        return seconds


def _state() -> type:
    from typing import TypedDict

    return TypedDict("State", {"sum": int})  # a class statement would need the import above


CONTENDERS: Mapping[str, tuple[Callable[[Path], Contender], str]] = {
    "two SQLite commits": (TwoCommits, ""),
    "ours": (Ours, ""),
    "LangGraph, a graph": (LangGraph, "langgraph.checkpoint.sqlite"),
    "LangGraph, tasks, not waited for": (LangGraphTasks, "langgraph.checkpoint.sqlite"),
    "DBOS": (Dbos, "dbos"),
}


def installed(module: str) -> bool:
    """Whether a contender's library is there ("": it needs none)."""
    try:
        return not module or importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def measured(name: str, steps: int, walks: int) -> dict[str, Any]:
    """In a process of its own: the seconds of each walk, and the most memory that was used, in KiB."""
    command = [sys.executable, "-m", "benchmarks.durable", name, str(steps), str(walks)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    name, steps, walks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        contender = CONTENDERS[name][0](Path(folder))
        contender.walk(10)  # imports, tables, caches
        seconds = [contender.walk(steps) for _ in range(walks)]
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(json.dumps({"seconds": seconds, "memory": memory}), flush=True)
    os._exit(0)  # without waiting for the threads that some leave behind


if __name__ == "__main__":
    main()
