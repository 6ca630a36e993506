"""One goal of a row: its pieces with the right answers, for a choice or for an extraction."""

from __future__ import annotations

from collections.abc import Sequence

from mcl.model import form
from mcl.model.protocol import Candidate
from mcl.plugins.train.tuner.corpora import Utterance
from mcl.plugins.train.tuner.rows import Body, body_of
from mcl.plugins.train.tuner.variation import Variant, Variation
from mcl.plugins.train.tuner.vocabulary import Vocabulary

TAG_WEIGHT, PICK_WEIGHT, OPTION_WEIGHT = 0.3, 1.01, 1.0
VERB_WEIGHT, THEIR_VERB_WEIGHT = 0.6, 0.2
"""Of a goal of our own domain, and of another set's utterance, whose verb is nearly always find or modify."""


def tags_of(
    utterance: Utterance, units: Sequence[form.Unit], variant: Variant
) -> tuple[list[str], dict[int, str]] | None:
    """Tags of the units and options of the slots that have some, or None where labels cannot be told so."""
    tags = ["none"] * len(units)
    options: dict[int, str] = {}
    place = {field: i for i, field in enumerate(variant.original) if field}
    first_option = [0]
    for slot in variant.shown.slots:
        first_option.append(first_option[-1] + len(slot.options))
    for mark in utterance.marks:
        at = place.get(mark.field)
        if at is not None and variant.shown.slots[at].options:
            values = [v.lower() for v in variant.shown.slots[at].options]
            wanted = {"true": "yes", "false": "no"}.get(mark.value.lower(), "") if "yes" in values else ""
            wanted = wanted or mark.value.lower()
            if wanted in values:
                options[at] = f"e{first_option[at] + values.index(wanted)}"
            continue
        if mark.start is None or (at is None and mark.field not in form.FIELDS):
            continue
        inside = [
            i for i, unit in enumerate(units) if mark.start <= unit.start and unit.end <= (mark.end or 0)
        ]
        if not inside or units[inside[0]].start != mark.start or units[inside[-1]].end != mark.end:
            return None
        for i in inside:
            tags[i] = "in"
        tags[inside[0]] = mark.field if at is None else f"s{at}"
    return tags, options


def extract_body(
    utterance: Utterance, variant: Variant, vocabulary: Vocabulary, variation: Variation | None
) -> Body | None:
    """The body of one utterance under a form, with answers."""
    units = form.windows(form.words(utterance.text))[0]
    told = tags_of(utterance, units, variant)
    if told is None or not units:
        return None
    tags, options = told
    prompt = form.extract_prompt(utterance.text, units, variant.shown)
    pieces = list(prompt.body)
    if variation is not None:
        pieces = variation.noisy(pieces, tags)
    asked = [i for i, slot in enumerate(variant.shown.slots) if slot.options]
    answers = [*tags, *(options.get(i, "none") for i in asked)]
    weights = [TAG_WEIGHT] * len(tags) + [OPTION_WEIGHT] * len(asked)
    return body_of(
        pieces,
        list(zip(prompt.reads, answers, weights, strict=True)),
        vocabulary,
    )


def choose_body(
    text: str,
    answer: str,
    verb: str,
    candidates: Sequence[Candidate],
    vocabulary: Vocabulary,
    variation: Variation | None,
    verb_weight: float = VERB_WEIGHT,
) -> Body:
    """The body of one choice, with answers (verb "" = unknown)."""
    prompt = form.choose_prompt(text, candidates)
    pieces = list(prompt.body)
    if variation is not None:
        pieces = variation.noisy(pieces, ["none"] * len(pieces))
    pick, verbs = prompt.reads
    reads = [
        (pick, answer, PICK_WEIGHT),
        (verbs, verb or None, verb_weight if verb else 0.0),
    ]
    return body_of(pieces, reads, vocabulary)
