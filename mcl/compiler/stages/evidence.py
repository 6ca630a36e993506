"""What patterns find in a goal's words beside what a model marks there. Forms that code can check (addresses,
file names, dates, closed lists by name) need no model to be seen. Pure; the tables are those of `--no-ai`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcl.compiler.stages.limits import Readable, both, with_limits
from mcl.compiler.stages.rules import Rules
from mcl.model.matcher.cues import Place, free, load_cues
from mcl.model.matcher.endings import belongs_elsewhere, taken_elsewhere
from mcl.model.matcher.options import is_numeric, places_of
from mcl.model.matcher.patterns import pattern_spans, place_of, span_at, typed
from mcl.model.protocol import ExtractForm, SlotForm, Span
from mcl.values.slots import UNIT_SECONDS

_CERTAIN = 0.97  # from here on a model's text is not made longer
_QUOTED = re.compile(r'(?<![\w"])"([^"\n]+)"(?![\w"])|“([^“”\n]+)”')


def with_patterns(
    prose: str, form: ExtractForm, spans: Sequence[Span], rules: Rules, readable: Readable | None = None
) -> tuple[Span, ...]:
    """The model's spans, less sure ones replaced by what a pattern finds for the same slot.

    The more certain of the two fills the slot, or the longer one where code can check its form ("Tuesday at
    12:00" before "12:00"); what the model is less certain of gives way where they overlap. An option that no
    word of the goal names counts for a slot that may stay empty only from `threshold.unnamed` of the module
    `frame` on. A value that both find is more certain. readable: whether code reads the span of a limit; with
    it, patterns count for limits too (see limits). `weight.patterns` 0 leaves all to the model.
    """
    if not rules.pattern_weight:
        return tuple(spans)
    elsewhere = taken_elsewhere(form.slots)
    cues, kept = load_cues().beside, [one for one in spans if not belongs_elsewhere(one, elsewhere)]
    patterns = pattern_spans(prose, form.slots, cues, [])
    for slot in (slot for slot in form.slots if slot.options):
        kept = _chosen(prose, slot, kept, patterns, rules)
    for slot in (slot for slot in form.slots if not slot.options):
        field = f"slot.{slot.name}"
        told = [
            replace(one, probability=one.probability * rules.pattern_weight)
            for one in patterns
            if one.field == field
        ]
        own = [one for one in kept if one.field == field]
        sure = max((one.probability for one in own), default=0.0)
        if own and typed(slot, cues) and _within(told, own) and not _within(own, told):
            continue  # words left out would change what it says: "Friday" for "Friday at three"
        longer = typed(slot, cues) and not _counts(slot) and _within(own, told)
        longer = longer or (len(told) == len(own) == 1 and sure < _CERTAIN and _goes_on(told[0], own[0]))
        if told and (sure < told[0].probability or longer):
            stronger = [one for one in kept if one.field != field and one.probability >= told[0].probability]
            if all(_apart(one, stronger) for one in told):
                kept = [one for one in kept if one.field != field and _apart(one, told)]
                kept += told
        elif len(told) == len(own) == 1 and place_of(told[0]) == place_of(own[0]):
            certain = replace(own[0], probability=both(own[0].probability, told[0].probability))
            kept = [certain if one is own[0] else one for one in kept]
    if readable is not None:
        kept = with_limits(prose, form, kept, patterns, cues, readable)
    kept = _whole_quotes(prose, kept, {f"slot.{slot.name}" for slot in form.slots if slot.type == "string"})
    return tuple(sorted(kept, key=lambda one: (one.start if one.start is not None else -1, one.field)))


def _chosen(
    prose: str, slot: SlotForm, spans: Sequence[Span], patterns: Sequence[Span], rules: Rules
) -> list[Span]:
    """The spans, with what fills a slot that takes members of a closed list settled.

    A member that the goal names for this slot takes the place of one that it does not name and that is less
    certain; a number that stands before what is counted also that of another number. What the model says of
    another slot does not fill an empty one. What the goal names nowhere, or only for another slot, must be
    certain itself where the slot may stay empty.
    """
    field = f"slot.{slot.name}"
    own = [one for one in spans if one.field == field]
    others = [one for one in spans if one.field != field]
    elsewhere = {one.value for one in others if one.start is None} if not own else set()
    told = [
        replace(one, probability=one.probability * rules.pattern_weight)
        for one in patterns
        if one.field == field and one.value not in elsewhere
    ]
    claimed = [place_of(one) for one in patterns if one.field != field and one.field.startswith("slot.")]
    sure = max((one.probability for one in own), default=0.0)

    def named(one: Span) -> bool:
        return any(free(place, claimed) for place in places_of(prose, slot, one.value))

    if told and sure < told[0].probability and (is_numeric(slot) or not (own and all(map(named, own)))):
        return [*others, *told]
    if slot.required or sure >= rules.unnamed_option or all(map(named, own)):
        return list(spans)
    return others


def _whole_quotes(prose: str, spans: Sequence[Span], texts: set[str]) -> list[Span]:
    """The same, where one text is marked in part of a quote, with the whole quote in its place.

    Who quotes means just these words, so that nothing else is read in them ("due on Friday" has no deadline).
    """
    kept = list(spans)
    for marks, quote in _quotes(prose):
        inside = [one for one in kept if one.start is not None and not free(place_of(one), [quote])]
        slots = [one for one in inside if one.field.startswith("slot.")]
        if len(slots) != 1 or slots[0].field not in texts:
            continue
        place = place_of(slots[0])
        said = prose[place.start : place.end] == slots[0].value  # what is invented stays for the check of it
        if said and marks.start <= place.start and place.end <= marks.end:
            whole = span_at(slots[0].field, prose, quote, slots[0].probability)
            kept = [one for one in kept if one not in inside] + [whole]
    return kept


def _quotes(prose: str) -> Iterator[tuple[Place, Place]]:
    """Each quote with its marks, and what stands between them less blanks at its ends."""
    for match in _QUOTED.finditer(prose):
        text = match[match.lastindex or 0]
        start = match.start(match.lastindex or 0) + len(text) - len(text.lstrip())
        if text.strip():
            yield Place(*match.span()), Place(start, start + len(text.strip()))


def _goes_on(told: Span, own: Span) -> bool:
    """Whether a pattern begins or ends where the model does and has more words: "eggs and milk"."""
    more, one = place_of(told), place_of(own)
    return _covers(told, own) and told.value != own.value and (more.start == one.start or more.end == one.end)


def _counts(slot: SlotForm) -> bool:
    """Whether a slot takes a number that words around it do not change ("the last 15" is 15); a length of
    time in words is none."""
    return slot.type.removesuffix("[]") in ("uint", "float") and slot.name not in UNIT_SECONDS


def _within(own: Sequence[Span], told: Sequence[Span]) -> bool:
    """Whether a pattern found more words around each of the model's places."""
    return all(any(one.value != more.value and _covers(more, one) for more in told) for one in own)


def _covers(more: Span, one: Span) -> bool:
    return (
        None not in (more.start, one.start)
        and place_of(more).start <= place_of(one).start
        and place_of(one).end <= place_of(more).end
    )


def _apart(span: Span, others: Sequence[Span]) -> bool:
    """Whether a span shares no character with the others."""
    if span.start is None or span.end is None:
        return True
    return free(place_of(span), [place_of(one) for one in others if one.start is not None])
