"""What the stages ask of a model, whatever it is: choose a skill, extract spans, reason in a step."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

REST = "rest"
"""Field of a word that may be part of a value and was read as of none."""


@dataclass(frozen=True)
class Candidate:
    """One installed skill as it is shown to the model; `verbs` are the only ones it may be chosen with
    (none given: any of the ten). takes_any: whether it is for every goal that no other takes."""

    skill_id: str
    display: str
    description: str
    verbs: tuple[str, ...]
    examples: tuple[str, ...] = ()
    takes_any: bool = False


@dataclass(frozen=True)
class Choice:
    """The chosen skill (None: none of these) and verb.

    `skill_probability` and `verb_probability` are softmax over the alternatives that were allowed;
    `probabilities` has one entry per candidate in the order given, then ("", p) for "none of these".
    `verb` is "" when no skill was chosen and the model names no verb. `kind` is what the words are: "goal",
    "question", "chat", "none" (a wish that nothing here takes), "correction" (of the last goal), "" where the
    model does not tell. `begins` are the places in the prose where further wishes begin.
    """

    skill_id: str | None
    verb: str
    skill_probability: float
    verb_probability: float
    probabilities: tuple[tuple[str, float], ...]
    kind: str = ""
    begins: tuple[int, ...] = ()


BOOLEAN = ("true", "false")
"""Options of a slot of type bool: no word of a goal needs to say it ("no sauna" is false)."""


@dataclass(frozen=True)
class SlotForm:
    """One input of a skill as it is shown to the model; `many` is 1, or the `max=` of a list."""

    name: str
    type: str
    hint: str
    options: tuple[str, ...] = ()
    required: bool = False
    many: int = 1


@dataclass(frozen=True)
class ExtractForm:
    """What to look for in the prose: a skill, its slots, and the skill's own prompts."""

    skill_id: str
    description: str
    slots: tuple[SlotForm, ...]
    system: str = ""
    user: str = ""


@dataclass(frozen=True)
class Span:
    """One thing found in the prose.

    `field` is "slot.<name>" or a constraint field (budget, deadline, jurisdiction_allow,
    jurisdiction_deny, quality, rule, delivered, signed_off, external, attestation, preference,
    recurrence); or "rest": a word that may be part of a value and was read as of none, with the
    probability that it is so.
    `value` is prose[start:end], or an enum member (then start and end may be None).
    `probability` is over the alternatives that were allowed: of a text that is written the product over its
    tokens, of words that are marked that of the least certain one.
    """

    field: str
    value: str
    start: int | None
    end: int | None
    probability: float


class Model(Protocol):
    """A model behind the compiler. Every answer is valid by construction, right or wrong."""

    @property
    def digest(self) -> str:
        """sha256 (hex) of the weights' file, or of the matcher's tables."""
        ...

    @property
    def version(self) -> str:
        """Name and version as recorded in the Intent, e.g. "mcl-compiler/1" or "no-ai/1"."""
        ...

    @property
    def grammar(self) -> str:
        """The grammar's id and digest as recorded in the Intent, e.g. "intent_frame@1 sha256:…"."""
        ...

    def choose(self, prose: str, candidates: Sequence[Candidate]) -> Choice:
        """Choose one of the candidates, or none of them, and one of its verbs."""
        ...

    def extract(self, prose: str, form: ExtractForm) -> tuple[Span, ...]:
        """Find the values of the form's slots and the constraints that the prose states."""
        ...

    def reason(self, system: str, user: str, outputs: Sequence[str], kind: str) -> dict[str, object]:
        """Answer a plan's step: one value for each name in `outputs`, in that order."""
        ...


@dataclass(frozen=True)
class WrittenStep:
    """What a model wrote for a plan's step. grammar: name and digest of what held it. tokens: that it
    took."""

    outputs: dict[str, object]
    grammar: str
    tokens: int


@runtime_checkable
class StepWriter(Protocol):
    """A model that writes the answers of steps."""

    def write_step(
        self,
        system: str,
        user: str,
        outputs: Sequence[str],
        kind: str,
        tell: Callable[[bytes], None] | None = None,
    ) -> WrittenStep:
        """The same as `reason`, and what it took. tell: is given each piece of the answer's JSON as it is
        written."""
        ...


def copies_only(model: Model) -> bool:
    """Whether a model answers steps with words of what it is given, and writes none of its own."""
    return bool(getattr(model, "copies_only", False))


@runtime_checkable
class Acquainted(Protocol):
    """A model that was taught some skills by name."""

    def margins(self, prose: str, candidates: Sequence[Candidate]) -> tuple[float | None, ...]:
        """How clearly a goal is for each candidate: above 0 it is, near -1 it is not, None: never taught.

        Empty where none of them was taught. Any number of candidates may be asked about.
        """
        ...


@runtime_checkable
class Correcting(Protocol):
    """A model that tells what words do which correct a goal."""

    def changes(self, prose: str) -> Mapping[str, float]:
        """How likely they change a value, add one more, drop one, want the same again, undo it, or are a new
        goal: "change", "add", "drop", "again", "undo", "new"."""
        ...


def takes_all(model: Model) -> bool:
    """Whether a model compares a goal with any number of skills at once, each by itself; others are shown a
    few."""
    return bool(getattr(model, "takes_all", False))


@runtime_checkable
class Preparing(Protocol):
    """A model that first reads what is the same for many goals, which may take it seconds."""

    def prepare(self, question: Sequence[Candidate] | ExtractForm) -> None:
        """Read what `choose` or `extract` would be asked with, without a goal: it goes on from there."""
        ...


# ---- What is asked of a model that can write a plan, and how it is known whether a model can.


@dataclass(frozen=True)
class PlanArgument:
    """One argument of a tool. kind: its JSON type. options: the values that its enum allows, as JSON. items:
    the JSON type of a list's entries, "" where a list cannot be written out. least, most: bounds of an
    integer."""

    name: str
    kind: str
    required: bool
    hint: str = ""
    options: tuple[str, ...] = ()
    items: str = ""
    least: int = -999_999_999
    most: int = 999_999_999


@dataclass(frozen=True)
class PlanTool:
    """One tool that may be called. outputs: the fields of its answer."""

    uri: str
    description: str
    arguments: tuple[PlanArgument, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class PlanForm:
    """What a plan may be made of. slots: those that are filled, each with what fills it. prompts: names of
    the skill's prompts for steps. outputs: what a step may give. nodes: how many there may be. earlier:
    plans that did not hold, each with what is wrong with it."""

    skill_id: str
    description: str
    verb: str
    slots: tuple[tuple[str, str], ...]
    tools: tuple[PlanTool, ...]
    prompts: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: int
    earlier: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class From:
    """A value that is not written out: "goal", "slot.<name>", "<node>" or "<node>.<field>"."""

    source: str


Value = str | int | float | bool | From | Sequence[str | int | float | bool]


@dataclass(frozen=True)
class WrittenNode:
    """A call (tool and args) or a step (kind, prompt, inputs, outputs). Texts are the goal's own words."""

    id: str
    tool: str = ""
    args: Mapping[str, Value] | None = None
    kind: str = ""
    prompt: str = ""
    inputs: tuple[From, ...] = ()
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class WrittenPlan:
    """What a model wrote: its own text, and the groups that run one after the other (the nodes of one run at
    the same time)."""

    text: str
    groups: tuple[tuple[WrittenNode, ...], ...]


@runtime_checkable
class PlanWriter(Protocol):
    """A model that can write plans, where `writes_plans` is true."""

    @property
    def writes_plans(self) -> bool:
        """Whether it can."""
        ...

    @property
    def plan_grammar(self) -> str:
        """The grammar that holds its plans, e.g. "plan_tree@1 sha256:…"."""
        ...

    def write_plan(self, prose: str, form: PlanForm) -> str:
        """A plan as JSON text, for `read_plan`. Raises ModelError MODEL_CONTEXT where it does not fit."""
        ...


def plan_writer(model: Model) -> PlanWriter | None:
    """The model, where it can write plans."""
    return model if isinstance(model, PlanWriter) and model.writes_plans else None


# ---- A text that a model writes under a grammar of the one who asks.


def literal(text: str) -> str:
    """`text` as a literal of llguidance's Lark: as in JSON, and with DEL escaped too."""
    return json.dumps(text).replace("\x7f", "\\u007f")


@dataclass(frozen=True)
class WritingRequest:
    """What is to be written. grammar: an id of `grammars`; rules: what this request adds to it.

    system, fixed: the same for many requests; user: this one's. most: tokens of the longest answer that the
    grammar allows; where it counts none, its bytes: no token has less than one.
    """

    grammar: str
    rules: str
    system: str
    fixed: str
    user: str
    most: int


@dataclass(frozen=True)
class WrittenText:
    """text: what was written. parts: of each token the bytes, and its probability over what was allowed."""

    text: str
    parts: tuple[tuple[bytes, float], ...]

    def probability(self, start: int, end: int) -> float:
        """Of the bytes from `start` to `end` (exclusive): the product over the tokens that touch them."""
        product, at = 1.0, 0
        for piece, chance in self.parts:
            if at < end and at + len(piece) > start:
                product *= chance
            at += len(piece)
        return product


@runtime_checkable
class Writer(Protocol):
    """A model that can write under a grammar."""

    def write(self, request: WritingRequest) -> WrittenText:
        """Write what is asked for. Raises ModelError MODEL_CONTEXT where it does not fit."""
        ...
