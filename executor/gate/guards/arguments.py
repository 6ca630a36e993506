"""Guard 8: the arguments fit the tool's schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from executor.gate.call import Call, Deferred
from executor.gate.context import Context
from executor.gate.verdict import Deny

_CREDENTIAL = re.compile(r"\$env:[A-Za-z_][A-Za-z0-9_]*")


def check(call: Call, context: Context) -> Deny | None:
    """INVALID_ARGS, with all that is wrong. What is not known yet is judged when it is."""
    manifest = context.manifest(call)
    if manifest is None:
        return None
    flaws = list(_flaws(call, context))
    if not flaws:
        return None
    names = ", ".join(
        name + ("" if name in _required(manifest.args) else "?") for name in manifest.properties
    )
    return Deny(
        "INVALID_ARGS",
        "; ".join(flaws[:5]),
        f"{manifest.uri} takes: {names or 'nothing'}",
        data={"flaws": flaws},
    )


def _flaws(call: Call, context: Context) -> Iterator[str]:
    known: Any = call.known_args
    for name, value in known.items():
        if isinstance(value, str) and _CREDENTIAL.fullmatch(value):
            yield f"{name}: this tool takes no credentials"
    for error in context.tools.args_checker(call.tool_ref).iter_errors(known):
        place = ".".join(str(step) for step in error.absolute_path)
        if error.validator == "required" and not place:
            # One error names one missing property, but not in a field: each is looked for here, once.
            continue
        yield f"{place}: {error.message[:200]}" if place else error.message[:200]
    manifest = context.manifest(call)
    for name in _required(manifest.args) if manifest else ():
        if name not in call.args:
            yield f"{name} is missing"
    for name, value in call.args.items():
        if isinstance(value, Deferred) and manifest and name not in manifest.properties:
            yield f"{name} is not an argument of this tool"


def _required(schema: dict[str, object]) -> tuple[str, ...]:
    names = schema.get("required", [])
    return tuple(names) if isinstance(names, list) else ()
