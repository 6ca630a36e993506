"""Guards whose answer holds for this moment alone: locks, budget, and the approval that is used up here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from shlex import quote
from typing import Final

from executor.call import Call, Deferred
from executor.core.clock import instant
from executor.core.errors import ScopeError
from executor.core.hashing import json_bytes
from executor.gate.approvals import binding_of, claim
from executor.gate.context import Context
from executor.gate.effects import carries, need_of
from executor.gate.guards.call import warnings
from executor.gate.guards.intent import covered
from executor.gate.guards.promise import must_ask
from executor.gate.host import is_hosts
from executor.gate.locks import Contention
from executor.gate.verdict import Ask, Deny
from executor.tools.manifest import Effect, Manifest
from executor.tools.tool import credentials_of
from ir.display import clear, of_value, quoted

# ---- locks: nobody else is writing there, and the file is still what the caller has read.


# Bytes of a file that is compared here. Our tools compare larger ones in their own time; a host compares
# none.
_MOST_COMPARED = 64 << 20


def locks(call: Call, context: Context) -> Deny | None:
    """SCOPE_CONTENTION, STALE_FILE."""
    manifest = context.manifest(call)
    if manifest is None:
        return None
    try:
        found = context.locks.contended(context.written(call, manifest))
    except ScopeError as error:
        return _unlocked(error)
    return contention(found) if found is not None else _stale(call, manifest, context)


def locks_foreseen(call: Call, context: Context) -> Deny | None:
    """SCOPE_CONTENTION with what the plan itself will be writing when the call's turn comes."""
    manifest = context.manifest(call) if context.locks.branch else None
    if manifest is None:
        return None
    try:
        found = context.locks.foreseen(context.written(call, manifest))
    except ScopeError:  # a path that is none: the guard scope refuses it
        return None
    return contention(found) if found is not None else None


def busy(call: Call, context: Context) -> Deny | None:
    """SCOPE_CONTENTION with another run, which passes: who wants to make the call waits until it has."""
    manifest = context.manifest(call)
    try:
        found = context.locks.contended(context.written(call, manifest)) if manifest else None
        refusal = contention(found) if found is not None else None
    except ScopeError as error:
        refusal = _unlocked(error)
    return refusal if refusal is not None and refusal.passes else None


def _unlocked(error: ScopeError) -> Deny:
    """Why it cannot be told who writes there: another process keeps the locks to itself, which passes, or it
    is no path."""
    return Deny(error.code, error.message, error.fix, passes=error.code == "SCOPE_CONTENTION")


def contention(found: Contention) -> Deny:
    """SCOPE_CONTENTION, with another run or another call of this one."""
    if found.who:
        return Deny(
            "SCOPE_CONTENTION",
            f"the run of the intent {found.who} is writing to {'/'.join(found.path)!r} now",
            "try again when that run is done",
            data={"intent": found.who},
            example=f"mcl show {found.who}",
            passes=True,
        )
    return Deny(
        "SCOPE_CONTENTION",
        f"another call is writing to {'/'.join(found.path)!r} at this moment",
        "write one after the other: put both nodes under a sequential node",
    )


def _stale(call: Call, manifest: Manifest, context: Context) -> Deny | None:
    base = call.args.get("base")
    if base is not None and "base" in manifest.properties:
        for path, mode in context.paths(call, manifest):
            looked_at = is_hosts(manifest) or _size(path, context) <= _MOST_COMPARED
            if mode == "write" and looked_at and _digest(path, context) != base:
                return Deny(
                    "STALE_FILE",
                    f"{path!r} is not what was read any more",
                    "read it again, then write with that base",
                )
    return None


def _size(path: str, context: Context) -> int:
    try:
        status = context.workspace.check(path)
    except ScopeError:
        return 0
    return status.st_size if status else 0


def _digest(path: str, context: Context) -> str:
    try:
        return context.workspace.digest(path)[0]
    except ScopeError:
        return ""


# ---- budget: calls, cost, time and deadline allow one more call, and it is not the same refused call
# again.


def budget(call: Call, context: Context) -> Deny | None:
    """CIRCUIT_OPEN, BUDGET_EXCEEDED, DEADLINE."""
    if context.spending is None:
        return None
    if context.spending.breaker.open(call.hash):
        return Deny(
            "CIRCUIT_OPEN",
            "this very call was refused again and again",
            "read the earlier refusals and do something else",
        )
    return budget_foreseen(call, context)


def budget_foreseen(call: Call, context: Context) -> Deny | None:
    """BUDGET_EXCEEDED, DEADLINE: what was refused before is no matter yet."""
    manifest = context.manifest(call)
    return context.spending.refusal(manifest.cost if manifest else None) if context.spending else None


# ---- approval: a person approved what needs a person.


MOST_SHOWN: Final = 3 << 20  # bytes of arguments as JSON; nobody approves what cannot be shown whole
_SHOWN: Final = 200  # characters of an argument in the question


def approval(call: Call, context: Context) -> Ask | Deny | None:
    """GATE_PENDING, GATE_DENIED, GATE_TIMEOUT, APPROVAL_MISMATCH, APPROVAL_CONSUMED, or a question.

    An approval that fits is used up here, before the call is made.
    """
    why = tuple(_why(call, context))
    if not why:
        return None
    found = claim(call, context)
    if isinstance(found, Deny):
        return found
    if found:
        return None
    if (size := len(json_bytes(dict(call.args)))) > MOST_SHOWN:
        return Deny(
            "INVALID_ARGS",
            f"a person must approve this call, and cannot be shown arguments of {size:,} bytes",
            f"give at most {MOST_SHOWN:,} bytes",
        )
    return _question(call, call, context, why)


def approval_foreseen(call: Call, context: Context) -> Ask | None:
    """The question that the call will raise as things stand now; uses nothing up."""
    why = tuple(_why(call, context))
    if not why:
        return None
    known = {name: value.text if isinstance(value, Deferred) else value for name, value in call.args.items()}
    shown = replace(call, args=known, approval="")
    return _question(call, shown, context, why)


def _why(call: Call, context: Context) -> Iterator[str]:
    """What makes a person necessary, a sentence each; nothing where nothing does."""
    manifest = context.manifest(call)
    if manifest is None:
        yield "The tool is not known."
        return
    effect = context.effect(call, manifest)
    need = need_of(effect)
    if need == "exact":
        classes = ", ".join(sorted(effect.classes))
        yield f"It is {effect.operation} ({classes}), which no verb and no plan covers."
    elif need == "plan" and context.mandate is None and not covered(call, context):
        yield f"It is {effect.operation}, and no accepted plan covers it."
    if "chain" in effect.classes:
        yield "It acts on a chain: only a key with a passphrase, or one kept elsewhere, may approve."
    if wanted := must_ask(call, context, manifest):
        yield wanted
    yield from _places(call, context, manifest)
    if credentials_of(call.known_args, manifest) and not _names_hosts(call, context, manifest):
        yield "It sends a credential to an address that is not written in the plan."
    if call.declaration is not None and warnings(call, context):
        yield f"The agent declared it as {call.declaration.operation_type}, which is less than it does."
    taint = context.taint(call) if carries(effect) or _carries_answers(call, context, effect) else None
    if taint is not None and taint.both:
        yield (
            f"Before it {taint.private} reads what is private and {taint.untrusted} brings what strangers"
            " wrote: it could carry the one to the other."
        )


def _carries_answers(call: Call, context: Context, effect: Effect) -> bool:
    """Does a network read take what earlier nodes gave along, in its address or a header?"""
    planned = context.mandate.call_at(call.node_id) if context.mandate else None
    texts = planned.args.values() if planned else ("${",)
    return "network" in effect.classes and any("${" in text.replace("$${", "") for text in texts)


def _places(call: Call, context: Context, manifest: Manifest) -> Iterator[str]:
    for host in context.ungranted(call, manifest):
        yield f"{host.short} was not granted (always: mcl grant add network --host {host.short})."
    for place, root in context.roots(context.elsewhere(call, manifest)).items():
        if not root:
            folder = place.rpartition("/")[0] or place
            always = f"(always: mcl grant add read --root {clear(quote(folder))})"
            yield f"{quoted(place)} lies outside the workspace and was not granted {always}."


def _names_hosts(call: Call, context: Context, manifest: Manifest) -> bool:
    """Are the call's addresses the plan's own, rather than what an earlier node answered?"""
    planned = context.mandate.call_at(call.node_id) if context.mandate else None
    args = planned.args if planned else {}
    return all("${" not in args.get(name, "${") for name in manifest.scope.urls if name in call.args)


def _question(asked: Call, call: Call, context: Context, why: tuple[str, ...]) -> Ask:
    """The question about a call. ``call`` is the same with all arguments as texts, as a person sees them."""
    manifest = context.manifest(call)
    effect = context.effect(asked, manifest) if manifest else None
    until = datetime.fromisoformat(context.clock.now()) + timedelta(minutes=context.policy.approval_minutes)
    args = ", ".join(
        f"{of_value(name, _SHOWN)} = {of_value(value, _SHOWN)}" for name, value in sorted(call.args.items())
    )
    what = f"{effect.operation}: {', '.join(sorted(effect.classes))}" if effect else "unknown"
    expires_at = instant(until)
    said = "".join(f" {one}" for one in (*why, *_reason(call)))
    return Ask(
        question=f"{_caller(call, manifest)} ({what}). {args or 'No arguments'}.{said} Allow exactly this?",
        binding=binding_of(call, context, expires_at),
        expires_at=expires_at,
        why=why,
    )


def _caller(call: Call, manifest: Manifest | None) -> str:
    """Who wants to call what: a node of a plan, or an agent by a call that it declares."""
    name = clear(manifest.name) if manifest and manifest.outside else call.tool_ref
    return f"{'An agent' if call.declaration else f'Node {call.node_id}'} wants to call {name}"


def _reason(call: Call) -> Iterator[str]:
    """What the agent says of its call, told as its own words: nobody has checked them."""
    said = call.declaration
    if said is not None and said.data_sensitivity in ("public", "internal", "private"):
        yield f"The agent calls the data {said.data_sensitivity}."
    if said is not None and said.reason:
        yield f"Its reason, in its own words: {of_value(said.reason, _SHOWN)}."
