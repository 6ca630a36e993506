"""A plan as it is compared: its nodes by id, what each waits for, and what effects are made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from ir import OutputRef, PlanNode, PlanTree, parse_references
from ir.errors import IrError
from ir.plan import BRANCH_KINDS, TERMINAL_KINDS


def is_leaf(node: PlanNode) -> bool:
    """A node that does something itself."""
    return node.kind not in BRANCH_KINDS


def well_formed(node: PlanNode) -> bool:
    """A branch with nothing but children, or a terminal with nothing but the payload of its kind."""
    payloads = [kind for kind in TERMINAL_KINDS if getattr(node, kind) is not None]
    return payloads == [node.kind] and not node.children if is_leaf(node) else not payloads


def has_effect(node: PlanNode) -> bool:
    """Whether a node may change something, or hands work to somebody who may; what is malformed may."""
    if not well_formed(node):
        return True
    if node.tool_call is not None:
        return node.tool_call.side_effect_class != "read"
    return node.sub_dispatch is not None


class Shape:
    """What is asked of one plan. `clear`: whether its ids tell its nodes apart."""

    def __init__(self, plan: PlanTree) -> None:
        self.plan = plan
        self.order = [node for node, _ in plan.root.walk()]
        self.nodes: Mapping[str, PlanNode] = {node.id: node for node in self.order}
        self.clear = len(self.nodes) == len(self.order) and "" not in self.nodes

    @cached_property
    def parents(self) -> Mapping[str, str]:
        """By node id, the id of the branch that it stands in; "" for the root."""
        found = {self.plan.root.id: ""}
        for node in self.order:
            found.update((child.id, node.id) for child in node.children)
        return found

    def waits(self, bits: Mapping[str, int]) -> dict[str, int]:
        """By id, the leaves that must have completed before a node begins, as a sum of their `bits`."""
        below = self._below(bits)
        found: dict[str, int] = {self.plan.root.id: 0}
        for node in self.order:
            earlier = found[node.id]
            for child in node.children:
                found[child.id] = earlier
                if node.kind != "parallel":
                    earlier |= below[child.id]
        return found

    def _below(self, bits: Mapping[str, int]) -> dict[str, int]:
        found: dict[str, int] = {}
        for node in reversed(self.order):
            found[node.id] = bits.get(node.id, 0)
            for child in node.children:
                found[node.id] |= found[child.id]
        return found

    @cached_property
    def sources(self) -> frozenset[str]:
        """Ids of the nodes that effects are made from: named in their texts, or in those of such a node."""
        waiting = [node.id for node in self.order if has_effect(node)]
        found: set[str] = set()
        while waiting:
            more = self.named(waiting.pop()) - found
            found |= more
            waiting.extend(more)
        return frozenset(found)

    def named(self, node_id: str) -> set[str]:
        """Ids of the nodes whose outputs the texts of a node name, or of a node below it, and those below."""
        node = self.nodes.get(node_id)
        found: set[str] = set()
        for one in (below for below, _ in node.walk()) if node is not None else ():
            if one.id != node_id:
                found.add(one.id)  # the output of a branch is that of what stands below it
            for text in texts_of(one):
                try:
                    parts = parse_references(text)
                except IrError:
                    continue
                found.update(part.node_id for part in parts if isinstance(part, OutputRef))
        return found


def texts_of(node: PlanNode) -> Iterator[str]:
    """Every text of a node that may name the output of another one."""
    if node.step is not None:
        yield from node.step.inputs.values()
    if node.tool_call is not None:
        yield from node.tool_call.args.values()
    if node.gate is not None:
        yield node.gate.question
    if node.sub_dispatch is not None and node.sub_dispatch.sub_intent is not None:
        yield from (entry.value for entry in node.sub_dispatch.sub_intent.objects)
