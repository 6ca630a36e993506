"""Guard 7: the agent was granted what the call does."""

from __future__ import annotations

from executor.errors import ScopeError
from executor.gate.call import Call
from executor.gate.context import Context
from executor.gate.verdict import Deny
from executor.tools.manifest import Manifest


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
            f"have the user grant it ({_command(missing, call, context, manifest)}), or do with less",
            data={"agent": context.agent, "missing": sorted(missing)},
        )
    return None


def _command(missing: frozenset[str], call: Call, context: Context, manifest: Manifest) -> str:
    hosts = ""
    if "network" in missing:
        try:
            hosts = "".join(f" --host {origin.short}" for origin in context.ungranted(call, manifest))
        except ScopeError:  # no host at all: a later guard says so
            hosts = ""
    return f"mcl grants give {' '.join(sorted(missing))}{hosts}"
