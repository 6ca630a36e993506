"""What changed between two plans: their own fields, then node by node, then what waits for what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from executor.store.materiality.limits import compare_budgets
from executor.store.materiality.nodes import added, changes_of
from executor.store.materiality.order import compare_order
from executor.store.materiality.rules import Change, changed
from executor.store.materiality.shape import Shape
from executor.store.materiality.values import plain
from ir import PlanTree

FIXED_IN_PLAN: Final = (
    "id",
    "v",
    "intent_id",
    "created_at",
    "created_by",
    "skill_ref",
    "model_digest",
    "grammar",
)


def compare_plans(before: PlanTree, after: PlanTree) -> Iterator[Change]:
    """Every difference. Nodes are the same where their ids are."""
    for name in PlanTree.model_fields:
        old, new = getattr(before, name), getattr(after, name)
        if name == "hash" or old == new:
            continue
        place = f"plan.{name}"
        if name == "root":
            yield from _trees(Shape(before), Shape(after))
        elif name == "budget":
            yield from compare_budgets(before.budget, after.budget, place)
        else:
            code = "IDENTITY_CHANGED" if name in FIXED_IN_PLAN else "FIELD_CHANGED"
            yield changed(code, place, plain(old), plain(new))


def _trees(before: Shape, after: Shape) -> Iterator[Change]:
    if not (before.clear and after.clear):
        old, new = plain(before.plan.root), plain(after.plan.root)
        yield changed(
            "FIELD_CHANGED", "plan.root", old, new, "two nodes have one id, so nobody can compare them"
        )
        return
    told = [
        *(change for node in after.order for change in _node(node.id, before, after)),
        *compare_order(before, after),
    ]
    yield from told
    moved = _moved(before, after)
    if moved and not any(change.code in ("GATE_MOVED", "ORDER_CHANGED") for change in told):
        yield changed("NODE_MOVED", "plan.root", moved[0], moved[1])


def _node(node_id: str, before: Shape, after: Shape) -> Iterator[Change]:
    old, new = before.nodes.get(node_id), after.nodes[node_id]
    if old is None:
        yield from added(new, before)
    elif old != new:
        yield from changes_of(old, new, before, used=node_id in before.sources or node_id in after.sources)


def _moved(before: Shape, after: Shape) -> tuple[object, object] | None:
    """The order of the nodes that both plans have, each with its branch, where it is another one."""
    both = before.nodes.keys() & after.nodes.keys()

    def laid_out(shape: Shape) -> list[str]:
        return [f"{shape.parents[node.id]}/{node.id}" for node in shape.order if node.id in both]

    old, new = laid_out(before), laid_out(after)
    return None if old == new else (old, new)
