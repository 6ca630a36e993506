"""A plan that a model writes, for a skill that has no plan.yaml.

The model's grammar leaves it the skill's own tools, their arguments, the goal's words and what is filled;
what it writes becomes a plan template like any other, is held against the skill, the tools and the rules of
plans, and is written again at most as often as the pipeline module allows, told what was wrong. It is marked
as written by the grammar in the plan (`PlanTree.grammar`), so that nobody signs it unread.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from executor.call import Deferred
from executor.gate.effects import COVERS, over_ceiling
from executor.gate.references import typed_args
from executor.tools.manifest import Manifest
from ir import SIDE_EFFECTS, Intent, PlanTree, with_hash
from mcl.core.errors import ModelError, SkillError
from mcl.language.mtx.ast import prompt_names
from mcl.language.plans.binding import Binder
from mcl.language.plans.checks import CheckedTools, check_against
from mcl.language.plans.document import Steps, YamlFile
from mcl.language.plans.planner import make_plan
from mcl.language.plans.template import PlanCase, PlanShape, PlanTemplate, slot_place
from mcl.language.skills import Skill
from mcl.model.plan_answers import GOAL, read_plan
from mcl.model.protocol import (
    From,
    PlanArgument,
    PlanForm,
    PlanTool,
    PlanWriter,
    Value,
    WrittenNode,
    WrittenPlan,
)

MOST_TOOLS: Final = 16
_TOLD: Final = 8  # flaws that a model is told of at once
_ANSWER: Final = "text"  # what a step gives where the skill names no outputs
_INT: Final = 999_999_999
_UNHELD: Final = ("PLAN_FLAWED", "SLOT_EMPTY", "TOOL_MISSING")


@dataclass(frozen=True)
class Attempt:
    """What a model wrote, and what is wrong with it: nothing for the plan that was taken."""

    said: str
    flaws: tuple[str, ...]


@dataclass(frozen=True)
class Writing:
    """The plan, or None and why there is none; attempts: all that was tried, () where nothing could be."""

    plan: PlanTree | None
    why: str = ""
    attempts: tuple[Attempt, ...] = ()


@dataclass(frozen=True)
class PlanOrigin:
    """What a plan is made with: a ULID, ISO 8601 UTC, the DID of the agent."""

    id: str
    created_at: str
    created_by: str


def write_plan(
    writer: PlanWriter,
    skill: Skill,
    intent: Intent,
    origin: PlanOrigin,
    tools: CheckedTools,
    *,
    nodes: int,
    repairs: int,
    earlier: tuple[Attempt, ...] = (),
    binder: Binder | None = None,
) -> Writing:
    """Have a plan written for an Intent. Deterministic, as the model is.

    nodes: how many there may be. repairs: how often the model may write another one, told what was wrong.
    earlier: plans that were written before, with what was wrong with them. binder: as of `make_plan`: the
    further wishes of the goal are dispatched to skills, after what the model wrote.
    """
    form = plan_form(skill, intent, tools, nodes)
    if not form.tools:
        return Writing(None, f"skill {skill.id} has no tool here that a goal to {form.verb} may use")
    attempts: list[Attempt] = []
    for _ in range(1 + repairs):
        told = tuple((attempt.said, attempt.flaws) for attempt in (*earlier, *attempts))
        try:
            text = writer.write_plan(intent.prose, replace(form, earlier=told))
        except ModelError as error:
            # The first try that does not fit is the answer; a repair that does not fit ends the repairs.
            if error.code != "MODEL_CONTEXT":
                raise
            if not attempts:
                return Writing(None, error.message)
            break
        plan, flaws = _held(read_plan(text, intent.prose, form), skill, intent, origin, tools, binder)
        attempts.append(Attempt(text, flaws))
        if plan is not None:
            marked = with_hash(plan.model_copy(update={"grammar": writer.plan_grammar}))
            return Writing(marked, "", tuple(attempts))
    times = "once" if len(attempts) == 1 else f"{len(attempts)} times"
    return Writing(
        None,
        f"the model wrote {times} a plan that does not hold, at last: {attempts[-1].flaws[0]}",
        tuple(attempts),
    )


# ---- what a model may write ------------------------------------------------------------------------------


def plan_form(skill: Skill, intent: Intent, tools: CheckedTools, nodes: int) -> PlanForm:
    """What a plan for this Intent may be made of: the tools of the skill that are here and that the verb may
    use, the slots that are filled, the skill's prompts and outputs."""
    verb = intent.frame.verb
    filled: dict[str, list[str]] = {slot.name: list(slot.default) for slot in skill.slots if slot.default}
    said = {entry.name for entry in intent.frame.objects if entry.value or entry.uri}
    for name in said:
        filled[name] = [entry.value or entry.uri for entry in intent.frame.objects if entry.name == name]
    slots = tuple(
        (slot.name, ", ".join(filled[slot.name]))
        for slot in skill.slots
        if slot.name in filled and slot_place(f"slot.{slot.name}")
    )
    outputs = tuple(slot.name for slot in skill.file.slots("OUTPUTS"))
    known = (tools.find(uri) for uri in dict.fromkeys(skill.tools))
    # What strangers say of their tools is no prompt for a model; their tools are for plans that people write.
    own = (manifest for manifest in known if manifest is not None and manifest.outside is None)
    allowed = [manifest for manifest in own if _may(verb, manifest)]
    return PlanForm(
        skill_id=skill.id,
        description=skill.description,
        verb=verb,
        slots=slots,
        tools=tuple(map(_tool, allowed[:MOST_TOOLS])),
        prompts=tuple(name for name in prompt_names(skill.file) if name.startswith("x:")),
        outputs=outputs or (_ANSWER,),
        nodes=nodes,
    )


def _may(verb: str, manifest: Manifest) -> bool:
    """Whether a goal with this verb may call a tool in some way or other, by the ceiling of the verb."""
    ways = [(manifest.effects, manifest.operation)]
    ways += [
        (case.effects or manifest.effects, case.operation or manifest.operation) for case in manifest.when
    ]
    return any(
        (declared := _declared(frozenset(effects))) and not over_ceiling(verb, declared, operation)
        for effects, operation in ways
    )


def _declared(effects: frozenset[str]) -> str:
    """The least class that covers these effects; "" where none does."""
    return next((name for name in SIDE_EFFECTS if effects <= COVERS[name]), "")


def _tool(manifest: Manifest) -> PlanTool:
    needed = manifest.args.get("required", [])
    required = set(needed) if isinstance(needed, list) else set()
    arguments = tuple(_argument(name, one, name in required) for name, one in manifest.properties.items())
    given = manifest.output.get("properties")
    return PlanTool(
        manifest.uri, manifest.description, arguments, tuple(given) if isinstance(given, dict) else ()
    )


def _argument(name: str, schema: Mapping[str, Any], required: bool) -> PlanArgument:
    items = schema.get("items")
    of_list = items if isinstance(items, dict) else {}
    options = of_list.get("enum") if schema.get("type") == "array" else schema.get("enum")
    return PlanArgument(
        name=name,
        kind=str(schema.get("type", "")),
        required=required,
        hint=str(schema.get("description", "")),
        options=tuple(json.dumps(one, ensure_ascii=False) for one in options or ()),
        items=str(of_list.get("type", "")),
        least=max(-_INT, int(schema.get("minimum", -_INT))),
        most=min(_INT, int(schema.get("maximum", _INT))),
    )


# ---- from what was written to a plan ---------------------------------------------------------------------


def _held(
    written: WrittenPlan,
    skill: Skill,
    intent: Intent,
    origin: PlanOrigin,
    tools: CheckedTools,
    binder: Binder | None,
) -> tuple[PlanTree | None, tuple[str, ...]]:
    """The plan, or the first of what is wrong with it."""
    case = {"when": {}, "root": _root(written, tools)}
    source = _Numbered({"plans": [case]})
    shape = PlanShape([case], (), source)
    found = [one for one in check_against(shape, skill, tools) if one.severity == "error"]
    flaws = [_flaw(source.names[one.line], one.message, one.hint) for one in found]
    if not flaws:
        template = PlanTemplate(skill.path, (PlanCase({}, case["root"]),), "")
        planned = replace(skill, plan=lambda: template)
        try:
            plan = make_plan(
                planned,
                intent,
                id=origin.id,
                created_at=origin.created_at,
                created_by=origin.created_by,
                registry=tools,
                binder=binder,
            )
        except SkillError as error:
            if error.code not in _UNHELD:
                raise
            flaws = [_flaw(error.place, error.message, error.fix)]
        else:
            flaws = list(_refused(plan, intent.frame.verb, tools))
            if not flaws:
                return plan, ()
    return None, tuple(flaws[:_TOLD])


def _flaw(node: str, message: str, fix: str) -> str:
    place = f"{node}: " if node else ""
    return f"{place}{message}; {fix}" if fix else f"{place}{message}"


def _refused(plan: PlanTree, verb: str, tools: CheckedTools) -> Iterator[str]:
    """What the filled arguments of a plan would be refused for, and effects beyond the verb."""
    for node, _ in plan.root.walk():
        call = node.tool_call
        manifest = tools.find(call.tool_ref) if call is not None else None
        if call is None or manifest is None:
            continue
        args = typed_args(call.args, manifest, None, call.documents)
        known: Any = {name: value for name, value in args.items() if not isinstance(value, Deferred)}
        needed = manifest.args.get("required", [])
        for name in needed if isinstance(needed, list) else ():
            if name not in args:
                yield _flaw(node.id, f"{manifest.uri} needs the argument {name!r}, which nothing fills", "")
        for error in tools.args_checker(call.tool_ref).iter_errors(known):
            if error.validator != "required":
                yield _flaw(node.id, f"{'.'.join(map(str, error.absolute_path))}: {error.message[:200]}", "")
        effect = manifest.effect(args, lambda _: False)
        # With every place filled a call may turn out to do more than its node declares; the gate would refuse
        # it at run time, so it is told to the model now.
        beyond = not effect.classes <= COVERS[call.side_effect_class]
        if beyond or over_ceiling(verb, call.side_effect_class, effect.operation):
            yield _flaw(node.id, f"a goal to {verb} may not do this", "use a tool that does less")


def _root(written: WrittenPlan, tools: CheckedTools) -> dict[str, Any]:
    """What was written, as the root of a plan.yaml."""
    steps = [
        nodes[0]
        if len(nodes := [_node(one, tools) for one in group]) == 1
        else {"id": f"at-once-{group[0].id}", "kind": "parallel", "children": nodes}
        for group in written.groups
    ]
    return steps[0] if len(steps) == 1 else {"id": "plan", "kind": "sequential", "children": steps}


def _node(node: WrittenNode, tools: CheckedTools) -> dict[str, Any]:
    if not node.tool:
        inputs = {name: _text(one) for name, one in zip(_names(node.inputs), node.inputs, strict=True)}
        step: dict[str, Any] = {"kind": node.kind, "inputs": inputs, "expected_outputs": list(node.outputs)}
        return {
            "id": node.id,
            "kind": "step",
            "step": step | ({"prompt_name": node.prompt} if node.prompt else {}),
        }
    args = {name: _text(value) for name, value in (node.args or {}).items()}
    manifest = tools.find(node.tool)
    assert manifest is not None, "the grammar offers tools that are here"
    # What another node will give is not known yet; the effects of a call follow from the arguments that are.
    given = {name: "" if isinstance(value, From) else args[name] for name, value in (node.args or {}).items()}
    effects = manifest.effect(typed_args(given, manifest, None), lambda _: False).classes
    declared = _declared(effects) or "read"
    call = {"tool_ref": node.tool, "side_effect_class": declared, "args": args}
    return {"id": node.id, "kind": "tool_call", "tool_call": call}


def _names(inputs: tuple[From, ...]) -> list[str]:
    """A name for each input of a step: the last word of where it comes from, and its whole where that is
    taken."""
    names: list[str] = []
    for one in inputs:
        name = one.source.rpartition(".")[2]
        names.append(one.source.replace(".", "_") if name in names else name)
    return names


def _text(value: Value) -> str:
    """A value as a template holds it; of a text nothing can be read as a place."""
    if isinstance(value, From):
        head, dot, below = value.source.partition(".")
        if value.source == GOAL:
            return "${prose}"
        return f"${{{value.source}}}" if head == "slot" else f"${{{head}.output{dot}{below}}}"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    # A model may copy words of the goal that look like a place; in a plan they are only words.
    return text.replace("${", "$${")


class _Numbered(YamlFile):
    """A written plan in the place of a plan.yaml: its lines are its nodes, in walk order from 1."""

    def __init__(self, value: Any) -> None:
        super().__init__(value, None)
        places: dict[Steps, int] = {}
        names = [""]
        waiting: list[Steps] = [("plans", 0, "root")]
        while waiting:
            steps = waiting.pop()
            node = value
            for step in steps:
                node = node[step]
            places[steps] = len(names)
            names.append(node["id"])
            waiting += [(*steps, "children", at) for at in reversed(range(len(node.get("children", ()))))]
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "places", places)

    names: list[str]
    places: dict[Steps, int]

    def at(self, steps: Steps, *, key: bool = False) -> tuple[int, int]:
        """The number of the node that `steps` lead into; 0 above all nodes."""
        return max(
            (number for place, number in self.places.items() if steps[: len(place)] == place), default=0
        ), 1
