"""The bodies of the fifteen kinds of envelope, and how each lies in CBOR.

Keys are integers. A field with a default is optional and left out when empty; one without is always there.
`*_json` and `patches` hold the bytes they were made from: whoever needs the value parses them. `unseen`, of
what a user signs: nobody looked, or nobody knows who did (over MCP, by --yes, in an unattended home).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Final, NamedTuple, Self, TypeAlias

from ir.errors import EnvelopeError
from ir.scalars import DIGEST_PATTERN, MAX_INTEGER, FrozenMap, is_instant

NODE_STATES: Final = ("pending", "running", "completed", "failed", "cancelled", "denied", "skipped")
OUTCOMES: Final = ("success", "failure", "partial")
_EMPTY: Final[tuple[object, ...]] = (None, "", 0, b"", [], {})


# ---- The shapes of values: each takes a decoded value, and gives it back typed.

Shape: TypeAlias = Callable[[Any, str], Any]
_DIGEST: Final = re.compile(DIGEST_PATTERN)


def flaw(place: str, message: str) -> EnvelopeError:
    """A BODY_SHAPE error at this place."""
    return EnvelopeError("BODY_SHAPE", message, place=place)


def _shape(kind: type, what: str, test: Callable[[Any], bool] = lambda _: True) -> Shape:
    def check(value: Any, place: str) -> Any:
        if type(value) is not kind or not test(value):
            raise flaw(place, f"is not {what}")
        return value

    return check


TEXT: Final = _shape(str, "text")
NAME: Final = _shape(str, "text that is not empty", bool)
INSTANT: Final = _shape(str, "a moment in UTC such as 2026-11-21T10:00:00.000Z", is_instant)
DIGEST: Final = _shape(str, "64 lowercase hex digits", lambda text: _DIGEST.fullmatch(text) is not None)
NATURAL: Final = _shape(int, "an integer from 0 to 2^53", lambda number: 0 <= number <= MAX_INTEGER)
FLAG: Final = _shape(bool, "true or false")
DATA: Final = _shape(bytes, "bytes that are not empty", bool)


def data_or_text(value: Any, place: str) -> bytes | str:
    """Bytes; in rows of old journals text, given back as it was read."""
    if type(value) is not bytes and type(value) is not str:
        raise flaw(place, "is not bytes")
    return value


def one_of(words: tuple[str, ...]) -> Shape:
    """The shape of a closed set of words."""
    return _shape(str, f"one of {', '.join(words)}", words.__contains__)


def texts(value: Any, place: str) -> tuple[str, ...]:
    """A list of texts."""
    if type(value) is not list or not all(type(item) is str for item in value):
        raise flaw(place, "is not a list of texts")
    return tuple(value)


def text_map(value: Any, place: str) -> FrozenMap:
    """A map from text to text."""
    if not isinstance(value, dict) or not all(type(k) is str and type(v) is str for k, v in value.items()):
        raise flaw(place, "is not a map from text to text")
    return FrozenMap(value)


# ---- A body: a record of such values.


class _Place(NamedTuple):
    name: str
    shape: Shape
    required: bool
    whole: str  # its place in an envelope, the body's name before its own


def _at(key: int, shape: Shape, default: Any = MISSING) -> Any:
    return field(default=default, metadata={"key": key, "shape": shape})


@dataclass(frozen=True, eq=False, repr=False)
class Body:
    """A record with integer keys.

    Equality, hash and repr are written once here: generated for each kind they double the time that importing
    this module takes.
    """

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values()))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__qualname__}({fields})"

    @classmethod
    def layout(cls) -> dict[int, _Place]:
        """For each key the field's name, its shape, and whether it must be there."""
        known: dict[int, _Place] | None = cls.__dict__.get("_layout")
        if known is None:
            known = {
                one.metadata["key"]: _Place(
                    one.name, one.metadata["shape"], one.default is MISSING, f"body.{one.name}"
                )
                for one in fields(cls)
            }
            cls._layout = known  # type: ignore[attr-defined]  # worked out once a class, at first use
        return known

    @classmethod
    def from_map(cls, values: object, place: str = "body") -> Self:
        """Read a decoded CBOR map. Raises EnvelopeError BODY_SHAPE with the field in `place`."""
        if not isinstance(values, dict):
            raise flaw(place, "is not a map")
        layout = cls.layout()
        found: dict[str, Any] = {}
        for key, value in values.items():
            if key not in layout:
                raise flaw(place, f"has an unknown key {key!r}")
            name, shape, required, whole = layout[key]
            if place != "body":
                whole = f"{place}.{name}"
            if not (value or required) and value in _EMPTY:
                raise flaw(whole, "is empty and should be left out")
            found[name] = shape(value, whole)
        if len(found) < len(layout):
            for name, _, required, _ in layout.values():
                if required and name not in found:
                    raise flaw(f"{place}.{name}", "is missing")
        return cls(**found)

    def to_map(self, place: str = "body") -> dict[int, Any]:
        """The CBOR map. Raises EnvelopeError BODY_SHAPE where a field does not have its shape."""
        written: dict[int, Any] = {}
        for key, (name, shape, required, whole) in self.layout().items():
            value = getattr(self, name)
            if required or value:
                where = whole if place == "body" else f"{place}.{name}"
                if type(value) is not str:
                    value = _plain(value, where)
                written[key] = value
                shape(value, where)
        return written


def _plain(value: Any, place: str) -> Any:
    if isinstance(value, tuple | list):
        return [_plain(item, f"{place}[{position}]") for position, item in enumerate(value)]
    return value.to_map(place) if isinstance(value, Body) else value


@dataclass(frozen=True, eq=False, repr=False)
class IntentDraftBody(Body):
    """A goal in a person's words; `slot_values` and `preferred_skill` are what they fixed beforehand."""

    prose: str = _at(0, NAME)
    slot_values: Mapping[str, str] = _at(1, text_map, FrozenMap())
    preferred_skill: str = _at(2, TEXT, "")


@dataclass(frozen=True, eq=False, repr=False)
class IntentCompiledBody(Body):
    """The canonical bytes of an Intent."""

    intent_json: bytes = _at(0, DATA)
    compile_latency_ms: int = _at(1, NATURAL, 0)


@dataclass(frozen=True, eq=False, repr=False)
class ClarifyQuestion(Body):
    """A question about the Unknown with this id."""

    unknown_id: str = _at(0, NAME)
    field: str = _at(1, TEXT)
    prompt: str = _at(2, NAME)
    type: str = _at(3, TEXT, "")
    required: bool = _at(4, FLAG, False)
    options: tuple[str, ...] = _at(5, texts, ())
    default: str = _at(6, TEXT, "")


def _questions(value: object, place: str) -> tuple[ClarifyQuestion, ...]:
    if not isinstance(value, list) or not value:
        raise flaw(place, "is not a list of questions")
    return tuple(
        ClarifyQuestion.from_map(item, f"{place}[{position}]") for position, item in enumerate(value)
    )


@dataclass(frozen=True, eq=False, repr=False)
class IntentClarifyBody(Body):
    """What must be known before the goal can be an Intent."""

    questions: tuple[ClarifyQuestion, ...] = _at(0, _questions)


@dataclass(frozen=True, eq=False, repr=False)
class IntentAnswerBody(Body):
    """RFC 6902 patches of the draft; `answer_of` is the id of the clarify envelope."""

    patches: bytes = _at(0, DATA)
    answer_of: str = _at(1, NAME)
    unseen: bool = _at(2, FLAG, False)


@dataclass(frozen=True, eq=False, repr=False)
class IntentAcceptBody(Body):
    """A person signs what is wanted (`intent_hash`) and what will run (`plan_hash`); with a `schedule`
    (canonical bytes) that it runs again and again, within its scope."""

    intent_hash: str = _at(0, DIGEST)
    accepted_at: str = _at(1, INSTANT)
    anchor_requested: bool = _at(2, FLAG, False)
    plan_hash: str = _at(3, DIGEST, "")
    unseen: bool = _at(4, FLAG, False)
    schedule: bytes = _at(5, DATA, b"")


@dataclass(frozen=True, eq=False, repr=False)
class PlanProposedBody(Body):
    """The canonical bytes of a PlanTree."""

    plan_json: bytes = _at(0, DATA)


@dataclass(frozen=True, eq=False, repr=False)
class PlanStepBody(Body):
    """A node's state changed. result: UTF-8 JSON; a text where an old journal has one.

    Of a step that a model answered also who did, and what was asked: model, prompt, seed (digests), grammar
    (name and digest), tokens (that the model wrote). sha256, size: of a result that lies beside the row.
    """

    plan_id: str = _at(0, NAME)
    node_id: str = _at(1, NAME)
    status: str = _at(2, one_of(NODE_STATES))
    result: bytes | str = _at(3, data_or_text, b"")
    error: str = _at(4, TEXT, "")
    latency_ms: int = _at(5, NATURAL, 0)
    model: str = _at(6, DIGEST, "")
    grammar: str = _at(7, TEXT, "")
    prompt: str = _at(8, DIGEST, "")
    seed: str = _at(9, DIGEST, "")
    tokens: int = _at(10, NATURAL, 0)
    sha256: str = _at(11, DIGEST, "")
    size: int = _at(12, NATURAL, 0)


@dataclass(frozen=True, eq=False, repr=False)
class PlanOutputBody(Body):
    """A piece of a node's output, as it comes, numbered from 0 at each of its starts.

    chunk: a text where an old journal has one; empty where it lies beside the row: sha256, size.
    """

    plan_id: str = _at(0, NAME)
    node_id: str = _at(1, NAME)
    sequence: int = _at(2, NATURAL)
    chunk: bytes | str = _at(3, data_or_text)
    channel: str = _at(4, TEXT, "")
    final: bool = _at(5, FLAG, False)
    sha256: str = _at(6, DIGEST, "")
    size: int = _at(7, NATURAL, 0)


@dataclass(frozen=True, eq=False, repr=False)
class IntentCorrectBody(Body):
    """RFC 6902 patches of an Intent or plan; `target` is the hash or id they apply to.

    goal: where they were made by compiling again, what was said of the goal (UTF-8 JSON: words, fields).
    """

    target: str = _at(0, NAME)
    patches: bytes = _at(1, DATA)
    reason: str = _at(2, TEXT, "")
    retry_from: str = _at(3, TEXT, "")
    unseen: bool = _at(4, FLAG, False)
    goal: bytes = _at(5, DATA, b"")


@dataclass(frozen=True, eq=False, repr=False)
class IntentDispatchBody(Body):
    """A part of the work handed to another agent; or a firing of a schedule, of which the story of the
    schedule says that it is due, and that of the child (whose first row it is) what it is.

    accept_of: id of the standing accept. due: the local moment; cause: of a changed file, its sha256. values:
    texts of what moves (JSON). plan_json, schedule: of the child, its plan, and the scope that it is under.
    """

    sub_intent_json: bytes = _at(0, DATA)
    scope_uri: str = _at(1, TEXT, "")
    payment_channel: str = _at(2, TEXT, "")
    plan_json: bytes = _at(3, DATA, b"")
    accept_of: str = _at(4, TEXT, "")
    due: str = _at(5, TEXT, "")
    cause: str = _at(6, DIGEST, "")
    values: bytes = _at(7, DATA, b"")
    schedule: bytes = _at(8, DATA, b"")


@dataclass(frozen=True, eq=False, repr=False)
class IntentAttestBody(Body):
    """The run has ended; the agent says how."""

    outcome: str = _at(0, one_of(OUTCOMES))
    completed_at: str = _at(3, INSTANT)
    cited_uris: tuple[str, ...] = _at(1, texts, ())
    evidence_json: bytes = _at(2, DATA, b"")
    anchor_tx: str = _at(4, TEXT, "")


@dataclass(frozen=True, eq=False, repr=False)
class IntentFailBody(Body):
    """The goal was not reached; `reason` is a code."""

    reason: str = _at(0, NAME)
    failed_at: str = _at(3, INSTANT)
    message: str = _at(1, TEXT, "")
    evidence_json: bytes = _at(2, DATA, b"")
    partial_uris: tuple[str, ...] = _at(4, texts, ())


@dataclass(frozen=True, eq=False, repr=False)
class IntentCancelBody(Body):
    """A person stops it."""

    cancelled_at: str = _at(1, INSTANT)
    reason: str = _at(0, TEXT, "")
    unseen: bool = _at(2, FLAG, False)


@dataclass(frozen=True, eq=False, repr=False)
class PolicyGateBody(Body):
    """A question that a person must decide before the walk goes on. refuses: those of its options that do;
    () in rows from before options said so."""

    rule_ref: str = _at(0, TEXT)
    question: str = _at(3, NAME)
    plan_id: str = _at(1, TEXT, "")
    node_id: str = _at(2, TEXT, "")
    options: tuple[str, ...] = _at(4, texts, ())
    expires_at: str = _at(5, INSTANT, "")
    refuses: tuple[str, ...] = _at(6, texts, ())


@dataclass(frozen=True, eq=False, repr=False)
class PolicyGateResolveBody(Body):
    """The decision on the gate whose envelope has the id `gate_of`: the option that was chosen, and why.

    answer: of an exact call what the approval is bound to, else the option again, where options were listed.
    """

    gate_of: str = _at(0, NAME)
    decision: str = _at(1, NAME)
    resolved_at: str = _at(3, INSTANT)
    answer: str = _at(2, TEXT, "")
    reason: str = _at(4, TEXT, "")
    unseen: bool = _at(5, FLAG, False)


BODY_OF_KIND: Final[Mapping[str, type[Body]]] = {
    "intent.draft": IntentDraftBody,
    "intent.compiled": IntentCompiledBody,
    "intent.clarify": IntentClarifyBody,
    "intent.answer": IntentAnswerBody,
    "intent.accept": IntentAcceptBody,
    "plan.proposed": PlanProposedBody,
    "plan.step": PlanStepBody,
    "plan.output": PlanOutputBody,
    "intent.correct": IntentCorrectBody,
    "intent.dispatch": IntentDispatchBody,
    "intent.attest": IntentAttestBody,
    "intent.fail": IntentFailBody,
    "intent.cancel": IntentCancelBody,
    "policy.gate": PolicyGateBody,
    "policy.gate.resolve": PolicyGateResolveBody,
}
