"""What stands behind a colon: "write in ideas.txt: buy a boat" gives a text to the letter. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from mcl.compiler.stages.clauses import Clauses, quotes_of
from mcl.compiler.stages.phrase_places import letter_end
from mcl.model.cues import TextPlace, free, load_cues, place_of, span_at, typed, within
from mcl.model.protocol import ExtractForm, SlotForm, Span

_COLON: Final = re.compile(r"(?<=\w):\s+(?=\S)")
_PATH: Final = re.compile(r"\S*(?:/|\w\.\w)\S*")


def with_content(
    spans: Sequence[Span], form: ExtractForm, clauses: Clauses
) -> tuple[tuple[Span, ...], TextPlace | None]:
    """The spans, with all that stands behind a colon as the one text that the goal gives there, and where it
    stands; without one the spans as they are, and None.

    It is one where a clause before the colon begins with a verb of what is wanted, and all that is filled
    behind it is one slot that takes any text: that which the model found there, else the only required one
    that nothing before the colon fills. A skill for any goal keeps all words as they are.
    """
    kept, prose, main = tuple(spans), clauses.prose, clauses.main
    colons = (match for match in _COLON.finditer(prose) if free(TextPlace.of(match), clauses.quotes))
    colon = next(colons, None)
    if colon is None or main is None or clauses.takes_any:
        return kept, None
    # "reminder: …", where the skill says that word of itself
    named = not clauses.does(main) or clauses.words.wished.match(clauses.said(main.place)) is not None
    lines = "\n" in colon[0]  # lines of their own below it are a text, however it was led to
    if main.place.start >= colon.start() or (named and not lines and not clauses.is_own(main)):
        return kept, None
    place = TextPlace(colon.end(), letter_end(colon.end(), clauses))
    if any(not free(one, [place]) for one, _ in quotes_of(prose)):
        return kept, None  # the quote is the text
    inside = [one for one in spans if one.start is not None and not free(place_of(one), [place])]
    before = {one.field for one in spans if one not in inside}
    slot = _slot(form, inside, before, first=named)
    if slot is None or not all(within(place_of(one), [place]) for one in inside):
        return kept, None
    text = span_at(f"slot.{slot.name}", prose, place, load_cues().probability["phrase"])
    return (*(one for one in kept if one not in inside), text), place


def _slot(form: ExtractForm, inside: Sequence[Span], before: set[str], *, first: bool) -> SlotForm | None:
    """The slot that the text is for. first: the first that takes a text, where none must be filled."""
    cues = load_cues()
    texts = {
        f"slot.{slot.name}": slot
        for slot in form.slots
        if slot.type == "string" and not slot.options and not typed(slot, cues)
    }
    filled = {one.field for one in inside if one.field.startswith("slot.")}
    if len(filled) > 1 or not filled <= set(texts) - before:
        return None
    if filled:
        (field,) = filled
        paths = [one for one in inside if one.field == field and _PATH.fullmatch(one.value)]
        return None if paths else texts[field]
    needed = [slot for field, slot in texts.items() if slot.required and field not in before]
    if first and not needed:
        return next((slot for field, slot in texts.items() if field not in before), None)
    return needed[0] if len(needed) == 1 else None
