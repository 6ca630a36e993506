"""Guards of what a call says: what it is declared to do, its arguments, and the places that it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from executor.call import Call, Declaration, Deferred, Warned
from executor.core.errors import ScopeError
from executor.gate.context import Context
from executor.gate.effects import COVERS, RANK, VERB_CEILING, over_ceiling
from executor.gate.host import READ
from executor.gate.portion import Portion
from executor.gate.verdict import Deny
from executor.sandbox.files import is_protected
from executor.sandbox.reach import covers, is_elsewhere, look_elsewhere
from executor.sandbox.redaction import visible
from executor.tools.manifest import Effect, Manifest
from executor.tools.tool import credentials_of, missing, variable_of

# ---- three_keys: three keys fit: what the verb may do, what the node declares, what the tool's manifest
# says.
#
# A call that no plan holds has other keys: the door it came by, what its declaration says, what the tool
# does.


VARIANTS: Final[Mapping[str, str]] = {f"call_tool_{operation}": operation for operation in RANK}
SENSITIVITIES = ("public", "internal", "private", "unknown")
MAX_REASON = 1000  # characters
_DECLARED_SHOWN: Final = 80  # characters of a value that is none
_FORM: Final = 'intent = {{"operation_type": "{0}", "data_sensitivity": "internal", "reason": "…"}}'


def three_keys(call: Call, context: Context) -> Deny | None:
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
    if mandate.scheduled is not None and call.declared not in {"read", *mandate.scheduled}:
        return Deny(
            "OUT_OF_SCHEDULE",
            f"the schedule is for {', '.join(sorted(mandate.scheduled))}, and this would {call.declared}",
            "revoke it, and sign one that does this: mcl schedule add",
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
    return shown if len(shown) <= _DECLARED_SHOWN else f"{shown[:_DECLARED_SHOWN]}…"


# ---- arguments: the arguments fit the tool's schema.


_MOST: Final = 50  # names of arguments that are told
_SAMPLES: Final = {"string": '"…"', "integer": "1", "number": "1.5", "boolean": "true", "array": "[…]"}


def arguments(call: Call, context: Context) -> Deny | None:
    """INVALID_ARGS, with all that is wrong, or CREDENTIAL_MISSING. What is not known yet is judged when it
    is."""
    manifest = context.manifest(call)
    if manifest is None:
        return None
    flaws = list(_flaws(call, context))
    if not flaws:
        return _credentials(call, context, manifest)
    names = [name + ("" if name in manifest.required else "?") for name in manifest.properties]
    more = f", and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return Deny(
        "INVALID_ARGS",
        "; ".join(flaws[:5]),
        f"{_name(manifest, call)} takes: {', '.join(names[:_MOST]) or 'nothing'}{more}",
        data={"flaws": flaws},
        example=_example(manifest, _name(manifest, call)),
    )


def _example(manifest: Manifest, called: str) -> str:
    """A call of the tool with the arguments that it needs, each of the type it wants."""
    wanted, known = manifest.required or tuple(manifest.properties)[:1], manifest.properties
    given = [f"{name} = {_SAMPLES.get(str(known.get(name, {}).get('type')), '…')}" for name in wanted]
    return f"{called} with {', '.join(given)}" if given else f"{called} without arguments"


def _name(manifest: Manifest, call: Call) -> str:
    """What whoever calls it calls it."""
    if manifest.outside is not None:
        return visible(manifest.name)
    return (call.declaration.name if call.declaration else "") or manifest.uri


def _credentials(call: Call, context: Context, manifest: Manifest) -> Deny | None:
    for variable in credentials_of(call.known_args, manifest).values():
        if flaw := context.credentials.flaw(variable):
            return Deny("CREDENTIAL_MISSING", *missing(variable, flaw), data={"variable": variable})
    return None


def _flaws(call: Call, context: Context) -> Iterator[str]:
    known: Any = call.known_args
    manifest = context.manifest(call)
    takes = manifest.credentials if manifest else []
    for name, value in known.items():
        if variable_of(value) and name not in takes:
            where = f"only in {', '.join(takes)}" if takes else "no credentials"
            yield f"{name}: this tool takes {'credentials ' if takes else ''}{where}"
        elif variable_of(value) and not _as_signed(call, name, value, context):
            # An answer of a tool must not choose which variable is read.
            yield f"{name}: a credential is named in the plan itself, not by what a tool answered"
    for error in context.tools.args_checker(call.tool_ref).iter_errors(known):
        place = ".".join(str(step) for step in error.absolute_path)
        if error.validator == "required" and not place:
            # One error names one missing property, but not in a field: each is looked for here, once.
            continue
        yield f"{place}: {error.message[:200]}" if place else error.message[:200]
    for name in manifest.required if manifest else ():
        if name not in call.args:
            yield f"{name} is missing"
    for name, value in call.args.items():
        if isinstance(value, Deferred) and manifest and name not in manifest.properties:
            yield f"{name} is not an argument of this tool"


def _as_signed(call: Call, name: str, value: object, context: Context) -> bool:
    """Does the plan name just this credential there? A plan that no intent has is judged as it is."""
    if context.mandate is None:
        return True
    planned = context.mandate.call_at(call.node_id)
    return planned is not None and planned.args.get(name) == value


# ---- scope: paths lie where the call may go and are no secrets; addresses lead to a host that can be
# granted.
#
# Writing stays inside the workspace. A place outside it that is read, and a host, which were not granted
# are asked about by the guard approval: a person's approval of the exact call may stand in.


def scope(call: Call, context: Context) -> Deny | None:
    """PROTECTED_PATH, OUT_OF_SCOPE, HOST_DENIED. The tool opens its paths under the same rules once more."""
    manifest = context.manifest(call)
    if manifest is None:
        return None
    if manifest is READ:
        return _closed_to_reading(call, context)
    try:
        origins = context.origins(call, manifest)
    except ScopeError as error:
        return Deny(error.code, error.message, error.fix)
    portion = context.portion(call)
    if portion is not None:
        refusal = portion.roaming(manifest) or portion.foreign(origins) or _outside(portion, call, context)
        if refusal is not None:
            return refusal
    outside = manifest.outside_modes
    for path, mode in context.paths(call, manifest):
        if (refusal := _judge(path, context, outside=mode in outside)) is not None:
            return refusal
    return None


def _outside(portion: Portion, call: Call, context: Context) -> Deny | None:
    """Whether the call goes where the dispatch above it does not let it; a folder that is left out is the
    workspace."""
    manifest = context.manifest(call)
    assert manifest is not None, "the guard before this one knows the tool"
    given = manifest.complete(call.args)
    whole = ["."] if any(name not in given for name in manifest.scope.paths) else []
    return portion.outside([*(path for path, _ in context.paths(call, manifest)), *whole], manifest)


def _closed_to_reading(call: Call, context: Context) -> Deny | None:
    """PROTECTED_PATH for what a host is to read: by the text of its path, by where its links lead, or because
    it lies in a folder that is closed as a whole."""
    path, place, root = str(call.args["path"]), str(call.args["place"]), str(context.workspace.root)
    ways = (path, place.removeprefix(root) if covers(root, place) else "")
    spelled = (tuple(part for part in way.split("/") if part not in ("", ".", "..")) for way in ways)
    closed = (str(folder) for folder in context.workspace.forbidden)
    if any(map(is_protected, spelled)) or any(covers(folder, place) for folder in closed):
        return Deny(
            "PROTECTED_PATH",
            f"{visible(path)} is protected: secrets, keys, .git or .orchestration",
            "do without it; where it must be read, a person does that",
        )
    return None


def _judge(path: str, context: Context, *, outside: bool) -> Deny | None:
    root = str(context.workspace.root)
    if covers(root, path.rstrip("/")):
        inside = path.rstrip("/").removeprefix(root).lstrip("/") or "."
        return Deny(
            "OUT_OF_SCOPE",
            f"{path!r} lies in the workspace, but is not named relative to it",
            f"write {inside!r}",
            example=f'path = "{inside}"',
        )
    try:
        if outside and is_elsewhere(path):
            look_elsewhere(context.workspace, path)
        else:
            context.workspace.check(path)
    except ScopeError as error:
        if error.code in ("PROTECTED_PATH", "OUT_OF_SCOPE"):
            return Deny(error.code, error.message, error.fix)
    return None
