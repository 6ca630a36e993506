"""How long the gate takes for a declared call of a tool of another server, and whether it minds many tools.

    python -m benchmarks.gate [--tools 1000] [--calls 2000] [--json]

Each call has arguments of its own, so that nothing is remembered from the one before. The floor is what no
judge of a call can do without: its arguments as JSON, hashed, and one look into the home's database.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from executor.call import Call
from executor.core.hashing import json_hash
from executor.gate.approvals import Approvals
from executor.gate.context import Context
from executor.gate.decide import decide
from executor.gate.grants import Grants
from executor.gate.locks import Locks
from executor.gate.pins import Pins
from executor.gate.policy import PolicyFile
from executor.sandbox.paths import Workspace
from executor.store.home import Home
from executor.tools.registry import Registry
from executor.tools.tool import Bench, Tool
from mcl.catalog.manifests import manifest_of
from mcl.plugins.mcp.call_texts import read_call

SCHEMA = {
    "type": "object",
    "properties": {
        "repo": {"type": "string", "description": "owner and name"},
        "number": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        "labels": {"type": "array", "items": {"type": "string"}},
        "state": {"type": "string", "enum": ["open", "closed"]},
    },
    "required": ["repo"],
}
HINTS = {"allowed": {"readOnlyHint": True}, "asked": {}, "refused": {"destructiveHint": True}}
VARIANT = {"allowed": "call_tool_read", "asked": "call_tool_write", "refused": "call_tool_write"}


async def _never(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    raise AssertionError("calls are judged here, and not made")


def context(home: Home, workspace: Path, tools: int) -> tuple[Context, dict[str, list[str]]]:
    """A home with so many approved tools, what the gate looks at, and the tools' addresses by verdict."""
    pins, grants, made = Pins(home), Grants(home), list[Tool]()
    grants.grant(home.keyring.agent.did, ["read", "write", "network"])
    known: dict[str, list[str]] = {verdict: [] for verdict in HINTS}
    with home.journal.tables.changing():
        for number in range(tools):
            verdict = list(HINTS)[number % 3]
            definition = {"name": f"tool_{number}", "inputSchema": SCHEMA, "annotations": HINTS[verdict]}
            manifest = manifest_of("github", definition, trusted=True)
            pins.approve(manifest)
            made.append(Tool(manifest, _never))
            known[verdict].append(manifest.uri)
    registry = Registry.builtin(made)
    found = Context(
        agent=home.keyring.agent.did,
        tools=registry,
        workspace=Workspace(workspace),
        policy=PolicyFile(home, registry),
        pins=pins,
        grants=grants,
        approvals=Approvals(home),
        clock=home.clock,
        record=lambda kind, body: None,
        locks=Locks(),
        moment=home.db.moment,
    )
    return found, known


def measured(work: Callable[[Call], object], calls: list[Call]) -> float:
    """Median milliseconds."""
    taken = []
    for call in calls:
        began = time.perf_counter()
        work(call)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken) * 1000


def figures(tools: int, calls: int) -> dict[str, float]:
    """Median milliseconds by verdict, with few tools and with many."""
    found: dict[str, float] = {}
    for many in (9, tools):
        with tempfile.TemporaryDirectory() as folder, Home.open(Path(folder) / "home") as home:
            (workspace := Path(folder) / "work").mkdir()
            gate, known = context(home, workspace, many)

            def floor(call: Call, home: Home = home) -> object:
                return json_hash(dict(call.args)), home.db.read("SELECT 1")

            for verdict, uris in known.items():
                made = [
                    read_call(
                        VARIANT[verdict],
                        {
                            "name": "github:tool",
                            "args": {"repo": "x", "number": number, "labels": ["a", "b"], "state": "open"},
                            "intent": {"data_sensitivity": "internal", "reason": "to measure"},
                        },
                    ).call(uris[number % len(uris)])
                    for number in range(calls)
                ]
                decide(made[0], gate)
                found[f"{verdict}, {many} tools"] = measured(lambda call, gate=gate: decide(call, gate), made)  # type: ignore[misc]
            found[f"the floor, {many} tools"] = measured(floor, made)
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--tools", type=int, default=1000)
    options.add_argument("--calls", type=int, default=2000)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    found = figures(chosen.tools, chosen.calls)
    if chosen.json:
        print(json.dumps(found))
        return
    for name, milliseconds in found.items():
        print(f"{name:24} {milliseconds:.3f} ms")


if __name__ == "__main__":
    main()
