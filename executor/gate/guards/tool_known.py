"""Guard 3: the tool is known, and named by an exact version or hash."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from executor.call import Call
from executor.gate.context import Context
from executor.gate.verdict import Deny
from executor.sandbox.redaction import visible
from ir import is_pinned

_SHOWN: Final = 200  # characters of a name


def check(call: Call, context: Context) -> Deny | None:
    """TOOL_UNPINNED, UNKNOWN_TOOL, BAD_COMMANDS."""
    if call.declaration is not None and call.declaration.name and context.manifest(call) is None:
        return _unknown_name(call.declaration.name, context)
    if not is_pinned(call.tool_ref):
        return Deny(
            "TOOL_UNPINNED",
            f"{call.tool_ref!r} names no exact version",
            "write the version, such as matrix://tool/fs/read@1.0.0",
            example=_nearest(call.tool_ref, context),
        )
    if context.manifest(call) is None:
        if (fault := context.tools.fault(call.tool_ref)) is not None:
            return Deny(fault.code, fault.message, fault.fix)
        known = ", ".join(one.uri for one in context.tools.manifests if one.outside is None)
        return Deny(
            "UNKNOWN_TOOL",
            f"there is no tool {call.tool_ref!r}",
            f"use one of these: {known}",
            example=_nearest(call.tool_ref, context),
        )
    return None


def _unknown_name(name: str, context: Context) -> Deny:
    """UNKNOWN_TOOL, for callers who name tools as server:tool."""
    known = [manifest.name for manifest in context.tools.manifests]
    near = [visible(one) for one in get_close_matches(name[:_SHOWN], known, n=3)]
    fix = "retrieve_tools finds tools by what they do" + (f"; nearest: {', '.join(near)}" if near else "")
    example = f'name = "{near[0] if near else "mcl:fs/read"}"'
    return Deny("UNKNOWN_TOOL", f"there is no tool '{visible(name[:_SHOWN])}'", fix, example=example)


def _nearest(reference: str, context: Context) -> str:
    """The known tool whose address looks most like what was written; "" where none does."""
    known = [manifest.uri for manifest in context.tools.manifests]
    return next(iter(get_close_matches(reference[:200], known, n=1)), "")
