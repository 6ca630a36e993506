"""What fills slots by a fixed phrase of a skill: the words of a goal that stand in its places. Pure."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Final

from mcl.compiler.stages.clauses import TIDY, Clauses, quotes_of
from mcl.compiler.stages.file_names import CALLED
from mcl.language.bm25 import WORD
from mcl.language.phrases import FILE_SLOT, PhraseAround, PhraseMatch, SlotWords, find_phrase, goal_words
from mcl.language.skills import Slot
from mcl.model.cues import Cues, TextPlace, free, load_cues, pattern_spans, place_of, span_at, typed, within
from mcl.model.protocol import BOOLEAN, ExtractForm, SlotForm, Span
from mcl.values.slots import read_slot

_WORD_END: Final = re.compile(r"[.,;:!?]*(?:\s|$)")
SAID: Final = ("message", "body")  # what takes words to the letter
_QUOTES: Final = ('"', "“", "”", "'", "‘", "«", "»")
_MOST_WORDS: Final = 8  # of a text that is no quote
_NAMES: Final = ("title",)  # what something is called that is at a moment
_MOST_OF_NAMES: Final = 16
_BEGINS: Final = ("when", "start")
_LONGEST_MOMENT: Final = 9  # words
_PARTS_OF_HOURS: Final = ("quarter", "half", "kvart")
_NO_HOURS: Final = ("lunch", "lunchen", "år")  # noon, and what one does then; "turns 70 years"
_FEW_WORDS: Final = 3  # of a text that nothing leads to
_NOON: Final = "2000-01-01T12:00:00.000Z"  # whether words say a time at all is the same at any


def with_phrase(
    spans: Sequence[Span],
    form: ExtractForm,
    phrases: Sequence[str],
    clauses: Clauses,
    around: PhraseAround,
    end: int | None = None,
) -> tuple[list[Span], list[TextPlace]]:
    """The spans, with what a phrase of the skill says in their place where the goal has one, and where its
    words stand; nothing else is read in these.

    Where something in a place can be read by a pattern for its slot, that; else all of it, as far as its
    clause goes. What a slot cannot take says nothing of the phrase's other places. end: of the first wish,
    behind which no phrase of it stands.
    """
    kept, prose = list(spans), clauses.prose
    slots = {slot.name: slot for slot in form.slots}
    can = partial(fits, prose, slots)
    match = find_phrase(goal_words(prose[:end]), phrases, around, can) if phrases else None
    if match is None:
        return kept, []
    for name, member in match.phrase.members:
        if name in slots and member in slots[name].options:
            field = f"slot.{name}"
            certain = Span(field, member, None, None, load_cues().probability["phrase"])
            kept = [one for one in kept if one.field != field] + [certain]
    if match.places:
        words = {word for part in match.phrase.parts for word in part.words}
        ends = match.places[-1].start
        kept = [one for one in kept if not _says_phrase(one, prose, words, ends, slots)]
    ended = match.start
    letter = [one for one in match.places if one.slot in slots and one.slot in SAID]
    for place in match.places:
        slot, before = slots.get(place.slot), TextPlace(ended, place.start)
        ended = place.end
        if slot is not None and slot.name in _NAMES and (when := _moment_in(place, match, slots, clauses)):
            kept = [one for one in kept if one.field != when.field] + [when]
            if place_of(when).start <= place.start:
                continue  # it says when, and not what
            place = place._replace(end=place_of(when).start)
        if slot is not None and slot.name in SAID:
            end = letter_end(place.start, clauses) if place is match.places[-1] else place.end
            place = place._replace(start=_begun(before, words, prose), end=end)
        found = list(islice(_values(place, slot, clauses), slot.many)) if slot is not None else []
        if found:
            places = [place_of(one) for one in found]
            kept = [one for one in kept if one.field != found[0].field and _apart(one, places)] + found
    if match.places and not letter:
        kept += _behind(match.places[-1], slots, kept, clauses)
    said = _between(match)
    own = {f"slot.{name}" for name in (*(place.slot for place in match.places), *SAID)}
    return [one for one in kept if one.field in own or _apart(one, said)], said


def letter_end(start: int, clauses: Clauses) -> int:
    """Where a text ends that goes on to the end: with the goal, or before a last sentence that the skill says
    of itself."""
    prose = clauses.prose.rstrip()
    for one in clauses.covered:
        before = prose[: one.start].rstrip()
        if one.start > start and not prose[one.end :].strip(TIDY) and before[-1:] in '.!?,\n"”':
            return len(before)
    return len(prose)


def _behind(
    last: SlotWords, slots: Mapping[str, SlotForm], kept: Sequence[Span], clauses: Clauses
) -> list[Span]:
    """The text of what has one, where the goal goes on behind the clause of a phrase's last place and does
    not say that it is something else: "a mail to Bo, we come at six"."""
    slot, prose = next((slots[name] for name in SAID if name in slots), None), clauses.prose
    ends = [place_of(one).end for one in kept if one.field == f"slot.{last.slot}" and one.start is not None]
    if slot is None or not ends or slots.get(last.slot) is None:
        return []
    start = ends[-1] + len(prose[ends[-1] :]) - len(prose[ends[-1] :].lstrip(TIDY))
    place = TextPlace(start, letter_end(start, clauses))
    marked = prose[ends[-1] : start].strip()
    begun = next((one for one in clauses.all if one.place.end > start), None)
    wished = begun is None or begun.joined or clauses.does(begun)
    if not marked or wished or len(prose[place.start : place.end].split()) < _FEW_WORDS:
        return []
    return [span_at(f"slot.{slot.name}", prose, place, load_cues().probability["likely"])]


def _moment_in(
    place: SlotWords, match: PhraseMatch, slots: Mapping[str, SlotForm], clauses: Clauses
) -> Span | None:
    """What a place for the name of something says at the end of a clause of when it is, for a slot of that
    which the phrase has no place for."""
    own = {one.slot for one in match.places}
    slot = next((one for one in slots.values() if one.type == "iso8601" and one.name in _BEGINS), None)
    if slot is None or slot.name in own:
        return None
    prose, cues = clauses.prose, load_cues()
    ends = {min(one.place.end, place.end) for one in clauses.all if one.place.end > place.start}
    for end in sorted(end for end in ends if end > place.start):
        words = [place.start + one.start() for one in re.finditer(r"\S+", prose[place.start : end])]
        for start in words[-_LONGEST_MOMENT:]:
            text = prose[start:end]
            if text.split()[0].casefold() in _NO_HOURS:
                continue
            if read_slot(text, slot.type, (), _NOON, "UTC", slot.name) is not None:
                return span_at(f"slot.{slot.name}", prose, TextPlace(start, end), cues.probability["phrase"])
    return None


def _begun(before: TextPlace, words: Collection[str], prose: str) -> int:
    """Where what is said begins: right behind the last word of the phrase itself ("saying *the* keys …")."""
    own = [one for one in WORD.finditer(prose, before.start, before.end) if one[0].casefold() in words]
    start = own[-1].end() if own else before.end
    return start + len(prose[start:]) - len(prose[start:].lstrip(TIDY))


def _between(match: PhraseMatch) -> list[TextPlace]:
    """Where the words of a phrase stand that are not in its places."""
    edges = [match.start, *(edge for one in match.places for edge in one[1:]), match.end]
    runs = zip(edges[::2], edges[1::2], strict=True)
    return [TextPlace(start, end) for start, end in runs if end > start]


def fits(prose: str, slots: Mapping[str, SlotForm], match: PhraseMatch) -> bool:
    """Whether each place of a phrase holds what its slot can take: of a closed list a member, of a form that
    code can check such a form; of any other text anything."""
    cues = load_cues()
    for place in match.places:
        slot, region = slots.get(place.slot), TextPlace(place.start, place.end)
        words = prose[region.start : region.end].casefold().split()
        if slot is not None and FILE_SLOT.search(slot.name) and len(words) > 1:
            called = any(word.strip(TIDY) in CALLED for word in words)
            several = sum("." in word.strip(TIDY) for word in words) > slot.many
            if several or (not called and next(_patterns(prose, region, slot, cues), None) is None):
                return False  # words, and the name of no file among them, or those of more than it takes
            continue
        if slot is None or not (slot.options or typed(slot, cues)):
            continue
        text, element = prose[region.start : region.end], slot.type.removesuffix("[]")
        if slot.name in _BEGINS and text.split()[-1].casefold() in _PARTS_OF_HOURS:
            return False  # "at a quarter to nine"
        found = next(_patterns(prose, region, slot, cues), None) is not None
        if not found and element == "string":
            return False
        if not found and read_slot(text, element, slot.options, _NOON, "UTC", slot.name) is None:
            return False
    return True


def form_of(slot: Slot) -> SlotForm:
    """A slot as it is shown to a model."""
    options = BOOLEAN if slot.type == "bool" else slot.options
    return SlotForm(slot.name, slot.type, slot.hint, options, slot.required, slot.most)


def _says_phrase(
    one: Span, prose: str, words: Collection[str], ends: int, slots: Mapping[str, SlotForm]
) -> bool:
    """Is a text of a slot a word of the phrase itself, before the phrase ends?"""
    slot = slots.get(one.field.removeprefix("slot."))
    if one.start is None or slot is None or slot.options or slot.type != "string":
        return False
    place = place_of(one)
    return place.end <= ends and prose[place.start : place.end].casefold() in words


def _apart(one: Span, places: Sequence[TextPlace]) -> bool:
    return one.start is None or free(place_of(one), places)


def _values(place: SlotWords, slot: SlotForm, clauses: Clauses) -> Iterator[Span]:
    """What fills the slot, in the order of the goal."""
    prose, cues, field = clauses.prose, load_cues(), f"slot.{slot.name}"
    region = _region(place, slot, clauses)
    certain = cues.probability["phrase"]
    if slot.name in SAID and prose[region.start : region.start + 1] not in _QUOTES:
        yield span_at(field, prose, region, certain)
        return
    for whole, inner in quotes_of(prose):
        if within(whole, [region]) and slot.type.removesuffix("[]") == "string":
            yield span_at(field, prose, inner, certain)
            return
    told = [place_of(one) for one in _patterns(prose, region, slot, cues)]
    if told:
        yield from (span_at(field, prose, one, certain) for one in told)
        return
    text = prose[region.start : region.end]
    element = slot.type.removesuffix("[]")
    readable = read_slot(text, element, slot.options, _NOON, "UTC", slot.name) is not None
    most = _MOST_OF_NAMES if slot.name in _NAMES else _MOST_WORDS
    short = slot.options or typed(slot, cues) or len(text.split()) <= most
    if text and readable and short:
        yield span_at(field, prose, region, certain)


def _region(place: SlotWords, slot: SlotForm, clauses: Clauses) -> TextPlace:
    """The characters of a place, up to the end of the clause that it begins in where the slot takes one
    value."""
    end = place.end
    if slot.name in SAID:  # as it was said, with its marks
        return TextPlace(place.start, place.start + len(clauses.prose[place.start : end].rstrip(" \t\n,;")))
    if slot.many == 1:
        clause = clauses.clause_of(TextPlace(place.start, place.start + 1))
        end = min(end, clause.end) if clause.end > place.start else end
        while end < place.end and not _WORD_END.match(clauses.prose, end):  # "people[0].name" is one word
            end += 1
    polite = (one.start for one in clauses.filler if one.end == end and one.start > place.start)
    end = min(polite, default=end)  # "make a folder for receipts please"
    text = clauses.prose[place.start : end]
    return TextPlace(place.start, place.start + len(text.rstrip(TIDY)))


def _patterns(prose: str, region: TextPlace, slot: SlotForm, cues: Cues) -> Iterator[Span]:
    """What patterns find for the slot in the whole goal, else in the place alone."""
    found = pattern_spans(prose, [slot], cues, [])
    own = [one for one in found if one.field == f"slot.{slot.name}" and within(place_of(one), [region])]
    if own:
        yield from own
        return
    for one in pattern_spans(prose[region.start : region.end], [slot], cues, []):
        if one.field == f"slot.{slot.name}":
            at = TextPlace(region.start + place_of(one).start, region.start + place_of(one).end)
            yield span_at(one.field, prose, at, one.probability)
