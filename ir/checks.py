"""What must hold of a plan before anything of it runs. All flaws are reported, not only the first.

| code | what is wrong |
|---|---|
| PLAN_ID_MISSING | the tree has no id |
| INTENT_ID_MISSING | the tree names no Intent |
| INTENT_ID_MISMATCH | it names another Intent than the one at hand |
| SKILL_REF_MISSING | the tree names no skill |
| NODE_ID_MISSING | a node has no id |
| NODE_ID_REPEATED | two nodes share an id |
| KIND_UNKNOWN | a node kind outside the closed set |
| BRANCH_EMPTY | a branch without children |
| BRANCH_HAS_PAYLOAD | a branch with a payload, but for a map with that of a map |
| MAP_INVALID | a map without its one child, its list or its bound, or one within another |
| CONDITION_INVALID | a condition that cannot be looked at |
| TERMINAL_HAS_CHILDREN | a step, tool call, sub-dispatch or gate with children |
| PAYLOAD_MISSING | a terminal without the payload of its kind |
| PAYLOAD_FOREIGN | a terminal with a payload of another kind |
| REF_UNPINNED | a tool or skill without `@<semver>` or `@sha256:<64 hex>` |
| TOOL_UNDECLARED | a tool that the skill's §TOOLS does not name |
| SUB_SKILL_UNDECLARED | a sub-skill that the skill's §SUB_SKILLS does not name |
| SIDE_EFFECT_UNKNOWN | a side effect class outside the closed set |
| STEP_EMPTY | a step with no prompt_name, no inputs and no expected_outputs |
| STEP_KIND_UNKNOWN | a step kind outside the closed set |
| QUESTION_BLANK | a gate that asks nothing |
| OPTION_INVALID | an option that nobody can type or tell apart, or that does not do what it says |
| OPTIONS_ALL_REFUSE | no option of a gate goes on |
| REFERENCE_UNKNOWN | `${node.output}` names no node of this plan |
| REFERENCE_NOT_EARLIER | it names a node that has not finished when this one starts |
| REFERENCE_PARALLEL | it names a node that may run at the same time |
| REFERENCE_CONDITIONAL | it names a node that may be skipped where this one is not |
| REFERENCE_MAPPED | it names a node that is done for each member of a map, from outside of it |
| REFERENCE_MALFORMED | `${` that is no `${node.output...}` |
| TOO_DEEP | more than 64 levels |
| TOO_MANY_NODES | more than 10,000 nodes |
| SECRET_INLINE | what looks like a key or token stands in the arguments |
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final, Protocol, TypeAlias

from ir.errors import IrError
from ir.findings import Finding
from ir.inline_secrets import find_secret
from ir.plan import (
    BRANCH_KINDS,
    COUNTING,
    MAX_DEPTH,
    MAX_MEMBERS,
    MAX_NODES,
    NO,
    NODE_KINDS,
    PAYLOADS,
    SIDE_EFFECTS,
    STEP_KINDS,
    TESTS,
    YES,
    Condition,
    Gate,
    Map,
    PlanNode,
    PlanTree,
    Step,
    SubDispatch,
    ToolCall,
)
from ir.references import OutputRef, parse_references, reference_alone


class SkillScope(Protocol):
    """What a skill declares: the pinned addresses of its §TOOLS and §SUB_SKILLS."""

    @property
    def tools(self) -> Iterable[str]: ...

    @property
    def sub_skills(self) -> Iterable[str]: ...


_NUMBER = r"(?:0|[1-9]\d*)"
_LABEL = r"[0-9A-Za-z-]+"
_PIN: Final = re.compile(
    rf"[^@\s]+@(?:{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-(?:{_LABEL}\.)*{_LABEL})?(?:\+(?:{_LABEL}\.)*{_LABEL})?"
    r"|sha256:[0-9a-f]{64})",
    re.ASCII,
)


def is_pinned(ref: str) -> bool:
    """Whether a tool or skill address ends in `@<semver>` or `@sha256:<64 hex>`."""
    return _PIN.fullmatch(ref) is not None


def check_plan(
    plan: PlanTree, skill: SkillScope | None = None, *, intent_id: str | None = None
) -> list[Finding]:
    """Every flaw of a plan, in walk order; an empty list when there is none.

    skill: what the skill declares (None: tools and sub-skills are not compared). intent_id: the Intent this
    plan must belong to (None: not compared). Codes: the table at the top of this module.
    """
    findings = list(_tree_flaws(plan, intent_id))
    nodes: list[PlanNode] = []
    for node, depth in plan.root.walk():
        # Counted while walking: a plan from elsewhere may have any number of nodes.
        if len(nodes) == MAX_NODES:
            fix = "split the plan into sub-dispatches"
            findings.append(Finding("TOO_MANY_NODES", f"more than {MAX_NODES} nodes", node.id, fix))
            return findings
        if depth == MAX_DEPTH + 1:
            findings.append(
                Finding("TOO_DEEP", f"deeper than {MAX_DEPTH} levels", node.id, "flatten the plan")
            )
        nodes.append(node)
    done = len(nodes) + sum(
        (node.map.bound - 1) * sum(1 for child in node.children for _ in child.walk())
        for node in nodes
        if node.map is not None
    )
    if done > MAX_NODES:
        fix = "split the plan into sub-dispatches"
        findings.append(
            Finding("TOO_MANY_NODES", f"more than {MAX_NODES} nodes, those of maps counted", "", fix)
        )
        return findings
    seen: set[str] = set()
    for node in nodes:
        findings += _id_flaws(node, seen)
        findings += _shape_flaws(node)
        findings += _payload_flaws(node, skill)
    # Routes of references are looked at pair by pair: in a plan without end of levels that would take too
    # long, and such a plan is refused anyway.
    if not any(finding.code == "TOO_DEEP" for finding in findings):
        findings += _reference_flaws(plan.root)
    findings += _giving_flaws(plan, seen)
    return findings


def _giving_flaws(plan: PlanTree, nodes: Collection[str]) -> Iterator[Finding]:
    for name, text in plan.gives.items():
        alone = reference_alone(text)
        if alone is None or alone.node_id not in nodes:
            fix = "name the output of a node of this plan"
            yield Finding("REFERENCE_UNKNOWN", f"what it gives as {name} is no reference", "", fix)


def _tree_flaws(plan: PlanTree, intent_id: str | None) -> Iterator[Finding]:
    if not plan.id:
        yield Finding("PLAN_ID_MISSING", "the plan has no id", "", "give it a ULID")
    if not plan.intent_id:
        yield Finding("INTENT_ID_MISSING", "the plan names no Intent", "", "set intent_id")
    elif intent_id is not None and plan.intent_id != intent_id:
        message = f"the plan is for {plan.intent_id}, not for {intent_id}"
        yield Finding("INTENT_ID_MISMATCH", message, "", "make a plan for this Intent")
    if not plan.skill_ref:
        yield Finding("SKILL_REF_MISSING", "the plan names no skill", "", "set skill_ref")
    else:
        yield from _pin_flaws("", "skill_ref", plan.skill_ref)


def _id_flaws(node: PlanNode, seen: set[str]) -> Iterator[Finding]:
    if not node.id:
        yield Finding(
            "NODE_ID_MISSING", f"a {node.kind or 'node'} has no id", "", "give each node an id of its own"
        )
    elif node.id in seen:
        yield Finding(
            "NODE_ID_REPEATED", "two nodes have this id", node.id, "give each node an id of its own"
        )
    seen.add(node.id)


def _shape_flaws(node: PlanNode) -> Iterator[Finding]:
    payloads = [kind for kind in PAYLOADS if getattr(node, kind) is not None]
    if node.kind not in NODE_KINDS:
        yield Finding(
            "KIND_UNKNOWN", f"{node.kind!r} is no kind of node", node.id, f"one of {', '.join(NODE_KINDS)}"
        )
    elif node.kind in BRANCH_KINDS:
        if not node.children:
            yield Finding(
                "BRANCH_EMPTY", f"a {node.kind} node without children", node.id, "add one or remove the node"
            )
        if node.kind == "map" and node.map is None:
            yield Finding("PAYLOAD_MISSING", "no map payload", node.id, "fill in map")
        if strange := [kind for kind in payloads if kind != node.kind]:
            message = f"a {node.kind} node with a payload ({', '.join(strange)})"
            yield Finding("BRANCH_HAS_PAYLOAD", message, node.id, "move the payload into a child")
    else:
        if node.children:
            message = f"a {node.kind} node with children"
            yield Finding("TERMINAL_HAS_CHILDREN", message, node.id, "put both under a sequential node")
        if node.kind not in payloads:
            yield Finding("PAYLOAD_MISSING", f"no {node.kind} payload", node.id, f"fill in {node.kind}")
        for kind in payloads:
            if kind != node.kind:
                message = f"a {node.kind} node with a {kind} payload"
                yield Finding("PAYLOAD_FOREIGN", message, node.id, f"remove {kind}")


def _payload_flaws(node: PlanNode, skill: SkillScope | None) -> Iterator[Finding]:
    if node.step is not None:
        yield from _step_flaws(node.id, node.step)
    if node.tool_call is not None:
        yield from _call_flaws(node.id, node.tool_call, skill)
    if node.sub_dispatch is not None:
        yield from _dispatch_flaws(node.id, node.sub_dispatch, skill)
    if node.gate is not None:
        yield from _gate_flaws(node.id, node.gate)
    if node.map is not None:
        yield from _map_flaws(node, node.map)
    if node.when is not None:
        yield from _condition_flaws(node.id, node.when)


def _map_flaws(node: PlanNode, said: Map) -> Iterator[Finding]:
    """A map that does not say over what, how often at most, or what for."""

    def flaw(message: str, fix: str) -> Finding:
        return Finding("MAP_INVALID", message, node.id, fix)

    if len(node.children) > 1:
        yield flaw("a map has one child", "put them under a sequential node")
    if bool(said.over) == bool(said.members):
        yield flaw("a map has a list of members, or one reference to a list", "give one of the two")
    elif said.over and reference_alone(said.over) is None:
        yield flaw(f"{said.over[:80]!r} is not one reference", "such as ${search.output.matches[*].path}")
    most = said.most or len(said.members)
    if not 0 < most <= MAX_MEMBERS or len(said.members) > most:
        yield flaw(f"a map has from 1 to {MAX_MEMBERS} members", "say in most how many at most")
    if said.over and not said.scope_uri:
        fix = "such as matrix://scope/read+write?folder=archive"
        yield flaw("what each member may use is not said, and its members are not known", fix)
    for child in node.children:
        if inner := next((one.id for one, _ in child.walk() if one.map is not None), ""):
            yield flaw(f"the map {inner} stands within another", "put it into a skill of its own")


def _condition_flaws(node_id: str, said: Condition) -> Iterator[Finding]:
    def flaw(message: str, fix: str) -> Finding:
        return Finding("CONDITION_INVALID", message, node_id, fix)

    if reference_alone(said.of) is None:
        yield flaw(f"{said.of[:80]!r} is not one reference", "such as ${search.output.count}")
    if said.test not in TESTS:
        yield flaw(f"{said.test!r} is no test", f"one of {', '.join(TESTS)}")
    elif said.test in COUNTING and not re.fullmatch(r"0|[1-9]\d{0,8}", said.value, re.ASCII):
        yield flaw(f"{said.test} compares with a whole number", "write it in value")
    elif said.test.endswith("empty") and said.value:
        yield flaw(f"{said.test} compares with nothing", "leave value out")


def _call_flaws(node_id: str, call: ToolCall, skill: SkillScope | None) -> Iterator[Finding]:
    yield from _pin_flaws(node_id, "tool_ref", call.tool_ref)
    if skill is not None and call.tool_ref and call.tool_ref not in skill.tools:
        message = f"{call.tool_ref} is not among the tools of the skill"
        yield Finding("TOOL_UNDECLARED", message, node_id, "name it in §TOOLS")
    if call.side_effect_class not in SIDE_EFFECTS:
        message = f"{call.side_effect_class!r} is no side effect class"
        yield Finding("SIDE_EFFECT_UNKNOWN", message, node_id, f"one of {', '.join(SIDE_EFFECTS)}")
    yield from _secret_flaws(node_id, call.args)


def _dispatch_flaws(node_id: str, dispatch: SubDispatch, skill: SkillScope | None) -> Iterator[Finding]:
    ref = dispatch.skill_ref
    yield from _pin_flaws(node_id, "skill_ref", ref)
    if skill is not None and ref and ref not in skill.sub_skills:
        message = f"{ref} is not among the sub-skills of the skill"
        yield Finding("SUB_SKILL_UNDECLARED", message, node_id, "name it in §SUB_SKILLS")
    if (frame := dispatch.sub_intent) is not None:
        yield from _secret_flaws(node_id, {entry.name: entry.value for entry in frame.objects})


def _gate_flaws(node_id: str, gate: Gate) -> Iterator[Finding]:
    """A gate that asks nothing, or answers that cannot be given or would not do what they say."""
    if not gate.question.strip():
        fix = "write the question a person can decide"
        yield Finding("QUESTION_BLANK", "the gate asks nothing", node_id, fix)
    for place, option in enumerate(gate.options):
        why = "is written twice" if option in gate.options[:place] else ""
        if not option.isprintable() or option != option.strip() or not option:
            why = "is empty, or has blanks around it or characters that are not seen"
        elif option in gate.refuses and option in YES:
            why = "is a word for yes, and is said to refuse"
        if why:
            yield Finding("OPTION_INVALID", f"the option {option!r} {why}", node_id, "give it another name")
    for option in gate.refuses:
        if option not in gate.options:
            message = f"{option!r} is said to refuse, and is no option"
            yield Finding("OPTION_INVALID", message, node_id, "list it among the options")
    if gate.options and all(one in gate.refuses or one in NO for one in gate.options):
        fix = "list an option that goes on"
        yield Finding("OPTIONS_ALL_REFUSE", "each option of the gate refuses", node_id, fix)


def _step_flaws(node_id: str, step: Step) -> Iterator[Finding]:
    if not (step.prompt_name or step.inputs or step.expected_outputs):
        message = "a step with no prompt_name, no inputs and no expected_outputs"
        yield Finding("STEP_EMPTY", message, node_id, "say at least one of them")
    yield from _secret_flaws(node_id, step.inputs)
    if step.kind and step.kind not in STEP_KINDS:
        message = f"{step.kind!r} is no kind of step"
        yield Finding("STEP_KIND_UNKNOWN", message, node_id, f"one of {', '.join(STEP_KINDS)}")


def _pin_flaws(node_id: str, name: str, ref: str) -> Iterator[Finding]:
    if not is_pinned(ref):
        message = f"{name} {ref!r} is not pinned to a version"
        yield Finding("REF_UNPINNED", message, node_id, "end it in @<major.minor.patch> or @sha256:<64 hex>")


def _secret_flaws(node_id: str, texts: Mapping[str, str]) -> Iterator[Finding]:
    for name, value in texts.items():
        if what := find_secret(name, value):
            message = f"{name} looks like {what}"
            yield Finding("SECRET_INLINE", message, node_id, "name it as $env:NAME and set that variable")


# The chain of nodes from the root, each with its position among its siblings.
_Route: TypeAlias = tuple[tuple[PlanNode, int], ...]


def _reference_flaws(root: PlanNode) -> Iterator[Finding]:
    routes: dict[str, _Route] = {}
    conditions: dict[str, frozenset[Condition]] = {}
    waiting: list[_Route] = [((root, 0),)]
    order: list[_Route] = []
    while waiting:
        route = waiting.pop()
        order.append(route)
        routes.setdefault(route[-1][0].id, route)
        said = frozenset(node.when for node, _ in route if node.when is not None)
        conditions.setdefault(route[-1][0].id, said)
        children = route[-1][0].children
        waiting.extend((*route, (child, place)) for place, child in reversed(list(enumerate(children))))
    for route in order:
        node = route[-1][0]
        for _, text in node.texts():
            try:
                pieces = parse_references(text)
            except IrError as error:
                yield Finding(error.code, error.message, node.id, error.fix)
                continue
            for piece in pieces:
                if not isinstance(piece, OutputRef) or _is_member(piece, route):
                    continue
                flaws = list(_order_flaws(node.id, piece.node_id, route, routes.get(piece.node_id)))
                yield from flaws
                if not flaws:
                    yield from _mapped_flaws(node.id, piece.node_id, route, routes[piece.node_id])
                    if conditions[piece.node_id] - conditions.get(node.id, frozenset()):
                        message = f"{piece.node_id} may be skipped, and then gives nothing"
                        fix = f"put this node under what {piece.node_id} is done under"
                        yield Finding("REFERENCE_CONDITIONAL", message, node.id, fix)


def _is_member(piece: OutputRef, route: _Route) -> bool:
    """Whether a reference is to the member that the node is done for, or to its number."""
    above = any(node.map is not None and node.id == piece.node_id for node, _ in route[:-1])
    return above and piece.path[:1] in (("item",), ("number",))


def _mapped_flaws(node_id: str, target: str, here: _Route, there: _Route) -> Iterator[Finding]:
    """Whether the node at the end of `there` is done for each member of a map that `here` is not in."""
    mine = {node.id for node, _ in here[:-1]}
    for node, _ in there[:-1]:
        if node.map is not None and node.id not in mine:
            message = f"{target} is done for each member of {node.id}"
            fix = f"refer to ${{{node.id}.output.each}}"
            yield Finding("REFERENCE_MAPPED", message, node_id, fix)


def _order_flaws(node_id: str, target: str, here: _Route, there: _Route | None) -> Iterator[Finding]:
    """Whether the node at the end of `there` is done before the one at the end of `here` starts."""
    if there is None:
        yield Finding("REFERENCE_UNKNOWN", f"no node is called {target}", node_id, "name a node of this plan")
        return
    for (parent, _), (_, mine), (_, its) in zip(here, here[1:], there[1:], strict=False):
        if mine == its:
            continue
        if parent.kind == "parallel":
            message = f"{target} may run at the same time, under {parent.id}"
            yield Finding("REFERENCE_PARALLEL", message, node_id, "put both under a sequential node")
        elif its > mine:
            break
        return
    message = f"{target} is not done when this node starts"
    yield Finding("REFERENCE_NOT_EARLIER", message, node_id, "move that node before this one")
