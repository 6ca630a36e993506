"""Guard 6: three keys fit: what the verb may do, what the node declares, what the tool's manifest says."""

from __future__ import annotations

from executor.gate.call import Call, Declaration
from executor.gate.context import Context
from executor.gate.effects import COVERS, RANK, VERB_CEILING, over_ceiling
from executor.gate.verdict import Deny
from executor.tools.manifest import Effect

SENSITIVITIES = ("public", "internal", "private", "unknown")
MAX_REASON = 1000  # characters


def check(call: Call, context: Context) -> Deny | None:
    """MISSING_INTENT, MISSING_OPERATION_TYPE, INVALID_OPERATION_TYPE, INTENT_MISMATCH, SERVER_MISMATCH,
    INVALID_SENSITIVITY, REASON_TOO_LONG. A tool that needs more is refused, never upgraded."""
    manifest, mandate = context.manifest(call), context.mandate
    if manifest is None or mandate is None:
        return None
    if not all(mandate.verbs):
        return Deny("MISSING_INTENT", "the Intent has no verb", "compile the goal again")
    if not call.declared:
        return Deny(
            "MISSING_OPERATION_TYPE",
            f"node {call.node_id!r} declares no side-effect class",
            f"declare side_effect_class, one of {', '.join(COVERS)}",
        )
    if call.declared not in COVERS:
        return Deny(
            "INVALID_OPERATION_TYPE",
            f"{call.declared!r} is no side-effect class",
            f"declare one of {', '.join(COVERS)}",
        )
    effect = context.effect(call, manifest)
    if not effect.classes <= COVERS[call.declared]:
        return Deny(
            "SERVER_MISMATCH",
            f"the node declares {call.declared}, but {manifest.uri} does {', '.join(sorted(effect.classes))}",
            "declare what the tool does, or use a tool that does less",
            example=_declarable(effect),
        )
    for verb in mandate.verbs:
        if not over_ceiling(verb, call.declared, effect.operation):
            continue
        able = [name for name in VERB_CEILING if not over_ceiling(name, call.declared, effect.operation)]
        return Deny(
            "INTENT_MISMATCH",
            f"a goal to {verb} may not {call.declared}",
            f"declare less, or state a goal whose verb may: {', '.join(able)}",
            example=f"a goal to {able[0]} something" if able else "",
        )
    return _declaration(call.declaration, effect) if call.declaration else None


def _declarable(effect: Effect) -> str:
    """The class that covers what the tool does; "" where it does more than any."""
    fitting = [name for name, covered in COVERS.items() if effect.classes <= covered]
    return f'side_effect_class = "{fitting[0]}"' if fitting else ""


def _declaration(said: Declaration, effect: Effect) -> Deny | None:
    if not said.operation_type:
        return Deny("MISSING_OPERATION_TYPE", "operation_type is not given", f"one of {', '.join(RANK)}")
    if said.operation_type not in RANK:
        return Deny(
            "INVALID_OPERATION_TYPE",
            f"{said.operation_type!r} is no operation type",
            f"one of {', '.join(RANK)}",
        )
    if RANK[effect.operation] > RANK[said.operation_type]:
        return Deny(
            "SERVER_MISMATCH",
            f"the call is {effect.operation}, but it was declared {said.operation_type}",
            f"declare it {effect.operation}, if that is what you want",
        )
    if said.data_sensitivity and said.data_sensitivity not in SENSITIVITIES:
        return Deny(
            "INVALID_SENSITIVITY",
            f"{said.data_sensitivity!r} is no sensitivity",
            f"one of {', '.join(SENSITIVITIES)}",
        )
    if len(said.reason) > MAX_REASON:
        return Deny(
            "REASON_TOO_LONG", f"the reason has {len(said.reason)} characters", f"at most {MAX_REASON}"
        )
    return None
