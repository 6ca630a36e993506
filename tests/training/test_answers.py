"""What is counted of answers: fields, exactness, refusals, calibration, pairs and kinds of error."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.answers import (
    NONE,
    FoundValue,
    GoalAnswer,
    by_skill,
    calibration_error,
    confusions,
    figures_of,
    kinds,
    worst,
)

TARGET, BUDGET = FoundValue("slot.target", "a red bike"), FoundValue("budget", "90 euros")
RIGHT = GoalAnswer(
    text="buy a red bike, at most 90 euros",
    wanted_skill="general",
    wanted_verb="acquire",
    wanted=frozenset({TARGET, BUDGET}),
    skill="general",
    verb="acquire",
    found=frozenset({TARGET, BUDGET}),
    confidence=0.95,
)
NOBODYS = replace(RIGHT, text="hello", wanted_skill=NONE, wanted_verb="", wanted=frozenset())


def test_a_right_answer_is_right_in_everything() -> None:
    figures = figures_of([RIGHT])
    for name in ("skill", "verb", "field F1", "exact", "sure", "fields right when sure", "exact when sure"):
        assert figures[name] == 1.0, name
    assert RIGHT.fields == (4, 4)


def test_a_missed_value_and_a_wrong_verb_cost_fields_and_exactness() -> None:
    half = replace(RIGHT, verb="build", found=frozenset({TARGET}))
    assert half.fields == (2, 4)
    figures = figures_of([RIGHT, half])
    assert (figures["verb"], figures["exact"]) == (0.5, 0.5)
    assert figures["field F1"] == pytest.approx(6 / 7)
    assert figures["fields right when sure"] == pytest.approx(6 / 8)


def test_of_nobodys_goal_only_the_refusal_counts() -> None:
    refused = replace(NOBODYS, skill=NONE, verb="", found=frozenset(), confidence=0.0, outcome="refused")
    figures = figures_of([RIGHT, NOBODYS, refused])
    assert (figures["none n"], figures["none recall"], figures["n"], figures["exact"]) == (2, 0.5, 1, 1.0)
    assert figures["exact when sure"] == 0.5
    assert "none recall" not in figures_of([RIGHT])


def test_a_refusal_that_says_no_confidence_is_left_out_of_the_calibration() -> None:
    refused = replace(NOBODYS, skill=NONE, found=frozenset(), confidence=0.0)
    assert figures_of([RIGHT, refused])["ECE"] == figures_of([RIGHT])["ECE"] == pytest.approx(0.05)


def test_what_was_not_asked_is_not_in_the_figures() -> None:
    assert "field F1" not in figures_of([replace(RIGHT, marks=False)])
    assert "skill" not in figures_of([replace(RIGHT, chooses=False)])


def test_the_calibration_error_weighs_each_bin_by_what_is_in_it() -> None:
    assert calibration_error([(0.75, True)] * 3 + [(0.75, False)]) == pytest.approx(0.0)
    assert calibration_error([(1.0, False), (0.5, True)]) == pytest.approx(0.75)
    assert calibration_error([]) == 0.0


@given(st.lists(st.tuples(st.floats(0.001, 1), st.booleans()), min_size=1))
def test_the_calibration_error_is_a_share(rows: list[tuple[float, bool]]) -> None:
    assert 0.0 <= calibration_error(rows) <= 1.0


def test_pairs_are_counted_by_skill_and_verbs_only_of_right_skills() -> None:
    wrong = replace(RIGHT, skill="note-write", verb="build")
    other = replace(RIGHT, verb="modify")
    found = confusions([wrong, wrong, other, RIGHT])
    assert found["skill"] == [("general", "note-write", 2)]
    assert found["verb"] == [("acquire", "modify", 1)]


def test_the_worst_are_the_surest_of_the_wrong() -> None:
    low, high = replace(RIGHT, verb="build", confidence=0.3), replace(RIGHT, verb="build", confidence=0.8)
    assert worst([low, RIGHT, high]) == [high, low]
    assert worst([low, high], 1) == [high]


def test_errors_of_values_are_told_apart_by_where_their_words_went() -> None:
    cut = replace(
        RIGHT, found=frozenset({FoundValue("slot.target", "red bike"), FoundValue("rule", "90 euros")})
    )
    missed = replace(RIGHT, found=frozenset({TARGET, FoundValue("rule", "at most")}))
    elsewhere = replace(RIGHT, skill="note-write", found=frozenset())
    assert kinds([cut, missed, elsewhere]) == {
        "budget": {"as rule": 1, "missed": 1},
        "rule": {"extra": 1},
        "slot.target": {"edge": 1},
    }


def test_skills_are_told_apart() -> None:
    rows = by_skill([RIGHT, replace(RIGHT, verb="build"), NOBODYS])
    assert rows["general"] == {"n": 2, "skill": 1.0, "verb": 0.5, "exact": 0.5}
    assert rows[NONE]["exact"] == 0.0
