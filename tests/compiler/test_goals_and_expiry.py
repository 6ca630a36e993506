"""Several intents for one goal, until when an intent counts, and constraints of plug-ins: said with a goal,
kept in its draft, and the same when it is compiled again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from executor import Home
from ir import Intent
from mcl.catalog.tools.foreign import all_tools
from mcl.compiler.compiler import Clarify, Compiled, Outcome, recompile, recompile_with_answers
from mcl.compiler.stages.expiry import ExpiryWords
from mcl.core.errors import InputError
from mcl.language.mtx.core import load_core
from mcl.language.skills import Skills
from tests.compiler.conftest import AT, Scripted, compile_with

STOCKHOLM = "Europe/Stockholm"


def ask(home: Home, skills: Skills, goal: str, *, says: dict[str, str] | None = None, **more: Any) -> Outcome:
    model = Scripted(says={"slot.item": "paper", **(says or {})})
    timer = lambda: 0.0  # noqa: E731  # reading strange dates is slow the first time
    return compile_with(goal, home=home, skills=skills, model=model, at=AT, timer=timer, **more)


def compiled(outcome: Outcome) -> Intent:
    assert isinstance(outcome, Compiled), outcome
    return outcome.intent


def answered(home: Home, skills: Skills, asked: Outcome, text: str) -> Outcome:
    assert isinstance(asked, Clarify), asked
    return recompile_with_answers(
        asked.intent.id, {"u1": text}, home=home, skills=skills, load_model=lambda: pytest.fail("asked again")
    )


# ---- Until when it counts.


@pytest.mark.parametrize(
    ("words", "until"),
    [
        ("valid until tomorrow 17:00", "2026-11-22T16:00:00.000Z"),
        ("valid for two hours", "2026-11-21T12:00:00.000Z"),
        ("this expires in 90 minutes", "2026-11-21T11:30:00.000Z"),
        ("expires 2026-11-22T10:00:00Z", "2026-11-22T10:00:00.000Z"),
        ("good until Friday at 17", "2026-11-27T16:00:00.000Z"),
        ("gäller till imorgon 17:00", "2026-11-22T16:00:00.000Z"),
        ("giltig i två timmar", "2026-11-21T12:00:00.000Z"),
    ],
)
def test_a_clause_of_its_own_says_until_when_a_goal_counts(
    home: Home, skills: Skills, words: str, until: str
) -> None:
    for goal in (
        f"order paper, {words}",
        f"order paper. {words[:1].upper()}{words[1:]}.",
        f"order paper ({words})",
    ):
        intent = compiled(ask(home, skills, goal, zone=STOCKHOLM))
        assert intent.expires_at == until
        (mark,) = [one for one in intent.compile_metadata.spans if one.field == "expires_at"]  # type: ignore[union-attr]
        assert intent.prose[mark.start : mark.end].casefold() == words.casefold()


@pytest.mark.parametrize(
    "goal",
    [
        "order paper that is valid for two hours",
        "order a coupon which expires in two hours",
    ],
)
def test_what_is_said_of_a_thing_says_nothing_of_the_goal(home: Home, skills: Skills, goal: str) -> None:
    assert compiled(ask(home, skills, goal, says={"slot.item": goal.split()[1]})).expires_at == ""


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ("order paper valid until tomorrow", "until tomorrow"),
        ("order paper until tomorrow 17:00", "until tomorrow 17:00"),
    ],
)
def test_what_may_be_said_of_a_thing_or_of_the_goal_is_asked(
    home: Home, skills: Skills, goal: str, words: str
) -> None:
    asked = ask(home, skills, goal, says={"slot.item": goal.split()[1]})
    assert isinstance(asked, Clarify)
    assert asked.intent.expires_at == ""
    assert [words in one.prompt for one in asked.questions] == [True]


def test_a_clause_in_a_value_says_nothing_of_the_goal(home: Home, skills: Skills) -> None:
    item = "a coupon, valid for two hours"
    assert compiled(ask(home, skills, f"order {item}", says={"slot.item": item})).expires_at == ""


def test_a_deadline_that_was_marked_in_the_clause_is_none(home: Home, skills: Skills) -> None:
    goal = "order paper, valid until tomorrow 17:00"
    intent = compiled(ask(home, skills, goal, says={"deadline": "tomorrow 17:00"}, zone=STOCKHOLM))
    assert (intent.frame.constraints, intent.deadline, intent.expires_at) == (
        (),
        "",
        "2026-11-22T16:00:00.000Z",
    )


@pytest.mark.parametrize(
    "words", ["valid until the cows come home", "valid until yesterday", "expires in -3 x"]
)
def test_what_cannot_be_read_is_a_blocking_question(home: Home, skills: Skills, words: str) -> None:
    asked = ask(home, skills, f"order paper, {words}")
    assert isinstance(asked, Clarify)
    (question,) = asked.questions
    assert (question.field, question.required) == ("expires_at", True)
    with pytest.raises(InputError) as refused:
        answered(home, skills, asked, "when it suits")
    assert (refused.value.code, refused.value.place) == ("ANSWER_UNREADABLE", "expires_at")
    intent = compiled(answered(home, skills, asked, "in three hours"))
    assert intent.expires_at == "2026-11-21T13:00:00.000Z"


def test_an_empty_answer_leaves_it_out(home: Home, skills: Skills) -> None:
    asked = ask(home, skills, "order paper, valid until the cows come home")
    assert compiled(answered(home, skills, asked, "")).expires_at == ""


def test_the_earlier_of_words_and_option_counts(home: Home, skills: Skills) -> None:
    for option, until in (("1h", "2026-11-21T11:00:00.000Z"), ("3h", "2026-11-21T12:00:00.000Z")):
        intent = compiled(ask(home, skills, "order paper, valid for two hours", expires=option))
        assert intent.expires_at == until


@pytest.mark.parametrize("option", ["soon", "yesterday", "-2h", "2026-11-21T09:59:59Z", "\x00", "h" * 5000])
def test_an_option_that_is_no_moment_to_come_is_refused(home: Home, skills: Skills, option: str) -> None:
    with pytest.raises(InputError) as refused:
        ask(home, skills, "order paper", expires=option)
    assert (refused.value.code, refused.value.place) == ("TIME_INVALID", "expires")
    assert refused.value.fix
    assert home.journal.intents() == ()


def test_clauses_are_found_in_no_time_whatever_the_prose_is() -> None:
    import time

    words = ExpiryWords.of(load_core()["constraint"])
    started = time.monotonic()
    for prose in ("valid until " * 600, ", valid for " * 600, ("," * 8000), ", valid for " + "x " * 3900):
        words.found(prose, AT, "UTC")
    assert time.monotonic() - started < 4


# ---- Several intents for one goal.


def test_intents_are_compiled_for_one_goal(home: Home, skills: Skills) -> None:
    first = compiled(ask(home, skills, "order paper", goal_id="release-2.4"))
    assert first.goal_id == "release-2.4"
    asked = ask(home, skills, "order paper, valid until whenever", goal_id="release-2.4")
    assert isinstance(asked, Clarify)
    assert asked.intent.goal_id == "release-2.4"
    assert compiled(answered(home, skills, asked, "2h")).goal_id == "release-2.4"


@pytest.mark.parametrize("name", [" ", "a b", "-x", "x" * 129, "ä", "a\n", "a\x1b[31m"])
def test_a_goal_is_called_by_a_plain_name(home: Home, skills: Skills, name: str) -> None:
    with pytest.raises(InputError) as refused:
        ask(home, skills, "order paper", goal_id=name)
    assert refused.value.code == "GOAL_NAME"
    assert home.journal.intents() == ()


# ---- Constraints of plug-ins.


def extended(home: Home, skills: Skills, kind: str, data: str, *, tools: bool = True) -> Outcome:
    known = {"tools": lambda: all_tools(home)} if tools else {}
    return ask(home, skills, "order paper", extensions={kind: data}, **known)


def test_a_constraint_that_nothing_looks_at_is_asked_about(home: Home, skills: Skills) -> None:
    asked = extended(home, skills, "x:words.atmost", '{"words": 500}')
    assert isinstance(asked, Clarify)
    (question,) = asked.questions
    assert question.field == 'promise.x:words.atmost {"words":500}'
    assert "schema: matrix://tool/words/atmost@…" in question.prompt
    done = answered(home, skills, asked, "make it a wish")
    (constraint,) = compiled(done).frame.constraints
    assert (constraint.type, constraint.hard) == ("x:words.atmost", False)
    asked = extended(home, skills, "x:words.atmost", '{"words": 500}')
    assert compiled(answered(home, skills, asked, "leave it out")).frame.constraints == ()


def test_a_tool_that_does_not_say_whether_it_holds_looks_at_nothing(home: Home, skills: Skills) -> None:
    asked = extended(home, skills, "x:fs.read", '{"path": "a.md"}')
    assert isinstance(asked, Clarify)
    assert "matrix://tool/fs/read@1.0.0 does not say whether it holds" in asked.questions[0].prompt.replace(
        "Matrix", "matrix"
    )


@pytest.mark.parametrize(
    ("kind", "data", "code"),
    [
        ("words", "{}", "CONSTRAINT_KIND"),
        ("x:", "{}", "CONSTRAINT_KIND"),
        ("x:a b", "{}", "CONSTRAINT_KIND"),
        ("x:words.atmost", "{", "CONSTRAINT_DATA"),
        ("x:words.atmost", "[]", "CONSTRAINT_DATA"),
        ("x:words.atmost", '{"a":1,"a":2}', "CONSTRAINT_DATA"),
        ("x:words.atmost", "[" * 5000, "CONSTRAINT_DATA"),
        ("x:words.atmost", '{"key": "sk-ant-api03-' + "a" * 95 + '"}', "SECRET_INLINE"),
    ],
)
def test_what_is_no_constraint_is_refused(
    home: Home, skills: Skills, kind: str, data: str, code: str
) -> None:
    with pytest.raises(InputError) as refused:
        extended(home, skills, kind, data)
    assert refused.value.code == code
    assert refused.value.fix
    assert home.journal.intents() == ()


# ---- All of it is in the draft: what is compiled again is what was compiled.


def test_the_same_is_compiled_again(home: Home, skills: Skills) -> None:
    model = Scripted(says={"slot.item": "paper"})
    asked = compile_with(
        "order paper, valid until whenever",
        home=home,
        skills=skills,
        model=model,
        at=AT,
        goal_id="release-2.4",
        expires="5h",
        extensions={"x:words.atmost": '{"words": 500}'},
    )
    assert isinstance(asked, Clarify)
    done = answered(home, skills, asked, "3h")
    done = answered(home, skills, done, "make it a wish")
    intent = compiled(done)
    assert (intent.goal_id, intent.expires_at) == ("release-2.4", "2026-11-21T13:00:00.000Z")
    view = home.journal.view(intent.id)
    assert view.draft is not None
    again = recompile(intent, view.draft, answers=view.answers, home=home, skills=skills, model=model)
    assert again == intent
    assert json.loads(view.draft.slot_values["@x:words.atmost"])["data"] == '{"words":500}'
