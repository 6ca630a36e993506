"""What a skill's procedure says for one goal.

Entries run from top to bottom. Of the blocks at one level the first whose condition holds is taken, and no
other: once among the conditions on verb and slots, which are known at the start, and once among those on
confidence and unknowns, which are known after extraction (so that a clarify block fires beside a verb block).
Prompts are filled in last, with what resolve lines have found. Nothing here has an effect.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

from mcl.language.mtx.ast import (
    AnyUnknown,
    Argument,
    ClarifyNode,
    Condition,
    ConfidenceIs,
    Entry,
    File,
    Items,
    On,
    PromptNode,
    Property,
    Resolve,
    Slot,
    SlotIs,
    SlotPath,
    UnknownNode,
    Value,
    VerbIs,
)
from mcl.language.mtx.procedure_checks import interpolate, slot_of

if TYPE_CHECKING:
    from ir import Intent

COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq}


class Script(Protocol):
    """Anything with a checked MatrixScript file: a skill or a core module."""

    @property
    def file(self) -> File: ...


@dataclass(frozen=True)
class SlotValue:
    """What fills a slot: its value, the address it was resolved to, and the words of the goal it came
    from.
    """

    value: str = ""
    uri: str = ""
    prose: str = ""


SlotInput: TypeAlias = str | SlotValue | Sequence[SlotValue | str]


@dataclass(frozen=True)
class ResolveRule:
    """Look `slot` up in the memories: `call` is find, resolve or context."""

    slot: str
    call: str
    arguments: Mapping[str, str | tuple[str, ...]]


@dataclass(frozen=True)
class UnknownRule:
    """What to say when `slot` stays empty."""

    slot: str
    severity: str = "blocking"
    reason: str = ""
    type: str = ""
    options: tuple[str, ...] = ()
    default: str = ""


@dataclass(frozen=True)
class ClarifyRule:
    """A question about `slot`."""

    slot: str
    prompt: str = ""
    type: str = ""
    required: bool = False
    options: tuple[str, ...] = ()
    default: str = ""


@dataclass(frozen=True)
class Interpretation:
    """What holds for this goal. `slots`: every input by name, in declared order, () where nothing fills
    it.
    """

    slots: Mapping[str, tuple[SlotValue, ...]]
    system: str = ""
    user: str = ""
    kind: str = ""
    output_cardinality: int = 1
    resolves: tuple[ResolveRule, ...] = ()
    unknowns: tuple[UnknownRule, ...] = ()
    clarifies: tuple[ClarifyRule, ...] = ()


def objects_by_slot(intent: Intent) -> dict[str, list[SlotValue | str]]:
    """What fills each slot in an Intent, as a procedure is told it."""
    slots: dict[str, list[SlotValue | str]] = {}
    for entry in intent.frame.objects:
        slots.setdefault(entry.name, []).append(SlotValue(entry.value, entry.uri, entry.value))
    return slots


Resolver: TypeAlias = Callable[[ResolveRule], SlotValue | Sequence[SlotValue] | None]


def interpret(
    skill: Script,
    *,
    verb: str,
    prose: str,
    slots: Mapping[str, SlotInput] | None = None,
    confidence: float | None = None,
    unknowns: Sequence[str] | None = None,
    cortex_bundle: str = "",
    resolver: Resolver | None = None,
) -> Interpretation:
    """Run a skill's procedure for one goal.

    slots: what is filled so far (a list slot: a sequence); other inputs get their default, or nothing.
    confidence, unknowns: None before extraction; conditions on them do not hold then. unknowns: one text
    each, shown at `{unknowns}`. resolver: called for each resolve line; what it returns fills the slot before
    the prompt is (without it, dry run: nothing is looked up).
    """
    filled = {slot.name: _fill(slot, (slots or {}).get(slot.name)) for slot in skill.file.slots()}
    run = _Run(filled, verb, confidence, unknowns, resolver)
    run.entries(skill.file.procedure)
    # After the lines were run: a resolve line may have filled a slot that a prompt above it names.
    value_of = _values(filled, verb, prose, unknowns or (), cortex_bundle)
    clarifies = tuple(replace(rule, prompt=interpolate(rule.prompt, value_of)) for rule in run.clarifies)
    return Interpretation(
        filled,
        interpolate(run.system, value_of),
        interpolate(run.user, value_of),
        run.properties.get("kind", ""),
        int(run.properties.get("output_cardinality", "1")),
        tuple(run.resolves),
        tuple(run.unknowns),
        clarifies,
    )


@dataclass
class _Run:
    slots: dict[str, tuple[SlotValue, ...]]
    verb: str
    confidence: float | None
    known_unknowns: Sequence[str] | None
    resolver: Resolver | None
    properties: dict[str, str] = field(default_factory=dict)
    system: str = ""
    user: str = ""
    resolves: list[ResolveRule] = field(default_factory=list)
    unknowns: list[UnknownRule] = field(default_factory=list)
    clarifies: list[ClarifyRule] = field(default_factory=list)

    def entries(self, entries: Sequence[Entry]) -> None:
        """Run the entries of a level, and of the blocks in it that are taken, in the order of the text."""
        levels: list[tuple[Iterator[Entry], set[bool]]] = [(iter(entries), set())]  # with the phases taken
        while levels:  # no recursion: blocks may be nested a thousand deep
            level, taken = levels[-1]
            entry = next(level, None)
            if entry is None:
                levels.pop()
            elif isinstance(entry, On):
                # A block on confidence may be taken beside one on the verb: they are known at different
                # times, and neither shall hide the other.
                late = is_late(entry.condition)
                if late not in taken and self.holds(entry.condition):
                    taken.add(late)
                    levels.append((iter(entry.body), set()))
            elif isinstance(entry, Property):
                self.properties[entry.key] = entry.value.value
            elif isinstance(entry, PromptNode):
                self.system = entry.system.value if entry.system else self.system
                self.user = entry.user.value if entry.user else self.user
            elif isinstance(entry, Resolve):
                self.resolve(entry)
            elif isinstance(entry, UnknownNode):
                self.unknowns.append(_unknown(entry))
            else:
                self.clarifies.append(_clarify(entry))

    def holds(self, condition: Condition) -> bool:
        if isinstance(condition, VerbIs):
            return condition.verb == self.verb
        if isinstance(condition, SlotIs):
            wanted, values = condition.value.value, self.slots.get(condition.slot, ())
            # A test for nothing (`slot.x=""`) holds where the slot is empty.
            return any(wanted in (item.value, item.uri) for item in values) if wanted else not values
        if isinstance(condition, ConfidenceIs):
            return self.confidence is not None and COMPARE[condition.comparison](
                self.confidence, float(condition.number)
            )
        return bool(self.known_unknowns)

    def resolve(self, entry: Resolve) -> None:
        arguments = {argument.key: self.argument(argument) for argument in entry.arguments}
        rule = ResolveRule(entry.slot, entry.call, arguments)
        self.resolves.append(rule)
        found = self.resolver(rule) if self.resolver else None
        if found is not None:
            self.slots[entry.slot] = (found,) if isinstance(found, SlotValue) else tuple(found)

    def argument(self, argument: Argument) -> str | tuple[str, ...]:
        value = argument.value
        if isinstance(value, SlotPath):
            return _slot_text(self.slots.get(value.slot, ()), prose=value.prose)
        return tuple(item.value for item in value.items) if isinstance(value, Items) else value.value


def is_late(condition: Condition) -> bool:
    """Whether the condition can be tested only after extraction."""
    return isinstance(condition, ConfidenceIs | AnyUnknown)


def _fill(slot: Slot, given: SlotInput | None) -> tuple[SlotValue, ...]:
    if given is None:
        return tuple(SlotValue(text) for text in texts(slot.default))
    if isinstance(given, str | SlotValue):
        given = (given,)
    values = (SlotValue(item, prose=item) if isinstance(item, str) else item for item in given)
    return tuple(item for item in values if item != SlotValue())


def texts(value: Value | None) -> tuple[str, ...]:
    """A value's texts: none, one, or a list's."""
    if value is None:
        return ()
    return tuple(item.value for item in value.items) if isinstance(value, Items) else (value.value,)


def _unknown(entry: UnknownNode) -> UnknownRule:
    return UnknownRule(
        entry.slot,
        _text(entry.severity, "blocking"),
        _text(entry.reason),
        _text(entry.type),
        texts(entry.options),
        ", ".join(texts(entry.default)),
    )


def _clarify(entry: ClarifyNode) -> ClarifyRule:
    return ClarifyRule(
        entry.slot,
        _text(entry.prompt),
        _text(entry.type),
        _text(entry.required) == "true",
        texts(entry.options),
        ", ".join(texts(entry.default)),
    )


def _text(value: Value | None, default: str = "") -> str:
    return ", ".join(texts(value)) if value is not None else default


def _slot_text(values: Sequence[SlotValue], *, prose: bool) -> str:
    return ", ".join(item.prose or item.value if prose else item.uri or item.value for item in values)


def _values(
    slots: Mapping[str, tuple[SlotValue, ...]], verb: str, prose: str, unknowns: Sequence[str], bundle: str
) -> Callable[[str], str]:
    plain = {"prose": prose, "verb": verb, "cortex.bundle": bundle, "unknowns": "\n".join(unknowns)}
    plain["slots"] = "\n".join(
        f"{name}: {_slot_text(slots[name], prose=False)}" for name in slots if slots[name]
    )

    def value_of(name: str) -> str:
        path = slot_of(name)
        return plain[name] if path is None else _slot_text(slots[path[0]], prose=path[1])

    return value_of
