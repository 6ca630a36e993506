"""A sub_dispatch node: the plan of another skill, walked below this node as if it stood there, or work that
goes to another agent, whose signed answer comes back. And what each kind of node does with its turn.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from executor.core.errors import UnresolvedError
from executor.gate.budget import Spending
from executor.gate.references import resolve
from executor.gate.verdict import Deny
from executor.walker.criteria import judge
from executor.walker.dispatch import Agents, expand
from executor.walker.engine import Failure
from executor.walker.interfaces import RoutedReasoner
from executor.walker.maps import map_output, open_map
from executor.walker.nodes import ask_gate, call_tool, settle
from executor.walker.preflight import preflight
from executor.walker.run import Kinds, Run
from executor.walker.steps import ask_model
from executor.walker.tree import Place, PlanScope
from ir import MclError, canonical_bytes
from ir.plan import MAX_NODES


def open_plan(place: Place, run: Run) -> Failure | None:
    """Make the plan, judge it as a whole, write down that it begins, and hang it below the node; of a map,
    what is done for each member."""
    if place.node.map is not None:
        return open_map(place, run)
    sub, spending = place.node.sub_dispatch, place.scope.context.spending
    assert sub is not None, "the node is a sub_dispatch"
    begun = run.history.begun.get(place.id)
    if begun is None and spending is not None and (refusal := spending.agent_refusal()) is not None:
        return _refused(refusal, place)
    try:
        scope = expand(place.node, place.scope, run.sub_skills, run.outputs)
    except MclError as problem:
        return replace(run.failure(problem, place), denied=True)
    assert scope is not None, "at run time every reference is resolved"
    mandate = scope.mandate
    if begun is not None and begun.told.get("plan_hash") not in (None, mandate.plan_hash):
        message = "the plan that was begun here is another one than the skill makes now"
        return Failure("SKILL_CHANGED", message, "state the goal again", place.id, denied=True)
    scope = _limited(scope, place, run)
    if (flaw := _flaw(scope, place, run)) is not None:
        return flaw
    told = {"agents": 0 if begun else 1, "intent": mandate.intent.id, "plan_hash": mandate.plan_hash}
    run.begin(place, told)
    if begun is None and spending is not None:
        spending.begin_agent()
    if canonical_bytes(mandate.intent) not in run.history.dispatched:
        run.ledger.dispatch(mandate.intent, sub.scope_uri)
    run.tree.graft(place, scope)
    return None


async def close_plan(place: Place, run: Run) -> Failure | None:
    """The plan below the node has completed: are its own success criteria met? Its last node's output is the
    output of the dispatch."""
    if place.node.map is not None:
        run.outputs[place.id] = map_output(place, run)
        return None
    (root,) = run.tree.children(place)
    assert run.home is not None, "a run that dispatches has a home"
    for criterion in await judge(root.scope.context, run, run.home):
        if not criterion.holds:
            message = f"the success criterion {criterion.predicate.type} is not met: {criterion.reason}"
            return Failure("CRITERION_NOT_MET", message, "see what the run left", place.id)
    try:
        gives = root.scope.mandate.plan.gives.items()
        given = {name: resolve(text, run.outputs) for name, text in gives}
    except UnresolvedError as problem:
        return run.failure(problem, place)
    run.outputs[place.id] = given or run.given(root, f"{place.id}/")
    return None


def _flaw(scope: PlanScope, place: Place, run: Run) -> Failure | None:
    """The first thing that the gate, or the rules of plans, say against the plan as a whole."""
    nodes = [node for node, _ in scope.mandate.plan.root.walk()]
    if len(run.tree) + len(nodes) > MAX_NODES:
        message = f"with the plan below it the run has more than {MAX_NODES} nodes"
        return Failure("TOO_MANY_NODES", message, "dispatch less", place.id, denied=True)
    taken = next((node.id for node in nodes if run.tree.find(node.id)), "")
    if taken:
        message = f"the node {taken} is there already"
        return Failure("NODE_ID_REPEATED", message, "give the node another id", place.id, denied=True)
    plan, reasoner = scope.mandate.plan, run.reasoner is not None
    verdicts = preflight(
        plan,
        scope.context,
        reasoner=reasoner,
        models=run.reasoner if isinstance(run.reasoner, RoutedReasoner) else None,
        sub_skills=run.sub_skills,
        agents=Agents(run.home) if run.home else None,
        skills=scope.skills,
        earlier=run.history,
    )
    for verdict in verdicts:
        if isinstance(verdict.reply, Deny):
            run.ledger.note("refused", {"node": verdict.node_id, **verdict.reply.to_json()})
            return _refused(verdict.reply, place, verdict.node_id)
    return None


def _limited(scope: PlanScope, place: Place, run: Run) -> PlanScope:
    """The scope with a budget of its own, of which the budget above also counts everything."""
    context, mandate = scope.context, scope.mandate
    own = Spending(
        mandate.intent,
        mandate.plan,
        context.clock,
        started_at=run.history.began.get(place.id) or context.clock.now(),
        used=run.history.used_below(f"{place.id}/"),
        above=place.scope.context.spending,
        calls=mandate.portion.calls if mandate.portion else 0,
    )
    return replace(scope, context=replace(context, spending=own))


def _refused(refusal: Deny, place: Place, node_id: str = "") -> Failure:
    where = f"{node_id}: " if node_id and node_id != place.id else ""
    return Failure(refusal.code, where + refusal.reason, refusal.fix, place.id, denied=True)


# ---- The kinds of nodes.


async def _hand_over(place: Place, run: Run) -> Failure | None:
    """Work for another agent, which hardly any plan has: what sends it is loaded where one does."""
    from executor.walker.handover import hand_over

    return await hand_over(place, run)


KINDS: Final = Kinds(
    attempts={
        "tool_call": call_tool,
        "step": ask_model,
        "gate": ask_gate,
        "sub_dispatch": _hand_over,  # to another agent; one within this process is a branch
    },
    settle=settle,
    open_plan=open_plan,
    close_plan=close_plan,
)
