"""Guard 3: the tool is known, and named by an exact version or hash."""

from __future__ import annotations

from difflib import get_close_matches

from executor.gate.call import Call
from executor.gate.context import Context
from executor.gate.verdict import Deny
from ir import is_pinned


def check(call: Call, context: Context) -> Deny | None:
    """TOOL_UNPINNED, UNKNOWN_TOOL."""
    if not is_pinned(call.tool_ref):
        return Deny(
            "TOOL_UNPINNED",
            f"{call.tool_ref!r} names no exact version",
            "write the version, such as matrix://tool/fs/read@1.0.0",
            example=_nearest(call.tool_ref, context),
        )
    if context.manifest(call) is None:
        known = ", ".join(manifest.uri for manifest in context.tools.manifests)
        return Deny(
            "UNKNOWN_TOOL",
            f"there is no tool {call.tool_ref!r}",
            f"use one of these: {known}",
            example=_nearest(call.tool_ref, context),
        )
    return None


def _nearest(reference: str, context: Context) -> str:
    """The known tool whose address looks most like what was written; "" where none does."""
    known = [manifest.uri for manifest in context.tools.manifests]
    return next(iter(get_close_matches(reference[:200], known, n=1)), "")
