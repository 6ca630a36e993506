"""The first failure among twenty calls that run processes ends the other nineteen and all they started."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import anyio
from walks import Walks, gone, parallel, sequence, tool

from executor import Bench, Grants, Home, Manifest, Tool, ToolError
from executor.sandbox.process import run_command

TEXT = {"type": "string"}
# Ignores the polite signal, as does the child that it starts, and says who they are.
STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
name = "child" if child == 0 else "parent"
with open(f"{sys.argv[1]}.{name}.part", "w") as file:
    file.write(str(os.getpid()))
os.rename(f"{sys.argv[1]}.{name}.part", f"{sys.argv[1]}.{name}")
time.sleep(600)
"""


def waiting(folder: Path) -> Tool:
    """A tool that starts such a process; the one named `spoil` fails once all the others are there."""

    async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        name = str(args["name"])
        if name == "spoil":
            with anyio.fail_after(60):
                while len(list(folder.glob("*.parent")) + list(folder.glob("*.child"))) < 38:
                    await anyio.sleep(0.01)
            raise ToolError("SPOILT", "this one fails, as planned")
        command = [sys.executable, "-c", STUBBORN, str(folder / name)]
        await run_command(command, cwd=folder, environment={}, max_output=1000)
        return {}

    manifest = {
        "uri": "matrix://tool/test/wait@1.0.0",
        "description": "Runs a process that does not want to end.",
        "effects": ["shell"],
        "operation": "read",
        "idempotent": True,
        "timeout_ms": 120_000,
        "max_output": 1000,
        "safety": "D",
        "scope": {"kind": "none"},
        "args": {"type": "object", "additionalProperties": False, "properties": {"name": TEXT}},
        "output": {"type": "object", "additionalProperties": False, "properties": {}},
    }
    return Tool(Manifest.model_validate(manifest), run)


def test_the_first_failure_among_twenty_ends_the_processes_of_the_other_nineteen(tmp_path: Path) -> None:
    folder = tmp_path / "processes"
    folder.mkdir()
    (tmp_path / "work").mkdir()
    others = [f"n{number}" for number in range(19)]
    with Home.open(tmp_path / "home") as home:
        Grants(home).grant(home.keyring.agent.did, ["read", "shell"])
        walks = Walks(home, tmp_path / "work")
        walks.tools = [waiting(folder)]
        calls = [tool(name, "test/wait", "shell", name=name) for name in [*others, "spoil"]]
        outcome = walks.go(sequence("root", parallel("all", *calls), tool("later", "time/now")))
        ids = {int(place.read_text()) for place in folder.iterdir()}
        assert len(ids) == 38
        assert all(gone(id) for id in ids)
        assert outcome.state == "failed"
        assert outcome.failure is not None
        assert (outcome.failure.code, outcome.failure.node_id) == ("SPOILT", "spoil")
        states = {**dict.fromkeys(others, "cancelled"), "spoil": "failed", "all": "failed", "root": "failed"}
        assert dict(outcome.nodes) == {**states, "later": "skipped"}
        assert dict(home.journal.view(outcome.intent_id, fresh=True).nodes) == dict(outcome.nodes)
        assert home.journal.verify().findings == []
