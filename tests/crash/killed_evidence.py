"""A run that looks at its promises and is killed at a place: the part that runs in that process.

The tools kill their own process (SIGKILL) where a file `kill` in the workspace names them, after their effect
and before anybody is told of it.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
from walks import Says, probe

from executor import Bench, Home, Outcome, Registry, Tool, Walker


def _dies(name: str, bench: Bench) -> None:
    place = bench.workspace.root / "kill"
    if place.exists() and place.read_text() == name:
        place.unlink()
        os.kill(os.getpid(), signal.SIGKILL)


async def _count(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    log = bench.workspace.root / "log.txt"
    with log.open("a") as file:
        file.write("row\n")
    _dies("count", bench)
    return {"rows": len(log.read_text().splitlines())}


async def _kept(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    held = (bench.workspace.root / "log.txt").exists()
    _dies(str(args["text"]), bench)
    return {"holds": held}


def tools() -> list[Tool]:
    """A tool that adds a row and tells how many there are, and one that looks whether there are any."""
    counted: dict[str, Any] = {"type": "object", "additionalProperties": False}
    return [
        probe(
            "count",
            _count,
            idempotent=False,
            effects=("read", "write"),
            output={**counted, "properties": {"rows": {"type": "integer"}}},
        ),
        probe(
            "kept",
            _kept,
            output={**counted, "required": ["holds"], "properties": {"holds": {"type": "boolean"}}},
        ),
    ]


def walk(home: Home, workspace: Path, intent: str, answer: str) -> Outcome:
    """Run, or go on with it. answer: to the question what became of a call in doubt."""

    async def run() -> Outcome:
        registry, people = Registry.builtin(tools()), Says(answer)
        async with Walker(home, registry, workspace=workspace, people=people, environment={}) as walker:
            return await walker.run(intent, resume=True)

    return anyio.run(run)


if __name__ == "__main__":
    with Home.open(Path(sys.argv[1])) as opened:
        walk(opened, Path(sys.argv[2]), sys.argv[3], sys.argv[4])
