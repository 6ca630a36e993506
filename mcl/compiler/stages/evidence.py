"""What patterns find in a goal's words beside what a model marks there. Forms that code can check (addresses,
file names, dates, closed lists by name) need no model to be seen. Pure; the tables are those of `--no-ai`.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from mcl.compiler.stages.clauses import Clauses, quotes_of
from mcl.compiler.stages.constraints import FIELDS
from mcl.compiler.stages.limit_words import Around, LimitLeads
from mcl.compiler.stages.rules import Rules
from mcl.model.cues import (
    Cues,
    TextPlace,
    free,
    is_numeric,
    load_cues,
    pattern_spans,
    place_of,
    places_of,
    span_at,
    typed,
    within,
)
from mcl.model.limits import is_said
from mcl.model.protocol import ExtractForm, SlotForm, Span
from mcl.model.slot_claims import belongs_elsewhere, taken_elsewhere
from mcl.values.slots import UNIT_SECONDS

# ---- Limits, signs of success and wishes: what a model marks, beside what patterns find of the same.

Readable = Callable[[Span], bool]

CHECKED = ("budget", "deadline", "jurisdiction_allow", "jurisdiction_deny", "quality")  # code can read them
_CLAUSES = ("rule", "preference")  # their patterns go on to the end of a clause
_SIGNS = ("signed_off", "attestation")
_WORDED = tuple(field for field in FIELDS if field not in CHECKED)
_WORD_STARTS = re.compile(r"(?<=\s)\S")
_DOUBTED = 0.9  # a text that the model is less certain of may end before a limit in it
_GUESSED = 0.6  # or before what is only likely one


@dataclass(frozen=True)
class _LimitPatterns:
    """What patterns say of limits in a goal, beside what a model marked. texts: the fields of slots that take
    any text; readable: whether code reads a limit's span as what it is said to be."""

    prose: str
    texts: frozenset[str]
    leads: LimitLeads
    readable: Readable
    cues: Cues

    def beside(self, spans: Sequence[Span], patterns: Sequence[Span]) -> list[Span]:
        """The spans with limits by patterns beside those of the model. Two readings of one place for one
        field make it more certain."""
        kept = [one for one in spans if one.field not in _WORDED or not self.leads.is_empty(one.value)]
        quotes = [whole for whole, _ in quotes_of(self.prose)]
        for told in patterns:
            if not free(place_of(told), quotes):
                continue  # who quotes means just these words
            if told.field in CHECKED:
                kept = self._checked(kept, told)
            elif told.field in FIELDS:
                kept = self._clause(kept, told)
        return [self._without_tail(one, kept) for one in kept]

    def _checked(self, kept: Sequence[Span], told: Span) -> list[Span]:
        """The spans, with what a pattern says of a limit that code can read."""
        met = [one for one in kept if _meets(one, told)]
        limits = [one for one in met if one.field in FIELDS]
        own = [one for one in limits if one.field == told.field]
        sure = told.probability >= self.cues.probability["pattern"]
        if own:
            if len(limits) > 1:
                return list(kept)
            better = self._better(own[0], told)
            told = replace(better, probability=both(own[0].probability, told.probability))
            if better is own[0]:
                return [told if one is own[0] else one for one in kept]
        elif limits:
            # A rule whose words are a moment or an amount, and nothing else, is what code reads there.
            worded = [one for one in limits if one.field == "rule" and self._as_much(one, told)]
            others = [one for one in limits if one not in worded]
            held = any(one.field not in CHECKED or self.readable(one) for one in others)
            if held or not self.readable(told):
                return list(kept)
        elif not self.readable(told) or not (met or sure):
            return list(kept)
        slots = [one for one in met if one not in limits]
        least = _DOUBTED if sure else _GUESSED
        cut = [self._before(one, told) for one in slots]
        if not all(cut) or any(one.field not in self.texts or one.probability >= least for one in slots):
            return list(kept)
        return [*(one for one in kept if one not in met), *(one for one in cut if one), told]

    def _better(self, own: Span, told: Span) -> Span:
        """Of two readings of one place that which code can read; of two such the longer.

        Words that the model marked are not left out to make the rest readable: "early next week" is asked
        about, not taken for next week. Only of places, what is around the name is no part of it.
        """
        mine, other = self.readable(own), self.readable(told)
        if not mine and not told.field.startswith("jurisdiction") and self._says_more(own, told):
            return own
        if mine == other:
            return told if len(told.value) > len(own.value) and (mine or _holds(told, own)) else own
        return own if mine else told

    def _says_more(self, own: Span, told: Span) -> bool:
        """Whether words that mean something stand in `own` and not in `told`, which lies in it."""
        if not _holds(own, told):
            return False
        shift = place_of(told).start - place_of(own).start
        rest = (own.value[:shift], own.value[shift + len(told.value) :])
        return any(part.strip(" ,;") and not self.leads.is_empty(part.strip(" ,;")) for part in rest)

    def _as_much(self, own: Span, told: Span) -> bool:
        """Whether `own` says no word that means something beside what `told` says."""
        return _holds(told, own) or (_holds(own, told) and not self._says_more(own, told))

    def _clause(self, kept: Sequence[Span], told: Span) -> list[Span]:
        """The spans, with a rule or wish to the end of its clause, one that was overlooked, or a sign of
        success that was taken for a limit which nobody can read."""
        met = [one for one in kept if _meets(one, told)]
        same = len(met) == 1 and met[0].field == told.field
        if same and told.field in _CLAUSES and met[0].start == told.start and _holds(told, met[0]):
            certain = both(met[0].probability, told.probability)
            return [replace(told, probability=certain) if one is met[0] else one for one in kept]
        if not met and told.field == "rule" and told.probability >= self.cues.probability["pattern"]:
            return [*kept, told]
        unread = all(one.field in CHECKED and not self.readable(one) for one in met)
        if met and told.field in _SIGNS and unread:
            return [*(one for one in kept if one not in met), told]
        return list(kept)

    def _before(self, text: Span, told: Span) -> Span | None:
        """A text that runs into a limit, as far as it goes before the limit and the words that lead to it."""
        start, limit = place_of(text).start, place_of(told).start
        value = self.leads.tail.sub("", self.prose[start:limit].rstrip(" \t\n,;"))
        if (
            limit <= start
            or not value.strip()
            or self.leads.is_empty(value)
            or self.leads.relative.search(value)
        ):
            return None
        certain = max(text.probability, self.cues.probability["trimmed"])
        return span_at(text.field, self.prose, TextPlace(start, start + len(value)), certain)

    def _without_tail(self, one: Span, kept: Iterable[Span]) -> Span:
        """A text without words at its end that lead to the limit behind it."""
        if one.field not in self.texts or one.end is None or not (tail := self.leads.tail.search(one.value)):
            return one
        behind = [
            other.start
            for other in kept
            if other.field in FIELDS and other.start is not None and other.start >= one.end
        ]
        if not behind or not self.leads.between.fullmatch(self.prose[one.end : min(behind)]):
            return one
        end = place_of(one).start + tail.start()
        certain = max(one.probability, self.cues.probability["trimmed"])
        return span_at(one.field, self.prose, TextPlace(place_of(one).start, end), certain)


def _meets(one: Span, other: Span) -> bool:
    return one.start is not None and not free(place_of(one), [place_of(other)])


def _holds(outer: Span, inner: Span) -> bool:
    return within(place_of(inner), [place_of(outer)])


def both(first: float, second: float) -> float:
    """How certain it is what two say independently of one another."""
    return 1 - (1 - first) * (1 - second)


def with_rules(
    prose: str, spans: Sequence[Span], found: Sequence[TextPlace], readable: Readable
) -> tuple[Span, ...]:
    """The spans, with the clauses that say what a run can be held to as rules, however a model read them.

    found: where they stand, outside of quotes. One that is part of a longer text says it of something else.
    A value in it stays, and a limit that code reads there: "at most 20 calls" is a budget.
    """
    cues, kept = load_cues().beside, list(spans)
    for place in found:
        met = [one for one in kept if one.start is not None and not free(place_of(one), [place])]
        inside = [one for one in met if within(place_of(one), [place])]
        limit = any(one.field in CHECKED and readable(one) for one in met)
        if limit or any(one not in inside for one in met):
            continue
        rule = span_at("rule", prose, place, cues.probability["pattern"])
        kept = [one for one in kept if one not in inside or one.field.startswith("slot.")] + [rule]
    return tuple(sorted(kept, key=lambda one: (one.start if one.start is not None else -1, one.field)))


def by_clause(spans: Sequence[Span], clauses: Clauses) -> tuple[Span, ...]:
    """The spans, with a rule for each clause of one that goes over several."""
    parted = ((one, clauses.parts(place_of(one))) for one in spans)
    return tuple(
        part
        for one, places in parted
        for part in (
            [span_at(one.field, clauses.prose, place, one.probability) for place in places]
            if one.field == "rule" and one.start is not None and len(places) > 1
            else [one]
        )
    )


def as_said(
    spans: Sequence[Span], clauses: Clauses, rules: Rules, found: Sequence[TextPlace]
) -> tuple[Span, ...]:
    """The spans, held to the words around them: a rule goes to both ends of its clause, with the words that
    turn it; what no word of the closed lists makes a wish, or a sign-off, is a rule. found: rules that can be
    held, which stay as they are."""
    kept: list[Span] = []
    for one in spans:
        if one.start is None or one.field not in _HELD or place_of(one) in found:
            kept.append(one)
            continue
        others = [place_of(other) for other in spans if other is not one and other.start is not None]
        clause = clauses.said(clauses.clause_of(place_of(one)))
        manner = clauses.is_manner(place_of(one))
        field = one.field
        if field == "preference":
            field = "preference" if manner or rules.soft.search(clause) is not None else "rule"
        elif field == "signed_off":
            field = field if is_said(field, clauses.sentence_of(place_of(one))) else "rule"
        elif manner:
            field = "preference"
        place = clauses.whole(place_of(one), others) if field == "rule" else place_of(one)
        field, place = _region(clauses, place, rules) if field == "rule" else (field, place)
        kept.append(span_at(field, clauses.prose, place, one.probability))
    return tuple(kept)


def _region(clauses: Clauses, place: TextPlace, rules: Rules) -> tuple[str, TextPlace]:
    """What a rule is, and where it stands: a region that it is only, or not, about ("only from Swedish
    bakeries"), where it says nothing else."""
    from mcl.values.regions import read_regions  # few goals say where

    words, text = rules.limits, clauses.said(place)
    for match in _WORD_STARTS.finditer(text):
        lead = text[: match.start()]
        field = f"jurisdiction_{words.region_is(Around(lead), '')}"
        if field not in rules.kinds:
            continue
        plain = words.only.sub("", words.negates.sub("", lead)).strip()
        alone = not plain or rules.coverage.leads.alone.fullmatch(plain) is not None
        if alone and read_regions(text[match.start() :]):
            return field, TextPlace(place.start + match.start(), place.end)
    return "rule", place


_HELD = ("rule", "preference", "signed_off")
_CERTAIN = 0.97  # from here on a model's text is not made longer


def with_patterns(
    prose: str, form: ExtractForm, spans: Sequence[Span], rules: Rules, readable: Readable | None = None
) -> tuple[Span, ...]:
    """The model's spans, less sure ones replaced by what a pattern finds for the same slot.

    The more certain of the two fills the slot, or the longer one where code can check its form ("Tuesday at
    12:00" before "12:00"); what the model is less certain of gives way where they overlap. An option that no
    word of the goal names counts for a slot that may stay empty only from `threshold.unnamed` of the module
    `frame` on. A value that both find is more certain. readable: whether code reads the span of a limit; with
    it, patterns count for limits too (_LimitPatterns). `weight.patterns` 0 leaves all to the model.
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
        texts = frozenset(
            f"slot.{slot.name}" for slot in form.slots if not slot.options and not typed(slot, cues)
        )
        kept = _LimitPatterns(prose, texts, rules.coverage.leads, readable, cues).beside(kept, patterns)
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

    if slot.many > 1 and told and own and all(map(named, own)):
        values = {one.value for one in own}
        return [*spans, *(one for one in told if one.value not in values)]
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
    for marks, quote in quotes_of(prose):
        inside = [one for one in kept if one.start is not None and not free(place_of(one), [quote])]
        slots = [one for one in inside if one.field.startswith("slot.")]
        if len(slots) != 1 or slots[0].field not in texts:
            continue
        place = place_of(slots[0])
        said = prose[place.start : place.end] == slots[0].value  # what is invented stays for the check of it
        if said and within(place, [marks]):
            whole = span_at(slots[0].field, prose, quote, slots[0].probability)
            kept = [one for one in kept if one not in inside] + [whole]
    return kept


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
    return None not in (more.start, one.start) and _holds(more, one)


def _apart(span: Span, others: Sequence[Span]) -> bool:
    """Whether a span shares no character with the others."""
    if span.start is None or span.end is None:
        return True
    return free(place_of(span), [place_of(one) for one in others if one.start is not None])
