"""The whole plan before its first node: what is wrong with it, what will be refused, what a person will be
asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from executor.call import Call
from executor.core.errors import UnresolvedError, WalkError
from executor.gate.context import Context
from executor.gate.decide import BEFOREHAND, Guard, weigh
from executor.gate.references import typed_args
from executor.gate.standings import unchecked
from executor.gate.verdict import EXAMPLES, Ask, Deny
from executor.sandbox.redaction import visible
from executor.walker.dispatch import Agents, expand, sketch
from executor.walker.interfaces import SubSkills
from executor.walker.tree import PlanScope
from ir import (
    NODE_KINDS,
    MclError,
    PlanNode,
    PlanTree,
    PromiseStanding,
    ToolCall,
    canonical_bytes,
    check_plan,
)
from ir.plan import MAX_NODES

_UNSIGNED = ("integrity", "state")
_NO_MODEL = Deny(
    "NO_MODEL", "this step needs a model, and none is loaded", "give one with --model", guard="model"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says of one node beforehand; ``reply`` is None where it objects to nothing.

    below: of a sub-dispatch, the plan that it will walk; sketched: it is not known yet, and this is what it
    would be like. guards: what each guard that
    was asked says for itself, by name.
    """

    node_id: str
    kind: str
    reply: Ask | Deny | None = None
    tool_ref: str = ""
    effects: tuple[str, ...] = ()
    operation: str = ""
    below: PlanTree | None = None
    sketched: bool = False
    guards: Mapping[str, Ask | Deny | None] = field(default_factory=dict)

    @property
    def decision(self) -> Literal["allow", "ask", "deny"]:
        """The verdict in one word."""
        return "allow" if self.reply is None else "ask" if isinstance(self.reply, Ask) else "deny"

    def to_json(self) -> dict[str, object]:
        """The verdict as a JSON object."""
        return {
            "node": self.node_id,
            "kind": self.kind,
            "tool": self.tool_ref,
            "effects": list(self.effects),
            "operation": self.operation,
            "decision": self.decision,
            **({"plan": json.loads(canonical_bytes(self.below))} if self.below else {}),
            **({"sketched": True} if self.sketched else {}),
            **(self.reply.to_json() if self.reply else {}),
        }


def preflight(
    plan: PlanTree,
    context: Context,
    *,
    reasoner: bool = True,
    accepted: bool = True,
    sub_skills: SubSkills | None = None,
    agents: Agents | None = None,
    skills: tuple[str, ...] = (),
) -> list[Verdict]:
    """Judge every node of a plan, in walk order; flaws of the plan itself come first, success criteria last.

    The plans of sub-dispatches are judged where they stand, as far as their Frames are known.

    Args:
        reasoner: is there a model for step nodes?
        accepted: False for a plan that is still proposed: who signed what is then not asked.
        sub_skills: makes the plans of sub-dispatches. agents: whom work may be handed to.
        skills: addresses of the skills that lead to this plan, its own last; () where none is above it.
    """
    guards = BEFOREHAND if accepted else tuple(one for one in BEFOREHAND if one[0] not in _UNSIGNED)
    look = _Look(reasoner, guards, sub_skills, agents, MAX_NODES)
    with context.moment():
        return list(look.at(plan, PlanScope(context, None, skills or (skill_address(plan),))))


def uncheckable(promise: PromiseStanding) -> Deny:
    """PROMISE_UNCHECKABLE, of a hard promise: a run that cannot be seen to keep it does not begin."""
    says, why = visible(promise.says)[:300], visible(promise.why)[:300]
    return Deny(
        "PROMISE_UNCHECKABLE",
        f"{promise.place}: nobody here can check “{says}”: {why}",
        "compile the goal again, and sign it off yourself at the end, make it a wish, or leave it out",
        guard="promise",
        data={"promise": promise.place},
        example=EXAMPLES["PROMISE_UNCHECKABLE"],
    )


def skill_address(plan: PlanTree) -> str:
    """The address of the skill that a plan is of, without its version."""
    return plan.skill_ref.partition("@")[0]


@dataclass
class _Look:
    """One preflight. ``room``: how many nodes may still be looked at, those of sub-dispatches counted."""

    reasoner: bool
    guards: tuple[tuple[str, Guard], ...]
    sub_skills: SubSkills | None
    agents: Agents | None
    room: int

    def at(self, plan: PlanTree, scope: PlanScope) -> Iterator[Verdict]:
        mandate = scope.context.mandate
        flaws = check_plan(plan, intent_id=mandate.intent.id if mandate else None)
        for flaw in flaws:
            refusal = Deny(flaw.code, flaw.message, flaw.fix, guard="plan")
            yield Verdict(flaw.place, "plan", refusal)
        if any(flaw.code in ("TOO_MANY_NODES", "TOO_DEEP") for flaw in flaws):
            return
        for one in unchecked(scope.context.standings()) if mandate else ():
            yield Verdict(mandate.named(one.place) if mandate else "", "promise", uncheckable(one))
        for node, _ in plan.root.walk():
            self.room -= 1
            if not node.children:
                yield from self._judge(node, scope)
        for id, call in mandate.criteria.items() if mandate else ():
            yield _judge_call(id, "criterion", call, scope.context, self.guards)

    def _judge(self, node: PlanNode, scope: PlanScope) -> Iterator[Verdict]:
        if node.kind == "step":
            yield Verdict(node.id, node.kind, None if self.reasoner else _NO_MODEL)
        elif node.kind == "gate" and node.gate:
            question = Ask(node.gate.question, binding="", expires_at="", guard="gate")
            yield Verdict(node.id, node.kind, question)
        elif node.kind == "tool_call" and node.tool_call:
            yield _judge_call(node.id, node.kind, node.tool_call, scope.context, self.guards)
        elif node.kind == "sub_dispatch" and node.sub_dispatch:
            yield from self._dispatch(node, scope)
        elif node.kind not in NODE_KINDS:  # what one of these lacks is told as a flaw of the plan
            message = f"this executor runs no {node.kind!r} nodes"
            refusal = Deny("UNKNOWN_NODE_KIND", message, "use another kind", guard="walker")
            yield Verdict(node.id, node.kind, refusal)

    def _dispatch(self, node: PlanNode, scope: PlanScope) -> Iterator[Verdict]:
        if node.sub_dispatch and node.sub_dispatch.agent_ref:
            yield self._hand_over(node, node.sub_dispatch.agent_ref, scope.context)
            return
        try:
            if self.room <= 0:
                message = f"more than {MAX_NODES} nodes, those of sub-dispatches counted"
                raise WalkError("TOO_MANY_NODES", message, place=node.id, fix="dispatch less")
            below = expand(node, scope, self.sub_skills, None)
            plan = below.mandate.plan if below else sketch(node, scope, self.sub_skills)
        except MclError as problem:
            refusal = Deny(problem.code, problem.message, problem.fix, guard="walker")
            yield Verdict(node.id, node.kind, refusal)
            return
        yield Verdict(node.id, node.kind, below=plan, sketched=below is None and plan is not None)
        if below is not None:
            yield from self.at(below.mandate.plan, below)

    def _hand_over(self, node: PlanNode, agent_ref: str, context: Context) -> Verdict:
        """The verdict on a call that hands work to another agent."""
        from executor.walker.handover import handover_call

        try:
            if self.agents is None or context.mandate is None:
                message = f"nobody here knows how to reach {agent_ref}"
                raise WalkError("AGENT_UNKNOWN", message, place=node.id, fix="mcl agent add")
            agent = self.agents.require_trusted(agent_ref)
            call, _ = handover_call(node, context.mandate, agent, context.spending, None)
        except MclError as problem:
            return Verdict(
                node.id, node.kind, Deny(problem.code, problem.message, problem.fix, guard="walker")
            )
        return _weighed(call, node.kind, context, self.guards)


def _judge_call(
    id: str, kind: str, planned: ToolCall, context: Context, guards: tuple[tuple[str, Guard], ...]
) -> Verdict:
    """The verdict on one call of the plan, or of a success criterion."""
    manifest = context.tools.find(planned.tool_ref)
    try:
        args = typed_args(planned.args, manifest, None, planned.documents)
    except UnresolvedError as problem:
        code = problem.code if problem.code in EXAMPLES else "INVALID_ARGS"
        example = EXAMPLES[code]
        refusal = Deny(code, problem.message, problem.fix, guard="arguments", example=example)
        return Verdict(id, kind, refusal, planned.tool_ref)
    call = Call(planned.tool_ref, args, planned.side_effect_class, id, planned.timeout_ms)
    return _weighed(call, kind, context, guards)


def _weighed(call: Call, kind: str, context: Context, guards: tuple[tuple[str, Guard], ...]) -> Verdict:
    manifest = context.manifest(call)
    effect = context.effect(call, manifest) if manifest else None
    said = weigh(call, context, guards)
    return Verdict(
        call.node_id,
        kind,
        next((one for one in said.values() if one is not None), None),
        call.tool_ref,
        tuple(sorted(effect.classes)) if effect else (),
        effect.operation if effect else "",
        guards=said,
    )
