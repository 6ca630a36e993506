"""A plan whose effects leave marks, walked in a process that is killed: the part that runs in that process.

Run as a program it reads one word a line, `walk` or `end`, and for each `walk` forks a process that walks the
plan of the intent as far as it gets; forking saves each of hundreds of processes its imports. It prints the
process's id at once and its exit status once it has ended.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import anyio
from anyio import to_thread

from executor import AlwaysDeny, Bench, GateAnswer, GateQuestion, Home, Manifest, Registry, Tool, Walker
from ir import MclError

TEXT = {"type": "string"}
STRANGE = 70


def marking(port: int) -> Tool:
    """An idempotent tool: puts a mark at a server, which knows a call again by its key."""

    def put(name: str, key: str) -> dict[str, object]:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("PUT", f"/{name}", headers={"Idempotency-Key": key})
        connection.getresponse().read()
        connection.close()
        return {"done": name}

    async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        return await to_thread.run_sync(put, str(args["name"]), bench.idempotency_key)

    manifest = {
        "uri": "matrix://tool/test/mark@1.0.0",
        "description": "Puts a mark at the server of the test.",
        "effects": ["write"],
        "operation": "write",
        "idempotent": True,
        "timeout_ms": 60_000,
        "max_output": 1000,
        "safety": "C",
        "scope": {"kind": "none"},
        "args": {"type": "object", "additionalProperties": False, "properties": {"name": TEXT}},
        "output": {"type": "object", "additionalProperties": False, "properties": {"done": TEXT}},
    }
    return Tool(Manifest.model_validate(manifest), run)


class Witness:
    """A person who looks whether it happened before saying whether to do it again, and notes the question."""

    def __init__(self, workspace: Path, asked: Path) -> None:
        self._workspace = workspace
        self._asked = asked

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        if gate.kind != "in_doubt":
            return await AlwaysDeny().ask(gate)
        with self._asked.open("a") as file:
            file.write(gate.node_id + "\n")
        log = self._workspace / "log.txt"
        there = log.exists() and gate.node_id in log.read_text().split()
        return GateAnswer("done" if there else "retry")


def walk(home: Path, workspace: Path, intent: str, port: int) -> int:
    """0 when the plan ran to its end."""

    async def run(opened: Home) -> int:
        registry = Registry.builtin([marking(port)])
        people = Witness(workspace, home.parent / "asked.txt")
        async with Walker(opened, registry, workspace=workspace, people=people, environment={}) as walker:
            outcome = await walker.run(intent, resume=True)
        if outcome.state != "completed":
            sys.stderr.write(f"{outcome.failure}\n")
        return outcome.exit

    try:
        with Home.open(home) as opened:
            return anyio.run(run, opened)
    except MclError as error:
        sys.stderr.write(json.dumps(error.to_json()) + "\n")
        return STRANGE


def serve(home: Path, workspace: Path, intent: str, port: int) -> None:
    """Fork a walk for each line; see the top of the file."""
    for line in sys.stdin:
        if line.strip() != "walk":
            return
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os._exit(walk(home, workspace, intent, port))
        sys.stdout.write(f"{child}\n")
        sys.stdout.flush()
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        sys.stdout.write(f"{status}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
