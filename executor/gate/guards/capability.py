"""capability: the agent was granted what the call does, and the grant is not used up."""

from __future__ import annotations

from executor.call import Call
from executor.core.errors import ScopeError
from executor.gate.context import Context
from executor.gate.grants import DEFAULT_CLASSES, Grant
from executor.gate.host import is_hosts
from executor.gate.verdict import Deny
from executor.tools.manifest import Manifest


def check(call: Call, context: Context) -> Deny | None:
    """CAPABILITY_DENIED."""
    manifest = context.manifest(call)
    if manifest is None:
        return None
    wanted = context.effect(call, manifest).classes
    if is_hosts(manifest):  # what else its host does is the host's to allow: no grant was ever asked for it
        wanted &= frozenset(DEFAULT_CLASSES)
    portion = context.mandate.portion if context.mandate else None
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
