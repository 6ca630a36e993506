"""Guard 4: the tool is what was approved."""

from __future__ import annotations

from shlex import quote

from executor.call import Call
from executor.gate.context import Context
from executor.gate.verdict import Deny
from executor.sandbox.redaction import visible


def check(call: Call, context: Context) -> Deny | None:
    """TOOL_QUARANTINED, TOOL_CHANGED."""
    manifest = context.manifest(call)
    if manifest is None:
        return None
    approved = context.pins.of(manifest.uri)
    if manifest.outside is None:
        shown, name = manifest.uri, manifest.uri.removeprefix("matrix://tool/")
        what, look = f"the manifest of {shown}", "mcl tool check"
    else:
        shown = name = quote(visible(manifest.name))
        what, look = f"what its server says of {shown}", f"mcl tool show {name}"
    if not approved:
        return Deny(
            "TOOL_QUARANTINED",
            f"{shown} is quarantined or was never approved",
            f"look at what it does (mcl tool show {name}), then approve it: mcl tool approve {name}",
        )
    if approved != manifest.pin:
        return Deny(
            "TOOL_CHANGED",
            f"{what} changed since it was approved",
            f"look at what changed ({look}), then approve it again: mcl tool approve {name}",
            data={"approved": approved, "found": manifest.pin},
        )
    return None
