"""Limits, signs of success and wishes: what a model marks, beside what patterns find of the same.

A limit that nobody reads is the worst that can happen to a goal, so what has the form of one and stands
behind the words for one counts although the model overlooked it; and of two readings of one place that
counts which code can read. Nothing that the model marked is dropped unless another reading takes its place.
Pure.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from mcl.compiler.stages.constraints import FIELDS
from mcl.model.matcher.cues import Cues, Place, free
from mcl.model.matcher.patterns import place_of, span_at, typed
from mcl.model.protocol import ExtractForm, Span

Readable = Callable[[Span], bool]

CHECKED = ("budget", "deadline", "jurisdiction_allow", "jurisdiction_deny", "quality")  # code can read them
_CLAUSES = ("rule", "preference")  # their patterns go on to the end of a clause
_SIGNS = ("signed_off", "attestation")
_WORDED = tuple(field for field in FIELDS if field not in CHECKED)
# Words that only lead to what follows: no value ends with them where a limit comes next, and none is made
# of them alone.
_LEADING = (
    "a|an|the|for|with|within|between|by|at|in|of|to|from|under|below|before|until|till|max|maximum|most|least|"
    "up|no|not|more|than|less|only|about|around|hosted|stored|based|certified|audited|approved|rated|costing|and|"
    "or|but|once|when|after|without|never|on|suppliers|vendors|companies|av|för|från|högst|senast|inom|bara|i"
)
_TAIL = re.compile(rf"(?:[\s,;]+(?:{_LEADING}))+$", re.IGNORECASE)
_EMPTY = re.compile(rf"(?:(?:{_LEADING})\b[\s,;]*)+", re.IGNORECASE)
_BETWEEN = re.compile(rf"\s*(?:(?:{_LEADING}|budget|cost|costs|price|limit)\s+)*", re.IGNORECASE)
_QUOTED = re.compile(r'(?<![\w"])"[^"\n]+"(?![\w"])|“[^“”\n]+”')
_TELLS_WHICH = re.compile(r"\b(?:that|which|who|whose|where|valid)\b[^,;]*$", re.IGNORECASE)
_DOUBTED = 0.9  # a text that the model is less certain of may end before a limit in it
_GUESSED = 0.6  # or before what is only likely one


def with_limits(
    prose: str,
    form: ExtractForm,
    spans: Sequence[Span],
    patterns: Sequence[Span],
    cues: Cues,
    readable: Readable,
) -> list[Span]:
    """The spans with limits by patterns beside those of the model.

    patterns: what patterns find, slots and limits. readable: whether code reads a limit's span as what it is
    said to be. Two readings of one place for one field make it more certain.
    """
    kept = [one for one in spans if one.field not in _WORDED or not _EMPTY.fullmatch(one.value)]
    texts = frozenset(
        f"slot.{slot.name}" for slot in form.slots if not slot.options and not typed(slot, cues)
    )
    quotes = [Place(*match.span()) for match in _QUOTED.finditer(prose)]
    for told in patterns:
        if not free(place_of(told), quotes):
            continue  # who quotes means just these words
        if told.field in CHECKED:
            kept = _checked(prose, kept, told, texts, cues, readable)
        elif told.field in FIELDS:
            kept = _clause(kept, told, cues, readable)
    return [_without_tail(prose, one, kept, texts, cues) for one in kept]


def _checked(
    prose: str,
    kept: Sequence[Span],
    told: Span,
    texts: frozenset[str],
    cues: Cues,
    readable: Readable,
) -> list[Span]:
    """The spans, with what a pattern says of a limit that code can read."""
    met = [one for one in kept if _meets(one, told)]
    limits = [one for one in met if one.field in FIELDS]
    own = [one for one in limits if one.field == told.field]
    sure = told.probability >= cues.probability["pattern"]
    if own:
        if len(limits) > 1:
            return list(kept)
        better = _better(own[0], told, readable)
        told = replace(better, probability=both(own[0].probability, told.probability))
        if better is own[0]:
            return [told if one is own[0] else one for one in kept]
    elif limits:
        if any(one.field not in CHECKED or readable(one) for one in limits) or not readable(told):
            return list(kept)
    elif not readable(told) or not (met or sure):
        return list(kept)
    slots = [one for one in met if one not in limits]
    least = _DOUBTED if sure else _GUESSED
    cut = [_before(prose, one, told, cues) for one in slots]
    if not all(cut) or any(one.field not in texts or one.probability >= least for one in slots):
        return list(kept)
    return [*(one for one in kept if one not in met), *(one for one in cut if one), told]


def _better(own: Span, told: Span, readable: Readable) -> Span:
    """Of two readings of one place that which code can read; of two such the longer.

    Words that the model marked are not left out to make the rest readable: "early next week" is asked about,
    not taken for next week. Only of places, what is around the name is no part of it.
    """
    mine, other = readable(own), readable(told)
    if not mine and not told.field.startswith("jurisdiction") and _says_more(own, told):
        return own
    if mine == other:
        return told if len(told.value) > len(own.value) and (mine or _holds(told, own)) else own
    return own if mine else told


def _says_more(own: Span, told: Span) -> bool:
    """Whether words that mean something stand in `own` and not in `told`, which lies in it."""
    if not _holds(own, told):
        return False
    shift = place_of(told).start - place_of(own).start
    rest = (own.value[:shift], own.value[shift + len(told.value) :])
    return any(part.strip(" ,;") and not _EMPTY.fullmatch(part.strip(" ,;")) for part in rest)


def _clause(kept: Sequence[Span], told: Span, cues: Cues, readable: Readable) -> list[Span]:
    """The spans, with a rule or wish to the end of its clause, one that was overlooked, or a sign of success
    that was taken for a limit which nobody can read."""
    met = [one for one in kept if _meets(one, told)]
    same = len(met) == 1 and met[0].field == told.field
    if same and told.field in _CLAUSES and met[0].start == told.start and _holds(told, met[0]):
        certain = both(met[0].probability, told.probability)
        return [replace(told, probability=certain) if one is met[0] else one for one in kept]
    if not met and told.field == "rule" and told.probability >= cues.probability["pattern"]:
        return [*kept, told]
    if met and told.field in _SIGNS and all(one.field in CHECKED and not readable(one) for one in met):
        return [*(one for one in kept if one not in met), told]
    return list(kept)


def _before(prose: str, text: Span, told: Span, cues: Cues) -> Span | None:
    """A text that runs into a limit, as far as it goes before the limit and the words that lead to it."""
    start, limit = place_of(text).start, place_of(told).start
    value = _TAIL.sub("", prose[start:limit].rstrip(" \t\n,;"))
    if limit <= start or not value.strip() or _EMPTY.fullmatch(value) or _TELLS_WHICH.search(value):
        return None
    certain = max(text.probability, cues.probability["trimmed"])
    return span_at(text.field, prose, Place(start, start + len(value)), certain)


def _without_tail(prose: str, one: Span, kept: Iterable[Span], texts: frozenset[str], cues: Cues) -> Span:
    """A text without words at its end that lead to the limit behind it."""
    if one.field not in texts or one.end is None or not (tail := _TAIL.search(one.value)):
        return one
    behind = [
        other.start
        for other in kept
        if other.field in FIELDS and other.start is not None and other.start >= one.end
    ]
    if not behind or not _BETWEEN.fullmatch(prose[one.end : min(behind)]):
        return one
    end = place_of(one).start + tail.start()
    certain = max(one.probability, cues.probability["trimmed"])
    return span_at(one.field, prose, Place(place_of(one).start, end), certain)


def _meets(one: Span, other: Span) -> bool:
    return one.start is not None and not free(place_of(one), [place_of(other)])


def _holds(outer: Span, inner: Span) -> bool:
    return place_of(outer).start <= place_of(inner).start and place_of(inner).end <= place_of(outer).end


def both(first: float, second: float) -> float:
    """How certain it is what two say independently of one another."""
    return 1 - (1 - first) * (1 - second)
