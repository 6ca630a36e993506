"""Claiming an approval for one exact call: is a person's answer in the journal about this very call?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from executor.call import Call
from executor.core.clock import Clock
from executor.core.hashing import json_hash
from executor.gate.approvals import APPROVE, DENY
from executor.gate.context import Context
from executor.gate.verdict import Deny
from executor.store.lifecycle.events import GateState


def bound_to(call: Call, context: Context, expires_at: str) -> dict[str, str]:
    """All that an approval is bound to: Intent, plan, tool manifest, arguments and policy by their hashes,
    node and expiry by themselves."""
    manifest, mandate = context.manifest(call), context.mandate
    return {
        "intent": mandate.accepted_hash if mandate else "",
        "plan": mandate.accepted_plan_hash if mandate else "",
        "node": call.node_id,
        "tool": manifest.pin if manifest else "",
        "args": call.args_hash,
        "policy": context.policy.version,
        "expires_at": expires_at,
    }


def binding_of(call: Call, context: Context, expires_at: str) -> str:
    """sha256 (hex) of what an approval of this call is bound to."""
    return binding_hash(bound_to(call, context, expires_at))


def binding_hash(parts: Mapping[str, str]) -> str:
    """The binding that the parts of ``bound_to`` make."""
    return json_hash(dict(parts))


def claim(call: Call, context: Context) -> Deny | str | None:
    """Find the approval for a call and use it up.

    Returns:
        The gate's id; None where nobody was asked yet; a Deny where the answer named by ``call.approval`` is
        no approval of this very call (or is none any more), or where a person refused this node's call while
        no run was waiting.
    """
    gates = context.view().gates
    if call.approval:
        gate = gates.get(call.approval)
        if gate is None or not gate.decision:
            return Deny("GATE_PENDING", "nobody has decided about this call yet", "wait for the decision")
        if gate.decision != APPROVE:
            return _refused(gate)
        if _expired(gate.expires_at, context.clock):
            return Deny("GATE_TIMEOUT", f"the approval was good until {gate.expires_at}", "ask again")
        if gate.node_id != call.node_id or gate.answer != binding_of(call, context, gate.expires_at):
            return Deny(
                "APPROVAL_MISMATCH",
                "the approval is for another call: the Intent, plan, node, tool, arguments or policy differ",
                "ask for approval of this call as it is now",
            )
        if not _signed_by_person(gate, call, context):
            return Deny(
                "APPROVAL_MISMATCH",
                f"the approval was signed with {gate.by}, a key that opens without a passphrase",
                "have a person approve with a sealed key, or with one kept elsewhere",
                example="MCL_PASSPHRASE=… mcl key new --role user, then mcl gate approve",
            )
        return call.approval if _use(call.approval, gate, context) else _consumed()
    for gate_id, gate in gates.items():
        if gate.node_id != call.node_id:
            continue
        if gate.decision == DENY:
            return _refused(gate)
        if (
            gate.decision == APPROVE
            and not _expired(gate.expires_at, context.clock)
            and gate.answer == binding_of(call, context, gate.expires_at)
            and _signed_by_person(gate, call, context)
            and _use(gate_id, gate, context)
        ):
            return gate_id
    return None


def _use(gate_id: str, gate: GateState, context: Context) -> bool:
    intent = context.mandate.intent.id if context.mandate else ""
    return context.approvals.use(gate_id, intent=intent, node=gate.node_id, binding=gate.answer)


def _consumed() -> Deny:
    return Deny("APPROVAL_CONSUMED", "this approval was used already; each is good once", "ask again")


def _refused(gate: GateState) -> Deny:
    why = f": {gate.why}" if gate.why and gate.decision == DENY else ""
    return Deny(
        "GATE_DENIED",
        f"{gate.by} refused this call at {gate.at}{why}",
        "do without it, or change the plan",
        data={"by": gate.by, "at": gate.at},
    )


def _signed_by_person(gate: GateState, call: Call, context: Context) -> bool:
    """A chain call needs the key of a person: one that no program on this machine can use unasked."""
    manifest = context.manifest(call)
    if manifest is None or "chain" not in context.effect(call, manifest).classes:
        return True
    return context.personal(gate.by)


def _expired(expires_at: str, clock: Clock) -> bool:
    return bool(expires_at) and datetime.fromisoformat(clock.now()) > datetime.fromisoformat(expires_at)
