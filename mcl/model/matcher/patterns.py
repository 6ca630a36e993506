"""Where a text fills slots by patterns alone (`cues.toml`): closed lists by name, forms such as addresses,
file names and dates, and the usual words around a slot of some name. No model; what no pattern finds is left
out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from mcl.language.bm25 import stems
from mcl.model.matcher.cues import Cues, Place, SlotCue, free, places
from mcl.model.protocol import SlotForm, Span
from mcl.values.slots import ENDINGS

# ---- Which of several slots a file name is for, by its ending: "the csv file", "the new svg picture".

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


# ---- Which members of closed lists a goal names in so many words. Pure.

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


def pattern_spans(prose: str, slots: Sequence[SlotForm], cues: Cues, taken: list[Place]) -> list[Span]:
    """What patterns find for slots and constraints, no character twice; `taken` gets the places.

    Some slots go before the constraints ("in two hours" is when to remind), the others after them ("at most
    20 euros" is no count).
    """
    first = [slot for slot in slots if not slot.options and any(cue.early for cue in _cues_for(slot, cues))]
    elsewhere = taken_elsewhere(slots)
    spans = _slots(prose, first, cues, taken, elsewhere)
    for cue in cues.limits:
        probability = cues.probability["likely" if cue.likely else "pattern"]
        for place in cue.places(prose):
            if free(place, taken):
                taken.append(place)
                spans.append(span_at(cue.field, prose, place, probability))
    rest = [slot for slot in slots if slot not in first]
    return spans + _slots(prose, rest, cues, taken, elsewhere)


def _slots(
    prose: str,
    slots: Sequence[SlotForm],
    cues: Cues,
    taken: list[Place],
    elsewhere: Mapping[str, frozenset[str]],
) -> list[Span]:
    spans: list[Span] = []
    for slot in slots:
        search = members(prose, slot, cues, taken) if slot.options else _places(prose, slot, cues, taken)
        found = list(islice((one for one in search if not belongs_elsewhere(one, elsewhere)), slot.many))
        taken += [place_of(span) for span in found]
        spans += found
    return spans


def typed(slot: SlotForm, cues: Cues) -> bool:
    """Whether only a text of some form can fill the slot."""
    return _element(slot.type) in cues.types or slot.type == "bool"


def words_of(name: str) -> frozenset[str]:
    """An identifier, its parts and their stems."""
    return frozenset([name.casefold(), *stems(name), *_SEPARATORS.split(name.casefold())])


def span_at(field: str, prose: str, place: Place, probability: float) -> Span:
    """The span of a place."""
    return Span(field, prose[place.start : place.end], place.start, place.end, probability)


def place_of(span: Span) -> Place:
    """The place of a span."""
    return Place(span.start or 0, span.end or 0)


def _places(prose: str, slot: SlotForm, cues: Cues, taken: Sequence[Place]) -> Iterator[Span]:
    """Free places by the patterns for the slot's type and name, else for its type, else for its name."""
    seen: list[Place] = list(taken)
    for cue in _cues_for(slot, cues):
        for pattern in cue.patterns:
            for place in places(pattern, prose):
                if free(place, seen):
                    seen.append(place)
                    yield span_at(f"slot.{slot.name}", prose, place, cues.probability["pattern"])


def _cues_for(slot: SlotForm, cues: Cues) -> list[SlotCue]:
    names, type_ = words_of(slot.name), _element(slot.type)
    by_type = [cue for cue in cues.slots if type_ in cue.types]
    both = [cue for cue in by_type if names & cue.names]
    if both or by_type:
        return both or [cue for cue in by_type if not cue.names]
    return [cue for cue in cues.slots if names & cue.names and not cue.types]


def _element(type_: str) -> str:
    return type_.removesuffix("[]")
