"""The whole plan before its first node: what is wrong with it, what will be refused, what a person will be
asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

from executor.call import Call, Warned
from executor.core.errors import UnresolvedError, WalkError
from executor.gate.context import Context
from executor.gate.decide import BEFOREHAND, Guard, weigh
from executor.gate.effects import lasting
from executor.gate.mandate import Mandate
from executor.gate.references import typed_args
from executor.gate.standings import unchecked
from executor.gate.verdict import EXAMPLES, Ask, Deny
from executor.sandbox.redaction import visible
from executor.store.lifecycle.events import is_past
from executor.tools.manifest import Manifest, Mode
from executor.tools.tool import Credentials
from executor.walker.dispatch import Agents, expand, sketch
from executor.walker.forecast import Forecast
from executor.walker.history import RunHistory
from executor.walker.interfaces import RoutedReasoner, StepModel, SubSkills
from executor.walker.maps import planned, scope_flaw
from executor.walker.tree import PlanScope
from ir import (
    NODE_KINDS,
    DeliveredPredicate,
    Intent,
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
    would be like. guards: what each guard that was asked says for itself, by name. model: of a step, who
    will be asked, where that is known. warnings: what stands against it at this moment, and may have passed
    when its turn comes. touches: the files that the call would change as things stand, where its tool says
    that. lasting: why what it does will not be undone, "" where it will, or does nothing.
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
    model: StepModel | None = None
    warnings: tuple[Warned, ...] = ()
    lasting: str = ""
    touches: tuple[str, ...] = ()

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
            **({"model": asdict(self.model)} if self.model else {}),
            **({"lasting": self.lasting} if self.lasting else {}),
            **({"touches": list(self.touches)} if self.touches else {}),
            **({"warnings": [one.to_json() for one in self.warnings]} if self.warnings else {}),
            **(self.reply.to_json() if self.reply else {}),
        }


def preflight(
    plan: PlanTree,
    context: Context,
    *,
    reasoner: bool = True,
    models: RoutedReasoner | None = None,
    accepted: bool = True,
    sub_skills: SubSkills | None = None,
    agents: Agents | None = None,
    skills: tuple[str, ...] = (),
    earlier: RunHistory | None = None,
) -> list[Verdict]:
    """Judge every node of a plan, in walk order; flaws of the plan itself come first, success criteria last.

    The plans of sub-dispatches are judged where they stand, as far as their Frames are known. Budget, time
    and what parallel nodes write are reckoned as they will be at each node's turn (``forecast``). What will
    be refused of other arguments that a call offers is a warning of its node.

    Args:
        reasoner: is there a model for step nodes? models: who says which one.
        accepted: False for a plan that is still proposed: who signed what is then not asked.
        sub_skills: makes the plans of sub-dispatches. agents: whom work may be handed to.
        skills: addresses of the skills that lead to this plan, its own last; () where none is above it.
        earlier: what was done of it before; None: nothing.
    """
    guards = BEFOREHAND if accepted else tuple(one for one in BEFOREHAND if one[0] not in _UNSIGNED)
    ahead = Forecast(context, earlier or RunHistory())
    look = _Look(reasoner, models, guards, sub_skills, agents, ahead, MAX_NODES)
    with context.moment():
        return list(look.at(plan, PlanScope(ahead.context, None, skills or (skill_address(plan),))))


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


def unplanned(mandate: Mandate, sub_skills: SubSkills | None) -> Iterator[tuple[int, Deny]]:
    """WISH_NOT_PLANNED, of each further wish that no node does, by its place: what was signed is not done in
    part. A skill that takes any goal does what its words say."""
    places = mandate.undone if mandate.above is None else []
    if places and sub_skills is not None and sub_skills.takes_any(mandate.plan.skill_ref):
        return
    for place in places:
        says = visible(mandate.intent.frame.further[place].prose)[:300]
        yield (
            place,
            Deny(
                "WISH_NOT_PLANNED",
                f"the goal also wishes “{says}”, and no node of the plan does it",
                "compile the goal again, or state that wish as a goal of its own and take it out of this one",
                guard="plan",
                example=EXAMPLES["WISH_NOT_PLANNED"],
            ),
        )


def expired(intent: Intent, context: Context) -> Deny | None:
    """INTENT_EXPIRED, of an Intent that counts no longer: no run of it begins, or goes on."""
    if not is_past(intent.expires_at, context.clock.now()):
        return None
    return Deny(
        "INTENT_EXPIRED",
        f"it was to count until {intent.expires_at}",
        "state the goal again: mcl compile; of a run that began, correct expires_at and accept it again",
        guard="state",
        example=EXAMPLES["INTENT_EXPIRED"],
    )


def skill_address(plan: PlanTree) -> str:
    """The address of the skill that a plan is of, without its version."""
    return plan.skill_ref.partition("@")[0]


@dataclass
class _Look:
    """One preflight. ``room``: how many nodes may still be looked at, those of sub-dispatches counted."""

    reasoner: bool
    models: RoutedReasoner | None
    guards: tuple[tuple[str, Guard], ...]
    sub_skills: SubSkills | None
    agents: Agents | None
    ahead: Forecast
    room: int

    def at(self, plan: PlanTree, scope: PlanScope, below: str = "") -> Iterator[Verdict]:
        """below: the node that dispatches this plan, "" for the uppermost."""
        mandate = scope.context.mandate
        flaws = check_plan(plan, intent_id=mandate.intent.id if mandate else None)
        for flaw in flaws:
            refusal = Deny(flaw.code, flaw.message, flaw.fix, guard="plan")
            yield Verdict(flaw.place, "plan", refusal)
        if any(flaw.code in ("TOO_MANY_NODES", "TOO_DEEP") for flaw in flaws):
            return
        if mandate is not None and mandate.above is None and (late := expired(mandate.intent, scope.context)):
            yield Verdict(mandate.intent.id, "intent", late)
        for one in unchecked(scope.context.standings()) if mandate else ():
            yield Verdict(mandate.named(one.place) if mandate else "", "promise", uncheckable(one))
        self.ahead.lay_out(plan, scope.context, below)
        found: list[Verdict] = []
        # What may not be done at all is not counted, and needs no credential: only what must fail is told.
        aside = replace(scope, context=replace(scope.context, spending=None, credentials=_Later({})))
        for node, own, sure in planned(plan.root):
            self.room -= 1
            if (unread := scope_flaw(node)) is not None:
                found.append(Verdict(node.id, node.kind, unread))
            if not node.children:
                self.ahead.turn(own)
                found += self._judge(node, scope if sure else aside)
        if mandate is not None:
            wishes = unplanned(mandate, self.sub_skills)
            found += (Verdict(f"frame.further[{place}]", "wish", undone) for place, undone in wishes)
            found += self._criteria(mandate, scope.context)
        yield from self._with_offers(found, plan, scope.context)

    def _with_offers(self, found: list[Verdict], plan: PlanTree, context: Context) -> list[Verdict]:
        """The verdicts on the nodes of a plan, each with what will be refused of what the node offers. Who
        takes an offer makes one call more than the plan has, so all others are counted before."""
        nodes = {node.id: node.tool_call for node, _ in plan.root.walk() if _offers(node)}
        if not nodes or context.mandate is None:
            return found
        looked: dict[str, ToolCall] = {}
        context = replace(context, mandate=replace(context.mandate, offered=looked))
        told = []
        for verdict in found:
            planned = nodes.get(verdict.node_id)
            if planned is not None and not self.ahead.done(verdict.node_id):
                self.ahead.turn(verdict.node_id)
                for number, one in enumerate(_alternatives(planned), 1):
                    looked[verdict.node_id] = one
                    said = self._refusal(verdict.node_id, one, context)
                    if said is not None and said != verdict.reply:
                        which = f"the arguments {number} of {len(planned.alternatives)} that it offers"
                        warned = Warned(said.code, f"{which}: {said.reason}; {said.fix}")
                        verdict = replace(verdict, warnings=(*verdict.warnings, warned))
            told.append(verdict)
        return told

    def _refusal(self, id: str, planned: ToolCall, context: Context) -> Deny | None:
        """What the gate will refuse of a call that may be made; it is not counted."""
        call = _call(id, planned, context)
        said = weigh(call, context, self.guards).values() if isinstance(call, Call) else (call,)
        return next((one for one in said if isinstance(one, Deny)), None)

    def _judge(self, node: PlanNode, scope: PlanScope) -> Iterator[Verdict]:
        spending = scope.context.spending
        if self.ahead.done(node.id):
            yield self._done(node, scope.context)
        elif node.kind == "step":
            late = spending.refusal() if spending is not None else None
            yield Verdict(node.id, node.kind, self._late(late)) if late is not None else self._step(node)
            self.ahead.begin_step(scope.context)
        elif node.kind == "gate" and node.gate:
            question = Ask(node.gate.question, binding="", expires_at="", guard="gate")
            late = spending.time_refusal() if spending is not None else None
            yield Verdict(node.id, node.kind, self._late(late) or question)
        elif node.kind == "tool_call" and node.tool_call:
            yield self._judge_call(node.id, node.kind, node.tool_call, scope.context)
            self._note_offers(node, scope.context)
        elif node.kind == "sub_dispatch" and node.sub_dispatch:
            yield from self._dispatch(node, scope)
        elif node.kind not in NODE_KINDS:  # what one of these lacks is told as a flaw of the plan
            message = f"this executor runs no {node.kind!r} nodes"
            refusal = Deny("UNKNOWN_NODE_KIND", message, "use another kind", guard="walker")
            yield Verdict(node.id, node.kind, refusal)

    def _step(self, node: PlanNode) -> Verdict:
        """The verdict on a step: whether somebody here can answer it, and who will be asked."""
        if not self.reasoner:
            return Verdict(node.id, node.kind, _NO_MODEL)
        if self.models is None or node.step is None:
            return Verdict(node.id, node.kind)
        try:
            return Verdict(node.id, node.kind, model=self.models.model_for(node.step.kind))
        except MclError as problem:
            example = EXAMPLES.get(problem.code, "")
            where = f"{problem.fix} ({problem.place})" if problem.place else problem.fix
            refusal = Deny(problem.code, problem.message, where, guard="model", example=example)
            return Verdict(node.id, node.kind, refusal)

    def _late(self, refusal: Deny | None) -> Deny | None:
        """A refusal by the budget of what is no call, as it is told beforehand."""
        if refusal is None:
            return None
        said = self.ahead.foretold(refusal)
        return replace(said, guard="budget", example=EXAMPLES.get(said.code, ""))

    def _done(self, node: PlanNode, context: Context) -> Verdict:
        """A node that completed in an earlier run: nothing is asked of it any more."""
        planned = node.tool_call
        if planned is not None:
            self._note(node.id, planned, context)
            self._note_offers(node, context)
        elif node.sub_dispatch is not None:
            self.ahead.hidden()
        return Verdict(node.id, node.kind, None, planned.tool_ref if planned else "")

    def _note(self, id: str, planned: ToolCall, context: Context, *, offered: bool = False) -> None:
        """Note where a call writes that is not judged now."""
        call, manifest = _call(id, planned, context), context.find(planned.tool_ref)
        if isinstance(call, Call) and manifest is not None:
            self.ahead.note(call, manifest, context, offered=offered)

    def _note_offers(self, node: PlanNode, context: Context) -> None:
        for one in _alternatives(node.tool_call) if node.tool_call else ():
            self._note(node.id, one, context, offered=True)

    def _criteria(self, mandate: Mandate, context: Context) -> Iterator[Verdict]:
        """What can be said of the success criteria before anything runs."""
        for place, predicate in enumerate(mandate.intent.frame.success_criteria):
            if isinstance(predicate, DeliveredPredicate):
                refusal = self.ahead.unreachable(predicate, mandate.intent, context)
                if refusal is not None:
                    id = mandate.criterion_id(f"frame.success_criteria[{place}]")
                    yield Verdict(id, "criterion", replace(refusal, example=EXAMPLES[refusal.code]))
        for id, call in mandate.criteria.items():
            yield self._judge_call(id, "criterion", call, context)

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
        late = self._late(self.ahead.begin_agent(node.id, scope.context))
        yield Verdict(node.id, node.kind, late, below=plan, sketched=below is None and plan is not None)
        if below is None:
            self.ahead.hidden()
        else:
            context = self.ahead.below(below.context, node.id)
            yield from self.at(below.mandate.plan, replace(below, context=context), node.id)

    def _hand_over(self, node: PlanNode, agent_ref: str, context: Context) -> Verdict:
        """The verdict on a call that hands work to another agent."""
        from executor.walker.handover import handover_call

        self.ahead.hidden()
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
        found = self._weighed(call, node.kind, context)
        late = self._late(self.ahead.begin_agent(node.id, context))
        return found if late is None else replace(found, reply=late)

    def _judge_call(self, id: str, kind: str, planned: ToolCall, context: Context) -> Verdict:
        """The verdict on one call of the plan, or of a success criterion."""
        call = _call(id, planned, context)
        if isinstance(call, Deny):
            return Verdict(id, kind, call, planned.tool_ref)
        return self._weighed(call, kind, context)

    def _weighed(self, call: Call, kind: str, context: Context) -> Verdict:
        manifest = context.manifest(call)
        effect = context.effect(call, manifest) if manifest else None
        said = weigh(call, context, self.guards)
        if isinstance(late := said.get("budget"), Deny):
            said["budget"] = self.ahead.foretold(late)
        warnings = self.ahead.begin_call(call, manifest, context) if manifest is not None else ()
        touches: tuple[str, ...] = ()
        if manifest is not None and not any(isinstance(one, Deny) for one in said.values()):
            against, touches = _undoing(call, manifest, context)
            warnings += against
        return Verdict(
            call.node_id,
            kind,
            next((one for one in said.values() if one is not None), None),
            call.tool_ref,
            tuple(sorted(effect.classes)) if effect else (),
            effect.operation if effect else "",
            guards=said,
            warnings=warnings,
            touches=touches,
            lasting=lasting(manifest, effect) if manifest and effect else "",
        )


class _Later(Credentials):
    """Those of calls that may never be made: each is looked at when its turn comes."""

    def flaw(self, variable: str) -> str:
        return ""


def _undoing(call: Call, manifest: Manifest, context: Context) -> tuple[tuple[Warned, ...], tuple[str, ...]]:
    """What keeps a call from being made, or from being undone, as things stand in the workspace; and what it
    would change, where its tool says that."""
    if context.effect(call, manifest).operation == "read" or len(call.known_args) < len(call.args):
        return (), ()
    from executor.walker.undo.looker import unkept  # what only reads needs none of it

    touched: tuple[str, ...] = ()
    paths: Sequence[tuple[str, Mode]] = context.paths(call, manifest)
    try:
        if manifest.undo:
            paths = context.tools.touched(call, context.workspace) or ()
            moved = [path for path, mode in paths if mode == "move"]
            touched = tuple(map(visible, moved or [path for path, _ in paths]))
        found = unkept(paths, context.workspace)
    except MclError as problem:
        return (Warned(problem.code, f"{problem.message}; {problem.fix}"),), ()
    if found is None:
        return (), touched
    refused = "it will be refused" if manifest.undo else "no undo will put it back"
    warned = Warned("NOT_UNDOABLE", f"{visible(found[0])!r} could not be put back: {found[1]}; {refused}")
    return (warned,), touched


def _offers(node: PlanNode) -> bool:
    """Does a node offer other arguments, which may be tried where its call fails?"""
    return node.tool_call is not None and bool(node.tool_call.alternatives)


def _alternatives(planned: ToolCall) -> Iterator[ToolCall]:
    """The calls that a call offers in its place."""
    return (planned.model_copy(update={"args": args}) for args in planned.alternatives)


def _call(id: str, planned: ToolCall, context: Context) -> Call | Deny:
    """A call as it is known before its turn; why it can never be made."""
    try:
        args = typed_args(planned.args, context.tools.find(planned.tool_ref), None, planned.documents)
    except UnresolvedError as problem:
        code = problem.code if problem.code in EXAMPLES else "INVALID_ARGS"
        return Deny(code, problem.message, problem.fix, guard="arguments", example=EXAMPLES[code])
    return Call(planned.tool_ref, args, planned.side_effect_class, id, planned.timeout_ms)
