"""What depends on what earlier nodes gave: whether a node is done at all, and for which members of a list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from executor.core.errors import PolicyError, UnresolvedError
from executor.core.hashing import json_hash
from executor.gate.portion import parse_portion
from executor.gate.references import as_text, resolve
from executor.gate.verdict import EXAMPLES, Deny
from executor.walker.engine import Failure
from ir import PlanNode
from ir.plan import COUNTING, Condition, member

if TYPE_CHECKING:
    from executor.walker.run import Run
    from executor.walker.tree import Place

# ---- Conditions.


def holds(said: Condition, outputs: Mapping[str, object]) -> bool:
    """Whether what an earlier node gave is as a condition wants it.

    Raises:
        UnresolvedError: CONDITION_UNREADABLE, nothing can be counted there; as `resolve`.
    """
    value = resolve(said.of, outputs)
    if said.test in COUNTING:
        count, wanted = _count(value, said), int(said.value)
        if said.test == "count":
            return count == wanted
        return count >= wanted if said.test == "at_least" else count <= wanted
    positive = said.test.removeprefix("not_")
    if positive == "empty":
        found = not value.strip() if isinstance(value, str) else not value
    elif positive == "equals":
        found = as_text(value).strip().casefold() == said.value.strip().casefold()
    elif isinstance(value, list):
        found = any(as_text(one).casefold() == said.value.casefold() for one in value)
    else:
        found = said.value.casefold() in as_text(value).casefold()
    return found is (positive == said.test)


def _count(value: object, said: Condition) -> float:
    if isinstance(value, list | dict):
        return len(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise UnresolvedError(
        "CONDITION_UNREADABLE",
        f"{said.of} is neither a list nor a number, so that nothing can be counted",
        place=said.of,
        fix="count a list, or name a number",
    )


# ---- Maps.


def members_of(node: PlanNode, outputs: Mapping[str, object]) -> list[object]:
    """The members of a map, each once, in their order.

    Raises:
        UnresolvedError: MAP_NO_LIST, it is over something else; as `resolve`.
    """
    said = node.map
    assert said is not None, "the node is a map"
    found = list(said.members) if said.members else resolve(said.over, outputs)
    if not isinstance(found, list):
        raise UnresolvedError(
            "MAP_NO_LIST", f"{said.over} is no list", place=said.over, fix="name a list in what a node gives"
        )
    return list({as_text(one): one for one in found}.values())


def member_outputs(node: PlanNode, outputs: Mapping[str, object]) -> dict[str, dict[str, object]]:
    """By what its nodes call it, each member of a map with its number. Raises as `members_of`."""
    found = enumerate(members_of(node, outputs), 1)
    return {f"{node.id}/{number}": {"item": one, "number": number} for number, one in found}


def planned(root: PlanNode) -> Iterator[tuple[PlanNode, str, bool]]:
    """The nodes of a plan as they are looked at beforehand, in walk order: the child of a map once for each
    member where these are known, else once for all. With each, the id of the plan's node that it is, and
    whether it will be done in any case."""
    waiting = [(root, root, True)]
    while waiting:
        node, own, sure = waiting.pop()
        sure = sure and node.when is None
        yield node, own.id, sure
        below = [(child, child, sure) for child in node.children]
        if node.map is not None and len(node.children) == 1:
            own, known = node.children[0], range(1, len(node.map.members) + 1)
            below = [(member(node, number), own, sure) for number in known] or [(own, own, False)]
        elif node is not own:
            below = [(child, its, sure) for child, its in zip(node.children, own.children, strict=True)]
        waiting += reversed(below)


def scope_flaw(node: PlanNode) -> Deny | None:
    """BAD_SCOPE, where nobody can read what a map leaves to its members."""
    if node.map is None or not node.map.scope_uri:
        return None
    try:
        portion = parse_portion(node.map.scope_uri)
    except PolicyError as problem:
        why, fix = problem.message, problem.fix
    else:
        if not portion.calls:
            return None
        why, fix = "the calls of a map are those of its plan", "leave calls out of its scope_uri"
    return Deny("BAD_SCOPE", why, fix, guard="plan", example=EXAMPLES.get("BAD_SCOPE", ""))


def open_map(place: Place, run: Run) -> Failure | None:
    """Find the members, write down that it begins, and hang what is done for each below the node."""
    node = place.node
    assert node.map is not None, "the node is a map"
    if (flaw := scope_flaw(node)) is not None:
        return Failure(flaw.code, flaw.reason, flaw.fix, place.id, denied=True)
    try:
        found = member_outputs(node, run.outputs)
    except UnresolvedError as problem:
        return run.failure(problem, place)
    if len(found) > node.map.bound:
        message = f"there are {len(found)} members, and at most {node.map.bound} were signed"
        fix = "state the goal for fewer of them"
        return Failure("MAP_TOO_LONG", message, fix, place.id, denied=True)
    digest, begun = json_hash([one["item"] for one in found.values()]), run.history.begun.get(place.id)
    if begun is not None and begun.told.get("members") not in (None, digest):
        message = "the list is another one than when its first member was begun"
        return Failure("MAP_CHANGED", message, "state the goal again", place.id, denied=True)
    run.begin(place, {"count": len(found), "members": digest})
    run.outputs |= found
    run.tree.unfold(place, len(found))
    return None


def map_output(place: Place, run: Run) -> dict[str, object]:
    """What a map gave: how many members there were, and what was given for each."""
    children = enumerate(run.tree.children(place), 1)
    each = [run.given(child, f"{place.id}/{number}/") for number, child in children]
    return {"count": len(each), "each": each}
