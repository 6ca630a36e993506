"""Why a compile ended as it did: told from what its stages found, beside the limits of the core modules."""

from __future__ import annotations

import pytest

from executor.store.home import Home
from mcl.compiler.compiler import Clarify, Compiled, Refused
from mcl.compiler.outcome import CompileReasons, WordReading
from tests.compiler.conftest import Compile, Scripted


def reasons_of(outcome: object) -> CompileReasons:
    assert isinstance(outcome, Compiled | Clarify | Refused)
    assert outcome.reasons is not None
    return outcome.reasons


def test_a_doubt_is_told_with_what_was_chosen_its_rival_and_the_limit(compiles: Compile) -> None:
    model = Scripted(says={"slot.item": "paper"}, certainty={"slot.item": 0.3})
    told = reasons_of(compiles("order paper", model))
    assert told.outcome == "clarify"
    assert not told.blocked
    assert told.asked_below == 0.41
    assert told.decided_on < told.asked_below
    (first, share), (second, _), *_ = told.skills
    assert (first, told.skill) == ("order", "order")
    assert share < 1
    assert second != first
    assert ("slot.item", "preferred") in [(gap.field, gap.severity) for gap in told.open]


def test_each_value_is_told_with_its_words_and_how_certain_they_are(compiles: Compile) -> None:
    model = Scripted(says={"slot.item": "paper"}, sure=0.97)
    told = reasons_of(compiles("order paper", model, skill="order", slots={"supplier": "Acme"}))
    assert told.skills == ()
    assert WordReading("slot.item", "paper", "paper", "goal", 0.97) in told.readings
    assert WordReading("slot.supplier", "", "Acme", "given", None) in told.readings


def test_what_blocks_is_asked_however_sure_the_rest_is(compiles: Compile) -> None:
    told = reasons_of(compiles("order", Scripted(sure=0.99)))
    assert told.outcome == "clarify"
    assert told.blocked
    assert ("slot.item", "blocking") in [(gap.field, gap.severity) for gap in told.open]


def test_a_refusal_tells_that_no_skill_had_the_largest_share(compiles: Compile) -> None:
    told = reasons_of(compiles("sing", Scripted(skill=None)))
    assert told.outcome == "refused"
    assert told.skills[0][0] == ""


@pytest.mark.parametrize("goal", ["order paper", "send paper", "sing"])
def test_it_is_plain_json_values(home: Home, compiles: Compile, goal: str) -> None:
    import json

    model = Scripted(skill=None) if goal == "sing" else Scripted(says={"slot.item": "paper"})
    told = reasons_of(compiles(goal, model, store=False)).document()
    assert json.loads(json.dumps(told)) == json.loads(json.dumps(told, default=str))
