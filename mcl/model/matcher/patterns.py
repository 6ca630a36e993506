"""Where a text fills slots by patterns alone (`cues.toml`): closed lists by name, forms such as addresses,
file names and dates, and the usual words around a slot of some name. No model; what no pattern finds is left
out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from mcl.language.bm25 import stems
from mcl.model.matcher.cues import Cues, Place, SlotCue, free, places
from mcl.model.matcher.endings import belongs_elsewhere, taken_elsewhere
from mcl.model.matcher.options import members
from mcl.model.protocol import SlotForm, Span

_SEPARATORS = re.compile(r"[\s_.-]+")


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
