"""Claiming an approval for one exact call: is a person's answer in the journal about this very call?"""

from __future__ import annotations

from datetime import datetime

from executor.clock import Clock
from executor.gate.approvals import APPROVE
from executor.gate.call import Call
from executor.gate.context import Context
from executor.gate.verdict import Deny
from executor.hashing import json_hash


def binding_of(call: Call, context: Context, expires_at: str) -> str:
    """sha256 (hex) of all that an approval is bound to: Intent, plan, node, tool pin, arguments, policy,
    expiry."""
    manifest, mandate = context.manifest(call), context.mandate
    return json_hash(
        {
            "intent": mandate.accepted_hash if mandate else "",
            "plan": mandate.accepted_plan_hash if mandate else "",
            "node": call.node_id,
            "tool": manifest.pin if manifest else "",
            "args": call.args_hash,
            "policy": context.policy.version,
            "expires_at": expires_at,
        }
    )


def claim(call: Call, context: Context) -> Deny | str | None:
    """Find the approval for a call and use it up.

    Returns:
        The gate's id; None where nobody was asked yet; a Deny where the answer named by ``call.approval`` is
        no approval of this very call (or is none any more).
    """
    gates = context.view().gates
    intent = context.mandate.intent.id if context.mandate else ""
    if call.approval:
        gate = gates.get(call.approval)
        if gate is None or not gate.decision:
            return Deny("GATE_PENDING", "nobody has decided about this call yet", "wait for the decision")
        if gate.decision != APPROVE:
            return Deny("GATE_DENIED", "a person refused this call", "do without it, or change the plan")
        if _expired(gate.expires_at, context.clock):
            return Deny("GATE_TIMEOUT", f"the approval was good until {gate.expires_at}", "ask again")
        if gate.node_id != call.node_id or gate.answer != binding_of(call, context, gate.expires_at):
            return Deny(
                "APPROVAL_MISMATCH",
                "the approval is for another call: the Intent, plan, node, tool, arguments or policy differ",
                "ask for approval of this call as it is now",
            )
        if not context.approvals.use(call.approval, intent=intent, node=call.node_id, binding=gate.answer):
            return Deny("APPROVAL_CONSUMED", "this approval was used already; each is good once", "ask again")
        return call.approval
    for gate_id, gate in gates.items():
        if (
            gate.node_id != call.node_id
            or gate.decision != APPROVE
            or _expired(gate.expires_at, context.clock)
        ):
            continue
        binding = binding_of(call, context, gate.expires_at)
        if gate.answer == binding and context.approvals.use(
            gate_id, intent=intent, node=call.node_id, binding=binding
        ):
            return gate_id
    return None


def _expired(expires_at: str, clock: Clock) -> bool:
    return bool(expires_at) and datetime.fromisoformat(clock.now()) > datetime.fromisoformat(expires_at)
