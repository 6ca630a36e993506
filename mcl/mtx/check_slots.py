"""V3 and V4: the slots of §INPUTS and §OUTPUTS."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ir.scalars import ULID_PATTERN, is_instant
from mcl.mtx.ast import File, Items, Slot, SlotType, Text
from mcl.mtx.finding import Finding, found, nearest

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_FORMS = {
    "uint": re.compile(r"0|[1-9]\d{0,15}", re.ASCII),
    "float": re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII),
    "bool": re.compile(r"true|false"),
    "ulid": re.compile(ULID_PATTERN),
    "did": re.compile(r"did:[a-z0-9]+:\S+"),
    "sha256": re.compile(r"[0-9a-f]{64}"),
}


def check_slots(file: File) -> Iterator[Finding]:
    """What is wrong with the slots: doubled names, defaults and bounds that do not fit the type."""
    for section in ("INPUTS", "OUTPUTS"):
        seen: set[str] = set()
        for slot in file.slots(section):
            if slot.name in seen:
                yield found(
                    slot, "V4", f"a second slot {slot.name!r} in §{section}", slot.name, "rename one of them"
                )
            seen.add(slot.name)
            yield from _slot(slot)


def _slot(slot: Slot) -> Iterator[Finding]:
    default = slot.default
    if isinstance(default, Items) and not slot.type.many:
        yield found(
            default, "V3", f"a list is no default for {slot.type}", "[", "quote it if the brackets are meant"
        )
    elif isinstance(default, Text) and slot.type.many:
        hint = f"write default=[{default.value}]"
        yield found(default, "V3", f"the default of {slot.type} is a list", default.value, hint)
    elif default is not None:
        for item in default.items if isinstance(default, Items) else (default,):
            yield from _fits(item, slot.type)
    if slot.max is None:
        return
    if not re.fullmatch(r"[1-9]\d{0,8}", slot.max.value):
        yield found(slot.max, "V3", "max is a whole number from 1", slot.max.value)
    elif isinstance(default, Items) and len(default.items) > int(slot.max.value):
        yield found(default, "V3", f"the default has more than max={slot.max.value} entries", "[")
    elif not slot.type.many:
        hint = f"write {slot.type}[] if several are meant"
        yield found(
            slot.max,
            "V3",
            "max says how many entries a list has; this is none",
            slot.max.value,
            hint,
            warning=True,
        )


def _fits(value: Text, type: SlotType) -> Iterator[Finding]:
    text = value.value
    if type.name == "enum":
        if text not in type.members:
            hint = nearest(text, type.members) or f"members: {' '.join(type.members)}"
            yield found(value, "V3", f"{text!r} is no member of {SlotType('enum', type.members)}", text, hint)
    elif type.name == "iso8601":
        if not (is_instant(text) or _DATE.fullmatch(text)):
            yield found(value, "V3", f"{text!r} is no moment such as 2026-11-21T10:00:00Z, and no date", text)
    elif type.name in _FORMS and not _FORMS[type.name].fullmatch(text):
        yield found(value, "V3", f"{text!r} is no {type.name}", text)


def fits(text: str, type: SlotType) -> bool:
    """Whether a text is a value of this type (of its entries, for a list)."""
    return not any(_fits(Text(text), type))
