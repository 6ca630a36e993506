"""The plan of an Intent that was corrected: what its skill makes otherwise of it is other, and what a person
corrected in the plan itself stays.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from executor.store.home import Home
from ir import Intent, PlanNode, PlanTree, as_document, with_hash
from mcl.core.errors import InputError
from mcl.language.mtx.core import core_of
from mcl.language.plans.binding import Bindings
from mcl.language.plans.planner import make_plan, slots_named
from mcl.language.skills import Skill, Skills, as_compiled

_PLACED: Final = ("prose", "deadline")  # of the Intent, what else a plan.yaml has places for


def corrected_plan(home: Home, before: Intent, after: Intent, plan: PlanTree, skills: Skills) -> PlanTree:
    """The plan as it follows from the corrected Intent, with its hash; itself where nothing of it does.

    before: the Intent that the plan was made for. plan: as it is now, with what was corrected in it. Raises
    SkillError SKILL_CHANGED, and what make_plan raises; InputError CORRECTION_CONFLICT, PLAN_WRITTEN (a model
    wrote the plan).
    """
    if not _compiled(before, plan):
        return plan
    root = plan.root
    if _goal(before) != _goal(after):
        if plan.grammar:
            raise InputError(
                "PLAN_WRITTEN",
                "a model wrote this plan, and has to write it again for another goal",
                place="plan",
                fix='say it of the goal: mcl correct … "in words", or --set slot.NAME=VALUE',
            )
        was, now = (_made(home, intent, plan, skills).root for intent in (before, after))
        root = merged(was, now, root)
    return _with(plan, before, after, root)


def rewritten_plan(before: Intent, after: Intent, was: PlanTree, now: PlanTree, plan: PlanTree) -> PlanTree:
    """The same of a plan that a model wrote: was, now: what it writes for the goal before and after."""
    return _with(plan, before, after, merged(was.root, now.root, plan.root))


def require_agreement(home: Home, intent: Intent, plan: PlanTree, after: PlanTree, skills: Skills) -> None:
    """Raise InputError SAID_BY_SLOT where a correction of a plan alone has it do another thing than the Frame
    says: a text that is made from a slot is another one; SkillError SKILL_CHANGED where that is not known."""
    changed = {node.id: node for node, _ in after.root.walk()}
    pairs = [(one, changed.get(one.id, one)) for one, _ in plan.root.walk()]
    nodes = [(old, new) for old, new in pairs if old != new and not _offered(old, new)]
    if not nodes or not _compiled(intent, plan) or plan.grammar:
        return
    named = slots_named(_skill(home, intent, skills), intent)
    for old, new in nodes:
        for (field, name), slots in named.get(old.id, {}).items():
            if _text(old, field, name) != _text(new, field, name):
                place = ".".join(filter(None, ("plan", old.id, field, name)))
                raise InputError(
                    "SAID_BY_SLOT",
                    f"the goal says it, as {', '.join(slots)}; a plan that does otherwise is not its plan",
                    place=place,
                    fix=" and ".join(f"--set slot.{slot}=…" for slot in slots)
                    + " changes the goal, and the plan with it",
                )


def _offered(old: PlanNode, new: PlanNode) -> bool:
    """Whether a call takes other arguments that its plan offered: they were signed with it."""
    was, now = old.tool_call, new.tool_call
    return was is not None and now is not None and now.args in was.alternatives


def merged(was: PlanNode, now: PlanNode, root: PlanNode) -> PlanNode:
    """`root`, where `was` became `now`: what differs between the two is other there too.

    Raises InputError CORRECTION_CONFLICT where it was corrected by itself and differs between the two.
    """
    if was == now or root == now:
        return root
    if root == was:
        return now
    if _order(was) != _order(now):
        known = {node.id for node, _ in now.walk()}
        first = next((one.id for one, _ in root.walk() if one.id not in known), root.id)
        raise _conflict(f"plan.{first}")
    old, new = _alone(was), _alone(now)

    def node(one: PlanNode) -> PlanNode:
        bare = one.model_copy(update={"children": ()})
        if old.get(one.id) != new.get(one.id):
            first, then, here = (as_document(each) for each in (old[one.id], new[one.id], bare))
            bare = PlanNode.from_json(json.dumps(_three_ways(first, then, here, f"plan.{one.id}")))
        return bare.model_copy(update={"children": tuple(node(child) for child in one.children)})

    return node(root)


def _three_ways(was: Any, now: Any, has: Any, place: str) -> Any:
    """`has`, where `was` became `now`, name by name."""
    if was == now or has == now:
        return has
    if has == was:
        return now
    if not (isinstance(was, dict) and isinstance(now, dict) and isinstance(has, dict)):
        raise _conflict(place)
    names = sorted({*was, *now, *has})
    found = {
        name: _three_ways(was.get(name), now.get(name), has.get(name), f"{place}.{name}") for name in names
    }
    return {name: value for name, value in found.items() if value is not None}


def _conflict(place: str) -> InputError:
    return InputError(
        "CORRECTION_CONFLICT",
        "it was corrected by itself, and follows from the goal too, which is to be another one",
        place=place,
        fix=f"take that correction back first (--set {place}…), or state the goal again",
    )


def _order(root: PlanNode) -> list[tuple[str, str, int]]:
    return [(node.id, node.kind, depth) for node, depth in root.walk()]


def _alone(root: PlanNode) -> Mapping[str, PlanNode]:
    return {node.id: node.model_copy(update={"children": ()}) for node, _ in root.walk()}


def _compiled(intent: Intent, plan: PlanTree) -> bool:
    """Whether a skill or a model made the plan, and not whoever wrote it down."""
    made = intent.compile_metadata
    return made is not None and plan.skill_ref == f"matrix://skill/{made.skill_id}@{made.skill_version}"


def _goal(intent: Intent) -> tuple[object, ...]:
    """What a plan.yaml has places and conditions for."""
    return (
        intent.frame.verb,
        intent.frame.objects,
        intent.frame.further,
        *(getattr(intent, name) for name in _PLACED),
    )


def _skill(home: Home, intent: Intent, skills: Skills) -> Skill:
    made = intent.compile_metadata
    assert made is not None, "asked before"
    return as_compiled(made, skills.get(made.skill_id), core_of(home.path))


def _made(home: Home, intent: Intent, plan: PlanTree, skills: Skills) -> PlanTree:
    return make_plan(
        _skill(home, intent, skills),
        intent,
        id=plan.id,
        created_at=plan.created_at,
        created_by=plan.created_by,
        binder=Bindings(skills),
    )


def _with(plan: PlanTree, before: Intent, after: Intent, root: PlanNode) -> PlanTree:
    """The plan with this root, and with the budget of its Intent where it had that."""
    follows = plan.budget is not None and plan.budget == before.budget
    budget = after.budget if follows else plan.budget
    if (root, budget) == (plan.root, plan.budget):
        return plan
    return with_hash(plan.model_copy(update={"root": root, "budget": budget}))


def _text(node: PlanNode, field: str, name: str) -> object:
    payload = getattr(node, node.kind, None)
    value = getattr(payload, field, None)
    return value.get(name) if name and isinstance(value, Mapping) else value
