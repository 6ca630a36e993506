"""V3 and V4: the slots of §INPUTS and §OUTPUTS."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from ir.scalars import ULID_PATTERN, is_instant
from mcl.language.mtx.ast import File, Items, Slot, SlotType, Text, Value
from mcl.language.mtx.finding import Finding, found, nearest
from mcl.values.slots import is_memory, read_memory

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


def check_slots(file: File) -> Iterator[Finding]:
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


def _default(declared: Declared) -> Iterator[Finding]:
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


def _max(slot: Slot) -> Iterator[Finding]:
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


def misfit(value: Text, declared: Declared) -> Iterator[Finding]:
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
