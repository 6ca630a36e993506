"""What corrections in words and by slot make of a goal: something else of what they name, nothing of the
rest, and never less than was said without a question."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor import Home
from ir import BudgetConstraint, DeadlineConstraint, Intent, IntentDraftBody
from mcl.compiler.compiler import Clarify, Compiled, Outcome
from mcl.compiler.recompilation import compile_corrected
from mcl.compiler.stages.request import GoalChange
from mcl.core.errors import InputError
from mcl.language.skills import Skills
from tests.compiler.conftest import Scripted, compile_with

PROSE = "order red paper, tagged office, for at most 20 EUR before Friday"
SAYS: dict[str, Any] = {
    "slot.item": ["red paper", "blue paper"],
    "slot.tags": ["office", "urgent"],
    "budget": ["20 EUR", "50 EUR", "10 EUR"],
    "deadline": ["before Friday", "before Monday"],
    "slot.count": ["many"],
}


class Desk:
    """An order that was compiled, and corrections of it."""

    def __init__(self, home: Home, skills: Skills) -> None:
        self.home, self.skills = home, skills
        self.model = Scripted(says=SAYS, quotes=True)
        made = compile_with(PROSE, home=home, skills=skills, model=self.model)
        assert isinstance(made, Compiled)
        self.intent = made.intent

    def corrected(self, *changes: GoalChange | str) -> Outcome:
        given = [GoalChange(one) if isinstance(one, str) else one for one in changes]
        draft = IntentDraftBody(PROSE)
        return compile_corrected(
            self.intent, draft, given, home=self.home, skills=self.skills, model=self.model
        )


@pytest.fixture
def desk(home: Home, skills: Skills) -> Desk:
    return Desk(home, skills)


def slots(intent: Intent) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one in intent.frame.objects:
        found.setdefault(one.name, []).append(one.value)
    return found


def compiled(outcome: Outcome) -> Intent:
    assert isinstance(outcome, Compiled), outcome
    return outcome.intent


BEFORE = {"item": ["red paper"], "speed": ["standard"], "tags": ["office"]}


def test_words_change_what_they_name_and_nothing_else(desk: Desk) -> None:
    assert slots(desk.intent) == BEFORE
    intent = compiled(desk.corrected("blue paper instead"))
    assert slots(intent) == {**BEFORE, "item": ["blue paper"]}
    assert intent.frame.constraints == desk.intent.frame.constraints
    assert (intent.prose, intent.id) == (f"{PROSE}\nblue paper instead", desk.intent.id)


def test_words_that_add_join_a_list_and_words_that_drop_take_from_it(desk: Desk) -> None:
    assert slots(compiled(desk.corrected("also urgent")))["tags"] == ["office", "urgent"]
    assert slots(compiled(desk.corrected("tag it urgent")))["tags"] == ["urgent"]
    assert "tags" not in slots(compiled(desk.corrected("drop office")))


def test_what_is_to_go_and_was_never_there_is_asked_about(desk: Desk) -> None:
    asked = desk.corrected("drop urgent")
    assert isinstance(asked, Clarify)
    assert [one.field for one in asked.questions] == ["slot.tags"]


def test_what_is_named_and_cannot_be_read_is_asked_about_however_optional(desk: Desk) -> None:
    asked = desk.corrected("many of it")
    assert isinstance(asked, Clarify)
    assert [one.field for one in asked.questions] == ["slot.count"]
    intent = compiled(desk.corrected(GoalChange("many of it", {"slot.count": "12"})))
    assert slots(intent)["count"] == ["12"]


@pytest.mark.parametrize(("words", "amount"), [("up to 50 EUR", "50"), ("for 10 EUR at most", "10")])
def test_a_sum_and_a_moment_replace_those_before_and_stand_once(desk: Desk, words: str, amount: str) -> None:
    intent = compiled(desk.corrected(words, "before Monday"))
    sums = [one for one in intent.frame.constraints if isinstance(one, BudgetConstraint)]
    moments = [one for one in intent.frame.constraints if isinstance(one, DeadlineConstraint)]
    assert [str(one.max.amount) for one in sums if one.max] == [amount]
    assert intent.budget is not None
    assert intent.budget.max_cost is not None
    assert str(intent.budget.max_cost.amount) == amount
    assert len(moments) == 1
    assert moments[0] not in desk.intent.frame.constraints


def test_of_several_corrections_the_last_holds_by_words_or_by_slot(desk: Desk) -> None:
    by_slot = GoalChange(fields={"slot.item": "green paper"})
    assert slots(compiled(desk.corrected("blue paper instead", by_slot)))["item"] == ["green paper"]
    assert slots(compiled(desk.corrected(by_slot, "blue paper instead")))["item"] == ["blue paper"]


def test_a_slot_that_is_dropped_is_empty_and_one_that_is_needed_is_asked_for(desk: Desk) -> None:
    assert "tags" not in slots(compiled(desk.corrected(GoalChange(fields={"slot.tags": ""}))))
    asked = desk.corrected(GoalChange(fields={"slot.item": ""}))
    assert isinstance(asked, Clarify)
    assert [one.field for one in asked.questions] == ["slot.item"]


def test_what_cannot_be_is_refused_with_its_place(desk: Desk) -> None:
    for change, code, place in (
        (GoalChange(fields={"slot.nothing": "x"}), "SLOT_UNKNOWN", "slot.nothing"),
        (GoalChange(fields={"slot.count": "many"}), "ANSWER_UNREADABLE", "slot.count"),
        (GoalChange("x" * 100_000), "GOAL_TOO_LONG", "correction"),
    ):
        with pytest.raises(InputError) as refused:
            desk.corrected(change)
        assert (refused.value.code, refused.value.place) == (code, place)
        assert refused.value.fix


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(words=texts, fields=st.dictionaries(texts, texts, max_size=4))
def test_what_was_said_is_read_back_as_it_was_written(words: str, fields: dict[str, str]) -> None:
    change = GoalChange(words, fields)
    assert GoalChange.from_data(change.data()) == change
    assert change.data() == GoalChange(words, dict(reversed(fields.items()))).data()


odd = st.sampled_from([b"[]", b"{}x", b'{"words":1}', b'{"fields":[1]}', b'{"a":""}', b"[" * 9999])


@given(st.binary(max_size=40) | odd)
def test_bytes_that_say_nothing_are_refused_and_never_a_traceback(data: bytes) -> None:
    with pytest.raises(InputError) as refused:
        GoalChange.from_data(data)
    assert refused.value.code == "CORRECTION_UNREAD"
