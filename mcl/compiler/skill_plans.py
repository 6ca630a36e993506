"""The plan of an Intent: by its skill's plan.yaml, or as a model writes it where the skill has none; else
what is asked or said instead.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeAlias

from executor.core.clock import derived_id
from executor.gate.effects import over_ceiling
from ir import Intent, PlanTree
from mcl.compiler.outcome import Refused
from mcl.compiler.stages.classify import Classified
from mcl.compiler.stages.gaps import Gap
from mcl.compiler.stages.rules import Rules
from mcl.core.errors import SkillError
from mcl.language.plans.binding import Bindings
from mcl.language.plans.planner import KnownTools, make_plan
from mcl.language.skills import Skill, Skills
from mcl.model.protocol import Model, plan_writer

if TYPE_CHECKING:  # a compile that has no plan written pays for none of it
    from executor.tools.registry import Registry
    from mcl.compiler.plan_writing import Attempt

# Codes for which a skill may say in §FAILURE_MODES what follows, each with the reason of the intent.fail
# where the skill names none.
_PLANLESS: Final = {
    "TOOL_MISSING": "tool_failure", "PLAN_FLAWED": "tool_failure", "NO_PLAN": "out_of_scope",
    "PLAN_UNWRITTEN": "tool_failure",
}  # fmt: skip

# A plan; a gap where it needs a slot that is empty or a verb that may do more; a refusal; or a text that says
# why the skill has no plan for it.
PlanOutcome: TypeAlias = PlanTree | Gap | Refused | str


@dataclass(frozen=True)
class SkillPlans:
    """Makes plans. tools: makes the tools that a model may put into one; None: there are none. ms: how long
    the compile took so far."""

    skills: Skills
    rules: Rules
    registry: KnownTools | None
    tools: "Callable[[], Registry] | None"
    ms: Callable[[], float]

    def of(
        self, classified: Classified, intent: Intent, model: Model
    ) -> "tuple[PlanOutcome, tuple[Attempt, ...]]":
        """What there is for an Intent, and what a model wrote on the way. Raises SkillError PLAN_FLAWED,
        TOOL_MISSING where the plan.yaml cannot run and the skill does not say what follows then."""
        if classified.skill.template is None:
            return self._written(classified, intent, model)
        return self._by_template(classified, intent), ()

    def _by_template(self, classified: Classified, intent: Intent) -> PlanOutcome:
        skill = classified.skill
        try:
            plan = make_plan(
                skill,
                intent,
                id=_plan_id(intent),
                created_at=intent.created_at,
                created_by=intent.agent,
                registry=self.registry,
                binder=Bindings(self.skills),
            )
        except SkillError as error:
            if error.code == "SLOT_EMPTY":
                return Gap(error.place, "", "blocking", error.message)
            if (said := self._as_the_skill_says(classified, intent, error)) is not None:
                return said
            if error.code == "NO_PLAN":
                return error.message
            raise
        beyond = _beyond_verb(skill, intent, plan, self.rules)
        if beyond is not None and skill.takes_any:
            near = ", ".join(classified.others)
            return f"no skill here does this{f' (nearest: {near})' if near else ''}; mcl skill new makes one"
        return beyond or plan

    def _written(
        self, classified: Classified, intent: Intent, model: Model
    ) -> "tuple[PlanOutcome, tuple[Attempt, ...]]":
        """The plan that a model writes for a skill that has none, or why there is none."""
        skill, writer, rules = classified.skill, plan_writer(model), self.rules
        no_plan = f"the skill {skill.id} has no plan.yaml"
        if not skill.tools:
            return no_plan, ()
        if writer is None:
            return f"{no_plan}, and {model.version} writes no plans (a chat model does: mcl model add)", ()
        from mcl.compiler.plan_writing import PlanOrigin, write_plan

        if self.tools is None:
            return no_plan, ()
        tools = self.tools()
        origin = PlanOrigin(_plan_id(intent), intent.created_at, intent.agent)
        nodes, repairs = rules.plan_nodes, rules.plan_repairs
        binder = Bindings(self.skills)
        made = write_plan(writer, skill, intent, origin, tools, nodes=nodes, repairs=repairs, binder=binder)
        attempts = made.attempts
        if made.plan is not None:
            return _beyond_verb(skill, intent, made.plan, rules) or made.plan, attempts
        if not attempts:
            return f"{no_plan}, and none was written: {made.why}", ()
        message = f"{made.why} [PLAN_UNWRITTEN]"
        error = SkillError("PLAN_UNWRITTEN", message, place=skill.id)
        said = self._as_the_skill_says(classified, intent, error)
        if said is None:
            others = classified.others
            said = Refused(intent.id, _PLANLESS["PLAN_UNWRITTEN"], message, others, self.ms())
        return (replace(said, attempts=attempts) if isinstance(said, Refused) else said), attempts

    def _as_the_skill_says(
        self, classified: Classified, intent: Intent, error: SkillError
    ) -> Gap | Refused | None:
        """What the failure mode named like the error asks for: another skill, or an end with its reason."""
        skill, name = classified.skill, error.code.lower()
        mode = next((one for one in skill.file.failures if one.name == name), None)
        if mode is None or error.code not in _PLANLESS:
            return None
        action = mode.action.value if mode.action else "fail"
        message = mode.message.value if mode.message else error.message
        others = classified.others
        if action == "clarify":
            return Gap("skill", "SkillRef", "blocking", message, options=others)
        if action != "fail":
            return None
        reason = mode.reason.value if mode.reason else _PLANLESS[error.code]
        return Refused(intent.id, reason, message, others, self.ms())


def _beyond_verb(skill: Skill, intent: Intent, plan: PlanTree, rules: Rules) -> Gap | None:
    """The question for another verb, where the gate would refuse this plan whatever the person signs."""
    declared = sorted({node.tool_call.side_effect_class for node, _ in plan.root.walk() if node.tool_call})

    def covers(verb: str) -> bool:
        return not any(over_ceiling(verb, name, "read") for name in declared)

    able = tuple(verb for verb in skill.verbs if covers(verb))
    if covers(intent.frame.verb) or not able:
        return None
    why = f"a goal to {intent.frame.verb} may not {', '.join(declared)}, as this plan would"
    said = ", ".join(rules.sayings.get(verb, verb) for verb in able)
    return Gap("frame.verb", "verb", "blocking", why, f"{rules.verb_question} {said}?", able)


def _plan_id(intent: Intent) -> str:
    """A ULID that follows from the Intent, so that the plan of the same Intent is the same, byte for byte."""
    moment = round(datetime.fromisoformat(intent.created_at).timestamp() * 1000)
    return derived_id(f"plan {intent.hash}", moment)
