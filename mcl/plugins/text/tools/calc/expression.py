"""Computes what an expression says, exactly."""

from __future__ import annotations

from collections.abc import Mapping

from anyio import to_thread

from executor.tools.tool import Bench
from mcl.plugins.text.arithmetic import compute, plain_number


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with its value."""
    said = str(args["expression"])
    found = await to_thread.run_sync(compute, said)
    value = plain_number(found)
    return {"value": value, "text": f"{' '.join(said.split())} = {value}"}
