"""What patterns find in the goal counts beside what a model marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from mcl.model.protocol import ExtractForm, SlotForm, Span
from mcl.mtx.core import load_core
from mcl.stages.evidence import with_patterns
from mcl.stages.rules import Rules

GOAL = "download https://example.org/a.html on Tuesday at 12:00 with cargo"


@pytest.fixture(scope="module")
def rules() -> Rules:
    return Rules.of(load_core())


def marked(field: str, text: str, probability: float) -> Span:
    start = GOAL.index(text)
    return Span(f"slot.{field}", text, start, start + len(text), probability)


def form(*slots: SlotForm) -> ExtractForm:
    return ExtractForm("x", "", slots)


def values(spans: Sequence[Span]) -> dict[str, str]:
    return {span.field.removeprefix("slot."): span.value for span in spans}


URL = SlotForm("url", "string", "the address")
WHEN = SlotForm("when", "iso8601", "when")
SUITE = SlotForm("suite", "enum<cargo|npm>", "what with", ("cargo", "npm"))


def test_a_slot_that_the_model_left_empty_is_filled_where_a_pattern_finds_its_form(rules: Rules) -> None:
    assert values(with_patterns(GOAL, form(URL), (), rules)) == {"url": "https://example.org/a.html"}


def test_the_more_certain_of_model_and_pattern_wins(rules: Rules) -> None:
    for probability, text in ((0.5, "https://example.org/a.html"), (0.99, "download")):
        spans = with_patterns(GOAL, form(URL), (marked("url", "download", probability),), rules)
        assert values(spans) == {"url": text}


def test_of_two_readings_of_one_form_the_longer_wins_however_certain_the_shorter_is(rules: Rules) -> None:
    spans = with_patterns(GOAL, form(WHEN), (marked("when", "12:00", 0.99),), rules)
    assert values(spans) == {"when": "Tuesday at 12:00"}


def test_what_the_model_is_less_certain_of_gives_way_where_a_pattern_needs_its_words(rules: Rules) -> None:
    file = SlotForm("other", "string", "something else")
    spans = with_patterns(GOAL, form(URL, file), (marked("other", "https://example.org/a.html", 0.6),), rules)
    assert values(spans) == {"url": "https://example.org/a.html"}
    spans = with_patterns(
        GOAL, form(URL, file), (marked("other", "https://example.org/a.html", 0.99),), rules
    )
    assert values(spans) == {"other": "https://example.org/a.html"}


def test_an_option_that_the_goal_names_is_taken_and_one_that_it_does_not_name_must_be_certain(
    rules: Rules,
) -> None:
    unnamed = Span("slot.suite", "npm", None, None, 0.7)
    assert values(with_patterns(GOAL, form(SUITE), (unnamed,), rules)) == {"suite": "cargo"}
    silent = GOAL.replace("cargo", "it")
    assert values(with_patterns(silent, form(SUITE), (unnamed,), rules)) == {}
    certain = Span("slot.suite", "npm", None, None, 0.95)
    assert values(with_patterns(silent, form(SUITE), (certain,), rules)) == {"suite": "npm"}


def test_with_a_weight_of_nothing_all_is_left_to_the_model(rules: Rules) -> None:
    without = replace(rules, pattern_weight=0.0)
    assert with_patterns(GOAL, form(URL), (marked("url", "download", 0.1),), without) == (
        marked("url", "download", 0.1),
    )
