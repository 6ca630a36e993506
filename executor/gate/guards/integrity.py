"""integrity: Intent and plan are, to the byte, what the person signed, and the call is in that plan."""

from __future__ import annotations

from collections.abc import Mapping

from executor.call import Call, Deferred
from executor.core.errors import UnresolvedError
from executor.core.hashing import json_bytes
from executor.gate.context import Context
from executor.gate.mandate import Mandate
from executor.gate.references import typed_args
from executor.gate.verdict import Deny
from executor.tools.manifest import Manifest
from ir import ToolCall


def check(call: Call, context: Context) -> Deny | None:
    """INTENT_HASH_MISMATCH, PLAN_HASH_MISMATCH. A call outside any intent is the next guard's matter."""
    if context.mandate is None:
        return None
    return _unchanged(context.mandate) or _planned(call, context.mandate, context)


def _unchanged(mandate: Mandate) -> Deny | None:
    """Of a sub-dispatch the plans above it are looked at too: they are what the person signed."""
    if mandate.above is not None and (refused := _unchanged(mandate.above)) is not None:
        return refused
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
    return None


def _planned(call: Call, mandate: Mandate, context: Context) -> Deny | None:
    """Whether the call is one of the plan's, or looks at a success criterion of the Intent."""
    planned = mandate.call_at(call.node_id)
    if (
        planned is None
        or planned.tool_ref != call.tool_ref
        or planned.side_effect_class != call.declared
        or not _as_planned(call.args, planned, context.manifest(call))
    ):
        return Deny(
            "PLAN_HASH_MISMATCH",
            f"the accepted plan has no such call at node {call.node_id!r}",
            "make exactly the calls of the accepted plan, or correct the plan and have it accepted",
        )
    return None


def _as_planned(args: Mapping[str, object], planned: ToolCall, manifest: Manifest | None) -> bool:
    """Whether these are the plan's arguments; of references only the names can be told."""
    try:
        signed = typed_args(planned.args, manifest, None, planned.documents)
    except UnresolvedError:
        return False
    return args.keys() == signed.keys() and all(
        isinstance(value, Deferred)
        or (not isinstance(args[name], Deferred) and json_bytes(args[name]) == json_bytes(value))
        for name, value in signed.items()
    )
