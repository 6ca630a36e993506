"""Guard 5: the operator has not closed the tool."""

from __future__ import annotations

from executor.call import Call
from executor.gate.context import Context
from executor.gate.verdict import Deny


def check(call: Call, context: Context) -> Deny | None:
    """TOOL_DENIED."""
    manifest = context.manifest(call)
    if manifest is not None and context.policy.denies(manifest):
        return Deny(
            "TOOL_DENIED",
            f"the operator has closed {manifest.uri}",
            "do without it, or ask the operator (policy.toml)",
        )
    return None
