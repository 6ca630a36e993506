"""The six stages in order: a request in, an outcome out. Nothing is stored here."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Final, TypeAlias

from executor.clock import ulid_text
from executor.gate.effects import over_ceiling
from executor.home import Home
from ir import ClarifyQuestion, Intent, PlanTree
from mcl.cortex import Cortex, Snapshot
from mcl.errors import SkillError
from mcl.model.protocol import Model
from mcl.mtx.core import Core
from mcl.planner import Tools, make_plan
from mcl.skills import Skill, Skills, mtx_digest
from mcl.stages.classify import OutOfScope, classify
from mcl.stages.extract import extract
from mcl.stages.gaps import Gap, one_a_field, questions_of
from mcl.stages.prefetch import prefetch
from mcl.stages.request import Request
from mcl.stages.resolve import resolve
from mcl.stages.rules import Rules
from mcl.stages.score import Provenance, build, score

OUT_OF_SCOPE: Final = "out_of_scope"
TIMEOUT: Final = "timeout"


@dataclass(frozen=True)
class Compiled:
    """The goal as an Intent. `review`: sure enough to propose, not sure enough to skip reading it.

    plan: what will run, or None; `no_plan` says why. ms: how long the stages took.
    """

    intent: Intent
    plan: PlanTree | None
    review: bool
    no_plan: str
    ms: float


@dataclass(frozen=True)
class Clarify:
    """What must be known first. `intent` is as far as it is known (state "clarifying"); it is not in the
    journal."""

    intent: Intent
    questions: tuple[ClarifyQuestion, ...]
    ms: float


@dataclass(frozen=True)
class Refused:
    """Nothing was compiled. reason: out_of_scope, timeout, ambiguous_request; `nearest`: skill ids, best
    first."""

    id: str
    reason: str
    message: str
    nearest: tuple[str, ...]
    ms: float


Outcome: TypeAlias = Compiled | Clarify | Refused


class Pipeline:
    """The stages over a home's memories and the installed skills. timer: seconds that only grow."""

    def __init__(
        self, home: Home, skills: Skills, core: Core, registry: Tools | None, timer: Callable[[], float]
    ) -> None:
        self.skills, self.core, self.registry = skills, core, registry
        self.rules = Rules.of(core)
        self.cortex = Cortex(home)
        self._timer = timer
        self._started = timer()

    def run(self, request: Request, model: Model, snapshot: Snapshot | None = None) -> Outcome:
        """Compile a request against the memories of `snapshot` (default: now).

        Raises what the stages raise; SkillError PLAN_FLAWED, TOOL_MISSING where the skill's plan cannot run.
        """
        snapshot = snapshot or self.cortex.snapshot()
        memories = self.cortex.memories(snapshot)
        classified = classify(request, self.skills, model, self.rules)
        if isinstance(classified, OutOfScope):
            near = ", ".join(classified.nearest)
            message = "no installed skill does this" + (f"; the nearest are {near}" if near else "")
            return Refused(request.id, OUT_OF_SCOPE, message, classified.nearest, self.ms())
        if late := self._late(request):
            return late
        bundle = prefetch(request, classified.skill, memories, self.rules)
        extraction = extract(request, classified, bundle, model, self.rules)
        if late := self._late(request):
            return late
        resolution = resolve(request, classified, extraction, memories, self.rules)
        provenance = Provenance(
            mtx_digest(classified.skill, self.core), model.digest, model.version, model.grammar, snapshot.root
        )
        verdict = score(request, classified, resolution, self.rules)
        if late := self._late(request):
            return late
        intent = build(request, classified, resolution, verdict, provenance)
        if verdict.outcome != "clarify":
            plan = self._plan(classified.skill, intent)
            if not isinstance(plan, Gap):
                made, why_not = (None, plan) if isinstance(plan, str) else (plan, "")
                return Compiled(intent, made, verdict.outcome == "review", why_not, self.ms())
            verdict = replace(verdict, outcome="clarify", gaps=one_a_field((*verdict.gaps, plan)))
            intent = build(request, classified, resolution, verdict, provenance)
        return Clarify(
            intent, questions_of(verdict.gaps, self.rules.question, self.rules.questions), self.ms()
        )

    def ms(self) -> float:
        """Milliseconds since the pipeline was made."""
        return (self._timer() - self._started) * 1000

    def _late(self, request: Request) -> Refused | None:
        """What is said where the stages so far took longer than all of them may."""
        ms = self.ms()
        if ms <= self.rules.timeout_ms:
            return None
        message = f"compiling took {ms:.0f} ms; at most {self.rules.timeout_ms} are allowed"
        return Refused(request.id, TIMEOUT, message, (), ms)

    def _plan(self, skill: Skill, intent: Intent) -> PlanTree | Gap | str:
        """The plan of an Intent; a gap where it needs a slot that is empty or a verb that may do more; a text
        where the skill has no plan for it."""
        if skill.template is None:
            return f"the skill {skill.id} has no plan.yaml"
        try:
            plan = make_plan(
                skill,
                intent,
                id=_plan_id(intent),
                created_at=intent.created_at,
                created_by=intent.agent,
                registry=self.registry,
            )
        except SkillError as error:
            if error.code == "NO_PLAN":
                return error.message
            if error.code == "SLOT_EMPTY":
                return Gap(error.place, "", "blocking", error.message)
            raise
        return _beyond_verb(skill, intent, plan, self.rules) or plan


def _beyond_verb(skill: Skill, intent: Intent, plan: PlanTree, rules: Rules) -> Gap | None:
    """The question for another verb, where the gate would refuse this plan whatever the person signs."""
    declared = sorted({node.tool_call.side_effect_class for node, _ in plan.root.walk() if node.tool_call})

    def covers(verb: str) -> bool:
        return not any(over_ceiling(verb, name, "read") for name in declared)

    able = tuple(verb for verb in skill.verbs if covers(verb))
    if covers(intent.frame.verb) or not able:
        return None
    why = f"a goal to {intent.frame.verb} may not {', '.join(declared)}, as this plan would"
    return Gap("frame.verb", "verb", "blocking", why, rules.verb_question, able)


def _plan_id(intent: Intent) -> str:
    """A ULID that follows from the Intent, so that the plan of the same Intent is the same, byte for byte."""
    moment = round(datetime.fromisoformat(intent.created_at).timestamp() * 1000)
    tail = sha256(f"plan {intent.hash}".encode()).digest()[:10]
    return ulid_text(int.from_bytes(moment.to_bytes(6, "big") + tail, "big"))
