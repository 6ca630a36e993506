"""A model marks the amount, the day or the country alone; the words around it must not be lost."""

import pytest

from ir import BudgetConstraint, DeadlineConstraint, Intent, JurisdictionConstraint
from mcl.compiler.compiler import Clarify, Compiled
from tests.compiler.conftest import Compile, Scripted


def understood(compiles: Compile, goal: str, field: str, span: str) -> Intent:
    outcome = compiles(goal, Scripted(says={"slot.item": "paper", field: span}))
    assert isinstance(outcome, Compiled | Clarify)
    return outcome.intent


@pytest.mark.parametrize(
    ("goal", "span"),
    [
        ("order paper for at least $50", "$50"),
        ("order paper for at least $50", "at least $50"),
        ("order paper for more than $50", "$50"),
        ("order paper for more than $50", "more than $50"),
        ("order paper for over 50 USD", "50 USD"),
        ("order paper for no less than 50 USD", "50 USD"),
        ("order paper for $50 or more", "$50"),
        ("order paper for $50+", "$50"),
        ("order paper, somewhere between $50 and a lot", "$50"),
        ("order paper for $50 per month", "$50"),
        ("order paper for $50 a week", "$50"),
        ("order paper at $50/box", "$50"),
        ("order paper, $50 each", "$50"),
    ],
)
def test_an_amount_that_is_no_most_is_asked_about(compiles: Compile, goal: str, span: str) -> None:
    intent = understood(compiles, goal, "budget", span)
    assert intent.frame.constraints == ()
    assert [u.field for u in intent.unknowns] == ["frame.constraints.budget.max"]
    assert f"“{span}”" in intent.unknowns[0].rationale


@pytest.mark.parametrize(
    ("goal", "span"),
    [
        ("order paper for $50", "$50"),
        ("order paper, don't spend over $50", "$50"),
        ("order paper without spending more than $50", "$50"),
        ("order paper for no more than $50", "no more than $50"),
        ("order paper, never pay more than 50 dollars", "more than 50 dollars"),
        ("order paper, do not exceed $50", "$50"),
        ("order paper for $50 or less", "$50"),
        ("order paper for $50 at most", "$50"),
        ("order over 20 packs of paper for $50", "$50"),
    ],
)
def test_an_amount_that_is_the_most_is_the_budget(compiles: Compile, goal: str, span: str) -> None:
    (only,) = understood(compiles, goal, "budget", span).frame.constraints
    assert isinstance(only, BudgetConstraint)
    assert only.max is not None
    assert (only.max.asset, only.max.amount) == ("USD", "50")


@pytest.mark.parametrize("span", ["$50", "$50 and $60", "between $50 and $60", "$60"])
def test_the_most_of_a_range_is_its_upper_end(compiles: Compile, span: str) -> None:
    intent = understood(compiles, "order paper for between $50 and $60", "budget", span)
    (only,) = intent.frame.constraints
    assert isinstance(only, BudgetConstraint)
    assert only.max is not None
    assert (only.max.asset, only.max.amount) == ("USD", "60")


@pytest.mark.parametrize(
    "goal",
    [
        "order paper after friday",
        "order paper, not before friday",
        "order paper no earlier than friday",
        "order paper two weeks from friday",
        "order paper two days before friday",
        "order paper friday or later",
        "order paper on friday at the earliest",
        "beställ paper tidigast friday",
    ],
)
def test_a_day_that_is_no_last_one_is_asked_about(compiles: Compile, goal: str) -> None:
    intent = understood(compiles, goal, "deadline", "friday")
    assert intent.frame.constraints == ()
    assert [u.field for u in intent.unknowns] == ["frame.constraints.deadline.by"]


@pytest.mark.parametrize(
    ("goal", "by"),
    [
        ("order paper by friday", "2026-11-27T23:59:59.000Z"),
        ("order paper no later than friday", "2026-11-27T23:59:59.000Z"),
        ("order paper, not after friday", "2026-11-27T23:59:59.000Z"),
        ("order paper before friday", "2026-11-27T00:00:00.000Z"),
    ],
)
def test_a_day_that_is_the_last_one_is_the_deadline(compiles: Compile, goal: str, by: str) -> None:
    (only,) = understood(compiles, goal, "deadline", "friday").frame.constraints
    assert isinstance(only, DeadlineConstraint)
    assert only.by == by


@pytest.mark.parametrize(
    ("goal", "field", "span"),
    [
        ("order paper, we do not want China", "jurisdiction_allow", "China"),
        ("order paper, leaving China out of it", "jurisdiction_allow", "China"),
        ("order paper but do not use vendors outside China", "jurisdiction_deny", "China"),
        ("order paper, not only from China", "jurisdiction_deny", "China"),
        ("order paper, not only from China", "jurisdiction_allow", "China"),
    ],
)
def test_a_country_said_the_other_way_round_is_asked_about(
    compiles: Compile, goal: str, field: str, span: str
) -> None:
    intent = understood(compiles, goal, field, span)
    assert intent.frame.constraints == ()
    assert [u.field for u in intent.unknowns] == [f"frame.constraints.jurisdiction.{field[13:]}"]


@pytest.mark.parametrize(
    ("goal", "field", "span", "allow", "deny"),
    [
        ("order paper from China only", "jurisdiction_allow", "China only", ("CN",), ()),
        ("order paper, it must not leave China", "jurisdiction_allow", "China", ("CN",), ()),
        ("order paper, not too thin, from NO", "jurisdiction_allow", "NO", ("NO",), ()),
        ("do not be slow with paper from China", "jurisdiction_allow", "China", ("CN",), ()),
        ("order paper, not from China", "jurisdiction_deny", "China", (), ("CN",)),
        ("order paper from outside China", "jurisdiction_deny", "outside China", (), ("CN",)),
        # the model names the wrong field, and the words before the place say the other
        ("order paper, not from China", "jurisdiction_allow", "China", (), ("CN",)),
        ("order paper from outside China", "jurisdiction_allow", "outside China", (), ("CN",)),
        ("order paper from anywhere but China", "jurisdiction_allow", "China", (), ("CN",)),
        ("order paper, it must never leave China", "jurisdiction_deny", "China", ("CN",), ()),
        ("order paper, only from China", "jurisdiction_deny", "China", ("CN",), ()),
    ],
)
def test_a_country_is_allowed_or_denied_as_it_is_said(
    compiles: Compile, goal: str, field: str, span: str, allow: tuple[str, ...], deny: tuple[str, ...]
) -> None:
    found = understood(compiles, goal, field, span).frame.constraints
    (only,) = (one for one in found if isinstance(one, JurisdictionConstraint))
    assert (only.allow, only.deny) == (allow, deny)


def test_letters_that_grow_in_lower_case_do_not_move_the_clause(compiles: Compile) -> None:
    goal = f"order paper {'ß' * 30}, ideally cheap, by friday"
    (only,) = understood(compiles, goal, "deadline", "friday").frame.constraints
    assert isinstance(only, DeadlineConstraint)
    assert only.hard


def test_no_calls_at_all_is_asked_about(compiles: Compile) -> None:
    intent = understood(compiles, "order paper with 0 calls", "budget", "0 calls")
    assert [u.field for u in intent.unknowns] == ["frame.constraints.budget.max"]


@pytest.mark.parametrize("said", ["at most", "under", "no more than", "within"])
def test_a_measure_that_is_said_as_the_most_is_asked_about(compiles: Compile, said: str) -> None:
    intent = understood(compiles, f"order paper, {said} 200 sheets", "quality", "200 sheets")
    assert [u.field for u in intent.unknowns] == ["frame.constraints.quality"]
    assert not intent.frame.constraints


def test_a_measure_not_under_a_figure_is_the_least(compiles: Compile) -> None:
    intent = understood(compiles, "order paper, not under 200 sheets", "quality", "200 sheets")
    assert [one.type for one in intent.frame.constraints] == ["quality"]
