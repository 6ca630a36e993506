"""V2, V3, V5–V7, V11, V12 and V15: what §PROCEDURE says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from ir import STEP_KINDS, VERBS
from ir.frame import valid_verb
from ir.intent import SEVERITIES
from ir.scalars import ULID_PATTERN, is_instant
from mcl.core.words import CORTEX_CALLS, MEMORY_TYPES
from mcl.language.mtx.ast import (
    SCALAR_TYPES,
    ClarifyNode,
    Condition,
    Entry,
    File,
    Items,
    Node,
    On,
    PromptNode,
    Property,
    Resolve,
    Slot,
    SlotIs,
    SlotPath,
    SlotType,
    Text,
    UnknownNode,
    Value,
    VerbIs,
)
from mcl.language.mtx.source import MtxFinding, found, nearest
from mcl.values.slots import is_memory, read_memory

# ---- V3 and V4: the slots of §INPUTS and §OUTPUTS.

_APART = 6  # characters that a misspelt word is longer or shorter at most
_COMPARED = 300  # names that a misspelt one is compared with at most: comparing is slow
_TOLD = 20  # names that a hint lists
_LONGEST = 300  # characters of a hint
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_FORMS = {
    "uint": re.compile(r"0|[1-9]\d{0,15}", re.ASCII),
    "float": re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII),
    "bool": re.compile(r"true|false"),
    "ulid": re.compile(ULID_PATTERN),
    "did": re.compile(r"did:[a-z0-9]+:\S+"),
    "sha256": re.compile(r"[0-9a-f]{64}"),
}


class Declared:
    """An input or output, for repeated questions about it."""

    def __init__(self, slot: Slot) -> None:
        self.slot = slot
        self.type = slot.type
        self.members = frozenset(slot.type.members)

    def wrong(self, text: str) -> tuple[str, str] | None:
        """Why a text is no value of the type (of an entry, for a list), and what to write instead."""
        name = self.type.name
        if name == "enum":
            if text in self.members:
                return None
            return f"is no member of {shortened(str(SlotType('enum', self.type.members)))}", near(
                text, self.type.members, "members"
            )
        if name == "iso8601":
            legal = is_instant(text) or _DATE.fullmatch(text)
            return None if legal else ("is no moment such as 2026-11-21T10:00:00Z, and no date", "")
        if is_memory(name):
            address = read_memory(text, name)
            return (
                None
                if address == text
                else (f"is no address of a memory such as matrix://cortex/{name}/ID", "")
            )
        return (f"is no {name}", "") if name in _FORMS and not _FORMS[name].fullmatch(text) else None


def check_slots(file: File) -> Iterator[MtxFinding]:
    """What is wrong with the slots: doubled names, defaults and bounds that do not fit the type."""
    for section in ("INPUTS", "OUTPUTS"):
        seen: set[str] = set()
        for slot in file.slots(section):
            if slot.name in seen:
                message = f"a second slot {slot.name!r} in §{section}"
                yield found(slot, "V4", message, slot.name, "rename one of them")
            seen.add(slot.name)
            yield from _default(Declared(slot))
            yield from _max(slot)


def _default(declared: Declared) -> Iterator[MtxFinding]:
    default, type = declared.slot.default, declared.type
    if isinstance(default, Items) and not type.many:
        message, hint = f"a list is no default for {type}", "quote it if the brackets are meant"
        yield found(default, "V3", message, "[", hint)
    elif isinstance(default, Text) and type.many:
        hint = f"write default=[{default.value}]"
        yield found(default, "V3", f"the default of {type} is a list", default.value, hint)
    else:
        for item in items(default):
            yield from misfit(item, declared)


def _max(slot: Slot) -> Iterator[MtxFinding]:
    default = slot.default
    if slot.max is None:
        return
    if not re.fullmatch(r"[1-9]\d{0,8}", slot.max.value, re.ASCII):
        yield found(slot.max, "V3", "max is a whole number from 1", slot.max.value)
    elif isinstance(default, Items) and len(default.items) > int(slot.max.value):
        yield found(default, "V3", f"the default has more than max={slot.max.value} entries", "[")
    elif not slot.type.many:
        message = "max says how many entries a list has; this is none"
        hint = f"write {slot.type}[] if several are meant"
        yield found(slot.max, "V3", message, slot.max.value, hint, warning=True)


def misfit(value: Text, declared: Declared) -> Iterator[MtxFinding]:
    """V3 for a value that its slot cannot have."""
    wrong = declared.wrong(value.value)
    if wrong is not None:
        yield found(
            value, "V3", f"slot {declared.slot.name}: {value.value!r} {wrong[0]}", value.value, wrong[1]
        )


def items(value: Value | None) -> tuple[Text, ...]:
    """A value's texts: none, one, or a list's."""
    if value is None:
        return ()
    return value.items if isinstance(value, Items) else (value,)


def near(word: str, legal: Iterable[str], what: str) -> str:
    """The hint for a word that is none of `legal`, which may be very many."""
    alike = islice((one for one in legal if abs(len(one) - len(word)) <= _APART), _COMPARED)
    some = list(islice(legal, _TOLD + 1))
    listed = f"{what}: {' '.join(some[:_TOLD])}{' …' if len(some) > _TOLD else ''}" if some else ""
    return nearest(word, alike) or shortened(listed)


def shortened(text: str) -> str:
    """A text for a message."""
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


# ---- Places in prompt strings: `{prose}`, `{slot.target}`, …; `{{` is a literal brace, a lone `}` is
# itself.

PLAIN_NAMES = ("prose", "verb", "cortex.bundle", "slots", "unknowns")
_PLACE = re.compile(r"\{\{|\{([^{}\n]*)\}|\{")
_SLOT = re.compile(r"slot\.([A-Za-z_][\w-]*)(\.prose)?")


def interpolate(text: str, value_of: Callable[[str], str]) -> str:
    """The text with every place replaced; what is put in is never read for places again."""
    return _PLACE.sub(lambda match: "{" if match[1] is None else value_of(match[1]), text)


def slot_of(name: str) -> tuple[str, bool] | None:
    """`slot.x` as ("x", False), `slot.x.prose` as ("x", True), else None."""
    match = _SLOT.fullmatch(name)
    return (match[1], bool(match[2])) if match else None


def places(text: str) -> Iterator[tuple[int, str | None]]:
    """Each place with its offset and name; a brace that opens no place has the name None."""
    for match in _PLACE.finditer(text):
        if match[1] is not None or match[0] == "{":
            yield match.start(), match[1]


def check_procedure(file: File) -> Iterator[MtxFinding]:
    """What is wrong with the procedure."""
    slots: dict[str, Declared] = {}
    for slot in file.slots():
        slots.setdefault(slot.name, Declared(slot))  # a second one of the name is told as such
    waiting = list(file.procedure)
    while waiting:  # no recursion: blocks may be nested a thousand deep
        entry = waiting.pop()
        if isinstance(entry, On):
            yield from _condition(entry.condition, slots)
            waiting.extend(entry.body)
        else:
            yield from _entry(entry, slots)


def bad_verb(node: Node, verb: str) -> MtxFinding:
    """V2 for a verb that is none."""
    hint = nearest(verb, VERBS) or f"verbs: {' '.join(VERBS)}, or x:<name>"
    return found(node, "V2", f"there is no verb {verb!r}", verb, hint)


def _entry(entry: Entry, slots: Mapping[str, Declared]) -> Iterator[MtxFinding]:
    if isinstance(entry, Property):
        yield from _property(entry)
    elif isinstance(entry, PromptNode):
        yield from _prompt(entry, slots)
    elif isinstance(entry, Resolve):
        yield from _resolve(entry, slots)
    elif isinstance(entry, UnknownNode):
        yield from _unknown(entry, slots)
    elif isinstance(entry, ClarifyNode):
        yield from _clarify(entry, slots)


def _condition(condition: Condition, slots: Mapping[str, Declared]) -> Iterator[MtxFinding]:
    if isinstance(condition, VerbIs) and not valid_verb(condition.verb):
        yield bad_verb(condition, condition.verb)
    elif isinstance(condition, SlotIs):
        yield from _declared(condition, condition.slot, slots, "V5")
        slot = slots.get(condition.slot)
        if slot is not None and condition.value.value:  # an empty value asks whether the slot is empty
            yield from misfit(condition.value, slot)


def _property(entry: Property) -> Iterator[MtxFinding]:
    text = entry.value.value
    if entry.key == "kind" and text not in STEP_KINDS:
        hint = nearest(text, STEP_KINDS) or f"kinds: {' '.join(STEP_KINDS)}"
        yield found(entry.value, "V11", f"there is no step kind {text!r}", text, hint)
    elif entry.key == "output_cardinality" and not re.fullmatch(r"[1-9]\d{0,5}", text, re.ASCII):
        yield found(entry.value, "V12", "output_cardinality is a whole number from 1", text)


def _prompt(entry: PromptNode, slots: Mapping[str, Declared]) -> Iterator[MtxFinding]:
    for key, value in (("system", entry.system), ("user", entry.user)):
        if value is None or not value.value:
            yield found(value or entry, "V7", f"the prompt has no {key}", "prompt", f'add {key}="…"')
        else:
            yield from _places(value, slots)


def _places(value: Text, slots: Mapping[str, Declared]) -> Iterator[MtxFinding]:
    for _, name in places(value.value):
        if name is None:
            yield found(value, "V7", "a { that opens no place", "{", "write {{ for a literal brace")
        elif name not in PLAIN_NAMES:
            path = slot_of(name)
            if path is None or path[0] not in slots:
                legal = [*PLAIN_NAMES, *(f"slot.{slot}" for slot in slots)]
                hint = near(name, legal, "{{ is a literal brace; places")
                yield found(value, "V7", f"nothing is called {{{name}}}", "{" + name + "}", hint)


def _resolve(entry: Resolve, slots: Mapping[str, Declared]) -> Iterator[MtxFinding]:
    yield from _declared(entry, entry.slot, slots, "V5")
    legal = CORTEX_CALLS.get(entry.call)
    if legal is None:
        hint = nearest(entry.call, CORTEX_CALLS) or f"calls: {' '.join(CORTEX_CALLS)}"
        yield found(entry, "V5", f"there is no cortex.{entry.call}", f"cortex.{entry.call}", hint)
        return
    for argument in entry.arguments:
        if argument.key not in legal:
            hint = nearest(argument.key, legal) or f"arguments: {' '.join(legal)}"
            yield found(argument, "V5", f"cortex.{entry.call} takes no {argument.key!r}", argument.key, hint)
        if isinstance(argument.value, SlotPath):
            yield from _declared(argument.value, argument.value.slot, slots, "V5")
        elif argument.key == "type":
            yield from _memory_types(argument.value)
        elif argument.key in ("limit", "budget"):
            text = argument.value.value if isinstance(argument.value, Text) else "["
            if not re.fullmatch(r"[1-9]\d{0,5}", text, re.ASCII):
                yield found(argument.value, "V5", f"{argument.key} is a whole number from 1", text)


def _memory_types(value: Text | Items) -> Iterator[MtxFinding]:
    for item in value.items if isinstance(value, Items) else (value,):
        for word in item.value.split():
            if word not in MEMORY_TYPES:
                yield no_memory_type(item, word)


def no_memory_type(node: Node, word: str) -> MtxFinding:
    """The warning for a type of memories that there is not: nothing will be found."""
    hint = nearest(word, MEMORY_TYPES) or f"types: {' '.join(MEMORY_TYPES)}"
    return found(node, "CORTEX", f"there is no memory type {word!r}", word, hint, warning=True)


def _unknown(entry: UnknownNode, slots: Mapping[str, Declared]) -> Iterator[MtxFinding]:
    yield from _declared(entry, entry.slot, slots, "V6")
    if entry.severity is not None and entry.severity.value not in SEVERITIES:
        text = entry.severity.value
        hint = nearest(text, SEVERITIES) or f"severities: {' '.join(SEVERITIES)}"
        yield found(entry.severity, "V6", f"there is no severity {text!r}", text, hint)
    yield from _type(entry.type)
    yield from _answers(entry, slots)


def _clarify(entry: ClarifyNode, slots: Mapping[str, Declared]) -> Iterator[MtxFinding]:
    yield from _declared(entry, entry.slot, slots, "V6")
    yield from _type(entry.type)
    yield from _answers(entry, slots)
    if entry.required is not None and entry.required.value not in ("true", "false"):
        yield found(entry.required, "V6", "required is true or false", entry.required.value)
    if entry.prompt is None or not entry.prompt.value:
        yield found(entry.prompt or entry, "V6", "the question has no prompt", "clarify", 'add prompt="…"')
    else:
        yield from _places(entry.prompt, slots)


def _answers(entry: UnknownNode | ClarifyNode, slots: Mapping[str, Declared]) -> Iterator[MtxFinding]:
    """The default and the options of a question: what its slot could not take as an answer."""
    slot = slots.get(entry.slot)
    if slot is not None:
        for value in (*items(entry.options), *items(entry.default)):
            yield from misfit(value, slot)


def _type(value: Text | None) -> Iterator[MtxFinding]:
    if value is None:
        return
    name = value.value.removesuffix("[]")
    if name not in SCALAR_TYPES and not re.fullmatch(r"enum<[^\s<>|]+(\|[^\s<>|]+)*>", name):
        yield found(
            value, "V6", f"there is no type {value.value!r}", value.value, nearest(name, SCALAR_TYPES)
        )


def _declared(node: Node, slot: str, slots: Mapping[str, Declared], code: str) -> Iterator[MtxFinding]:
    if slot not in slots:
        hint = near(slot, slots, "inputs") or "declare it in §INPUTS"
        yield found(node, code, f"§INPUTS has no slot {slot!r}", f"slot.{slot}", hint)
