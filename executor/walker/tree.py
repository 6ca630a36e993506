"""The nodes of a run by id, as the plan stands now, those of sub-dispatches among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from executor.gate.context import Context
from executor.gate.mandate import Mandate
from executor.walker.interfaces import Prompts
from ir import PlanNode
from ir.plan import member


@dataclass(frozen=True)
class PlanScope:
    """One plan of a run: the accepted one, or that of a sub-dispatch.

    context: what the gate looks at, with this plan's mandate and budget. skills: addresses, without versions,
    of the skills that lead here, the accepted plan's first.
    """

    context: Context
    prompts: Prompts | None
    skills: tuple[str, ...]

    @property
    def mandate(self) -> Mandate:
        """The Intent and the plan of this scope."""
        assert self.context.mandate is not None, "a plan is walked under a mandate"
        return self.context.mandate


@dataclass(frozen=True, slots=True)
class Place:
    """A node where it stands; depth: levels above it."""

    node: PlanNode
    scope: PlanScope
    depth: int

    @property
    def id(self) -> str:
        """The node's id, which is its own in the whole run."""
        return self.node.id

    @property
    def dispatches(self) -> bool:
        """Is it a sub_dispatch within this process, rather than to another agent?"""
        return self.node.sub_dispatch is not None and not self.node.sub_dispatch.agent_ref

    @property
    def grows(self) -> bool:
        """Is what lies below it only known at its turn: the plan of a skill, or the members of a map?"""
        return self.dispatches or self.node.map is not None


class Tree:
    """Finds nodes, and gives the children of a branch one by one. The plan of a sub-dispatch hangs below the
    node that dispatches, its root being the one child; below a map its child hangs once for each member."""

    def __init__(self, root: PlanNode, scope: PlanScope) -> None:
        self.root = root.id
        self._own = scope
        self._places: dict[str, Place] = {}
        self._grown: dict[str, tuple[str, ...]] = {}  # id of a node that grows -> ids of what hangs below it
        self._next: dict[str, int] = {}  # id of a branch -> position of the child to be looked at next
        self._given: set[str] = set()
        self._index(root, scope, 0)

    def find(self, node_id: str) -> Place | None:
        """The node as it stands now; None where there is none any more."""
        return self._places.get(node_id)

    def __getitem__(self, node_id: str) -> Place:
        return self._places[node_id]

    def __len__(self) -> int:
        return len(self._places)

    def adopt(self, root: PlanNode, scope: PlanScope) -> None:
        """Take the accepted plan as it was corrected; the plans of sub-dispatches stay."""
        self._places = {id: one for id, one in self._places.items() if one.scope is not self._own}
        self.root, self._own = root.id, scope
        self._next.clear()
        self._index(root, scope, 0)
        for id, below in self._grown.items():
            place = self._places.get(id)
            if place is not None and place.scope is scope and place.node.map is not None:
                self.unfold(place, len(below))

    def graft(self, parent: Place, scope: PlanScope) -> None:
        """Hang the plan of a sub-dispatch below its node."""
        root = scope.mandate.plan.root
        self._grown[parent.id] = (root.id,)
        self._index(root, scope, parent.depth + 1)

    def unfold(self, parent: Place, count: int) -> None:
        """Hang the child of a map below it, once for each of so many members."""
        members = [member(parent.node, number) for number in range(1, count + 1)]
        self._grown[parent.id] = tuple(one.id for one in members)
        for one in members:
            self._index(one, parent.scope, parent.depth + 1)

    def is_branch(self, place: Place) -> bool:
        """Does anything lie below a node?"""
        return bool(place.node.children) or place.id in self._grown

    def next_child(self, node_id: str) -> str | None:
        """The next child that was not given yet; None where there is none."""
        place = self._places.get(node_id)
        if place is None:
            return None
        below = self._below(place)
        for position in range(self._next.get(node_id, 0), len(below)):
            child = below[position]
            if child not in self._given:
                self._given.add(child)
                self._next[node_id] = position + 1
                return child
        return None

    def children(self, place: Place) -> list[Place]:
        """The children of a node, in order."""
        return [self._places[child] for child in self._below(place)]

    def _below(self, place: Place) -> Sequence[str]:
        if place.grows:
            return self._grown.get(place.id, ())
        return [child.id for child in place.node.children]

    def below(self, node_id: str) -> Iterator[Place]:
        """All nodes below a node, in walk order."""
        place = self._places.get(node_id)
        waiting = self.children(place)[::-1] if place else []
        while waiting:
            found = waiting.pop()
            yield found
            waiting += self.children(found)[::-1]

    def _index(self, root: PlanNode, scope: PlanScope, depth: int) -> None:
        for node, level in root.walk():
            self._places[node.id] = Place(node, scope, depth + level - 1)
