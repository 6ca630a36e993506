"""Every word of a goal belongs to something; what does not is shown, and some of it is asked about."""

from __future__ import annotations

from typing import Any

import pytest

from executor import Home
from mcl.compiler.compiler import Clarify, Compiled, Outcome, recompile_with_answers
from mcl.language.skills import Skills, find_skills
from tests.compiler.conftest import ORDER, PLAN, Compile, Scripted, compile_with

SIGN, WISH, DROP = "sign it off yourself at the end", "make it a wish", "leave it out"


@pytest.fixture
def skills(tmp_path_factory: pytest.TempPathFactory) -> Skills:
    folder = tmp_path_factory.mktemp("skills")
    (folder / "order").mkdir()
    (folder / "order" / "SKILL.mtx").write_text(ORDER)
    (folder / "order" / "plan.yaml").write_text(PLAN)
    return find_skills([folder])


def ask(home: Home, skills: Skills, goal: str, **more: Any) -> Outcome:
    says = {"slot.item": "paper", **more.pop("says", {})}
    return compile_with(goal, home=home, skills=skills, model=Scripted(says=says, quotes=True, **more))


def asked(outcome: Outcome) -> list[str]:
    assert isinstance(outcome, Clarify), outcome
    return [one.field.removeprefix("promise.") for one in outcome.questions]


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ("order paper without plastic", "without plastic"),
        ("order paper, nothing shiny", "nothing shiny"),
        ("beställ paper, inget plastigt", "inget plastigt"),
        ("order paper for a dozen people", "dozen people"),
        ("order paper, max half a box", "max half a box"),
        ("order paper tonight", "tonight"),
        ("order paper every Monday", "every Monday"),
        ("beställ paper varannan vecka", "varannan vecka"),
        ("whenever the shelf is empty, order paper", "whenever the shelf is empty"),
        ("order paper if the shelf gets empty", "if the shelf gets empty"),
        ("order paper per room", "per room"),
        ("order paper by department", "by department"),
        ("order paper. I want a receipt from the shop", "I want a receipt from the shop"),
        ("order paper, Kim has to like it", "Kim has to like it"),
        ("order paper, must be acid free", "must be acid free"),
    ],
)
def test_what_must_not_be_left_out_is_asked_about_with_its_words(
    home: Home, skills: Skills, goal: str, words: str
) -> None:
    assert asked(ask(home, skills, goal)) == [words]


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        ("order paper and then send it to Kim", "send it to Kim"),
        ("order paper, delete the old list", "delete the old list"),
        ("order paper. Also rename the folder", "rename the folder"),
        ("beställ paper och mejla listan till Kim", "mejla listan till Kim"),
        ("order paper and don't forget to cancel the pens", "cancel the pens"),
    ],
)
def test_a_second_wish_is_never_left_out_in_silence(
    home: Home, skills: Skills, goal: str, words: str
) -> None:
    outcome = ask(home, skills, goal)
    assert asked(outcome) == [words]
    assert isinstance(outcome, Clarify)
    assert f"“{words}” is a wish of its own" in outcome.questions[0].prompt
    assert outcome.questions[0].options == (SIGN, WISH, DROP)


def test_a_wish_that_a_model_hears_is_asked_about_and_a_ban_is_none(home: Home, skills: Skills) -> None:
    goal = "order paper and oil the door"
    heard = compile_with(
        goal,
        home=home,
        skills=skills,
        model=Hearing(goal.index("oil"), says={"slot.item": "paper"}, quotes=True),
    )
    assert asked(heard) == ["oil the door"]
    goal = "order paper. Never oil the door"
    heard = compile_with(
        goal,
        home=home,
        skills=skills,
        model=Hearing(goal.index("Never"), says={"slot.item": "paper"}, quotes=True),
    )
    assert asked(heard) == ["Never oil the door"]
    assert isinstance(heard, Clarify)
    assert heard.questions[0].prompt.startswith("Nobody here can check")


class Hearing(Scripted):
    """Hears a further wish begin at one place."""

    def __init__(self, begins: int, **more: Any) -> None:
        super().__init__(**more)
        self.begins = begins

    def choose(self, prose: str, candidates: Any) -> Any:
        from dataclasses import replace

        return replace(super().choose(prose, candidates), begins=(self.begins,))


@pytest.mark.parametrize(
    "goal",
    [
        "order paper",
        "please order paper, thanks",
        "Hi, could you order paper for me?",
        "kan du beställa paper, tack",
        "order paper that says 'never delete anything, every Monday'",
        'order paper that says "send it to Kim, at most 20 times"',
        "order paper under $50",
        "order paper for at most $50",
        "order paper by friday, ideally",
        "order paper, without changing anything",
        "look at the paper and order it",
    ],
)
def test_what_is_all_right_asks_nothing(home: Home, skills: Skills, goal: str) -> None:
    assert isinstance(ask(home, skills, goal), Compiled)


@pytest.mark.parametrize(
    ("goal", "manner"),
    [
        ("order paper, politely", "politely"),
        ("order paper. Keep it short", "Keep it short"),
        ("beställ paper, håll det kort", "håll det kort"),
    ],
)
def test_manner_is_a_wish_by_a_closed_list(home: Home, skills: Skills, goal: str, manner: str) -> None:
    outcome = ask(home, skills, goal)
    assert isinstance(outcome, Compiled)
    assert [one.prefer for one in outcome.intent.frame.preferences] == [manner]


def test_no_other_words_become_a_wish_because_a_model_says_so(home: Home, skills: Skills) -> None:
    goal = "order paper, 6 sheets max per box"
    outcome = ask(home, skills, goal, says={"preference": "6 sheets max per box"})
    assert asked(outcome) == ["6 sheets max per box"]
    assert outcome.intent.frame.preferences == ()  # type: ignore[union-attr]


def test_no_other_words_become_a_sign_off_because_a_model_says_so(home: Home, skills: Skills) -> None:
    outcome = ask(home, skills, "order paper, nothing from me", says={"signed_off": "me"})
    assert asked(outcome) == ["nothing from me"]
    assert outcome.intent.frame.success_criteria == ()  # type: ignore[union-attr]


def test_a_rule_is_quoted_with_the_words_that_turn_it(home: Home, skills: Skills) -> None:
    outcome = ask(home, skills, "order paper, do not bend it at all", says={"rule": "bend it"})
    assert asked(outcome) == ["do not bend it at all"]


def test_about_makes_a_wish_of_an_amount_and_of_no_rule(home: Home, skills: Skills) -> None:
    outcome = ask(
        home, skills, "order paper, not a word about money", says={"rule": "not a word about money"}
    )
    assert asked(outcome) == ["not a word about money"]
    near = ask(home, skills, "order paper for about $50", says={"budget": "$50"})
    assert isinstance(near, Compiled)
    assert [one.hard for one in near.intent.frame.constraints] == [False]


def test_an_answer_about_one_rule_leaves_the_others(home: Home, skills: Skills) -> None:
    goal = "order paper, be kind, be quiet"
    unsure = ask(home, skills, goal, says={"rule": ["be kind", "be quiet"]}, certainty={"rule": 0.1})
    assert asked(unsure) == ["be kind", "be quiet"]
    assert isinstance(unsure, Clarify)
    after = recompile_with_answers(
        unsure.intent.id,
        {unsure.questions[0].unknown_id: SIGN},
        home=home,
        skills=skills,
        load_model=lambda: pytest.fail("asked again"),
    )
    assert asked(after) == ["be quiet"]


def test_what_needs_no_answer_is_shown_by_clause_and_never_a_stop_word_alone(
    home: Home, skills: Skills
) -> None:
    outcome = ask(home, skills, "order paper for the office")
    assert isinstance(outcome, Compiled)
    assert outcome.advice.startswith("“for the office” belongs to nothing")
    assert ask(home, skills, "order the paper for me").advice == ""  # type: ignore[union-attr]


def test_a_country_that_is_denied_by_no_word_is_asked_about(compiles: Compile) -> None:
    outcome = compiles(
        "order paper from China", Scripted(says={"slot.item": "paper", "jurisdiction_deny": "China"})
    )
    assert isinstance(outcome, Clarify)
    assert [one.field for one in outcome.questions] == ["frame.constraints.jurisdiction.deny"]


@pytest.mark.parametrize("goal", ["order paper " + "and send it " * 600, "order paper, " + "no x, " * 1300])
def test_a_goal_of_a_thousand_clauses_is_taken_apart_in_time(home: Home, skills: Skills, goal: str) -> None:
    assert not isinstance(ask(home, skills, goal, says={}), Compiled)
