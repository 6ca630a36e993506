"""Guard 7: the agent was granted what the call does."""

from __future__ import annotations

from executor.gate.call import Call
from executor.gate.context import Context
from executor.gate.verdict import Deny


def check(call: Call, context: Context) -> Deny | None:
    """CAPABILITY_DENIED."""
    manifest = context.manifest(call)
    if manifest is None:
        return None
    missing = context.effect(call, manifest).classes - context.grants.classes(context.agent)
    if missing:
        return Deny(
            "CAPABILITY_DENIED",
            f"the agent holds no grant for {', '.join(sorted(missing))}",
            f"have the user grant it (mcl grants give {' '.join(sorted(missing))}), or do with less",
            data={"agent": context.agent, "missing": sorted(missing)},
        )
    return None
