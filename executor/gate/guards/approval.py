"""Guard 12: a person approved what needs a person."""

from __future__ import annotations

from datetime import datetime, timedelta

from executor.clock import instant
from executor.gate.call import Call, Deferred
from executor.gate.claim import binding_of, claim
from executor.gate.context import Context
from executor.gate.effects import need_of
from executor.gate.verdict import Ask, Deny
from executor.sandbox.redaction import visible

_SHOWN = 200  # characters of an argument in the question


def check(call: Call, context: Context) -> Ask | Deny | None:
    """GATE_PENDING, GATE_DENIED, GATE_TIMEOUT, APPROVAL_MISMATCH, APPROVAL_CONSUMED, or a question.

    An approval that fits is used up here, before the call is made.
    """
    if not _needs_person(call, context):
        return None
    found = claim(call, context)
    if isinstance(found, Deny):
        return found
    return None if found else _question(call, call, context)


def foresee(call: Call, context: Context) -> Ask | None:
    """The question that the call will raise as things stand now; uses nothing up."""
    if not _needs_person(call, context):
        return None
    known = {name: value.text if isinstance(value, Deferred) else value for name, value in call.args.items()}
    return _question(call, Call(call.tool_ref, known, call.declared, call.node_id), context)


def _needs_person(call: Call, context: Context) -> bool:
    manifest = context.manifest(call)
    if manifest is None:
        return True
    need = need_of(context.effect(call, manifest))
    if need == "exact" or (need == "plan" and context.mandate is None):
        return True
    return bool(context.ungranted(call, manifest))


def _question(asked: Call, call: Call, context: Context) -> Ask:
    """The question about a call. ``call`` is the same with all arguments as texts, as a person sees them."""
    manifest = context.manifest(call)
    effect = context.effect(asked, manifest) if manifest else None
    until = datetime.fromisoformat(context.clock.now()) + timedelta(minutes=context.policy.approval_minutes)
    args = ", ".join(f"{name} = {_shown(value)}" for name, value in sorted(call.args.items()))
    what = f"{effect.operation}: {', '.join(sorted(effect.classes))}" if effect else "unknown"
    expires_at = instant(until)
    hosts = context.ungranted(asked, manifest) if manifest else []
    news = "".join(
        f" {host.short} was not granted (always: mcl grants give network --host {host.short})."
        for host in hosts
    )
    return Ask(
        question=f"Node {call.node_id} wants to call {call.tool_ref} ({what}). {args}.{news}"
        " Allow exactly this?",
        binding=binding_of(call, context, expires_at),
        expires_at=expires_at,
    )


def _shown(value: object) -> str:
    text = visible(str(value)).replace("\n", "\\n")
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text)} characters)"
