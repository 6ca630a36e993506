"""Guards 3 to 5: the tool is known by an exact version, is what was approved, and is not closed."""

from __future__ import annotations

from difflib import get_close_matches
from shlex import quote
from typing import Final

from executor.call import Call
from executor.gate.context import Context
from executor.gate.verdict import Deny
from executor.sandbox.redaction import visible
from ir import is_pinned

_SHOWN: Final = 200  # characters of a name


def known(call: Call, context: Context) -> Deny | None:
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


# ---- unchanged: the tool is what was approved.


def unchanged(call: Call, context: Context) -> Deny | None:
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


# ---- denylist: the operator has not closed the tool.


def denied(call: Call, context: Context) -> Deny | None:
    """TOOL_DENIED."""
    manifest = context.manifest(call)
    if manifest is not None and context.policy.denies(manifest):
        return Deny(
            "TOOL_DENIED",
            f"the operator has closed {manifest.uri}",
            "do without it, or ask the operator (policy.toml)",
        )
    return None
