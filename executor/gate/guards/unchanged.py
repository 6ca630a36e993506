"""Guard 4: the tool is what was approved."""

from __future__ import annotations

from executor.gate.call import Call
from executor.gate.context import Context
from executor.gate.verdict import Deny


def check(call: Call, context: Context) -> Deny | None:
    """TOOL_QUARANTINED, TOOL_CHANGED."""
    manifest = context.manifest(call)
    if manifest is None:
        return None
    approved, name = context.pins.of(manifest.uri), manifest.uri.removeprefix("matrix://tool/")
    if not approved:
        return Deny(
            "TOOL_QUARANTINED",
            f"{manifest.uri} is quarantined or was never approved",
            f"look at what it does (mcl tool describe {name}), then approve it: mcl tool approve {name}",
        )
    if approved != manifest.pin:
        return Deny(
            "TOOL_CHANGED",
            f"the manifest of {manifest.uri} changed since it was approved",
            f"look at what changed (mcl tool verify), then approve it again: mcl tool approve {name}",
            data={"approved": approved, "found": manifest.pin},
        )
    return None
