"""Words that nothing read says stay open in what is signed, where an undo puts back all that the plan may do;
what only tells something is never asked about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from executor import Home
from mcl.catalog.tools.foreign import all_tools
from mcl.compiler.compiler import Clarify, Compiled, Outcome, recompile
from mcl.language.skills import Skills, find_skills
from tests.compiler.conftest import ORDER, PLAN, Scripted, compile_with

RULES = ("order paper, be kind", "order paper, be kind every week")
UNREAD = (
    ("order paper without plastic", "without plastic"),
    ("order paper, max half a box", "max half a box"),
    ("beställ paper varannan vecka", "varannan vecka"),
    ("order paper if the shelf gets empty", "if the shelf gets empty"),
    ("order paper, bara de blå", "bara de blå"),
    ("order paper but keep the order", "keep the order"),
    ("order paper, leave my list alone", "leave my list alone"),
    ("beställ paper, låt listan vara", "låt listan vara"),
)
ASIDES = (
    *(
        "they never answer",
        "I have to send it tomorrow",
        "can't remember the name",
        "she doesn't read English",
    ),
    *("nobody uses the old one", "no rush", "so I can give it to Hanna", "is for my mum"),
    *("since they serve no purpose", "since nobody reads it"),
    *("jag orkar inte läsa allt", "dom står i hallen", "vet inte vilken", "hon kan inte engelska"),
    *("nobody has touched it since May", "no I haven't got a receipt", "its the same as the one below"),
    *("want to see if it works", "I shall be counting", "ta love", "ingen har rört den sen i maj"),
    *("everything else stays", "leave the rest", "inget annat", "resten ska ligga kvar"),
    *("så jag kan ge den till Hanna", "good morning", "är du snäll", "tack bror", "om du hinner"),
)
CLAIMS = (
    *("I never pay more than 50", "we must not be late", "I don't want plastic", "nobody may see it"),
    *("they should not know", "she must approve it", "jag vill inte ha plast", "ingen får veta"),
    *("hon måste godkänna först", "we need two boxes", "vi får inte överskrida 50", "nobody touches it"),
    *("it only goes to Bo", "nobody is to see it", "no they must be blue", "keep the original"),
    *("nothing else than the blue ones", "inget annat än de blå"),
)


def ask(home: Home, skills: Skills, goal: str, *, known: bool = True, **more: Any) -> Outcome:
    model = Scripted(says={"slot.item": "paper", **more}, quotes=True)
    tools = {"tools": lambda: all_tools(home)} if known else {}
    return compile_with(goal, home=home, skills=skills, model=model, **tools)


def opened(outcome: Outcome) -> list[str]:
    assert isinstance(outcome, Compiled), outcome
    assert outcome.review
    assert all(f"“{one}”" in outcome.advice for one in _quoted(outcome))
    return _quoted(outcome)


def _quoted(outcome: Compiled) -> list[str]:
    return [one.field.removeprefix("promise.") for one in outcome.intent.unknowns]


@pytest.mark.parametrize(("goal", "words"), UNREAD)
def test_what_a_plan_leaves_out_that_can_be_undone_is_signed_as_open(
    home: Home, skills: Skills, goal: str, words: str
) -> None:
    assert opened(ask(home, skills, goal)) == [words]


@pytest.mark.parametrize("goal", RULES)
def test_so_is_a_rule_that_nobody_can_check_and_a_replay_says_the_same(
    home: Home, skills: Skills, goal: str
) -> None:
    done = ask(home, skills, goal, rule="be kind", recurrence="every week")
    assert isinstance(done, Compiled)
    assert opened(done) == [one for one in ("be kind", "every week") if one in goal]
    assert done.intent.frame.constraints == ()
    draft = home.journal.view(done.intent.id).draft
    assert draft is not None
    model = Scripted(says={"slot.item": "paper", "rule": "be kind", "recurrence": "every week"}, quotes=True)
    for tools in (None, lambda: all_tools(home)):
        assert (
            recompile(done.intent, draft, home=home, skills=skills, model=model, tools=tools) == done.intent
        )


@pytest.mark.parametrize(
    ("tool", "args", "effect"),
    [
        ("fs/delete@1.0.0", '{path: "${slot.item}"}', "write"),
        ("fs/write@1.0.0", '{path: a.md, content: "${slot.item}", overwrite: "true"}', "write"),
        ("git/push@1.0.0", "{}", "network"),
        ("nobody/knows@1.0.0", "{}", "read"),
    ],
)
def test_a_plan_that_destroys_or_cannot_be_undone_asks(
    home: Home, tmp_path: Path, tool: str, args: str, effect: str
) -> None:
    folder = tmp_path / "order"
    folder.mkdir()
    (folder / "SKILL.mtx").write_text(ORDER.replace("fs/write@1.0.0", tool))
    plan = PLAN.replace("fs/write@1.0.0", tool).replace("class: write", f"class: {effect}")
    (folder / "plan.yaml").write_text(plan.replace('{path: order.txt, content: "${slot.item}"}', args))
    for goal in (UNREAD[0][0], RULES[0]):
        asked = ask(home, find_skills([tmp_path]), goal, rule="be kind")
        assert isinstance(asked, Clarify), asked
        assert [one.field.partition(".")[0] for one in asked.questions] == ["promise"]


def test_a_limit_that_cannot_be_read_is_open_where_the_plan_can_be_undone_and_else_asked_about(
    home: Home, skills: Skills
) -> None:
    goal, said = "order paper by the twelfth of never", {"deadline": "the twelfth of never"}
    done = ask(home, skills, goal, **said)
    assert isinstance(done, Compiled)
    assert done.review
    assert "“the twelfth of never” cannot be read as a moment" in done.advice
    assert [one.field for one in done.intent.unknowns] == ["frame.constraints.deadline.by"]
    draft = home.journal.view(done.intent.id).draft
    assert draft is not None
    again = Scripted(says={"slot.item": "paper", **said}, quotes=True)
    for tools in (None, lambda: all_tools(home)):
        assert (
            recompile(done.intent, draft, home=home, skills=skills, model=again, tools=tools) == done.intent
        )
    asked = ask(home, skills, goal, known=False, **said)
    assert isinstance(asked, Clarify)
    assert [one.field for one in asked.questions] == ["frame.constraints.deadline.by"]


def test_a_second_wish_is_asked_about_whatever_the_plan_does(home: Home, skills: Skills) -> None:
    asked = ask(home, skills, "order paper and then send it to Kim")
    assert isinstance(asked, Clarify)
    assert [one.field for one in asked.questions] == ["promise.send it to Kim"]


@pytest.mark.parametrize("words", ASIDES)
def test_an_aside_is_no_question_whatever_the_plan_does(home: Home, skills: Skills, words: str) -> None:
    done = ask(home, skills, f"order paper, {words}", known=False)
    assert isinstance(done, Compiled), done
    assert all(one.severity == "optional" for one in done.intent.unknowns)


@pytest.mark.parametrize("words", CLAIMS)
def test_what_wants_bounds_or_forbids_something_is_no_aside(home: Home, skills: Skills, words: str) -> None:
    assert isinstance(ask(home, skills, f"order paper, {words}", known=False), Clarify)


@pytest.mark.parametrize(
    "goal",
    [
        "order that paper nobody uses",
        "order that old paper i never use",
        "beställ det där paper som ingen använder",
        "order a copy of the paper, but keep the original",
        "order paper twice, not the original",
        "beställ en kopia av paper, men originalet ska vara kvar",
    ],
)
def test_what_only_describes_one_thing_is_no_limit(home: Home, skills: Skills, goal: str) -> None:
    done = ask(home, skills, goal, known=False, **{"slot.item": "paper"})
    assert isinstance(done, Compiled), done


@pytest.mark.parametrize(
    "goal",
    ["order the papers nobody uses", "order that paper nobody may use", "order paper not the original"],
)
def test_what_chooses_among_several_or_bounds_them_is_asked_about(
    home: Home, skills: Skills, goal: str
) -> None:
    assert isinstance(ask(home, skills, goal, known=False), Clarify)
