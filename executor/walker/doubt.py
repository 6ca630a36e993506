"""A node that was begun in an earlier run of the same plan, and nobody knows how far it came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from executor.engine.protocol import Failure

if TYPE_CHECKING:
    from executor.walker.run import Run
    from executor.walker.tree import Place


async def settle(place: Place, run: Run) -> tuple[bool, Failure | None]:
    """Decide about it, or have a person decide. True: nothing is left to do for it."""
    call = place.node.tool_call
    manifest = run.registry.find(call.tool_ref) if call else None
    if call is None or (manifest is not None and manifest.idempotent):
        return False, None
    answer = await run.asking.ask(
        "in_doubt",
        place.id,
        f"Node {place.id} ({call.tool_ref}) was running when its process ended: "
        "it may have happened. Do it again, count it as done, or stop?",
        rule="matrix://rule/in-doubt",
        options=("retry", "done", "stop"),
    )
    if isinstance(answer, Failure):
        return True, answer
    if answer[1].decision == "retry":
        return False, None
    if answer[1].decision == "done":
        run.outputs[place.id] = {}
        return True, None
    stop = Failure("GATE_DENIED", "neither 'retry' nor 'done'", "state the goal again", place.id, denied=True)
    return True, stop
