"""Guards of the tool: is it known, approved and not closed, and was the agent granted what it does?"""

from __future__ import annotations

from difflib import get_close_matches
from shlex import quote
from typing import Final

from executor.call import Call
from executor.core.errors import ScopeError
from executor.gate.context import Context
from executor.gate.grants import DEFAULT_CLASSES, Grant
from executor.gate.host import is_hosts
from executor.gate.verdict import Deny
from executor.sandbox.redaction import visible
from executor.tools.manifest import Manifest
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


# ---- capability: the agent was granted what the call does, and the grant is not used up.


def capability(call: Call, context: Context) -> Deny | None:
    """CAPABILITY_DENIED."""
    manifest = context.manifest(call)
    if manifest is None:
        return None
    wanted = context.effect(call, manifest).classes
    if is_hosts(manifest):  # what else its host does is the host's to allow: no grant was ever asked for it
        wanted &= frozenset(DEFAULT_CLASSES)
    portion = context.portion(call)
    if portion is not None and (more := wanted - portion.classes):
        left = ", ".join(sorted(portion.classes)) or "nothing"
        return Deny(
            "CAPABILITY_DENIED",
            f"the dispatch leaves {left} to the plan below it, not {', '.join(sorted(more))}",
            "widen the scope_uri of the sub_dispatch and have the plan accepted, or do with less",
            data={"missing": sorted(more)},
            example=f"scope_uri = matrix://scope/{'+'.join(sorted(wanted | portion.classes))}",
        )
    held = context.grants.held(context.agent)
    missing = wanted - held.keys()
    if missing:
        command = _command(missing, call, context, manifest)
        return Deny(
            "CAPABILITY_DENIED",
            f"the agent holds no grant for {', '.join(sorted(missing))}",
            f"have the user grant it ({command}), or do with less",
            data={"agent": context.agent, "missing": sorted(missing)},
            example=command,
        )
    if not any(held[name].max_calls for name in wanted):
        return None
    spent = context.grants.spent(context.agent, wanted)
    return used_up(spent) if spent is not None else None


def used_up(grant: Grant) -> Deny:
    """CAPABILITY_DENIED, for a grant of so many calls that were all made."""
    more = f"mcl grant add {grant.side_effect} --max-calls {2 * grant.max_calls}"
    return Deny(
        "CAPABILITY_DENIED",
        f"the grant of {grant.side_effect} is for {grant.max_calls} calls in 24 hours, and all were made",
        f"wait until the first of them is a day old, or have the user grant more ({more})",
        data={"agent": grant.agent, "spent": grant.side_effect, "max_calls": grant.max_calls},
        example=more,
    )


def _command(missing: frozenset[str], call: Call, context: Context, manifest: Manifest) -> str:
    hosts = ""
    if "network" in missing:
        try:
            hosts = "".join(f" --host {origin.short}" for origin in context.ungranted(call, manifest))
        except ScopeError:  # no host at all: a later guard says so
            hosts = ""
    usual = context.mandate.intent.agent if context.mandate else context.agent
    agent = f" --agent {context.agent}" if context.agent != usual else ""
    return f"mcl grant add {' '.join(sorted(missing))}{hosts}{agent}"
