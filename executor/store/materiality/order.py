"""What waited for what: an effect that waits for less than before is material."""

from __future__ import annotations

from collections.abc import Iterator

from executor.store.materiality.rules import Change, changed
from executor.store.materiality.shape import Shape, has_effect, is_leaf
from executor.store.materiality.values import plain


def compare_order(before: Shape, after: Shape) -> Iterator[Change]:
    """What is gone, and what is not waited for any more.

    An effect waits for everything that stands before it; every other node for the gates before it.
    """
    leaves = [node for node in before.order if is_leaf(node)]
    bits = {node.id: 1 << place for place, node in enumerate(leaves)}
    gates = sum(bits[node.id] for node in leaves if node.kind == "gate")
    gone = sum(bits[node.id] for node in leaves if node.id not in after.nodes)
    waited, waits = before.waits(bits), after.waits(bits)
    freed: dict[int, str] = {}  # by the place of a leaf, the first that does not wait for it any more
    missed = told = 0
    for node in leaves:
        if node.id not in after.nodes:
            continue
        lost = waited[node.id] & ~waits[node.id]
        counts = lost if has_effect(node) or has_effect(after.nodes[node.id]) else lost & gates
        missed |= counts & gone
        for place in _places(counts & ~gone & ~told):
            freed[place] = node.id
        told |= counts
    for node in before.order:
        if node.id not in after.nodes:
            if node.kind == "gate":
                code = "GATE_REMOVED"
            else:
                code = "CHECK_REMOVED" if bits.get(node.id, 0) & missed else "NODE_REMOVED"
            yield changed(code, f"plan.{node.id}", plain(node), None)
    for place, first in sorted(freed.items()):
        node = leaves[place]
        code = "GATE_MOVED" if node.kind == "gate" else "ORDER_CHANGED"
        yield changed(code, f"plan.{node.id}", f"before {first}", "not before it")


def _places(bits: int) -> Iterator[int]:
    """The places of the ones, lowest first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest
