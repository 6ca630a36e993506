"""The PlanTree: what will run. Loose in shape on purpose: check_plan reports every flaw at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final, Literal, TypeAlias

from pydantic import Field

from ir.document import Document
from ir.frame import Frame, FurtherWish
from ir.intent import Budget
from ir.promises import PromiseStanding
from ir.scalars import PROTOCOL, Count, Digest, FrozenMap, Instant, Text

BRANCH_KINDS: Final = ("sequential", "parallel")
STEP_KINDS: Final = (
    *("reason", "code", "summarize", "write", "transform", "classify", "hard_reason", "extract", "translate"),
)
SIDE_EFFECTS: Final = ("read", "write", "network", "shell", "chain")
# Words of every question that is answered with yes or no; an option that is spelled so does what it says.
YES: Final = ("approve", "yes", "y")
NO: Final = ("deny", "no", "n")
MAX_DEPTH: Final = 64
MAX_NODES: Final = 10_000
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
    def asks(self) -> tuple[str, Frame | None]:
        """What is asked of whom: the skill, whatever its version or content, and the Frame."""
        return self.skill_ref.partition("@")[0], self.sub_intent


def dispatch_of(wish: FurtherWish) -> SubDispatch:
    """What a wish of a goal is dispatched as. Its texts are data: no reference is read in them."""
    return SubDispatch(skill_ref=wish.skill_ref, sub_intent=_frame_of(wish))


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


# What a terminal node says, by its kind; a field of PlanNode of that name holds it.
PAYLOADS: Final[Mapping[str, type[Payload]]] = {
    "step": Step,
    "tool_call": ToolCall,
    "sub_dispatch": SubDispatch,
    "gate": Gate,
}
TERMINAL_KINDS: Final = tuple(PAYLOADS)
NODE_KINDS: Final = BRANCH_KINDS + TERMINAL_KINDS


def _texts_in(value: object, steps: Steps) -> Iterator[tuple[Steps, str]]:
    if isinstance(value, str):
        yield steps, value
    elif isinstance(value, dict | list):
        for step, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts_in(item, (*steps, step))


class PlanNode(Document):
    """A branch (children, no payload) or a terminal (no children, the payload named like its kind)."""

    id: Text = ""
    kind: Text = ""
    description: Text = ""
    children: tuple[PlanNode, ...] = ()
    step: Step | None = None
    tool_call: ToolCall | None = None
    sub_dispatch: SubDispatch | None = None
    gate: Gate | None = None

    def walk(self) -> Iterator[tuple[PlanNode, int]]:
        """This node and all below it in walk order (depth first), each with its depth, starting at 1."""
        waiting = [(self, 1)]
        while waiting:
            node, depth = waiting.pop()
            yield node, depth
            waiting.extend((child, depth + 1) for child in reversed(node.children))

    def texts(self) -> Iterator[tuple[Steps, str]]:
        """Every text of this node that may name the output of another one, each with its place."""
        for kind in TERMINAL_KINDS:
            payload = getattr(self, kind)
            for steps, text in payload.texts() if payload is not None else ():
                yield (kind, *steps), text


class PlanTree(Document):
    """What will run for an Intent. Make `hash` with with_hash().

    grammar: id and digest of the grammar that a model wrote it under; "" for a plan of its skill. promises:
    how each promise of the Intent is kept, as was known when the plan was made; () in plans from before.
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
    hash: Digest = ""
