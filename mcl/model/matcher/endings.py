"""Which of several slots a file name is for, by its ending: "the csv file", "the new svg picture"."""

import re
from collections.abc import Mapping, Sequence

from mcl.model.protocol import SlotForm, Span
from mcl.values.filenames import ENDINGS

_WORD = re.compile(r"(?<![\w*])(?<![\w*]\.)\.?([a-z0-9]+)")  # not the md of "*.md" or "report.md"
_EXAMPLES = re.compile(r"\b(?:such as|e\.g\.|for example|like)\b")
_ENDING = re.compile(r"\.([a-z0-9]{1,5})$", re.IGNORECASE)


def taken_elsewhere(slots: Sequence[SlotForm]) -> Mapping[str, frozenset[str]]:
    """For each slot by name the endings that the hints of others claim and its own does not; empty where no
    hint names a kind of file."""
    claimed = {slot.name: ENDINGS & set(_WORD.findall(_said(slot))) for slot in slots}
    every = frozenset().union(*claimed.values())
    return {name: every - own for name, own in claimed.items()} if every else {}


def belongs_elsewhere(one: Span, elsewhere: Mapping[str, frozenset[str]]) -> bool:
    """Whether the span of a slot is the name of a file of a kind that only another slot takes."""
    ending = _ENDING.search(one.value) if elsewhere else None
    return ending is not None and ending[1].lower() in elsewhere.get(one.field.removeprefix("slot."), ())


def _said(slot: SlotForm) -> str:
    """What a hint says a slot is for, without its examples."""
    return _EXAMPLES.split(slot.hint.lower(), maxsplit=1)[0]
