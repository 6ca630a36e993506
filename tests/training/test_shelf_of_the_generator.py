"""The generator's phrasings of the shipped skills: their slots, options and verbs as they are installed."""

from __future__ import annotations

import random

import pytest

from mcl.compiler.stages.repeats import FIRST, LISTED, PLACED, REPEATS
from mcl.plugins.train.tuner import development
from mcl.plugins.train.tuner.generator.phrases import Family
from mcl.plugins.train.tuner.generator.shelf import SHIPPED
from mcl.plugins.train.tuner.generator.skills import FAMILIES, utter

ALL = pytest.mark.parametrize("family", SHIPPED, ids=lambda family: family.name)


@ALL
def test_a_family_is_the_skill_as_it_is_installed(family: Family) -> None:
    skill = development.shipped().by_id[family.name]
    assert {verb for verb, _, _ in family.templates} == set(skill.verbs)
    shown = {(slot.name, slot.options) for slot in family.slots}
    by_code = {REPEATS, FIRST, *LISTED, *PLACED, "then", "scope"}
    assert shown == {(slot.name, slot.options) for slot in skill.slots if slot.name not in by_code}


@ALL
def test_each_slot_and_option_is_said_and_each_place_stands_for_a_slot(family: Family) -> None:
    r = random.Random(2)
    marks = [mark for _ in range(400) for mark in utter(family, r).marks]
    assert {f"slot.{slot.name}" for slot in family.slots} <= {mark.field for mark in marks}
    assert {option for slot in family.slots for option in slot.options} <= {mark.value for mark in marks}
    slots = {slot.name for slot in family.slots}
    assert {family.places.get(place, place) for place in family.fillers} <= slots


def test_every_shipped_skill_but_the_general_one_has_a_family_and_no_two_have_one_name() -> None:
    ids = {skill.id for skill in development.shipped()} - {"general"}
    assert {family.name for family in SHIPPED} == ids
    assert len({family.name for family in FAMILIES}) == len(FAMILIES)
