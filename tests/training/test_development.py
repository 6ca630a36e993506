"""Goals kept for measuring: true labels, all that shipped skills and the Frame know, and none trained on."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator

import pytest

from mcl.compiler.stages.repeats import FIRST, LISTED, PLACED, REPEATS
from mcl.model import form
from mcl.plugins.train.tuner import development, handwritten
from mcl.plugins.train.tuner.development import NOBODY
from mcl.plugins.train.tuner.generator import goals as things
from mcl.plugins.train.tuner.generator import phrases as clauses
from mcl.plugins.train.tuner.generator.goals import general
from mcl.plugins.train.tuner.generator.skills import FAMILIES, utter
from mcl.plugins.train.tuner.utterances import Utterance

ALIKE = 0.8


@pytest.fixture(scope="module")
def goals() -> list[Utterance]:
    return development.load()


def words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower()))


def alike(kept: Iterable[str], others: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of which the words are nearly the same; only texts that share a rare word are compared."""
    rows = [(text, words(text)) for text in kept]
    by_word: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for row in rows:
        for word in row[1]:
            by_word.setdefault(word, []).append(row)
    for other in others:
        mine = words(other)
        near = {text: theirs for word in mine for text, theirs in by_word.get(word, ())}
        for text, theirs in near.items():
            if len(mine & theirs) >= ALIKE * len(mine | theirs):
                yield text, other


def test_there_are_enough_and_no_goal_is_said_twice(goals: list[Utterance]) -> None:
    assert len(goals) >= 260
    assert len({" ".join(goal.text.lower().split()) for goal in goals}) == len(goals)
    assert sum(goal.skill == NOBODY for goal in goals) >= 25


def test_marks_stand_where_they_say_and_do_not_overlap(goals: list[Utterance]) -> None:
    for goal in goals:
        end = 0
        for mark in goal.marks:
            if mark.start is None or mark.end is None:
                continue
            assert goal.text[mark.start : mark.end] == mark.value
            assert mark.start >= end, goal.text
            end = mark.end


def test_all_verbs_constraints_skills_and_their_verbs_and_slots_occur(goals: list[Utterance]) -> None:
    assert {goal.verb for goal in goals} == {*form.VERBS, ""}
    by_field = Counter(mark.field for goal in goals for mark in goal.marks)
    assert all(by_field[field] >= 5 for field in form.FIELDS if field != "recurrence")
    said = {(goal.skill[1], goal.verb) for goal in goals}
    marked = Counter((goal.skill[1], mark.field) for goal in goals for mark in goal.marks)
    chosen = Counter((goal.skill[1], mark.value) for goal in goals for mark in goal.marks)
    for skill in development.shipped():
        assert skill.takes_any or {(skill.id, verb) for verb in skill.verbs} <= said
        for slot in skill.slots:
            if slot.name in (REPEATS, FIRST, *LISTED, *PLACED, "then", "scope"):
                continue  # code fills these
            assert marked[skill.id, f"slot.{slot.name}"] >= 3, (skill.id, slot.name)
            assert all(chosen[skill.id, option] for option in slot.options), (skill.id, slot.name)


def test_no_goal_is_among_those_written_for_training_nor_nearly_so(goals: list[Utterance]) -> None:
    trained = (goal.text for goal in handwritten.load())
    assert list(alike((goal.text for goal in goals), trained)) == []


def test_no_goal_is_an_example_of_a_shipped_skill_nor_nearly_so(goals: list[Utterance]) -> None:
    shown = (example for skill in development.shipped() for example in skill.examples)
    assert list(alike((goal.text for goal in goals), shown)) == []


def test_the_generator_says_none_of_them_nor_nearly_so(goals: list[Utterance]) -> None:
    r = random.Random(9)
    made = ((utter(r.choice(FAMILIES), r) if i % 2 else general(r)).text for i in range(4000))
    assert list(alike((goal.text for goal in goals if len(words(goal.text)) > 3), made)) == []


def test_no_long_phrase_of_the_generator_is_in_them(goals: list[Utterance]) -> None:
    text = "\n".join(goal.text.lower() for goal in goals)
    lists = (clauses.RULES, clauses.PREFERENCES, clauses.ATTESTATIONS, things.TOPICS, things.QUESTIONS)
    assert [one for part in lists for one in part if one.count(" ") > 1 and one.lower() in text] == []
