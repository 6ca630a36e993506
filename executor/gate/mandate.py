"""What a person signed: this Intent, and this plan to reach it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from executor.lifecycle.fold import View
from ir import Intent, PlanNode, PlanTree, content_hash


@dataclass(frozen=True)
class Mandate:
    """An Intent and its plan, with the two hashes that the person's accept names.

    accepted_by: did of the person. The signatures were checked where the journal was read.
    """

    intent: Intent
    plan: PlanTree
    accepted_hash: str
    accepted_plan_hash: str
    accepted_by: str

    @classmethod
    def of(cls, view: View) -> Mandate | None:
        """The mandate that a view of the journal amounts to, or None where nothing was accepted."""
        if view.intent is None or view.plan is None or not view.accepted_hash or not view.accepted_plan_hash:
            return None
        return cls(view.intent, view.plan, view.accepted_hash, view.accepted_plan_hash, view.accepted_by)

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
        """The plan's nodes by id."""
        return {node.id: node for node, _ in self.plan.root.walk()}
