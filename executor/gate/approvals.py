"""Approvals: a person's signed answer to one question about one exact call, good once.

The answer is a ``policy.gate.resolve`` in the journal, signed by the user's key, whose ``answer`` is the
binding. What is kept here besides is only which of them were used.
"""

from __future__ import annotations

import sqlite3
from datetime import datetime
from typing import TYPE_CHECKING

from executor.clock import Clock
from executor.database import Database
from executor.gate.call import Call
from executor.gate.verdict import Deny
from executor.hashing import json_hash

if TYPE_CHECKING:
    from executor.gate.context import Context

APPROVE = "approve"
DENY = "deny"
_TABLES = [
    """CREATE TABLE approvals_used (
         gate TEXT PRIMARY KEY, intent TEXT NOT NULL, node TEXT NOT NULL, binding TEXT NOT NULL,
         used_at TEXT NOT NULL
       ) STRICT"""
]


class Approvals:
    """Which approvals of a home were used."""

    def __init__(self, database: Database, clock: Clock) -> None:
        database.migrate("approvals", _TABLES)
        self._database = database
        self._clock = clock

    def used(self, gate: str) -> bool:
        """Was the approval given at this gate used already?"""
        return bool(self._database.read("SELECT 1 FROM approvals_used WHERE gate = ?", (gate,)))

    def use(self, gate: str, *, intent: str, node: str, binding: str) -> bool:
        """Use an approval up. False where it was used before: of two callers at once, one gets it."""
        try:
            with self._database.write() as connection:
                connection.execute(
                    "INSERT INTO approvals_used VALUES (?, ?, ?, ?, ?)",
                    (gate, intent, node, binding, self._clock.now()),
                )
        except sqlite3.IntegrityError:
            return False
        return True


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
