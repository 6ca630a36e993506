"""What measures a quality, and what a command is, by another way: from docs/ir.md, docs/walker.md and
docs/tools.md, not from the code that is compared with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import ir
from executor import Manifest

_COMMANDS = ("process/tests", "process/lint", "process/mqlaunch", "code/grep")


@dataclass(frozen=True)
class Named:
    """A number of the plan that a quality names. clear: does a page say that it does? fits: could it be
    enough? None: no page says so."""

    place: str
    clear: bool
    fits: bool | None


def measures(one: ir.QualityConstraint, plan: ir.PlanTree, manifests: Mapping[str, Manifest]) -> list[Named]:
    """What a quality may name."""
    found = []
    for place, named, schema in _numbers(plan, manifests):
        deeper = "." in place.partition(".output.")[2]  # no page says whether a name deeper down is one
        if one.metric == place or _words(one.metric) == named:
            found.append(Named(place, one.metric == place or not deeper, _fits(one, schema)))
    return found


def _numbers(
    plan: ir.PlanTree, manifests: Mapping[str, Manifest]
) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Each number that a call of the plan gives: its place, its name in words, and what is known of it."""
    for node, _ in plan.root.walk():
        manifest = manifests.get(node.tool_call.tool_ref) if node.tool_call else None
        waiting = [("", manifest.output)] if manifest is not None else []
        while waiting:
            path, schema = waiting.pop()
            if schema.get("type") in ("number", "integer", "array"):
                yield f"{node.id}.output{path}", _words(path.rpartition(".")[2]), schema
            waiting += [(f"{path}.{name}", below) for name, below in schema.get("properties", {}).items()]


def _words(name: str) -> str:
    plain = name.casefold().replace("_", " ").removeprefix("the ").removeprefix("number of ")
    return plain.removesuffix("s")  # one or many of them


def _fits(one: ir.QualityConstraint, schema: Mapping[str, Any]) -> bool | None:
    """Is it a number of the kind that is asked for, and can it be enough? None: no page says so."""
    most = schema.get("maximum")
    if one.share:
        if one.min > 1 or schema["type"] == "array" or (most is not None and most > 100):
            return False
        if most is None:
            return (
                None if schema["type"] == "number" else False
            )  # what has no end and no fractions is a count
        return True
    # More than there can be; or less than a percent, where a share may have been meant.
    return most is None or not (most < one.min or (most == 100 and 0 < one.min < 1))


def runs_command(one: ir.CommandPredicate, manifests: Mapping[str, Manifest]) -> bool | None:
    """Is it a command that is fixed beforehand? None: no page says so."""
    manifest = manifests.get(one.tool_ref)
    if manifest is None or any("${" in text for text in one.args.values()):
        return False
    if not set(manifest.required) <= one.args.keys() <= manifest.properties.keys():
        return False  # such a call is never made
    name = one.tool_ref.removeprefix("matrix://tool/").partition("@")[0]
    if name in _COMMANDS or name.startswith("process/run-"):
        return True
    return None if manifest.command is not None else False
