"""Which members of closed lists a goal names in so many words. Pure."""

import re
from collections.abc import Iterator, Sequence

from mcl.language.bm25 import stems
from mcl.model.matcher.cues import Cues, Place, free
from mcl.model.protocol import SlotForm, Span

_SEPARATORS = re.compile(r"[\s_.-]+")
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBER = re.compile(rf"(?<![\w.,:/$€£])(\d{{1,4}}|{'|'.join(_WORDS)})(?![\w:/%]|[.,]\d)", re.IGNORECASE)
_BEHIND = re.compile(r"[\s-]+([^\W\d_]+)(?:[\s-]+([^\W\d_]+))?")
_NO_THINGS = frozenset(stem for word in ("number", "count", "amount", "total") for stem in stems(word))
_SHORTEST = 3  # letters of a word of a slot's name that the name of what is counted may begin with


def members(prose: str, slot: SlotForm, cues: Cues, taken: Sequence[Place]) -> Iterator[Span]:
    """Members of a slot's list that the prose names, in its order, those at free places first.

    Where they are numbers, only those that stand before what the slot's name says is counted: "two" of "two
    bedrooms" for `number_of_beds`, not for `number_of_baths`.
    """
    named = _counted(prose, slot) if is_numeric(slot) else _mentioned(prose, slot)
    for option, place in sorted(named, key=lambda one: not free(one[1], taken)):
        yield Span(f"slot.{slot.name}", option, place.start, place.end, cues.probability["mention"])


def places_of(prose: str, slot: SlotForm, option: str) -> list[Place]:
    """Where the prose says a member; a number also as a word."""
    named = _numbers(prose, slot) if is_numeric(slot) else _mentioned(prose, slot)
    return [place for name, place in named if name == option]


def is_numeric(slot: SlotForm) -> bool:
    """Whether the members are whole numbers: which of several slots one counts for, only its noun tells."""
    return all(option.isdecimal() for option in slot.options)


def _mentioned(prose: str, slot: SlotForm) -> list[tuple[str, Place]]:
    """Members and their places, in the order of the prose, the longer of two at one place first."""
    named = []
    for option in slot.options:
        spelled = r"[\s_.-]+".join(map(re.escape, _SEPARATORS.split(option.removesuffix("s") or option)))
        if match := re.search(rf"(?<!\w){spelled}s?(?!\w)", prose, re.IGNORECASE):
            named.append((match.start(), -match.end(), option))
    return [(option, Place(start, -end)) for start, end, option in sorted(named)]


def _counted(prose: str, slot: SlotForm) -> list[tuple[str, Place]]:
    """Numbers of the list that stand before one of the things that the slot's name counts."""
    things = [stem for stem in stems(slot.name) if len(stem) >= _SHORTEST and stem not in _NO_THINGS]
    counted = []
    for option, place in _numbers(prose, slot):
        behind = _BEHIND.match(prose, place.end)
        words = [word.casefold() for word in behind.groups() if word] if behind else []
        if any(word.startswith(thing) for word in words for thing in things):
            counted.append((option, place))
    return counted


def _numbers(prose: str, slot: SlotForm) -> list[tuple[str, Place]]:
    """Numbers of the list that the prose says, in its order."""
    said = [(match[1].casefold(), Place(*match.span())) for match in _NUMBER.finditer(prose)]
    plain = [(str(_WORDS.index(word)) if word in _WORDS else word, place) for word, place in said]
    return [(option, place) for option, place in plain if option in slot.options]
