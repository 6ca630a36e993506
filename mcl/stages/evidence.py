"""What patterns find in a goal's words beside what a model marks there. Forms that code can check (addresses,
file names, dates, closed lists by name) need no model to be seen. Pure; the tables are those of `--no-ai`."""

from collections.abc import Sequence
from dataclasses import replace

from mcl.model.cues import free, load_cues
from mcl.model.patterns import pattern_spans, place_of, typed
from mcl.model.protocol import ExtractForm, Span
from mcl.stages.rules import Rules


def with_patterns(prose: str, form: ExtractForm, spans: Sequence[Span], rules: Rules) -> tuple[Span, ...]:
    """The model's spans, less sure ones replaced by what a pattern finds for the same slot.

    The more certain of the two fills the slot, or the longer one where code can check its form ("Tuesday at
    12:00" before "12:00"); what the model is less certain of gives way where they overlap. An option that no
    word of the goal names counts for a slot that may stay empty only from `threshold.unnamed` of the module
    `frame` on. `weight.patterns` 0 leaves all to the model.
    """
    if not rules.pattern_weight:
        return tuple(spans)
    cues, kept = load_cues(), list(spans)
    patterns = pattern_spans(prose, form.slots, cues, [])
    for slot in form.slots:
        field = f"slot.{slot.name}"
        told = [
            replace(one, probability=one.probability * rules.pattern_weight)
            for one in patterns
            if one.field == field
        ]
        own = [one for one in kept if one.field == field]
        sure = max((one.probability for one in own), default=0.0)
        if told and (sure < told[0].probability or (typed(slot, cues) and _within(own, told))):
            stronger = [one for one in kept if one.field != field and one.probability >= told[0].probability]
            if slot.options or all(_apart(one, stronger) for one in told):
                kept = [one for one in kept if one.field != field and (slot.options or _apart(one, told))]
                kept += told
        elif slot.options and not told and not slot.required and sure < rules.unnamed_option:
            kept = [one for one in kept if one.field != field]
    return tuple(sorted(kept, key=lambda one: (one.start if one.start is not None else -1, one.field)))


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
