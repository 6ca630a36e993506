"""What a person signed: this Intent, and this plan to reach it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from executor.gate.looks import look_for
from executor.gate.portion import Portion, parse_portion
from executor.gate.rules import HeldRule, held_rules
from executor.store.lifecycle.events import View
from ir import (
    Intent,
    PlanNode,
    PlanTree,
    SubDispatch,
    ToolCall,
    content_hash,
    dispatch_of,
    promises_of,
)
from ir.plan import every_node
from ir.scalars import FrozenMap

DISPATCH: Final = "matrix://tool/agent/dispatch@1.0.0"  # how work is handed to another agent
_BESIDE: Final = {"frame.success_criteria": "success", "frame.constraints": "constraint"}


@dataclass(frozen=True)
class Mandate:
    """An Intent and its plan, with the two hashes that the person's accept names.

    accepted_by: did of the person. The signatures were checked where the journal was read. above: of a
    sub-dispatch, the mandate of the plan that dispatches; its own hashes are then those of what the accepted
    skill made. at: the node of that plan which dispatches. portion: what the dispatch leaves of the agent's
    grants; None: all of them. offered: by node, the call that the plan offers there and that is looked at
    beforehand in place of the first.
    """

    intent: Intent
    plan: PlanTree
    accepted_hash: str
    accepted_plan_hash: str
    accepted_by: str
    above: Mandate | None = None
    at: str = ""
    portion: Portion | None = None
    offered: Mapping[str, ToolCall] = field(default_factory=dict, compare=False)
    effects: frozenset[str] | None = None

    @classmethod
    def of(cls, view: View) -> Mandate | None:
        """The mandate that a view of the journal amounts to, or None where nothing was accepted."""
        if view.intent is None or view.plan is None or not view.accepted_hash or not view.accepted_plan_hash:
            return None
        if view.schedule is not None:
            return None  # it runs in its firings
        effects = frozenset(view.under.effects) if view.under is not None else None
        hashes = view.accepted_hash, view.accepted_plan_hash
        return cls(view.intent, view.plan, *hashes, view.accepted_by, effects=effects)

    @property
    def scheduled(self) -> frozenset[str] | None:
        """The classes of effects that a standing accept allows; None: it is none."""
        return self.effects if self.above is None else self.above.scheduled

    @cached_property
    def verbs(self) -> tuple[str, ...]:
        """The verb of the Intent and those of the Intents above it: none of them may be gone beyond. The
        first wish of a goal is not above its further ones: each is bound by its own verb, which was
        signed."""
        above = self.above.above if self.above and self.at in self.above.wishes else self.above
        return (self.intent.frame.verb, *(above.verbs if above else ()))

    @cached_property
    def wishes(self) -> dict[str, int]:
        """Which further wish of the Intent a node dispatches, by the node's id: each is done once."""
        found: dict[str, int] = {}
        waiting: dict[Hashable, list[int]] = {}
        for place, wish in enumerate(self.intent.frame.further):
            when = wish.when and (wish.when.test, wish.when.value)
            waiting.setdefault((dispatch_of(wish).asks, when), []).append(place)
        for node, above in self._with_maps if waiting else ():
            sub = node.sub_dispatch
            if sub is None or sub.agent_ref:
                continue
            outer = above or node
            held = outer.when and (outer.when.test, outer.when.value)
            scope = above.map.scope_uri if above is not None and above.map is not None else sub.scope_uri
            places = waiting.get((sub.asks, held), [])
            if fitting := [one for one in places if self._scoped(one, scope)]:
                place = fitting[0]
                places.remove(place)
                mapped = (id for id, template in self.templates.items() if template == node.id)
                found |= dict.fromkeys((node.id, *mapped), place)
        return found

    def _scoped(self, place: int, scope_uri: str) -> bool:
        """Whether what a wish may use, where the Intent says that, is just what its node leaves."""
        return self.intent.frame.further[place].scope_uri in ("", scope_uri)

    @property
    def _with_maps(self) -> Iterator[tuple[PlanNode, PlanNode | None]]:
        """The plan's nodes, each with the map that it is done for each member of."""
        for node, _ in self.plan.root.walk():
            if node.map is not None:
                yield from ((below, node) for child in node.children for below, _ in child.walk())
            if node.id not in self.mapped:
                yield node, None

    @cached_property
    def mapped(self) -> dict[str, PlanNode]:
        """By id of each node of the plan below a map, that map."""
        return {
            below.id: node
            for node, _ in self.plan.root.walk()
            if node.map is not None
            for child in node.children
            for below, _ in child.walk()
        }

    @cached_property
    def templates(self) -> dict[str, str]:
        """By id of each node that is done for one member of a map, the id of the plan's node that it is."""
        return {
            f"{node.id}/{number}/{id}": id
            for id, node in self.mapped.items()
            for number in range(1, node.map.bound + 1 if node.map is not None else 0)
        }

    @property
    def undone(self) -> list[int]:
        """The further wishes that no node dispatches, by their places in the Frame."""
        done = set(self.wishes.values())
        return [place for place in range(len(self.intent.frame.further)) if place not in done]

    @cached_property
    def rules(self) -> tuple[HeldRule, ...]:
        """What hard promises hold each call to: those of the Intent and of the Intents above it."""
        above = self.above.rules if self.above else ()
        return (*held_rules(self.intent), *(replace(one, levels=one.levels + 1) for one in above))

    @cached_property
    def intent_hash(self) -> str:
        """The hash that the Intent really has."""
        return content_hash(self.intent)

    @cached_property
    def plan_hash(self) -> str:
        """The hash that the plan really has."""
        return content_hash(self.plan)

    @cached_property
    def nodes(self) -> dict[str, PlanNode]:
        """The plan's nodes by id, and as they are done for each member of a map."""
        return every_node(self.plan)

    @cached_property
    def criteria(self) -> dict[str, ToolCall]:
        """The calls that look at hard promises of the Intent at the end, by id (``criterion_id``)."""
        looks = {one.place: look_for(one.item) for one in promises_of(self.intent) if one.hard}
        return {self.criterion_id(place): call for place, call in looks.items() if call is not None}

    def call_at(self, node_id: str) -> ToolCall | None:
        """The call that the person signed, at a node or for a success criterion; None where there is none."""
        node = self.nodes.get(node_id)
        if node is None or node_id in self.offered:
            return self.offered.get(node_id) or self.criteria.get(node_id)
        handed = node.sub_dispatch is not None and node.sub_dispatch.agent_ref
        return _handing(node.sub_dispatch) if handed and node.sub_dispatch else node.tool_call

    def portion_at(self, node_id: str) -> Portion | None:
        """What is left of the agent's grants to a node: of one that is done for each member of a map, what
        the map leaves. None: all of them. Raises PolicyError BAD_SCOPE."""
        above = self.mapped.get(self.templates.get(node_id, node_id))
        said = above.map.scope_uri if above is not None and above.map is not None else ""
        return parse_portion(said).within(self.portion) if said else self.portion

    def criterion_id(self, place: str) -> str:
        """What a promise is called where nodes have their ids, by its place in the Intent: ``success[0]``,
        ``constraint[1]``, and below the node ``n1`` that dispatches ``n1/success[0]``."""
        field, bracket, number = place.partition("[")
        return self.named(f"{_BESIDE[field]}{bracket}{number}")

    def named(self, name: str) -> str:
        """A name beside the ids of nodes, which of a sub-dispatch begin with the node above."""
        return f"{self.at}/{name}" if self.at else name


def _handing(sub: SubDispatch) -> ToolCall:
    """The call that hands work to another agent. What the operator has entered, and what earlier nodes give,
    is known when it is made: here it stands as a reference."""
    args = {"agent_ref": sub.agent_ref, "skill_ref": sub.skill_ref, "scope_uri": sub.scope_uri}
    later = {
        name: f"${{agent.output.{name}}}" for name in ("did", "endpoint", "prose", "frame", "sub_intent")
    }
    return ToolCall(tool_ref=DISPATCH, args=FrozenMap({**args, **later}), side_effect_class="network")
