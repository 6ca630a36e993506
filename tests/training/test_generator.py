"""What the generator writes is labelled truly, and shares no phrase with the goals kept for evaluation."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from mcl.model import form
from mcl.plugins.train.tuner.generator import fillers
from mcl.plugins.train.tuner.generator.goals import PHRASES, general
from mcl.plugins.train.tuner.generator.phrases import choose_parts
from mcl.plugins.train.tuner.generator.skills import FAMILIES, SKILLS, utter
from mcl.plugins.train.tuner.utterances import Utterance
from training.corpora import verbs


def utterances(number: int) -> list[Utterance]:
    r = random.Random(5)
    return [utter(r.choice(FAMILIES), r) if i % 2 else general(r) for i in range(number)]


def test_every_generated_value_stands_in_the_text_and_begins_and_ends_with_a_unit() -> None:
    for utterance in utterances(3000):
        units = form.words(utterance.text)
        starts, ends = {unit.start for unit in units}, {unit.end for unit in units}
        for mark in utterance.marks:
            if mark.start is not None and mark.end is not None:
                assert utterance.text[mark.start : mark.end] == mark.value
                assert mark.start in starts
                assert mark.end in ends


def test_categories_are_options_of_their_slot() -> None:
    for utterance in utterances(1000):
        options = {f"slot.{slot.name}": slot.options for slot in SKILLS[utterance.skill].slots}
        assert all(m.value in options[m.field] for m in utterance.marks if m.start is None)


def test_all_verbs_and_all_constraints_occur() -> None:
    made = utterances(3000)
    assert {u.verb for u in made} == set(form.VERBS)
    assert set(PHRASES) == set(form.VERBS)
    counts = Counter(m.field for u in made for m in u.marks)
    assert all(counts[field] > 20 for field in form.FIELDS if field != "recurrence")


def test_the_same_seed_makes_the_same_goals() -> None:
    assert utterances(50) == utterances(50)


def test_a_template_with_a_stray_bracket_is_refused() -> None:
    with pytest.raises(ValueError, match="unbalanced"):
        choose_parts("find) it", random.Random(1))


def test_each_skill_of_the_corpora_has_one_of_the_ten_verbs_or_none() -> None:
    assert set(verbs().values()) == {*form.VERBS, ""} - {"negotiate", "delegate"}


def test_amounts_and_dates_come_in_many_spellings() -> None:
    r = random.Random(2)
    assert len({fillers.money(r) for _ in range(500)}) > 400
    assert len({fillers.when(r) for _ in range(500)}) > 250
