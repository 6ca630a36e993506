"""What stands behind a colon is one text, given to the letter, where a goal gives one there."""

from __future__ import annotations

from typing import Any

import pytest

from executor import Home
from mcl.compiler.compiler import Clarify, Compiled, Outcome
from mcl.language.skills import Skills
from tests.compiler.conftest import Scripted, compile_with


def ask(home: Home, skills: Skills, goal: str, **says: Any) -> Outcome:
    return compile_with(goal, home=home, skills=skills, model=Scripted(says=says))


def slots(outcome: Outcome) -> dict[str, str]:
    assert isinstance(outcome, Compiled), outcome
    return {one.name: one.value for one in outcome.intent.frame.objects}


@pytest.mark.parametrize(
    ("goal", "found", "text"),
    [
        ("order this: buy a boat", "a boat", "buy a boat"),
        ("order: paper and call Bo, never plastic", "paper", "paper and call Bo, never plastic"),
        ("beställ följande: köp en båt om det går", "", "köp en båt om det går"),
        ("please order: return the books by 2026-12-04, ok?", "", "return the books by 2026-12-04, ok?"),
    ],
)
def test_a_text_behind_a_colon_is_no_wish_limit_or_condition(
    home: Home, skills: Skills, goal: str, found: str, text: str
) -> None:
    says = {"slot.item": found} if found else {}
    assert slots(ask(home, skills, goal, **says))["item"] == text


def test_what_fills_other_slots_there_stays_where_it_is(home: Home, skills: Skills) -> None:
    found = slots(ask(home, skills, "order now: 12 boxes", **{"slot.item": "boxes", "slot.count": "12"}))
    assert (found["item"], found["count"]) == ("boxes", "12")
    found = slots(ask(home, skills, "order paper: 12 sheets", **{"slot.item": "paper", "slot.count": "12"}))
    assert (found["item"], found["count"]) == ("paper", "12")


@pytest.mark.parametrize(
    ("goal", "item"),
    [
        ("order this: docs/list.txt", "docs/list.txt"),
        ('order: "paper" and nothing shiny', "paper"),
        ("order at 9:30 paper", "paper"),
    ],
)
def test_a_colon_by_itself_says_nothing(home: Home, skills: Skills, goal: str, item: str) -> None:
    asked = ask(home, skills, goal, **{"slot.item": item})
    assert next(one.value for one in asked.intent.frame.objects if one.name == "item") == item
    if "nothing" in goal:
        assert isinstance(asked, Clarify)
