"""The PlanTree: what will run. Loose in shape on purpose: check_plan reports every flaw at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Final, Literal, TypeAlias

from pydantic import Field

from ir.document import Document
from ir.frame import Frame, FurtherWish, SlotEntry
from ir.intent import Budget
from ir.promises import PromiseStanding
from ir.references import OutputRef, reference_alone, rewritten
from ir.scalars import PROTOCOL, Count, Digest, FrozenMap, Instant, Text

BRANCH_KINDS: Final = ("sequential", "parallel", "map")
STEP_KINDS: Final = (
    *("reason", "code", "summarize", "write", "transform", "classify", "hard_reason", "extract", "translate"),
)
SIDE_EFFECTS: Final = ("read", "write", "network", "shell", "chain")
# Words of every question that is answered with yes or no; an option that is spelled so does what it says.
YES: Final = ("approve", "yes", "y")
NO: Final = ("deny", "no", "n")
MAX_DEPTH: Final = 64
MAX_NODES: Final = 10_000
MAX_MEMBERS: Final = 32  # of a map
TESTS: Final = (
    *("empty", "not_empty", "equals", "not_equals", "contains", "not_contains"),
    *("count", "at_least", "at_most"),
)
COUNTING: Final = ("count", "at_least", "at_most")  # tests whose value is a whole number
# Where a text stands in a node: names of fields and places in lists, from the node down.
Steps: TypeAlias = tuple[str | int, ...]


class Payload(Document):
    """What a terminal node says. referring: the fields whose texts may name the output of another node."""

    referring: ClassVar[tuple[str, ...]] = ()

    def texts(self) -> Iterator[tuple[Steps, str]]:
        """Those texts, each with its place."""
        fields = self.model_dump(mode="json", include=set(self.referring))
        for name in self.referring:
            yield from _texts_in(fields[name], (name,))


class Condition(Document):
    """What an earlier output must be for a node to be done; else it is skipped, with all below it.

    of: one reference. test: one of `TESTS`; those of `COUNTING` compare how many are in a list, or a number
    itself. value: what is compared with.
    """

    of: Text = ""
    test: Text = ""
    value: Text = ""


class Map(Payload):
    """How often the one child of a map is done: once for each member of a list, one after the other.

    over: one reference to a list that an earlier node gives, or members: the list itself, as it was known
    when the plan was made. most: how many members there may be; more are refused before the first. scope_uri:
    what of the plan's grants each member may use. In the child `${map.output.item}` is the member and
    `${map.output.number}` its number; behind the map `${map.output.count}` and `${map.output.each}` say how
    many there were and what each gave.
    """

    referring = ("over",)

    over: Text = ""
    members: tuple[Text, ...] = ()
    most: Count = 0
    scope_uri: Text = ""

    @property
    def bound(self) -> int:
        """How many members there are at most."""
        return len(self.members) or min(self.most, MAX_MEMBERS)


class Step(Payload):
    """A prompt to the model. An empty `kind` means `reason`."""

    referring = ("inputs",)

    prompt_name: Text = ""
    inputs: FrozenMap = FrozenMap()
    expected_outputs: tuple[Text, ...] = ()
    kind: Text = ""


class ToolCall(Payload):
    """One call of a pinned tool; the tool's schema turns `args` into values. 0 ms: the tool's default.

    documents: the arguments that are JSON documents; a reference that is one of their texts is a value.
    alternatives: other arguments, all of them each time, that may be tried where the call failed or did not
    give what was wanted.
    """

    referring = ("args", "alternatives")

    tool_ref: Text = ""
    args: FrozenMap = FrozenMap()
    timeout_ms: Count = 0
    side_effect_class: Text = ""
    documents: tuple[Text, ...] = ()
    alternatives: tuple[FrozenMap, ...] = ()


class SubDispatch(Payload):
    """A sub-skill, in process when `agent_ref` is empty."""

    referring = ("sub_intent",)

    skill_ref: Text = ""
    agent_ref: Text = ""
    sub_intent: Frame | None = None
    scope_uri: Text = ""

    @property
    def asks(self) -> tuple[str, Frame | None, frozenset[tuple[str, bool]]]:
        """What is asked of whom: the skill, whatever its version or content, the Frame without what earlier
        nodes give, and the names of that, each with whether it is the member of a map."""
        given = {
            entry.name: alone.path == ("item",)
            for entry in (self.sub_intent.objects if self.sub_intent else ())
            if (alone := reference_alone(entry.value)) is not None
        }
        frame = self.sub_intent
        if frame is not None and given:
            kept = tuple(one for one in frame.objects if one.name not in given)
            frame = frame.model_copy(update={"objects": kept})
        return self.skill_ref.partition("@")[0], frame, frozenset(given.items())


def dispatch_of(wish: FurtherWish, given: Mapping[str, str] | None = None) -> SubDispatch:
    """What a wish of a goal is dispatched as. Its texts are data: no reference is read in them.

    given: by slot, the reference to what an earlier wish gives; None: any will do, to compare with.
    """
    refs = given if given is not None else {one.slot: _anything(each=one.each) for one in wish.given}
    entries = tuple(
        SlotEntry(name=one.slot, value=refs[one.slot], type=one.type)
        for one in wish.given
        if one.slot in refs
    )
    frame = _frame_of(wish)
    return SubDispatch(
        skill_ref=wish.skill_ref,
        sub_intent=frame.model_copy(update={"objects": (*frame.objects, *entries)}),
    )


def _anything(*, each: bool) -> str:
    return "${m.output.item}" if each else "${n.output}"


def _frame_of(wish: FurtherWish) -> Frame:
    objects = [
        one.model_copy(update={name: text.replace("${", "$${") for name, text in one}) for one in wish.objects
    ]
    return Frame(verb=wish.verb, objects=tuple(objects))


class Gate(Payload):
    """A question to a person. No `options`: approve or deny. refuses: those of them that refuse; every other
    one goes on. 0 ms: no limit."""

    referring = ("question",)

    rule_ref: Text = ""
    question: Text = ""
    options: tuple[Text, ...] = ()
    timeout_ms: Count = 0
    refuses: tuple[Text, ...] = ()


# What a terminal node says, or a map, by its kind; a field of PlanNode of that name holds it.
PAYLOADS: Final[Mapping[str, type[Payload]]] = {
    "step": Step,
    "tool_call": ToolCall,
    "sub_dispatch": SubDispatch,
    "gate": Gate,
    "map": Map,
}
TERMINAL_KINDS: Final = tuple(kind for kind in PAYLOADS if kind not in BRANCH_KINDS)
NODE_KINDS: Final = BRANCH_KINDS + TERMINAL_KINDS


def _texts_in(value: object, steps: Steps) -> Iterator[tuple[Steps, str]]:
    if isinstance(value, str):
        yield steps, value
    elif isinstance(value, dict | list):
        for step, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts_in(item, (*steps, step))


class PlanNode(Document):
    """A branch (children, no payload but that of a map, which has one child) or a terminal (no children, the
    payload named like its kind). when: what must hold for it to be done."""

    id: Text = ""
    kind: Text = ""
    description: Text = ""
    children: tuple[PlanNode, ...] = ()
    step: Step | None = None
    tool_call: ToolCall | None = None
    sub_dispatch: SubDispatch | None = None
    gate: Gate | None = None
    map: Map | None = None
    when: Condition | None = None

    def walk(self) -> Iterator[tuple[PlanNode, int]]:
        """This node and all below it in walk order (depth first), each with its depth, starting at 1."""
        waiting = [(self, 1)]
        while waiting:
            node, depth = waiting.pop()
            yield node, depth
            waiting.extend((child, depth + 1) for child in reversed(node.children))

    def texts(self) -> Iterator[tuple[Steps, str]]:
        """Every text of this node that may name the output of another one, each with its place."""
        for kind in PAYLOADS:
            payload = getattr(self, kind)
            for steps, text in payload.texts() if payload is not None else ():
                yield (kind, *steps), text
        if self.when is not None:
            yield ("when", "of"), self.when.of


def member(node: PlanNode, number: int) -> PlanNode:
    """The child of a map as it is done for one member (from 1), its nodes named ``map/number/theirs``.

    A member that is known stands there as it is. What is not known yet is `${map/number.output.item}`.
    """
    assert node.map is not None, "the node is a map"
    known = node.map.members[number - 1] if node.map.members else None
    name = f"{node.id}/{number}"
    own = {one.id for child in node.children for one, _ in child.walk()}

    def anew(ref: OutputRef) -> OutputRef:
        if ref.node_id in own:
            return OutputRef(f"{name}/{ref.node_id}", ref.path)
        return OutputRef(name, ref.path) if ref.node_id == node.id else ref

    def text(said: str) -> str:
        alone = reference_alone(said) if known is not None else None
        # Only where it is all of a text: within a longer one it might become a part of its form.
        if known is not None and alone == OutputRef(node.id, ("item",)):
            return known.replace("${", "$${")
        return rewritten(said, anew)

    def written(one: PlanNode) -> PlanNode:
        fields: dict[str, object] = {"id": f"{name}/{one.id}", "children": tuple(map(written, one.children))}
        for kind, payload in PAYLOADS.items():
            if (said := getattr(one, kind)) is not None:
                whole = said.model_dump(mode="json")
                fixed = {"args": dict.fromkeys(said.documents)} if isinstance(said, ToolCall) else {}
                for field in payload.referring:
                    whole[field] = _anew(whole[field], text)
                    for arg in fixed.get(field, ()):
                        whole[field][arg] = rewritten(said.args[arg], anew)
                fields[kind] = payload.model_validate_json(json.dumps(whole))
        if one.when is not None:
            fields["when"] = one.when.model_copy(update={"of": rewritten(one.when.of, anew)})
        return one.model_copy(update=fields)

    return written(node.children[0])


def _anew(value: Any, text: Callable[[str], str]) -> Any:
    """A JSON value with other texts."""
    if isinstance(value, dict):
        return {key: _anew(item, text) for key, item in value.items()}
    if isinstance(value, list):
        return [_anew(item, text) for item in value]
    return text(value) if isinstance(value, str) else value


def every_node(plan: PlanTree) -> dict[str, PlanNode]:
    """The nodes of a plan by id, and those that its maps may be done with, as `member` names them."""
    found: dict[str, PlanNode] = {}
    for node, _ in plan.root.walk():
        found[node.id] = node
        if node.map is not None and len(node.children) == 1:
            for number in range(1, node.map.bound + 1):
                found |= {one.id: one for one, _ in member(node, number).walk()}
    return found


class PlanTree(Document):
    """What will run for an Intent. Make `hash` with with_hash().

    grammar: id and digest of the grammar that a model wrote it under; "" for a plan of its skill. promises:
    how each promise of the Intent is kept, as was known when the plan was made; () in plans from before.
    gives: what whoever dispatches this plan is given, by name, each one reference; {}: what its last node
    gave.
    """

    # A level of the plan takes two levels of JSON (a node and its list of children).
    max_nesting: ClassVar[int] = 2 * MAX_DEPTH + 8

    id: Text = ""
    v: Literal["mcl/0.1"] = PROTOCOL
    intent_id: Text = ""
    created_at: Instant = ""
    created_by: Text = ""
    skill_ref: Text = ""
    model_digest: Digest = ""
    root: PlanNode = Field(default_factory=PlanNode)
    budget: Budget | None = None
    grammar: Text = ""
    promises: tuple[PromiseStanding, ...] = ()
    gives: FrozenMap = FrozenMap()
    hash: Digest = ""
