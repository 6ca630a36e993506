"""Taint: has a run read what is private, and met what strangers wrote, before a node?

Whoever wrote a page may have written it for the model that reads it. So where both lie upstream, a node that
could carry the one to the other (a network write, a command) needs a person's approval of the exact call.

Judged by the plan alone, so that preflight and run say the same: what may have completed before a node is
everything under earlier children of its sequential ancestors, and under all other children of its parallel
ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from executor.tools.manifest import Manifest
from ir import PlanNode, PlanTree, ToolCall

# Clocks tell nothing private; whatever else reads may.
_PUBLIC: Final = "matrix://tool/time/"

Find = Callable[[str], Manifest | None]


@dataclass(frozen=True, slots=True)
class Taint:
    """Nodes that may have completed before: one that read what is private, one that brought what strangers
    wrote; "" where there is none."""

    private: str = ""
    untrusted: str = ""

    @property
    def both(self) -> bool:
        """Do the two meet?"""
        return bool(self.private and self.untrusted)

    def __or__(self, other: Taint) -> Taint:
        return Taint(self.private or other.private, self.untrusted or other.untrusted)


NONE: Final = Taint()


def taints(
    plan: PlanTree, find: Find, before: Taint = NONE, *, looks: Mapping[str, ToolCall] = MappingProxyType({})
) -> dict[str, Taint]:
    """For each terminal node of a plan, by id, what may have completed before it.

    before: what lies upstream of the whole plan (a sub-plan's parent). looks: the calls that
    look at promises once the plan has run, by id, in order.
    """
    own = _below(plan.root, find)
    found: dict[str, Taint] = {}
    after = before | own[id(plan.root)]
    for look, call in looks.items():
        found[look] = after
        after |= _left_by(PlanNode(id=look, tool_call=call), find)
    waiting = [(plan.root, before)]
    while waiting:
        node, upstream = waiting.pop()
        if not node.children:
            found[node.id] = upstream
            continue
        if node.map is not None:  # what is done for one member comes before the next
            upstream |= own[id(node)]
        inside = [own[id(child)] for child in node.children]
        met = list(_earlier(inside, upstream))
        if node.kind == "parallel":  # the others may all complete before
            later = list(_earlier(inside[::-1], NONE))[::-1]
            met = [one | other for one, other in zip(met, later, strict=True)]
        waiting.extend(zip(node.children, met, strict=True))
    return found


def _earlier(parts: list[Taint], before: Taint) -> Iterator[Taint]:
    """For each part what the parts in front of it leave."""
    for part in parts:
        yield before
        before |= part


def _below(root: PlanNode, find: Find) -> dict[int, Taint]:
    """For each node (by identity: ids may be given twice in a plan that is refused) what it leaves behind."""
    found: dict[int, Taint] = {}
    for node, _ in reversed(list(root.walk())):
        left = _left_by(node, find)
        for child in node.children:
            left |= found[id(child)]
        found[id(node)] = left
    return found


def _left_by(node: PlanNode, find: Find) -> Taint:
    if node.sub_dispatch is not None:  # whatever its plan does, and whoever does it
        return Taint(node.id, node.id)
    if node.tool_call is None:
        return NONE
    manifest = find(node.tool_call.tool_ref)
    if manifest is None or not manifest.annotated:
        return Taint(node.id, node.id)
    # The most that the tool may do, not what this call does: its arguments may not be known yet.
    classes = {*manifest.effects, *(name for case in manifest.when for name in case.effects)}
    looks = any(mode in ("read", "list") for mode in manifest.scope.paths.values())
    # What another server answers is its user's own business as often as not: mail, issues, notes.
    reads = looks or bool({"read", "shell"} & classes) or manifest.outside is not None
    private = reads and not manifest.uri.startswith(_PUBLIC)
    return Taint(node.id if private else "", node.id if {"network", "chain"} & classes else "")
