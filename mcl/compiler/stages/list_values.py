"""Slots that take several values: each entry of a list in words is one of them. Pure."""

from collections.abc import Sequence

from mcl.model.cues import TextPlace, free, place_of, span_at
from mcl.model.protocol import ExtractForm, Span
from mcl.values.lists import list_entries, next_entry


def with_entries(prose: str, form: ExtractForm, spans: Sequence[Span]) -> tuple[Span, ...]:
    """The spans, with one for each entry where words of a slot for several values are a list, and with the
    entries behind the last that a reader marked."""
    several = {f"slot.{slot.name}": slot for slot in form.slots if slot.many > 1 and not slot.options}
    if not any(one.field in several for one in spans):
        return tuple(spans)
    kept: list[Span] = []
    for one in spans:
        kept += _entries(prose, one) if one.field in several and one.start is not None else [one]
    for field, slot in several.items():
        own = [one for one in kept if one.field == field and one.start is not None]
        if own and slot.type.startswith("string"):
            kept += _further(prose, own, kept)
        for extra in own[slot.many :]:
            kept.remove(extra)
    return tuple(sorted(kept, key=lambda one: (one.start if one.start is not None else -1, one.field)))


def _entries(prose: str, one: Span) -> list[Span]:
    start = place_of(one).start
    if prose[start : start + len(one.value)] != one.value:
        return [one]
    places = [TextPlace(start + a, start + b) for a, b in list_entries(one.value)]
    return [span_at(one.field, prose, place, one.probability) for place in places] or [one]


def _further(prose: str, own: Sequence[Span], spans: Sequence[Span]) -> list[Span]:
    """Entries behind the last that belong to nothing yet."""
    taken = [place_of(one) for one in spans if one.start is not None]
    last, found = max(own, key=lambda one: place_of(one).end), list[Span]()
    end = place_of(last).end
    while place := next_entry(prose, own[0].value, end):
        at = TextPlace(*place)
        if not free(at, taken):
            break
        found.append(span_at(last.field, prose, at, last.probability))
        end = at.end
    return found
