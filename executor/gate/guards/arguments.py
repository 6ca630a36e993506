"""arguments: the arguments fit the tool's schema."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from executor.call import Call, Deferred
from executor.gate.context import Context
from executor.gate.verdict import Deny
from executor.sandbox.redaction import visible
from executor.tools.credentials import credentials_of, missing, variable_of
from executor.tools.manifest import Manifest

_MOST: Final = 50  # names of arguments that are told
_SAMPLES: Final = {"string": '"…"', "integer": "1", "number": "1.5", "boolean": "true", "array": "[…]"}


def check(call: Call, context: Context) -> Deny | None:
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
