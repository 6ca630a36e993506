"""What patterns find in the goal counts beside what a model marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from mcl.compiler.stages.evidence import with_patterns
from mcl.compiler.stages.rules import Rules
from mcl.language.mtx.core import load_core
from mcl.model.protocol import ExtractForm, SlotForm, Span

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


def spans_of(prose: str, *said: tuple[str, str]) -> list[Span]:
    return [Span(field, text, prose.index(text), prose.index(text) + len(text), 0.8) for field, text in said]


TEXT, PLACE = SlotForm("thing", "string", "what to look for"), SlotForm("spot", "string", "where")


@pytest.mark.parametrize("marks", ['"{}"', "“{}”"])
@pytest.mark.parametrize("part", ["due", "due on", "Friday", "due on Friday"])
def test_a_text_marked_in_part_of_a_quote_is_the_whole_quote(rules: Rules, marks: str, part: str) -> None:
    prose = f"look for {marks.format('due on Friday')} in my notes"
    given = spans_of(prose, ("slot.thing", part), ("slot.spot", "notes"))
    found = with_patterns(prose, form(TEXT, PLACE), given, rules)
    assert values(found) == {"thing": "due on Friday", "spot": "notes"}
    assert all(prose[span.start : span.end] == span.value for span in found)


def test_nothing_else_is_read_in_a_quote_that_fills_a_text(rules: Rules) -> None:
    prose = 'look for "due on Friday" in notes'
    given = spans_of(prose, ("slot.thing", "due"), ("deadline", "Friday"))
    assert values(with_patterns(prose, form(TEXT), given, rules)) == {"thing": "due on Friday"}


def test_quotes_of_which_more_or_less_is_marked_stay_as_they_are(rules: Rules) -> None:
    prose = 'put "eggs in boxes" there, a 5" nail'
    both = spans_of(prose, ("slot.thing", "eggs"), ("slot.spot", "boxes"))
    assert values(with_patterns(prose, form(TEXT, PLACE), both, rules)) == {
        "thing": "eggs",
        "spot": "boxes",
    }
    more = spans_of(prose, ("slot.thing", 'put "eggs in boxes"'))
    assert values(with_patterns(prose, form(TEXT), more, rules)) == {"thing": 'put "eggs in boxes"'}
    invented = [Span("slot.thing", "milk", prose.index("eggs"), prose.index("eggs") + 4, 0.8)]
    assert values(with_patterns(prose, form(TEXT), invented, rules)) == {"thing": "milk"}


@pytest.mark.parametrize(
    ("prose", "whole"),
    [
        ("remind me tomorrow at 14 to call", "tomorrow at 14"),
        ("remind me at 17 on Friday to call", "at 17 on Friday"),
        ("remind me tomorrow at 9 pm to call", "tomorrow at 9 pm"),
    ],
)
def test_an_hour_said_behind_a_day_is_not_lost(rules: Rules, prose: str, whole: str) -> None:
    day = "Friday" if "Friday" in prose else "tomorrow"
    given = spans_of(prose, ("slot.when", day))
    assert values(with_patterns(prose, form(WHEN), given, rules)) == {"when": whole}


@pytest.mark.parametrize(
    ("slot", "prose"),
    [
        ("city", "weather in Brunei please"),
        ("person", "remove item a from my list"),
        ("first_name", "tell me of a restaurant called Twentynine"),
        ("event_name", "send a text to Alice"),
    ],
)
def test_a_guess_from_the_words_around_counts_only_where_no_model_reads(
    rules: Rules, slot: str, prose: str
) -> None:
    assert with_patterns(prose, form(SlotForm(slot, "string", "")), (), rules) == ()


BEDS = SlotForm("number_of_beds", "enum", "how many beds", ("1", "2", "3"))
BATHS = SlotForm("number_of_baths", "enum", "how many baths", ("1", "2", "3"))
FROM = SlotForm("account", "enum", "of the user", ("checking", "savings"))
TO = SlotForm("other_account", "enum", "of who gets it", ("checking", "savings"))


def option(slot: SlotForm, value: str, probability: float) -> Span:
    return Span(f"slot.{slot.name}", value, None, None, probability)


@pytest.mark.parametrize("prose", ["a flat with two bedrooms and 1 bath", "2 beds, one bathroom, 500 m"])
def test_a_number_of_a_closed_list_counts_for_the_slot_whose_thing_stands_behind_it(
    rules: Rules, prose: str
) -> None:
    wrong = (option(BEDS, "1", 0.7), option(BATHS, "2", 0.7))
    for said in ((), wrong):
        assert values(with_patterns(prose, form(BEDS, BATHS), said, rules)) == {
            "number_of_beds": "2",
            "number_of_baths": "1",
        }


def test_a_number_that_the_goal_says_of_nothing_is_left_to_the_model(rules: Rules) -> None:
    prose = "three would do, at 2:30"
    said = (option(BEDS, "3", 0.5),)
    assert values(with_patterns(prose, form(BEDS, BATHS), said, rules)) == {"number_of_beds": "3"}
    assert values(with_patterns(prose, form(BEDS), (option(BEDS, "2", 0.5),), rules)) == {}


def test_two_slots_with_one_list_take_what_the_goal_names_in_turn(rules: Rules) -> None:
    prose = "from my savings to her checking account"
    assert values(with_patterns(prose, form(FROM, TO), (), rules)) == {
        "account": "savings",
        "other_account": "checking",
    }


def test_what_the_model_takes_for_one_slot_does_not_fill_another_with_the_same_list(rules: Rules) -> None:
    said = (option(TO, "savings", 0.7),)
    found = with_patterns("to her savings account", form(FROM, TO), said, rules)
    assert values(found) == {"other_account": "savings"}


def test_an_option_of_the_model_that_the_goal_names_stays_whatever_else_it_names(rules: Rules) -> None:
    said = (option(FROM, "savings", 0.6),)
    found = with_patterns("not from checking, from savings", form(FROM), said, rules)
    assert values(found) == {"account": "savings"}


@pytest.mark.parametrize("hints", [("the csv file", "the new svg picture"), ("a table, .csv", "SVG to draw")])
def test_a_file_fills_the_slot_that_is_for_its_kind(rules: Rules, hints: tuple[str, str]) -> None:
    prose = "statistics about t.csv and a histogram in h.svg"
    data, chart = SlotForm("file", "string", hints[0]), SlotForm("chart", "string", hints[1])
    swapped = spans_of(prose, ("slot.file", "h.svg"), ("slot.chart", "t.csv"))
    for given in (swapped, []):
        assert values(with_patterns(prose, form(data, chart), given, rules)) == {
            "file": "t.csv",
            "chart": "h.svg",
        }


@pytest.mark.parametrize("hint", ["which files, such as *.md", "like report.md", "names: *.md", "see a.md"])
def test_an_example_in_a_hint_claims_no_kind_of_file(rules: Rules, hint: str) -> None:
    prose = "put it into h.md"
    given = spans_of(prose, ("slot.sink", "h.md"))
    slots = form(SlotForm("kind", "string", hint), SlotForm("sink", "string", "what to write"))
    assert values(with_patterns(prose, slots, given, rules)) == {"sink": "h.md"}


def test_a_file_of_a_kind_that_no_slot_names_may_fill_any(rules: Rules) -> None:
    prose = "put t.csv into h.svg"
    one, other = SlotForm("source", "string", "what to read"), SlotForm("sink", "string", "what to write")
    given = spans_of(prose, ("slot.source", "h.svg"), ("slot.sink", "t.csv"))
    assert values(with_patterns(prose, form(one, other), given, rules)) == {
        "source": "h.svg",
        "sink": "t.csv",
    }


def test_no_pattern_takes_a_part_of_a_number(rules: Rules) -> None:
    prose = "give her 1,150 bucks"
    given = spans_of(prose, ("slot.amount", "1,150 bucks"))
    found = with_patterns(prose, form(SlotForm("amount", "string", "how much")), given, rules, lambda _: True)
    assert values(found) == {"amount": "1,150 bucks"}


def test_a_text_goes_on_as_far_as_a_pattern_says_unless_the_model_is_certain(rules: Rules) -> None:
    prose = "add eggs and milk, to shopping.md"
    note, file = SlotForm("note", "string", "what to write down"), SlotForm("file", "string", "the list")
    for probability, text in ((0.9, "eggs and milk"), (0.99, "eggs")):
        given = [replace(one, probability=probability) for one in spans_of(prose, ("slot.note", "eggs"))]
        assert values(with_patterns(prose, form(note, file), given, rules))["note"] == text
