"""The nodes of a run by id, as the plan stands now, those of sub-dispatches among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from executor.gate.context import Context
from executor.gate.mandate import Mandate
from executor.walker.reasoner import Prompts
from ir import PlanNode


@dataclass(frozen=True)
class Scope:
    """One plan of a run: the accepted one, or that of a sub-dispatch.

    prefix: what the ids of its nodes begin with in this run, "" or the id of the dispatching node and "/".
    context: what the gate looks at, with this plan's mandate and budget. skills: ids of the skills that lead
    here, the accepted plan's first.
    """

    prefix: str
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
    """A node where it stands. id: its name in this run; depth: levels above it."""

    id: str
    node: PlanNode
    scope: Scope
    depth: int


class Tree:
    """Finds nodes, and gives the children of a branch one by one."""

    def __init__(self, root: PlanNode, scope: Scope) -> None:
        self.root = root.id
        self._places: dict[str, Place] = {}
        self._below: dict[str, str] = {}  # id of a dispatching node -> id of the root of its plan
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

    def __contains__(self, node_id: str) -> bool:
        return node_id in self._places

    def adopt(self, root: PlanNode, scope: Scope) -> None:
        """Take the accepted plan as it was corrected; the plans of sub-dispatches stay."""
        self.root = root.id
        self._places = {id: place for id, place in self._places.items() if place.scope.prefix}
        self._next.clear()
        self._index(root, scope, 0)

    def graft(self, parent: Place, root: PlanNode, scope: Scope) -> None:
        """Hang the plan of a sub-dispatch below its node."""
        self._below[parent.id] = scope.prefix + root.id
        self._index(root, scope, parent.depth + 1)

    def next_child(self, node_id: str) -> str | None:
        """The next child that was not given yet; None where there is none."""
        place = self._places.get(node_id)
        if place is None:
            return None
        one = self._below.get(node_id)  # a dispatching node has one child, the root of its plan
        count = 1 if one else len(place.node.children)
        for position in range(self._next.get(node_id, 0), count):
            child = one or place.scope.prefix + place.node.children[position].id
            if child not in self._given:
                self._given.add(child)
                self._next[node_id] = position + 1
                return child
        return None

    def below(self, node_id: str) -> Iterator[Place]:
        """All nodes below a node, in walk order."""
        place = self._places.get(node_id)
        waiting = self._children(place)[::-1] if place else []
        while waiting:
            found = waiting.pop()
            yield found
            waiting += self._children(found)[::-1]

    def _children(self, place: Place) -> list[Place]:
        if place.id in self._below:
            return [self._places[self._below[place.id]]]
        return [self._places[place.scope.prefix + child.id] for child in place.node.children]

    def _index(self, root: PlanNode, scope: Scope, depth: int) -> None:
        for node, level in root.walk():
            id = scope.prefix + node.id
            self._places[id] = Place(id, node, scope, depth + level - 1)


class Below(Mapping[str, object]):
    """The outputs of the nodes of one scope, by their ids in its plan."""

    def __init__(self, outputs: Mapping[str, object], prefix: str) -> None:
        self._outputs = outputs
        self._prefix = prefix

    def __getitem__(self, node_id: str) -> object:
        return self._outputs[self._prefix + node_id]

    def __iter__(self) -> Iterator[str]:
        return (id.removeprefix(self._prefix) for id in self._outputs if id.startswith(self._prefix))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return True  # asked for each argument; counting takes longer
