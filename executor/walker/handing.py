"""Work for another agent: the Intent that is handed over, and the call that hands it over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from executor.call import Call, Deferred
from executor.core.durations import duration
from executor.gate.budget import Spending
from executor.gate.mandate import DISPATCH, Mandate
from executor.walker.agents import Agent
from executor.walker.dispatch import child_id, portion_of, refers, resolved_frame
from ir import AssetAmount, Budget, Frame, Intent, PlanNode, Reference, canonical_bytes, with_hash

_SKILL: Final = "skill"  # the role of the reference that names the skill to be used


def handing(
    node: PlanNode,
    mandate: Mandate,
    agent: Agent,
    spending: Spending | None,
    outputs: Mapping[str, object] | None,
) -> tuple[Call, Intent | None]:
    """The call that hands a node's work over, and the Intent that goes with it.

    outputs: what the completed nodes gave. None beforehand: where the Frame refers to any there is no Intent
    yet, and the call's argument is deferred.

    Raises:
        WalkError: SUB_DISPATCH_SCOPE, SUB_INTENT_INVALID. UnresolvedError: a reference that leads nowhere.
    """
    sub = node.sub_dispatch
    assert sub is not None, "the node is a sub_dispatch"
    portion_of(node, mandate)  # a scope that cannot be read is refused here
    frame = sub.sub_intent or Frame()
    made: Intent | None = None
    if outputs is not None or not refers(frame):
        made = _intent(node, mandate, agent, spending, resolved_frame(frame, outputs or {}, node))
    unknown = Deferred(canonical_bytes(frame).decode())
    args: dict[str, object] = {
        "agent_ref": sub.agent_ref,
        "did": agent.did,
        "endpoint": agent.endpoint,
        "skill_ref": sub.skill_ref,
        "scope_uri": sub.scope_uri,
        "prose": made.prose if made else unknown,
        "frame": canonical_bytes(made.frame).decode() if made else unknown,
        "sub_intent": canonical_bytes(made).decode() if made else unknown,
    }
    return Call(DISPATCH, args, "network", node.id), made


def _intent(
    node: PlanNode, mandate: Mandate, agent: Agent, spending: Spending | None, frame: Frame
) -> Intent:
    """An Intent of its own below the one of the plan. Nothing in it depends on the clock or on chance."""
    above, sub = mandate.intent, node.sub_dispatch
    skill = (Reference(uri=sub.skill_ref, role=_SKILL),) if sub is not None and sub.skill_ref else ()
    return with_hash(
        Intent(
            id=child_id(above, node.id),
            parent=f"matrix://intent/{above.id}",
            actor=above.actor,
            agent=f"matrix://agent/{agent.did}",
            prose=node.description or above.prose,
            frame=frame,
            references=skill,
            state="proposed",
            confidence=above.confidence,
            budget=_left(mandate, spending),
            deadline=above.deadline,
            created_at=above.created_at,
            signed_by=above.signed_by,
        )
    )


def _left(mandate: Mandate, spending: Spending | None) -> Budget | None:
    """What is left of the budget: the other agent gets no more than this run has after the dispatch."""
    budgets = [budget for budget in (mandate.intent.budget, mandate.plan.budget) if budget]
    if not budgets:
        return None
    calls = min((one.max_calls for one in budgets if one.max_calls is not None), default=None)
    agents = min((one.max_agents for one in budgets if one.max_agents is not None), default=None)
    time = min((one.max_time for one in budgets if one.max_time), key=duration, default="")
    costs = [one.max_cost for one in budgets if one.max_cost]
    used = spending.used if spending is not None else None
    if used is not None:  # the dispatch itself counts too
        calls = max(0, calls - used.calls - 1) if calls is not None else None
        agents = max(0, agents - used.agents - 1) if agents is not None else None
    cost = min(costs, key=lambda one: one.value) if costs else None
    if cost is not None and used is not None and cost.asset in used.costs:
        rest = max(cost.value - used.costs[cost.asset], cost.value * 0)
        cost = AssetAmount(asset=cost.asset, amount=format(rest, "f"))
    return Budget(max_calls=calls, max_agents=agents, max_time=time, max_cost=cost)
