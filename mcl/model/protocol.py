"""What the stages ask of a model, whatever it is: choose a skill, extract spans, reason in a step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

REST = "rest"
"""Field of a word that may be part of a value and was read as of none."""


@dataclass(frozen=True)
class Candidate:
    """One installed skill as it is shown to the model; `verbs` are the only ones it may be chosen with
    (none given: any of the ten)."""

    skill_id: str
    display: str
    description: str
    verbs: tuple[str, ...]
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Choice:
    """The chosen skill (None: none of these) and verb.

    `skill_probability` and `verb_probability` are softmax over the alternatives that were allowed;
    `probabilities` has one entry per candidate in the order given, then ("", p) for "none of these".
    `verb` is "" when no skill was chosen and the model names no verb.
    """

    skill_id: str | None
    verb: str
    skill_probability: float
    verb_probability: float
    probabilities: tuple[tuple[str, float], ...]


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
    jurisdiction_deny, quality, rule, delivered, signed_off, external, attestation, preference); or
    "rest": a word that may be part of a value and was read as of none, with the probability that it is so.
    `value` is prose[start:end], or an enum member (then start and end may be None).
    `probability` is over the alternatives that the grammar allowed, the product over its tokens.
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


@runtime_checkable
class Acquainted(Protocol):
    """A model that was taught some skills by name."""

    def margins(self, prose: str, candidates: Sequence[Candidate]) -> tuple[float | None, ...]:
        """How clearly a goal is for each candidate: above 0 it is, near -1 it is not, None: never taught.

        Empty where none of them was taught. Any number of candidates may be asked about.
        """
        ...

    def kinship(self, prose: str, candidates: Sequence[Candidate]) -> tuple[float, ...]:
        """How alike a goal and what each candidate says of itself are, 0 to 1, by what was taught."""
        ...
