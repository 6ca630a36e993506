"""The one gate. Whoever wants to use a tool asks ``decide``; a tool runs only with the Allow it gives.

Guards are asked in a fixed order, and the first that does not allow decides. Where no guard speaks, the call
is allowed; each guard refuses what it does not know, so that denial is the default.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeAlias

from executor.call import _SEAL, Allow, Call
from executor.core.hashing import is_json, json_bytes
from executor.gate.approvals import bound_to
from executor.gate.context import Context
from executor.gate.guards import call as call_guards
from executor.gate.guards import intent, moment, tool
from executor.gate.guards import promise as promises
from executor.gate.rules import fits
from executor.gate.verdict import EXAMPLES, Ask, Deny
from executor.sandbox.origin import Origin
from executor.tools.manifest import Manifest

# ---- Before any guard: is this a call at all? What is no JSON can be neither hashed, recorded nor signed.

MAX_ARGS: Final = 32 << 20  # bytes of JSON; the largest argument of a tool of ours takes 24 MB at most


def unreadable(call: Call) -> Deny | None:
    """INVALID_ARGS for what no plan could hold: half characters, NaN, sets, values without end."""
    said = call.declaration.to_json() if call.declaration else None
    if is_json([call.tool_ref, call.declared, call.node_id, call.approval, said, call.known_args], MAX_ARGS):
        return None
    return Deny(
        "INVALID_ARGS",
        f"the call is no JSON of at most {MAX_ARGS >> 20} MB",
        "give texts, numbers, booleans, lists and objects; all text must be valid Unicode",
        guard="arguments",
        example=EXAMPLES["INVALID_ARGS"],
    )


def described(call: Call, refusal: Deny) -> dict[str, object]:
    """The refusal as it is recorded, with as much of the call as can be written."""
    named = {"node": call.node_id, "tool": call.tool_ref}
    kept = {name: text if is_json(text, 1000) else "" for name, text in named.items()}
    return {**kept, "args_hash": "", **refusal.to_json()}


Guard: TypeAlias = Callable[[Call, Context], Ask | Deny | None]

GUARDS: Final[tuple[tuple[str, Guard], ...]] = (
    ("integrity", intent.integrity),
    ("state", intent.state),
    ("tool_known", tool.known),
    ("unchanged", tool.unchanged),
    ("denylist", tool.denied),
    ("three_keys", call_guards.three_keys),
    ("capability", tool.capability),
    ("arguments", call_guards.arguments),
    ("promise", promises.promise),
    ("scope", call_guards.scope),
    ("checkout", intent.checkout),
    ("locks", moment.locks),
    ("budget", moment.budget),
    ("approval", moment.approval),
)
# What can be said of a call before its turn: of locks only what the plan itself will write at the same time,
# and of a person's answer only that one will be asked for. What will be used by then the caller reckons
# (``executor.walker.forecast``); where nobody does, the budget says nothing.
_FORESEEN: Final = {
    "locks": moment.locks_foreseen,
    "budget": moment.budget_foreseen,
    "approval": moment.approval_foreseen,
}
BEFOREHAND: Final[tuple[tuple[str, Guard], ...]] = tuple(
    (name, _FORESEEN.get(name, check)) for name, check in GUARDS
)


def decide(call: Call, context: Context) -> Allow | Ask | Deny:
    """Judge one call. Whatever is not a plain allow is recorded before it is given back."""
    if (refusal := unreadable(call)) is not None:
        context.record("refused", described(call, refusal))
        return refusal
    with context.moment():
        verdict = foresee(call, context, GUARDS) or _counted(call, context)
        warnings = () if isinstance(verdict, Deny) else call_guards.warnings(call, context)
        if verdict is None:
            manifest = context.manifest(call)
            assert manifest is not None, "the guard tool_known let an unknown tool pass"
            operation = context.effect(call, manifest).operation
            hosts, roots = _hosts(call, context, manifest), _roots(call, context, manifest)
            return Allow(_SEAL, call, operation, hosts, roots, warnings)
    if isinstance(verdict, Ask):
        verdict = replace(verdict, warnings=warnings)
    if isinstance(verdict, Deny) and not verdict.passes and context.spending is not None:
        context.spending.breaker.note(call.hash)
    context.record("refused" if isinstance(verdict, Deny) else "asked", _told(call, context, verdict))
    return verdict


def foresee(
    call: Call, context: Context, guards: tuple[tuple[str, Guard], ...] = BEFOREHAND
) -> Ask | Deny | None:
    """What the guards say of a call, without leave to make it; None where none of them objects."""
    for name, guard in guards:
        verdict = guard(call, context)
        if verdict is not None:
            return _signed(verdict, name)
    return None


def weigh(
    call: Call, context: Context, guards: tuple[tuple[str, Guard], ...] = BEFOREHAND
) -> dict[str, Ask | Deny | None]:
    """What each guard says for itself, by name. Where one refuses, whether a person would be asked is moot,
    and not told."""
    found: dict[str, Ask | Deny | None] = {}
    for name, guard in guards:
        if name == "approval" and any(found.values()):
            break
        verdict = guard(call, context)
        found[name] = _signed(verdict, name) if verdict is not None else None
    return found


def _signed(verdict: Ask | Deny, guard: str) -> Ask | Deny:
    """The verdict with the guard that gave it, and of a refusal an example of what would do."""
    if isinstance(verdict, Ask):
        return replace(verdict, guard=guard)
    return replace(verdict, guard=guard, example=verdict.example or EXAMPLES.get(verdict.code, ""))


def _counted(call: Call, context: Context) -> Deny | None:
    """Count the call, which every guard allows, against the grants that limit it; refused where another
    process had the last one meanwhile."""
    manifest = context.manifest(call)
    assert manifest is not None, "the guard tool_known let an unknown tool pass"
    spent = context.grants.count(context.agent, context.effect(call, manifest).classes)
    if spent is None:
        return None
    refusal = tool.used_up(spent)
    return replace(refusal, guard="capability")


def _hosts(call: Call, context: Context, manifest: Manifest) -> frozenset[Origin]:
    """The granted hosts, and those that the call names: a person approved it where they were not granted."""
    if manifest.scope.kind != "network":
        return frozenset()
    granted = context.grants.hosts(context.agent)
    portion = context.portion(call)
    if portion is not None and portion.hosts is not None:  # also where a redirect leads
        granted &= portion.hosts
    for rule in context.mandate.rules if context.mandate else ():
        if rule.portion is not None and rule.portion.hosts is not None:
            granted &= rule.portion.hosts
        if rule.regions is not None:
            where = context.grants.regions(context.agent)
            granted = frozenset(one for one in granted if fits(where.get(one, ()), rule.regions))
    return granted | frozenset(context.origins(call, manifest))


def _roots(call: Call, context: Context, manifest: Manifest) -> frozenset[str]:
    """The granted folders that the call reads from; of what was not granted, but approved, just the place."""
    return frozenset(
        root or place for place, root in context.roots(context.elsewhere(call, manifest)).items()
    )


def _told(call: Call, context: Context, verdict: Ask | Deny) -> dict[str, object]:
    told = {"node": call.node_id, "tool": call.tool_ref, "args_hash": call.args_hash, **verdict.to_json()}
    if call.declaration is not None:
        told["declaration"] = call.declaration.to_json()
    if isinstance(verdict, Deny):
        return told
    # Whoever decides elsewhere must see the whole call, and what the approval will be bound to.
    return {
        **told,
        "args_json": json_bytes(dict(call.args)).decode(),
        "declared": call.declared,
        "bound": bound_to(call, context, verdict.expires_at),
    }
