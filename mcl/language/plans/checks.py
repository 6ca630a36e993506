"""What a plan.yaml must mean: compared with its skill, with the rules of plans, and with the tools there are.

The rules of plans (ir.checks) are applied to each case with every slot filled; their codes are kept. Codes of
this file, errors but for those marked:

| code | what is wrong |
|---|---|
| PLAN_INVALID | a value of the wrong kind |
| CASE_UNREACHABLE | (warning) a case after one that always holds |
| TOOL_MISSING | (warning) this build has no such tool |
| ARG_UNKNOWN | the tool has no such argument |
| ARG_MISSING | an argument that the tool requires |
| ARG_INVALID | a value that the tool refuses |
| ARG_OPTIONAL | (warning) a required argument that a slot may leave empty |
| OUTPUT_UNKNOWN | a reference to what the tool of that node does not give |
| EFFECT_UNDECLARED | the tool does more than the node's side_effect_class says |
| VERB_TOO_WEAK | no verb of the case may do what the node does |
| OPTIONS_NONE_REFUSES | (warning) no option of a gate says that it refuses; mcl adds one |
| TOOL_UNUSED, SUB_SKILL_UNUSED | (warning, in SKILL.mtx) no plan uses it |
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from executor.core.errors import ManifestError, UnresolvedError
from executor.gate.approvals import Offer
from executor.gate.effects import COVERS, over_ceiling
from executor.gate.references import typed_args
from ir import (
    DocumentError,
    Finding,
    IrError,
    OutputRef,
    PlanNode,
    PlanTree,
    ToolCall,
    check_plan,
    parse_references,
)
from mcl.language.mtx.parser import Parsed
from mcl.language.mtx.source import MtxFinding, found, nearest
from mcl.language.plans.document import Steps, YamlFile
from mcl.language.plans.planner import as_written, check_steps
from mcl.language.plans.template import PLACE, PlanShape, is_runtime, read_shape, slot_place
from mcl.language.skills import Skill

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

    from executor.tools.manifest import Manifest

_FILLED = "x"  # stands for what fills a place: a text like any other
_ULID = "0" * 26
# Where in a node the offending text of a flaw stands; the first that is there.
_PLACES: Mapping[str, tuple[Steps, ...]] = {
    "KIND_UNKNOWN": (("kind",),),
    "NODE_ID_REPEATED": (("id",),),
    "REF_UNPINNED": (("tool_call", "tool_ref"), ("sub_dispatch", "skill_ref")),
    "TOOL_UNDECLARED": (("tool_call", "tool_ref"),),
    "SUB_SKILL_UNDECLARED": (("sub_dispatch", "skill_ref"),),
    "SIDE_EFFECT_UNKNOWN": (("tool_call", "side_effect_class"), ("tool_call",)),
    "STEP_KIND_UNKNOWN": (("step", "kind"),),
    "STEP_EMPTY": (("step",),),
    "PROMPT_UNKNOWN": (("step", "prompt_name"),),
    "OUTPUT_UNDECLARED": (("step", "expected_outputs"),),
    "QUESTION_BLANK": (("gate",),),
    "OPTION_INVALID": (("gate", "options"), ("gate",)),
    "OPTIONS_ALL_REFUSE": (("gate", "options"),),
    "SECRET_INLINE": (("tool_call", "args"), ("step", "inputs")),
}


class CheckedTools(Protocol):
    """The tools of a build."""

    def find(self, reference: str) -> Manifest | None:
        """The manifest at a pinned address; None where there is no such tool."""
        ...

    def fault(self, reference: str) -> ManifestError | None:
        """Why there is none where one should be; None where nothing is known of it."""
        ...

    def args_checker(self, reference: str) -> Validator:
        """The JSON Schema checker of a known tool's arguments."""
        ...


def check_against(shape: PlanShape, skill: Skill, tools: CheckedTools) -> list[MtxFinding]:
    """Everything that is wrong with the plans of a skill, by line. The shape must be without findings."""
    assert shape.source is not None, "a shape without findings has a source"
    findings: list[MtxFinding] = []
    always = False
    for index, case in enumerate(shape.cases):
        check = _Case(shape.source, skill, tools, ("plans", index), case)
        check.all(reachable=not always)
        findings += check.findings
        # Cases are tried in order: behind one without conditions nothing is reached.
        always = always or not case["when"]
    return sorted(set(findings))


def unused(shape: PlanShape, skill: Skill) -> Iterator[MtxFinding]:
    """What the skill declares and no plan of it uses; places are in SKILL.mtx."""
    used = set(_addresses([case["root"] for case in shape.cases]))
    kinds = (("TOOLS", "tool", "TOOL_UNUSED"), ("SUB_SKILLS", "sub-skill", "SUB_SKILL_UNUSED"))
    for section, noun, code in kinds:
        for reference in skill.file.references(section):
            if reference.uri not in used:
                message = f"no plan of plan.yaml uses this {noun}"
                yield found(reference, code, message, reference.uri, "remove it, or use it", warning=True)


def _addresses(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ("tool_ref", "skill_ref") and isinstance(item, str):
                yield item
            else:
                yield from _addresses(item)
    elif isinstance(value, list):
        for item in value:
            yield from _addresses(item)


@dataclass
class _Case:
    """One case of a plan.yaml while it is checked."""

    source: YamlFile
    skill: Skill
    tools: CheckedTools
    steps: Steps
    case: Mapping[str, Any]

    def __post_init__(self) -> None:
        self.findings: list[MtxFinding] = []
        self.manifests: dict[str, Manifest] = {}
        wanted: Mapping[str, list[str]] = self.case["when"]
        self.verbs = tuple(wanted.get("verb", self.skill.verbs))
        # the slots that are surely filled when this case is taken
        self.filled = {slot.name for slot in self.skill.slots if slot.required or slot.default}
        for key, values in wanted.items():
            if (path := slot_place(key)) and "" not in values:
                self.filled.add(path[0])

    def add(
        self, steps: Steps, code: str, message: str, hint: str = "", *, text: str = "", key: bool = False,
        warning: bool = False,
    ) -> None:  # fmt: skip
        line, column = self.source.at(steps, key=key)
        severity: Literal["error", "warning"] = "warning" if warning else "error"
        self.findings.append(MtxFinding(line, column, code, message, text[:200], hint, severity))

    def all(self, *, reachable: bool) -> None:
        if not reachable:
            hint = "put it before the case without `when`"
            self.add(self.steps, "CASE_UNREACHABLE", "an earlier case always holds", hint, warning=True)
        root = (*self.steps, "root")
        plan = self.plan(_fill(self.case["root"]), root)
        if plan is None:
            return
        nodes = list(_nodes(plan.root, root))
        self.gives()
        for flaw in (*check_plan(plan, self.skill, intent_id=_ULID), *check_steps(plan, self.skill)):
            self.flaw(flaw, nodes)
        self.manifests = manifests = {
            node.id: manifest
            for node, _ in nodes
            if node.tool_call and (manifest := self.tools.find(node.tool_call.tool_ref))
        }
        self.outputs(((*self.steps, "gives", name), text) for name, text in plan.gives.items())
        for node, steps in nodes:
            self.outputs(((*steps, *below), text) for below, text in node.texts())
            if node.tool_call is not None:
                self.call(node, (*steps, "tool_call"), manifests.get(node.id))
            gate = node.gate
            if gate is not None and Offer.of(gate.options, gate.refuses).options != gate.options:
                hint = "options: [{name: …, continues: false}]; without one mcl adds 'deny'"
                message = "none of these options says that it refuses"
                self.add((*steps, "gate", "options"), "OPTIONS_NONE_REFUSES", message, hint, warning=True)

    def plan(self, root: Any, steps: Steps) -> PlanTree | None:
        """The case as a PlanTree with its slots filled; None (and findings) where its shape is wrong."""
        tree = {"id": _ULID, "intent_id": _ULID, "skill_ref": "matrix://skill/x@1.0.0", "root": root}
        tree["gives"] = self.case.get("gives", {})
        try:
            return PlanTree.from_json(json.dumps(tree))
        except DocumentError as error:
            flaws: Any = error.data.get("flaws") or [{"place": error.place, "message": error.message}]
            for flaw in flaws:
                below = _json_path(flaw["place"])[1:]
                name = str(below[-1]) if below else ""
                extra = "Extra inputs" in flaw["message"]
                message = f"there is no {name!r} here" if extra else f"{name}: {flaw['message'].lower()}"
                self.add((*steps, *below), "PLAN_INVALID", message, text=name if extra else "", key=extra)
            return None

    def flaw(self, flaw: Finding, nodes: list[tuple[PlanNode, Steps]]) -> None:
        """A broken rule of plans, at its place."""
        places = [(node, steps) for node, steps in nodes if node.id == flaw.place] or nodes[:1]
        node, steps = places[-1 if flaw.code == "NODE_ID_REPEATED" else 0]
        for below in _PLACES.get(flaw.code, ()):
            if _at(self.source.value, (*steps, *below)) is not None:
                steps = (*steps, *below)
                break
        if flaw.code.startswith("REFERENCE_"):
            steps = next(((*steps, *place) for place, text in node.texts() if _refers(text, flaw)), steps)
        there = _at(self.source.value, steps)
        text = there if isinstance(there, str) else ""
        self.add(steps, flaw.code, flaw.message, flaw.fix, text=text)

    def gives(self) -> None:
        """What the case gives: under names of §OUTPUTS, of nodes that there are."""
        named = self.skill.outputs
        for name in self.case.get("gives", {}):
            if name not in named:
                hint = nearest(name, named) or f"outputs: {', '.join(named) or 'none'}"
                message = f"§OUTPUTS has no slot {name!r}"
                self.add(
                    (*self.steps, "gives", name), "OUTPUT_UNDECLARED", message, hint, text=name, key=True
                )

    def outputs(self, texts: Iterable[tuple[Steps, str]]) -> None:
        """References to what the tool of a node does not give. texts: each with its place."""
        for place, text in texts:
            try:
                pieces = parse_references(text)
            except IrError:
                continue  # told by the rules of plans
            for piece in pieces:
                manifest = self.manifests.get(piece.node_id) if isinstance(piece, OutputRef) else None
                if manifest is None or not isinstance(piece, OutputRef) or not piece.path:
                    continue
                names = manifest.output.get("properties")
                name = str(piece.path[0])
                if isinstance(names, dict) and name not in names:
                    hint = nearest(name, names) or f"it gives: {', '.join(names)}"
                    message = f"{manifest.uri} gives no {name!r}"
                    self.add(place, "OUTPUT_UNKNOWN", message, hint, text=name)

    def call(self, node: PlanNode, steps: Steps, manifest: Manifest | None) -> None:
        """A call of a tool: its arguments, and what the tool does."""
        call = node.tool_call
        assert call is not None
        if manifest is None:
            if "@" in call.tool_ref:
                place, message = (*steps, "tool_ref"), f"this build has no tool {call.tool_ref}"
                hint = "a goal compiled with it will not run"
                self.add(place, "TOOL_MISSING", message, hint, text=call.tool_ref, warning=True)
            return
        self.arguments(call, call.args, (*steps, "args"), manifest)
        for number, args in enumerate(call.alternatives):
            self.arguments(call, args, (*steps, "alternatives", number), manifest)
        written = _at(self.source.value, (*steps, "args")) or {}
        given = {
            name: _FILLED if _has_places(written.get(name)) else text for name, text in call.args.items()
        }
        self.effects(given, call, steps, manifest)

    def arguments(self, call: ToolCall, args: Mapping[str, str], steps: Steps, manifest: Manifest) -> None:
        """steps: where these arguments stand."""
        reference, documents = call.tool_ref, call.documents
        written = _at(self.source.value, steps) or {}
        takes = f"it takes: {', '.join(manifest.properties) or 'nothing'}"
        # Another server may take more than it tells.
        closed = manifest.outside is None or manifest.args.get("additionalProperties") is False
        for name in args:
            if closed and name not in manifest.properties:
                hint = nearest(name, manifest.properties) or takes
                message = f"{manifest.uri} has no argument {name!r}"
                self.add((*steps, name), "ARG_UNKNOWN", message, hint, text=name, key=True)
        for name in manifest.required:
            if name not in args:
                place = steps if steps[-1] in (_at(self.source.value, steps[:-1]) or ()) else steps[:-1]
                self.add(place, "ARG_MISSING", f"{manifest.uri} needs the argument {name!r}", takes, key=True)
            elif may_stay_empty := self.empty(written.get(name)):
                place = (*steps, name)
                message = f"{manifest.uri} needs {name!r}, and {may_stay_empty} may stay empty"
                hint = "give it a default, require it, or put the case under a `when` that wants it"
                self.add(place, "ARG_OPTIONAL", message, hint, text=str(written[name]), warning=True)
        literal = {
            name: text
            for name, text in args.items()
            if name in manifest.properties and not _has_places(written.get(name))
        }
        try:
            known: Any = typed_args(literal, manifest, None, documents)
        except UnresolvedError:
            return  # told by the form
        for error in self.tools.args_checker(reference).iter_errors(known):
            if error.absolute_path:
                name = str(error.absolute_path[0])
                message = f"{name}: {error.message[:200]}"
                self.add((*steps, name), "ARG_INVALID", message, text=str(literal.get(name, "")))

    def empty(self, text: object) -> str:
        """What may be missing where a text is one place and nothing else; "" for any other text."""
        whole = PLACE.fullmatch(text) if isinstance(text, str) else None
        name = (whole["name"] or "") if whole else ""
        path = slot_place(name)
        if path is None:
            return "the goal's deadline" if name == "intent.deadline" else ""
        return "" if path[0] in self.filled and not path[1] else f"slot {path[0]!r}"

    def effects(self, args: Mapping[str, str], call: ToolCall, steps: Steps, manifest: Manifest) -> None:
        declared = call.side_effect_class
        if declared not in COVERS:
            return  # told by the rules of plans
        try:
            typed = typed_args(args, manifest, None, call.documents)
        except UnresolvedError:
            return  # told by the form
        effect = manifest.effect(typed, lambda _: False)
        place = (*steps, "side_effect_class")
        if not effect.classes <= COVERS[declared]:
            message = (
                f"the node declares {declared}, but {manifest.uri} does {', '.join(sorted(effect.classes))}"
            )
            self.add(place, "EFFECT_UNDECLARED", message, "declare what the tool does", text=declared)
        elif self.verbs and all(over_ceiling(verb, declared, effect.operation) for verb in self.verbs):
            message = f"a goal to {' or '.join(self.verbs)} may not {declared}"
            hint = "give the skill a verb that may, or use a tool that does less"
            self.add(place, "VERB_TOO_WEAK", message, hint, text=declared)


def _fill(value: Any) -> Any:
    """A plain value of a case as a compile would leave it, each place of a slot filled with a text."""
    if isinstance(value, dict):
        called = value.get("tool_call")
        if isinstance(called, dict):
            value = {**value, "tool_call": as_written(called, _fill)}
        return {key: _fill(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_fill(item) for item in value]
    if not isinstance(value, str):
        return value
    return PLACE.sub(
        lambda match: match[0] if not match["name"] or is_runtime(match["name"]) else _FILLED, value
    )


def _nodes(root: PlanNode, steps: Steps) -> Iterator[tuple[PlanNode, Steps]]:
    waiting: list[tuple[PlanNode, Steps]] = [(root, steps)]
    while waiting:
        node, steps = waiting.pop()
        yield node, steps
        below = [(child, (*steps, "children", index)) for index, child in enumerate(node.children)]
        waiting.extend(reversed(below))


def _refers(text: str, flaw: Finding) -> bool:
    """Whether this text holds the reference that a flaw tells of."""
    try:
        pieces = parse_references(text)
    except IrError as error:
        return flaw.code == error.code
    return any(isinstance(piece, OutputRef) and piece.node_id in flaw.message for piece in pieces)


def _has_places(text: object) -> bool:
    if isinstance(text, dict | list):
        return any(map(_has_places, text.values() if isinstance(text, dict) else text))
    return isinstance(text, str) and any(match["name"] for match in PLACE.finditer(text))


def _at(value: Any, steps: Steps) -> Any:
    """The value at the end of `steps`; None where they lead nowhere."""
    for step in steps:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return None
    return value


def _json_path(place: str) -> Steps:
    """`$.root.children[0].id` as steps."""
    return tuple(
        int(number) if number else name for name, number in re.findall(r"([^.\[\]$]+)|\[(\d+)\]", place)
    )


# ---- A plan.yaml held against the SKILL.mtx beside it.

_OF_NAMES = ("V1", "V2", "V3", "V4", "V9", "V10")  # checks of what a plan names


def scope_of(folder: Path, parsed: Parsed, findings: Iterable[MtxFinding]) -> Skill | None:
    """The skill that a plan in its folder is compared with; None where nothing certain is known of its slots,
    verbs and tools. findings: all that is wrong with its file.
    """
    doubtful = any(one.severity == "error" and one.code in _OF_NAMES for one in findings)
    return Skill.of(folder, parsed.file) if parsed.ok and not doubtful else None


def check_plan_file(
    data: bytes, scope: Skill | None, tools: CheckedTools
) -> tuple[tuple[MtxFinding, ...], tuple[MtxFinding, ...]]:
    """What is wrong with the bytes of a plan.yaml, and what its skill declares and no plan uses (places in
    SKILL.mtx). Without a skill the form of the plan alone is checked.
    """
    shape = read_shape(data, scope)
    if scope is None or shape.findings:
        return shape.findings, ()
    return tuple(check_against(shape, scope, tools)), tuple(unused(shape, scope))
