"""From a signed Intent to the plan that its skill makes of it. Deterministic; no model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from executor.core.errors import ManifestError
from executor.gate.references import is_open, may_be_text
from executor.tools.manifest import Manifest
from ir import (
    Condition,
    DocumentError,
    Finding,
    FurtherWish,
    Intent,
    Map,
    PlanNode,
    PlanTree,
    canonical_bytes,
    check_plan,
    dispatch_of,
    parse_json,
    with_hash,
)
from ir.plan import MAX_MEMBERS, TERMINAL_KINDS
from mcl.core.errors import SkillError
from mcl.language.mtx.ast import File, prompt_names
from mcl.language.mtx.procedure import interpret, objects_by_slot
from mcl.language.mtx.source import nearest
from mcl.language.plans.binding import Binder, bind
from mcl.language.plans.template import PLACE, PlanCase, is_runtime, slot_place
from mcl.language.skills import Skill

# ---- What a plan's steps may name of their skill: its prompts and its outputs.


class HasFile(Protocol):
    """A skill."""

    @property
    def file(self) -> File: ...


def check_steps(plan: PlanTree, skill: HasFile) -> Iterator[Finding]:
    """The flaws of a plan's steps, in walk order; in the form of ir.check_plan."""
    prompts = prompt_names(skill.file)
    outputs = [slot.name for slot in skill.file.slots("OUTPUTS")]
    for node, _ in plan.root.walk():
        if node.step is None:
            continue
        name = node.step.prompt_name
        if name and name not in prompts:
            legal = ", ".join(prompts) or "none; write on verb=x:<name> and a prompt in it"
            fix = nearest(name, prompts) or f"prompts: {legal}"
            yield Finding("PROMPT_UNKNOWN", node.id, f"the skill has no prompt {name!r}", fix)
        for output in node.step.expected_outputs:
            if outputs and output not in outputs:
                fix = nearest(output, outputs) or f"outputs: {', '.join(outputs)}"
                yield Finding("OUTPUT_UNDECLARED", node.id, f"§OUTPUTS has no slot {output!r}", fix)


# ---- Arguments of a plan.yaml that are objects and lists: their places are values, and never text to be
# read.

NOTHING: Final = object()  # fills a place that nothing fills: the entry is left out


def as_written(
    call: Mapping[str, Any], fill: Callable[[str], object], exact: Callable[[str, str], bool] | None = None
) -> dict[str, Any]:
    """A call of a template as a PlanTree has it, its objects and lists as JSON.

    fill: what a text of such an argument becomes, `NOTHING` where it is left out. exact: says of the name and
    text of any other argument whether it is a value too; the rest is left alone. Raises SkillError
    PLAN_FLAWED for values that are no JSON.
    """
    args = call.get("args")
    if not isinstance(args, Mapping):
        return dict(call)
    filled = {
        name: _filled(value, fill)
        for name, value in args.items()
        if isinstance(value, dict | list) or (exact is not None and exact(name, value))
    }
    documents = sorted(name for name, value in filled.items() if value is not NOTHING)
    written = {name: _text(name, filled[name]) for name in documents}
    more = {"documents": documents} if documents else {}
    rest = {name: value for name, value in args.items() if name not in filled}
    return {**call, "args": {**rest, **written}, **more}


def _filled(value: Any, fill: Callable[[str], object]) -> Any:
    if isinstance(value, dict):
        entries = ((name, _filled(item, fill)) for name, item in value.items())
        return {name: item for name, item in entries if item is not NOTHING}
    if isinstance(value, list):
        return [item for item in (_filled(one, fill) for one in value) if item is not NOTHING]
    return fill(value) if isinstance(value, str) else value


def _text(name: str, value: object) -> str:
    try:
        return canonical_bytes(value).decode()
    except DocumentError as problem:
        message = f"the argument {name} is no JSON: {problem.message}"
        raise SkillError("PLAN_FLAWED", message, place=name, fix=problem.fix) from problem


_TYPES: Mapping[str, tuple[type, ...]] = {"uint": (int,), "float": (int, float), "bool": (bool,)}
_ESCAPED = ("args", "inputs", "question", "sub_intent")  # where the walker reads references


class KnownTools(Protocol):
    """The installed tools."""

    def find(self, reference: str) -> object | None:
        """What is known of a pinned tool; None where there is no such tool."""
        ...

    def fault(self, reference: str) -> ManifestError | None:
        """Why there is none where one should be; None where nothing is known of it."""
        ...


def make_plan(
    skill: Skill,
    intent: Intent,
    *,
    id: str,
    created_at: str,
    created_by: str,
    registry: KnownTools | None = None,
    binder: Binder | None = None,
    dispatched: bool = False,
) -> PlanTree:
    """The plan of the first case that holds for this Intent, with its hash, checked.

    id: ULID. created_at: ISO 8601 UTC. created_by: DID of the agent. registry: the installed tools (None: not
    compared). binder: names the skills that are dispatched to by their content (None: they keep their
    versions, and such a plan does not run). dispatched: another plan does, and is given what this one gives.

    Raises SkillError: NO_PLAN (the skill has no plan for this goal), SLOT_EMPTY (a text needs a slot that
    nothing fills), TOOL_MISSING, PLAN_FLAWED (`data["findings"]`, from ir.check_plan), SUB_SKILL_MISSING,
    SUB_SKILL_CYCLE.
    """
    filling = _Filling(skill, intent, registry)
    case = filling.choose()
    root = filling.node(case.root)
    # Through JSON and its strict reader, though all was made here: texts of a skill's file and of a goal go
    # into it.
    plan = PlanTree.from_json(
        json.dumps(
            {
                "id": id,
                "v": intent.v,
                "intent_id": intent.id,
                "created_at": created_at,
                "created_by": created_by,
                "skill_ref": skill.ref,
                "root": root,
                **({"gives": dict(case.gives)} if dispatched and case.gives else {}),
            }
        )
    )
    digest = intent.compile_metadata.model_digest if intent.compile_metadata else ""
    plan = plan.model_copy(update={"model_digest": digest, "budget": intent.budget})
    if registry is not None:
        _require_tools(plan.root, registry, skill)
    findings = [*check_plan(plan, skill, intent_id=intent.id), *check_steps(plan, skill)]
    if findings:
        told = [{"code": f.code, "node_id": f.place, "message": f.message, "fix": f.fix} for f in findings]
        raise SkillError(
            "PLAN_FLAWED",
            f"the plan of skill {skill.id} does not hold: {findings[0].message}",
            place=findings[0].place,
            fix=findings[0].fix,
            data={"findings": told},
        )
    # After the checks: they compare with the versions that §SUB_SKILLS names, what is signed has digests.
    if not skill.takes_any:  # which keeps the words of all
        plan = plan.model_copy(update={"root": with_wishes(plan.root, case.gives, intent.frame.further)})
    if binder is not None:
        plan = plan.model_copy(update={"root": bind(plan.root, binder)})
    return with_hash(plan)


def outputs_of(skill: Skill, intent: Intent) -> Mapping[str, str]:
    """What the plan of a skill for an Intent gives, by name of §OUTPUTS, each one reference to its nodes; of
    a skill without a plan.yaml nothing. Raises SkillError NO_PLAN, SLOT_EMPTY."""
    if skill.template is None:
        return {}
    filling = _Filling(skill, intent)
    case = filling.choose()
    filling.node(case.root)
    return case.gives


def called_by(skill: Skill, intent: Intent) -> Iterator[Mapping[str, Any]]:
    """The calls of tools that the plan of a skill for an Intent has, as plain values. Raises SkillError."""
    filling = _Filling(skill, intent)
    waiting: list[Mapping[str, Any]] = [filling.node(filling.choose().root)]
    while waiting:
        node = waiting.pop()
        waiting.extend(node.get("children", ()))
        if isinstance(call := node.get("tool_call"), Mapping):
            yield call


def with_wishes(root: PlanNode, gives: Mapping[str, str], further: Sequence[FurtherWish]) -> PlanNode:
    """A plan that does the further wishes of its goal too, once it has done the first.

    gives: what the first gives, by name. Raises SkillError PLAN_FLAWED where a wish is given what none gives.
    """
    taken = {node.id for node, _ in root.walk()}
    given = [gives]  # by the place of a wish, what it gives

    def free(id: str) -> str:
        while id in taken:
            id += "-"
        return id

    nodes = []
    for at, one in enumerate(further, 2):
        id = free(f"wish-{at}")
        each = any(entry.each for entry in one.given)
        given.append(_Giving(f"{id}.output.each[*]" if each else f"{id}.output"))
        if one.skill_ref:
            nodes.append(_wish(id, one, given))
    if not nodes:
        return root
    if root.kind == "sequential":
        return root.model_copy(update={"children": (*root.children, *nodes)})
    return PlanNode(id=free("wishes"), kind="sequential", children=(root, *nodes))


class _Giving(dict[str, str]):
    """What a further wish gives: whatever the plan of its skill does, by name."""

    def __init__(self, output: str) -> None:
        super().__init__()
        self._output = output

    def __missing__(self, name: str) -> str:
        return f"${{{self._output}.{name}}}"


def _wish(id: str, wish: FurtherWish, given: Sequence[Mapping[str, str]]) -> PlanNode:
    """The node that does a further wish; a map, where it is done for each member of a list."""

    def reference(place: int, output: str) -> str:
        try:
            return given[place][output]
        except (KeyError, IndexError):
            message = f"the wish {wish.prose!r} is given {output!r}, which no earlier one gives"
            fix = "compile the goal again"
            raise SkillError("PLAN_FLAWED", message, place=id, fix=fix) from None

    refs = {one.slot: reference(one.wish, one.output) for one in wish.given}
    when = wish.when and Condition(
        of=reference(wish.when.wish, wish.when.output), test=wish.when.test, value=wish.when.value
    )
    over = next((one.slot for one in wish.given if one.each), "")
    if not over:
        sub = dispatch_of(wish, refs).model_copy(update={"scope_uri": wish.scope_uri})
        return PlanNode(id=id, kind="sub_dispatch", description=wish.prose, sub_dispatch=sub, when=when)
    sub = dispatch_of(wish, {**refs, over: f"${{{id}.output.item}}"})
    each = PlanNode(id=f"{id}-each", kind="sub_dispatch", description=wish.prose, sub_dispatch=sub)
    bounds = Map(over=refs[over], most=MAX_MEMBERS, scope_uri=wish.scope_uri)
    return PlanNode(id=id, kind="map", description=wish.prose, map=bounds, children=(each,), when=when)


def slots_named(skill: Skill, intent: Intent) -> dict[str, dict[tuple[str, str], tuple[str, ...]]]:
    """By node of the plan, the slots that its texts are made from: by field of its payload and, of arguments
    and inputs, by name ("args", "path"). Raises SkillError NO_PLAN."""
    found: dict[str, dict[tuple[str, str], tuple[str, ...]]] = {}
    waiting: list[Mapping[str, Any]] = [_Filling(skill, intent).choose().root]
    while waiting:
        node = waiting.pop()
        waiting.extend(node.get("children", ()))
        for kind in TERMINAL_KINDS:
            for field, value in (node.get(kind) or {}).items():
                parts = value.items() if field in ("args", "inputs") else [("", value)]
                for name, part in parts:
                    if slots := tuple(dict.fromkeys(_slots_in(part))):
                        found.setdefault(str(node.get("id", "")), {})[field, str(name)] = slots
    return found


def _slots_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        for match in PLACE.finditer(value):
            if match["name"] and (path := slot_place(match["name"])):
                yield path[0]
    elif isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _slots_in(item)


def _require_tools(root: PlanNode, registry: KnownTools, skill: Skill) -> None:
    for node, _ in root.walk():
        if node.tool_call is not None and registry.find(node.tool_call.tool_ref) is None:
            if (fault := registry.fault(node.tool_call.tool_ref)) is not None:
                raise fault
            message = f"skill {skill.id} needs the tool {node.tool_call.tool_ref}, which is not installed"
            raise SkillError(
                "TOOL_MISSING", message, place=node.id, fix="install the tool or use another skill"
            )


class _Filling:
    """What fills the places of a template."""

    def __init__(self, skill: Skill, intent: Intent, tools: KnownTools | None = None) -> None:
        self.skill = skill
        self.tools = tools
        self.verb = intent.frame.verb
        meant = interpret(
            skill,
            verb=self.verb,
            prose=intent.prose,
            slots=objects_by_slot(intent),
            confidence=intent.confidence,
            unknowns=[gap.rationale for gap in intent.unknowns],
        )
        self.kind = meant.kind
        self.plain = {
            "prose": intent.prose,
            "verb": self.verb,
            "intent.id": intent.id,
            "intent.created_at": intent.created_at,
            "intent.deadline": intent.deadline,
            "output_cardinality": str(meant.output_cardinality),
        }
        self.slots: dict[str, list[tuple[str, str]]] = {  # value and address of each entry
            slot.name: [(text, "") for text in slot.default] for slot in skill.slots
        }
        for name in {entry.name for entry in intent.frame.objects} & set(self.slots):
            self.slots[name] = [
                (entry.value, entry.uri)
                for entry in intent.frame.objects
                if entry.name == name and (entry.value or entry.uri)
            ]
        self.lists = {slot.name for slot in skill.slots if slot.most > 1}
        self.types = {slot.name: slot.type for slot in skill.slots}

    def choose(self) -> PlanCase:
        """The first case that holds."""
        for case in self.skill.template.cases if self.skill.template else ():
            if all(self.holds(key, wanted) for key, wanted in case.when.items()):
                return case
        filled = ", ".join(name for name, values in self.slots.items() if values) or "nothing"
        message = f"skill {self.skill.id} has no plan to {self.verb} with {filled} given"
        raise SkillError(
            "NO_PLAN", message, place=str(self.skill.path / "plan.yaml"), fix="say more, or use another skill"
        )

    def holds(self, key: str, wanted: Sequence[str]) -> bool:
        """Whether one test of a `when` holds."""
        path = slot_place(key)
        have = [self.verb] if path is None else [value for value, _ in self.slots[path[0]]]
        return ("*" in wanted and bool(have)) or ("" in wanted and not have) or bool(set(have) & set(wanted))

    def node(self, node: Mapping[str, Any]) -> dict[str, Any]:
        """A node with its places filled."""
        return {key: self.value(value, key, escaped=False) for key, value in node.items()}

    def value(self, value: Any, key: str, *, escaped: bool) -> Any:
        """Any value below a node."""
        escaped = escaped or key in _ESCAPED
        if isinstance(value, Mapping):
            if key == "tool_call" and not escaped:
                manifest = self.tools.find(str(value.get("tool_ref"))) if self.tools is not None else None
                value = as_written(value, self.leaf, lambda name, text: _is_read(text, name, manifest))
                # Objects and lists are JSON texts by now, with their places filled: they must not be filled
                # once more.
                kept = set(value.get("documents", ()))
                args = value.get("args", {})
                texts = {name: item for name, item in args.items() if name not in kept}
                filled = {**self.value({**value, "args": texts}, "", escaped=False)}
                return {**filled, "args": {**filled["args"], **{name: args[name] for name in kept}}}
            filled = {name: self.value(item, name, escaped=escaped) for name, item in value.items()}
            if key == "step" and not escaped and self.kind:  # the procedure says it for all steps
                filled["kind"] = filled.get("kind") or self.kind
            return {name: item for name, item in filled.items() if item is not None}
        if isinstance(value, list):
            return [
                item
                for item in (self.value(item, key, escaped=escaped) for item in value)
                if item is not None
            ]
        return self.text(value, escaped=escaped) if isinstance(value, str) else value

    def leaf(self, text: str) -> object:
        """A text of an argument that is an object or a list: one place alone is the value of its slot."""
        whole = PLACE.fullmatch(text)
        path = slot_place(whole["name"]) if whole and whole["name"] else None
        if path is None:
            filled = self.text(text, escaped=True)
            return NOTHING if filled is None else filled
        slot, uri = path
        values = [address if uri else value for value, address in self.slots[slot]]
        if not any(values):
            return NOTHING
        typed = [_data(value, escaped=True) if uri else self.typed(slot, value) for value in values]
        return typed if slot in self.lists else typed[0]

    def typed(self, slot: str, text: str) -> object:
        """The value of a slot: a number or a truth value where that is its type, else the text."""
        wanted = _TYPES.get(self.types[slot])
        if wanted is not None:
            try:
                # A slot's value is text everywhere else; in an argument that is an object it must have its
                # own type, or a tool's schema refuses it.
                value = parse_json(text)
            except DocumentError:
                value = text
            if type(value) in wanted:
                return value
        return _data(text, escaped=True)

    def text(self, text: str, *, escaped: bool) -> str | None:
        """A text with its places filled; None when it is one place that nothing fills.

        Literal text is gathered between the walker's references and escaped as a whole, so that no two pieces
        of data can make a reference together.
        """
        whole = PLACE.fullmatch(text)
        if whole and whole["name"] and (path := slot_place(whole["name"])):
            return self.alone(*path, escaped=escaped)
        if whole and whole["name"] == "intent.deadline" and not self.plain["intent.deadline"]:
            return None
        done, literal, end = "", "", 0
        for match in PLACE.finditer(text):
            literal += text[end : match.start()]
            end = match.end()
            name = match["name"]
            if name is None:
                literal += "${"
            # What stands before a reference of the walker is escaped on its own, so that its end and the
            # reference cannot be read together.
            elif is_runtime(name):
                done, literal = done + _data(literal, escaped=escaped) + match.group(), ""
            else:
                literal += self.inline(name)
        return done + _data(literal + text[end:], escaped=escaped)

    def alone(self, slot: str, uri: bool, *, escaped: bool) -> str | None:
        """What fills a place that is all of its text: a list becomes JSON."""
        values = [address if uri else value for value, address in self.slots[slot]]
        if not any(values):
            return None
        text = json.dumps(values, ensure_ascii=False) if slot in self.lists else values[0]
        return _data(text, escaped=escaped)

    def inline(self, name: str) -> str:
        """What fills a place inside a longer text."""
        path = slot_place(name)
        if path is None:
            return self.plain[name]
        values = [address if path[1] else value for value, address in self.slots[path[0]]]
        text = ", ".join(value for value in values if value)
        if not text:
            message = f"the plan needs slot {path[0]!r}, which the goal does not say"
            hint = nearest(path[0], self.slots) and f"say it, or give it with --slot {path[0]}=…"
            raise SkillError("SLOT_EMPTY", message, place=f"slot.{path[0]}", fix=hint, exit=3)
        return text


def _is_read(text: object, name: str, manifest: object) -> bool:
    """Would the text of this argument, once its places are filled, be read as JSON by what it then says?"""
    if not isinstance(manifest, Manifest) or not isinstance(text, str):
        return False
    if not (is_open(name, manifest) and may_be_text(name, manifest)):
        return False
    return any(match["name"] and not is_runtime(match["name"]) for match in PLACE.finditer(text))


def _data(text: str, *, escaped: bool) -> str:
    """Text as the plan holds it: where references are read, none can be read from it."""
    return text.replace("${", "$${") if escaped else text
