"""Which of several slots a file name, a number, a day or a time of a goal is for. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from mcl.core.patterns import late
from mcl.language.bm25 import stems
from mcl.model.protocol import SlotForm, Span
from mcl.values.numbers import read_number
from mcl.values.slots import ENDINGS

NO_THINGS: Final = frozenset(stem for word in ("number", "count", "amount", "total") for stem in stems(word))
"""Stems in the name of a slot that name nothing that is counted."""


def element(type_: str) -> str:
    """The type of one entry of a list's type."""
    return type_.removesuffix("[]")


# ---- Which of several slots a file name is for, by its ending: "the csv file", "the new svg picture".

_ENDING_WORD = late(r"(?<![\w*])(?<![\w*]\.)\.?([a-z0-9]+)")  # not the md of "*.md" or "report.md"
_EXAMPLES = late(r"\b(?:such as|e\.g\.|for example|like)\b")
_ENDING = late(r"\.([a-z0-9]{1,5})$", re.IGNORECASE)


def taken_elsewhere(slots: Sequence[SlotForm]) -> Mapping[str, frozenset[str]]:
    """For each slot by name the endings that the hints of others claim and its own does not; empty where no
    hint names a kind of file."""
    claimed = {slot.name: ENDINGS & set(_ENDING_WORD.findall(_said(slot))) for slot in slots}
    every = frozenset().union(*claimed.values())
    return {name: every - own for name, own in claimed.items()} if every else {}


def belongs_elsewhere(one: Span, elsewhere: Mapping[str, frozenset[str]]) -> bool:
    """Whether the span of a slot is the name of a file of a kind that only another slot takes."""
    ending = _ENDING.search(one.value) if elsewhere else None
    return ending is not None and ending[1].lower() in elsewhere.get(one.field.removeprefix("slot."), ())


def _said(slot: SlotForm) -> str:
    """What a hint says a slot is for, without its examples."""
    return _EXAMPLES.split(slot.hint.lower(), maxsplit=1)[0]


# ---- Which of several slots a number, a day or a time is for.

_NUMERIC: Final = ("uint", "float")
_TOKEN = late(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[%°]")
_WITHIN: Final = frozenset(("and", "och", "a", "an", "en", "ett", "half", "halv", "halvt", "of"))
_DAY_SAID = late(r"\b(?:day|days|date|dag|datum|dagen)\b")
_CLOCK_SAID = late(r"\b(?:time|hour|clock|when|start|starts|begin|begins|beginning|tid|klockan|arrival)\b")
_UNITS: Final = {
    "kg": "kilogram", "kilo": "kilogram", "kilos": "kilogram", "g": "gram", "km": "kilometre",
    "cm": "centimetre", "mm": "millimetre", "m": "metre", "meter": "metre", "ml": "millilitre",
    "dl": "decilitre", "gb": "gigabyte", "gig": "gigabyte", "gigs": "gigabyte", "mb": "megabyte",
    "db": "decibel", "hz": "hertz", "%": "percent", "procent": "percent", "°": "degree",
    "grader": "degree",
}  # fmt: skip


def counted_for(prose: str, slots: Sequence[SlotForm]) -> Mapping[int, frozenset[str]]:
    """For which slots of numbers a number of the goal is, by its place: those whose name or hint names what
    stands beside it ("32 gigs" is memory in gigabytes); no entry where nothing tells."""
    numeric = [slot for slot in slots if element(slot.type) in _NUMERIC and not slot.options]
    if len(numeric) < 2:
        return {}
    things = {slot.name: _things(f"{slot.name} {_said(slot)}") for slot in numeric}
    tokens, found, at = list(_TOKEN.finditer(prose)), dict[int, frozenset[str]](), 0
    while at < len(tokens):
        first, last = at, _last_of(tokens, at)
        at = last + 1
        if last < first:
            at = first + 1
            continue
        behind = [one[0] for one in tokens[last + 1 : last + 3] if prose[one.start() - 1] not in ",.;:"]
        before = [tokens[first - 1][0]] if first else []
        for word in (*behind, *before):  # the nearest first
            names = frozenset(name for name, said in things.items() if _things(word) & said)
            if names:
                found[tokens[first].start()] = names
                break
    return found


def _last_of(tokens: Sequence[re.Match[str]], first: int) -> int:
    """The last word of the number that begins at a word; one before it where none does."""
    last = first - 1
    for place in range(first, len(tokens)):
        word = tokens[place][0].casefold()
        if word in _WITHIN:
            if last < first:
                return last
            continue
        if read_number(word) is None or (word[0].isdigit() and last >= first):
            break
        last = place
    return last


def _things(text: str) -> frozenset[str]:
    words = re.findall(r"[^\W\d_]+|[%°]", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text))
    plain = (_UNITS.get(word.casefold(), word) for word in words)
    return frozenset(stem for word in plain for stem in stems(word)) - NO_THINGS


def moments_of(slots: Sequence[SlotForm]) -> Mapping[str, str]:
    """Which of several slots for moments takes the day and which the time of day; empty where not both are
    there."""
    moments = [slot for slot in slots if element(slot.type) == "iso8601"]
    if len(moments) < 2:
        return {}
    said = {slot.name: f"{slot.name} {_said(slot)}".lower().replace("_", " ") for slot in moments}
    days = {name for name, text in said.items() if _DAY_SAID.search(text)}
    clocks = {name for name, text in said.items() if _CLOCK_SAID.search(text)} - days
    if not (days and clocks):
        return {}
    return dict.fromkeys(days, "@day") | dict.fromkeys(clocks, "@clock")


class SlotClaims(NamedTuple):
    """What one of several slots leaves to the others. elsewhere: of each the endings of files that it does
    not take; counted: for which slot a number is, by its place; moments: which says a day or a time."""

    elsewhere: Mapping[str, frozenset[str]]
    counted: Mapping[int, frozenset[str]]
    moments: Mapping[str, str]

    def is_free(self, one: Span, slot: SlotForm) -> bool:
        """Whether what was found for a slot is not another's."""
        meant = self.counted.get(one.start or 0) if element(slot.type) in _NUMERIC else None
        return not belongs_elsewhere(one, self.elsewhere) and (meant is None or slot.name in meant)

    @classmethod
    def of(cls, prose: str, slots: Sequence[SlotForm]) -> "SlotClaims":
        """Those of a goal beside these slots."""
        return cls(taken_elsewhere(slots), counted_for(prose, slots), moments_of(slots))
