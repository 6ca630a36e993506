"""budget: calls, cost, time and deadline allow one more call, and it is not the same refused call again."""

from __future__ import annotations

from executor.call import Call
from executor.gate.context import Context
from executor.gate.verdict import Deny


def check(call: Call, context: Context) -> Deny | None:
    """CIRCUIT_OPEN, BUDGET_EXCEEDED, DEADLINE."""
    if context.spending is None:
        return None
    if context.spending.tripped(call.hash):
        return Deny(
            "CIRCUIT_OPEN",
            "this very call was refused again and again",
            "read the earlier refusals and do something else",
        )
    manifest = context.manifest(call)
    return context.spending.refusal(manifest.cost if manifest else None)
