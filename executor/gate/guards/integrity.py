"""Guard 1: the Intent and the plan are, to the byte, what the person signed, and the call is in that plan."""

from __future__ import annotations

from collections.abc import Mapping

from executor.errors import UnresolvedError
from executor.gate.call import Call, Deferred
from executor.gate.context import Context
from executor.gate.verdict import Deny
from executor.hashing import json_bytes
from executor.references import typed_args
from executor.tools.manifest import Manifest


def check(call: Call, context: Context) -> Deny | None:
    """INTENT_HASH_MISMATCH, PLAN_HASH_MISMATCH. A call outside any intent is the next guard's matter."""
    mandate = context.mandate
    if mandate is None:
        return None
    if not mandate.intent_hash == mandate.intent.hash == mandate.accepted_hash:
        return Deny(
            "INTENT_HASH_MISMATCH",
            f"the Intent has the hash {mandate.intent_hash}, the person signed {mandate.accepted_hash}",
            "compile the goal again and have it accepted",
        )
    if not mandate.plan_hash == mandate.plan.hash == mandate.accepted_plan_hash:
        return Deny(
            "PLAN_HASH_MISMATCH",
            f"the plan has the hash {mandate.plan_hash}, the person signed {mandate.accepted_plan_hash}",
            "propose the plan again and have it accepted",
        )
    node = mandate.nodes.get(call.node_id)
    planned = node.tool_call if node else None
    if (
        planned is None
        or planned.tool_ref != call.tool_ref
        or planned.side_effect_class != call.declared
        or not _as_planned(call.args, planned.args, context.manifest(call))
    ):
        return Deny(
            "PLAN_HASH_MISMATCH",
            f"the accepted plan has no such call at node {call.node_id!r}",
            "make exactly the calls of the accepted plan, or correct the plan and have it accepted",
        )
    return None


def _as_planned(args: Mapping[str, object], planned: Mapping[str, str], manifest: Manifest | None) -> bool:
    """Whether these are the plan's arguments; of references only the names can be told."""
    try:
        signed = typed_args(planned, manifest, None)
    except UnresolvedError:
        return False
    return args.keys() == signed.keys() and all(
        isinstance(value, Deferred)
        or (not isinstance(args[name], Deferred) and json_bytes(args[name]) == json_bytes(value))
        for name, value in signed.items()
    )
