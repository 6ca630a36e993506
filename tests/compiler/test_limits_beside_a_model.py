"""What patterns find of limits counts beside what a model marks: nothing that a goal limits is lost."""

from __future__ import annotations

import pytest

from ir import Frame
from mcl.compiler.compiler import Clarify, Compiled
from tests.compiler.conftest import Compile, Scripted

ITEM = {"slot.item": "paper"}


def understood(compiles: Compile, goal: str, model: Scripted | None = None) -> tuple[Frame, list[str]]:
    outcome = compiles(goal, model or Scripted(says=ITEM), skill="order", verb="acquire")
    assert isinstance(outcome, Compiled | Clarify)
    # What is read well and cannot be checked here is asked about beside that: test_promises_asked_about.
    fields = [unknown.field for unknown in outcome.intent.unknowns]
    return outcome.intent.frame, [field for field in fields if not field.startswith("promise.")]


def stated(frame: Frame) -> list[dict[str, object]]:
    signs = (*frame.constraints, *frame.success_criteria, *frame.preferences)
    return [one.model_dump(exclude_defaults=True) for one in signs]


@pytest.mark.parametrize(
    ("goal", "said"),
    [
        ("order paper for at most €1.2k", {"hard": True, "max": {"asset": "EUR", "amount": "1200"}}),
        ("order paper under two thousand dollars", {"hard": True, "max": {"asset": "USD", "amount": "2000"}}),
        ("order paper, max CHF 5'000", {"hard": True, "max": {"asset": "CHF", "amount": "5000"}}),
        ("order paper for around $50", {"max": {"asset": "USD", "amount": "50"}}),
        ("order paper by Friday", {"hard": True, "by": "2026-11-27T23:59:59.000Z"}),
        ("order paper only from Sweden", {"hard": True, "allow": ("SE",)}),
        ("order paper, not from China", {"hard": True, "deny": ("CN",)}),
        (
            "order paper with at least 99 % quality",
            {"hard": True, "metric": "quality", "min": 0.99, "share": True},
        ),
        ("order paper, never on a Sunday", {"hard": True, "rule": "never on a Sunday"}),
    ],
)
def test_a_limit_that_the_model_overlooked_is_not_lost(compiles: Compile, goal: str, said: object) -> None:
    frame, open_fields = understood(compiles, goal)
    assert stated(frame) == [said]
    assert open_fields == []


@pytest.mark.parametrize(
    "goal", ["order paper for $50", "order paper before Friday", "order paper in two weeks"]
)
def test_what_may_as_well_be_something_else_is_left_to_the_model(compiles: Compile, goal: str) -> None:
    found = stated(understood(compiles, goal)[0])
    assert [sorted(one) for one in found] == [["hard", "rule"]] * len(found)  # asked about, and not guessed


@pytest.mark.parametrize(
    ("goal", "field", "span", "said"),
    [
        ("order paper by Friday noon", "deadline", "noon", {"hard": True, "by": "2026-11-27T12:00:00.000Z"}),
        ("order paper with 99 % quality", "budget", "99 % quality",
         {"hard": True, "metric": "quality", "min": 0.99, "share": True}),
        ("order paper with quality above 0.9", "quality", "above 0.9",
         {"hard": True, "metric": "quality", "min": 0.9}),
        ("order paper, audited by KPMG", "deadline", "KPMG", {"topic": "KPMG"}),
        ("order paper, always ask me first", "rule", "always ask",
         {"hard": True, "rule": "always ask me first"}),
    ],
)  # fmt: skip
def test_of_two_readings_that_counts_which_can_be_read(
    compiles: Compile, goal: str, field: str, span: str, said: object
) -> None:
    frame, open_fields = understood(compiles, goal, Scripted(says={**ITEM, field: span}))
    assert stated(frame) == [said]
    assert open_fields == []


@pytest.mark.parametrize(
    ("goal", "field", "span"),
    [
        ("order paper for a song", "budget", "a song"),
        ("order paper by and by", "deadline", "by and by"),
        ("order paper by early next week", "deadline", "early next week"),
        ("order paper by the week after next Friday", "deadline", "the week after next Friday"),
        ("order paper under $50 plus shipping", "budget", "$50 plus shipping"),
    ],
)
def test_what_neither_can_read_is_asked_with_its_words(
    compiles: Compile, goal: str, field: str, span: str
) -> None:
    outcome = compiles(goal, Scripted(says={**ITEM, field: span}), skill="order", verb="acquire")
    assert isinstance(outcome, Clarify)
    assert f"“{span}”" in outcome.intent.unknowns[0].rationale


@pytest.mark.parametrize(
    ("goal", "marked", "kept"),
    [
        ("order paper for at most $50", "paper for at most $50", "paper"),
        ("order the paper within 3 days", "the paper within", "the paper"),
        ("order sheets, under 20 euros", "sheets, under 20 euros", "sheets"),
    ],
)
def test_a_text_ends_before_a_limit_and_the_words_that_lead_to_it(
    compiles: Compile, goal: str, marked: str, kept: str
) -> None:
    says = {"slot.item": marked} | ({"deadline": "3 days"} if "3 days" in goal else {})
    frame, _ = understood(compiles, goal, Scripted(says=says, certainty={"slot.item": 0.5}))
    assert [one.value for one in frame.objects if one.name == "item"] == [kept]
    assert len(frame.constraints) == 1


def test_a_text_that_the_model_is_certain_of_may_hold_an_amount(compiles: Compile) -> None:
    says = {"slot.item": "a voucher of at most $50"}
    frame, _ = understood(compiles, "order a voucher of at most $50", Scripted(says=says))
    assert [one.value for one in frame.objects if one.name == "item"] == ["a voucher of at most $50"]
    assert frame.constraints == ()


def test_two_that_agree_are_more_certain_than_one(compiles: Compile) -> None:
    says = {**ITEM, "budget": "$50"}
    alone = compiles("order paper $50", Scripted(says=says, certainty={"budget": 0.8}), skill="order")
    both = compiles("order paper under $50", Scripted(says=says, certainty={"budget": 0.8}), skill="order")
    assert both.intent.confidence > alone.intent.confidence  # type: ignore[union-attr]
