"""Which nodes have begun, and which of them run again after a correction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from executor.store.materiality.shape import Shape, is_leaf
from ir import PlanNode

BEGUN: Final = frozenset({"running", "completed", "failed", "denied", "cancelled"})


def owner(node_id: str, shape: Shape) -> str:
    """The node of a plan that a node of a run belongs to: itself, or the one that dispatched it; else ""."""
    while node_id and node_id not in shape.nodes:
        node_id = node_id.rpartition("/")[0]
    return node_id


def same_work(one: PlanNode, other: PlanNode) -> bool:
    """Whether two nodes do the same, whatever people read of them and whatever stands below them."""
    blank = {"description": "", "children": ()}
    return one.model_copy(update=blank) == other.model_copy(update=blank)


def from_on(retry_from: str, shape: Shape) -> frozenset[str]:
    """The leaves at or below a node, and all that wait for them."""
    node = shape.nodes.get(retry_from)
    if node is None:
        return frozenset()
    leaves = [one.id for one in shape.order if is_leaf(one)]
    bits = {leaf: 1 << place for place, leaf in enumerate(leaves)}
    waits = shape.waits(bits)
    below = {one.id for one, _ in node.walk() if is_leaf(one)}
    wanted = sum(bits[leaf] for leaf in below)
    return frozenset(leaf for leaf in leaves if leaf in below or waits[leaf] & wanted)


def with_users(leaves: frozenset[str], shape: Shape) -> frozenset[str]:
    """These leaves and every one whose texts name the output of one of them, directly or not."""
    found = set(leaves)
    for node in shape.order:  # what is named stands earlier
        if is_leaf(node) and found & shape.named(node.id):
            found.add(node.id)
    return frozenset(found)


def kept(nodes: Mapping[str, str], again: frozenset[str], shape: Shape) -> dict[str, str]:
    """The states that stay when these leaves run again: not theirs, nor those of branches that lead to them.

    A completed branch below which something has not completed is not completed any more either.
    """
    states = {id: state for id, state in nodes.items() if (own := owner(id, shape)) and own not in again}
    for node in reversed(shape.order):
        if is_leaf(node) or states.get(node.id) == "running":
            continue
        if any(states.get(child.id) != "completed" for child in node.children):
            states.pop(node.id, None)
    return states


def too_late(
    nodes: Mapping[str, str], before: Shape, after: Shape, again: frozenset[str]
) -> tuple[str, str] | None:
    """The first node that has begun and may not be changed as it was, with why; None where there is none.

    again: leaves that run again, and may be anything.
    """
    leading = {branch for leaf in again for branch in _above(leaf, after)}
    free = again | leading
    begun = [id for id, state in nodes.items() if state in BEGUN and id in before.nodes and id not in free]
    for id in begun:
        if id not in after.nodes:
            return id, "it has begun, and cannot be taken away"
        if not same_work(before.nodes[id], after.nodes[id]):
            return id, "it has begun, and cannot be another one"
        if before.parents[id] != after.parents[id]:
            return id, "it has begun, and cannot be moved"
        if nodes[id] != "running" and (late := _below_ended(id, nodes, after, free)):
            return late, f"nothing can be added below {id}, which has ended"
    return _before_begun(set(begun), after)


def _below_ended(branch: str, nodes: Mapping[str, str], after: Shape, free: Iterable[str]) -> str:
    below = (child.id for child in after.nodes[branch].children)
    return next((id for id in below if id not in nodes and id not in free), "")


def _before_begun(begun: set[str], after: Shape) -> tuple[str, str] | None:
    for branch in after.order:
        if branch.kind != "sequential":
            continue
        waiting = ""
        for child in branch.children:
            if child.id not in begun:
                waiting = waiting or child.id
            elif waiting:
                return waiting, f"it would come before {child.id}, which has begun"
    return None


def _above(node_id: str, shape: Shape) -> list[str]:
    found = []
    while node_id := shape.parents.get(node_id, ""):
        found.append(node_id)
    return found
