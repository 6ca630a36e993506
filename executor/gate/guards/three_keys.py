"""three_keys: three keys fit: what the verb may do, what the node declares, what the tool's manifest says.

A call that no plan holds has other keys: the door it came by, what its declaration says, what the tool does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from executor.call import Call, Declaration, Warned
from executor.gate.context import Context
from executor.gate.effects import COVERS, RANK, VERB_CEILING, over_ceiling
from executor.gate.verdict import Deny
from executor.sandbox.redaction import visible
from executor.tools.manifest import Effect, Manifest

VARIANTS: Final[Mapping[str, str]] = {f"call_tool_{operation}": operation for operation in RANK}
SENSITIVITIES = ("public", "internal", "private", "unknown")
MAX_REASON = 1000  # characters
_SHOWN: Final = 80  # characters of a value that is none
_FORM: Final = 'intent = {{"operation_type": "{0}", "data_sensitivity": "internal", "reason": "…"}}'


def check(call: Call, context: Context) -> Deny | None:
    """MISSING_INTENT, MISSING_OPERATION_TYPE, INVALID_OPERATION_TYPE, INTENT_MISMATCH, SERVER_MISMATCH,
    INVALID_SENSITIVITY, REASON_TOO_LONG. A tool that needs more is refused, never upgraded."""
    manifest, mandate = context.manifest(call), context.mandate
    if manifest is None:
        return None
    if mandate is None:
        return _declaration(call.declaration, call, context, manifest) if call.declaration else None
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
    return _declaration(call.declaration, call, context, manifest) if call.declaration else None


def warnings(call: Call, context: Context) -> tuple[Warned, ...]:
    """What the operator lets pass of a call that is not refused: SERVER_MISMATCH (policy.toml)."""
    manifest, said = context.manifest(call), call.declaration
    if manifest is None or said is None or said.operation_type not in RANK:
        return ()
    refusal = _mismatch(said, call, context, manifest)
    if refusal is None or context.policy.strict_server_validation:
        return ()
    return (Warned(refusal.code, refusal.reason),)


def _declarable(effect: Effect) -> str:
    """The class that covers what the tool does; "" where it does more than any."""
    fitting = [name for name, covered in COVERS.items() if effect.classes <= covered]
    return f'side_effect_class = "{fitting[0]}"' if fitting else ""


def _declaration(said: Declaration, call: Call, context: Context, manifest: Manifest) -> Deny | None:
    if (refusal := _unfit(said)) is not None:
        return refusal
    refusal = _mismatch(said, call, context, manifest)
    return refusal if refusal is not None and context.policy.strict_server_validation else None


def _unfit(said: Declaration) -> Deny | None:
    """What is wrong with a declaration by itself; each message names a call that would pass."""
    by = VARIANTS.get(said.variant, "")
    example = _FORM.format(by or "read")
    if not said.given:
        return Deny(
            "MISSING_INTENT",
            f"intent parameter is required{f' for {said.variant}' if by else ''}",
            "say what the call does: an intent object, or operation_type, data_sensitivity and reason",
            example=example,
        )
    if not said.operation_type:
        fix = f"one of {', '.join(RANK)}{f'; by {said.variant} it is {by}' if by else ''}"
        return Deny("MISSING_OPERATION_TYPE", "intent.operation_type is required", fix, example=example)
    if said.operation_type not in RANK:
        return Deny(
            "INVALID_OPERATION_TYPE",
            f"Invalid intent.operation_type '{_shown(said.operation_type)}': must be read, write, or"
            " destructive",
            f"one of {', '.join(RANK)}{f'; by {said.variant} it is {by}' if by else ''}",
            example=example,
        )
    if said.variant and by != said.operation_type:
        right = f"call_tool_{said.operation_type}"
        return Deny(
            "INTENT_MISMATCH",
            f"Intent mismatch: tool is {_shown(said.variant)} but intent declares {said.operation_type}",
            f"call it by {right}" + (f", or declare {by} if that is all it does" if by else ""),
            example=f"{right} with {_FORM.format(said.operation_type)}",
        )
    if said.data_sensitivity and said.data_sensitivity not in SENSITIVITIES:
        return Deny(
            "INVALID_SENSITIVITY",
            f"Invalid intent.data_sensitivity '{_shown(said.data_sensitivity)}': must be public, internal,"
            " private, or unknown",
            f"one of {', '.join(SENSITIVITIES)}; unknown where you cannot tell",
            example=example,
        )
    if len(said.reason) > MAX_REASON:
        return Deny(
            "REASON_TOO_LONG",
            f"intent.reason exceeds maximum length of {MAX_REASON} characters",
            f"say it in at most {MAX_REASON} characters; it has {len(said.reason):,}",
        )
    return None


def _mismatch(said: Declaration, call: Call, context: Context, manifest: Manifest) -> Deny | None:
    """SERVER_MISMATCH where less was declared than what the call does; more may be declared."""
    does = context.effect(call, manifest).operation
    if RANK[does] <= RANK[said.operation_type]:
        return None
    right = f"call_tool_{does}"
    return Deny(
        "SERVER_MISMATCH",
        f"Tool '{manifest.name}' {_known_as(does, context, manifest)}, use {right}",
        f"call it by {right} if that is what you want, or use a tool that does less",
        data={"operation": does, "call_with": right},
        example=f"{right} with {_FORM.format(does)}",
    )


def _known_as(does: str, context: Context, manifest: Manifest) -> str:
    """How it is known what a tool does: its server says so, an operator, or nobody who is believed."""
    if manifest.outside is None:
        return f"is {does} with these arguments" if manifest.when else f"is {does}"
    if context.pins.classification(manifest) is not None:
        return f"is classified {does} by the operator"
    if manifest.annotated and manifest.hinted:
        return f"is marked {does} by server"
    if manifest.annotated:
        return f"counts as {does} by default, as its server does not say what it does"
    return f"counts as {does}, as its server is not trusted to say what it does"


def _shown(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
