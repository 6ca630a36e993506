"""The contract of a tool: all that its manifest promises, said in the words that callers ask in."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

from executor.gate.roots import outside_modes
from executor.tools.manifest import Manifest
from executor.tools.registry import Registry
from mcl.catalog.foreign.annotations import hints_of

Contract: TypeAlias = Mapping[str, object]
Resolver: TypeAlias = Literal["none", "workspace", "workspace+allowed", "network"]

_SCHEME: Final = "matrix://tool/"
_EDITORS: Final = ("$VISUAL", "$EDITOR")


def contracts_of(registry: Registry) -> dict[str, Contract]:
    """The contract of each of a registry's own tools, by its short name with the version (``fs/read@1.0.0``),
    in the order of their addresses. Tools of other servers have none: what those say is no promise."""
    return {one.uri.removeprefix(_SCHEME): contract_of(one) for one in registry.own}


def contract_of(manifest: Manifest) -> dict[str, object]:
    """What a tool promises, as one JSON object.

    write: may a call change anything at all, here or on another machine? subprocess: may it start a program?
    side_effects: a sentence for each thing that stays when a call has ended, or that others notice; none for
    a tool that only reads. resolver: what its paths and addresses are held to (docs/tool-contracts.md).
    Times are milliseconds, sizes bytes. hints: as the Model Context Protocol names them.
    """
    one = manifest
    return {
        "name": one.name if one.outside else one.uri.removeprefix(_SCHEME).partition("@")[0],
        "uri": one.uri,
        "class": one.safety,
        "description": one.description,
        "resolver": resolver_of(one),
        "write": writes(one),
        "subprocess": bool(programs_of(one)) or "shell" in one.effects,
        "network": bool({"network", "chain"} & set(one.effects)),
        "side_effects": list(_side_effects(one)),
        "programs": list(programs_of(one)),
        "effects": list(one.effects),
        "operation": one.operation,
        "cases": [case.model_dump(mode="json", exclude_defaults=True) for case in one.when],
        "scope": {"kind": one.scope.kind, "paths": dict(one.scope.paths), "urls": list(one.scope.urls)},
        "idempotent": one.idempotent,
        "retries": one.retries.model_dump(mode="json"),
        "timeout_ms": one.timeout_ms,
        "max_output": one.max_output,
        "cost": one.cost.model_dump(mode="json") if one.cost else None,
        "credentials": list(one.credentials),
        "environment": list(one.environment),
        "command": one.command.model_dump(mode="json") if one.command else None,
        "hints": hints_of(one),
        "pin": one.pin,
        "args": one.args,
        "output": one.output,
        "examples": [example.model_dump(mode="json") for example in one.examples],
    }


def programs_of(manifest: Manifest) -> tuple[str, ...]:
    """The programs that a tool may start, by name: those it declares, or that of its operator's command."""
    if manifest.command is not None:
        return (manifest.command.argv[0], *manifest.programs)
    return tuple(manifest.programs)


def resolver_of(manifest: Manifest) -> Resolver:
    """What the paths and addresses of a tool are held to.

    none: it takes neither. workspace: paths inside it. workspace+allowed: of what it reads also folders
    outside that were granted or allowed. network: addresses on hosts that a person granted.
    """
    if manifest.scope.kind != "workspace":
        return manifest.scope.kind
    outside = outside_modes(manifest) & set(manifest.scope.paths.values())
    return "workspace+allowed" if outside else "workspace"


def writes(manifest: Manifest) -> bool:
    """May a call of the tool change anything?"""
    return any(
        operation not in (None, "read")
        for operation in (manifest.operation, *(case.operation for case in manifest.when))
    )


def _side_effects(manifest: Manifest) -> Iterator[str]:
    effects, places = set(manifest.effects), manifest.scope.paths
    operations = {manifest.operation, *(case.operation for case in manifest.when if case.operation)}
    if "write" in effects:
        named = [name for name, mode in places.items() if mode in ("write", "add")] or list(places)
        where = f"below {', '.join(named)}" if named else "what mcl keeps in its home"
        yield f"changes files of the workspace: {where}" if named else f"changes {where}"
    if "network" in effects:
        yield "asks granted hosts" if operations == {"read"} else "may change something on granted hosts"
    if "chain" in effects:
        yield "sends what cannot be taken back"
    if manifest.command is not None:
        yield f"starts {shlex.join(manifest.command.argv)}, which an operator declared"
    elif manifest.programs:
        named = [f"the editor in {name}" if name in _EDITORS else name for name in manifest.programs]
        yield f"starts {' or '.join(named)}"
    elif "shell" in effects:
        yield "starts a program"
    if "destructive" in operations:
        yield "may destroy what is there, once a person approved just that call"
