"""What a goal promises and nobody here can check is asked about before anybody signs; answers settle it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from nacl.signing import SigningKey

from executor import Home
from executor.gate.grants import Grants
from ir import did_of
from mcl.compiler.compiler import Clarify, Compiled, Outcome, recompile, recompile_with_answers
from mcl.core.errors import InputError
from mcl.language.skills import Skills, find_skills
from tests.compiler.conftest import PLAN, Scripted, compile_with

SIGN, WISH, DROP = "sign it off yourself at the end", "make it a wish", "leave it out"
KIM = did_of(bytes(SigningKey(b"k" * 32).verify_key))


def ask(home: Home, skills: Skills, goal: str, **says: Any) -> Outcome:
    model = Scripted(says={"slot.item": "paper", **says})
    return compile_with(goal, home=home, skills=skills, model=model)


def answered(home: Home, skills: Skills, asked: Outcome, **answers: str) -> Outcome:
    assert isinstance(asked, Clarify)
    return recompile_with_answers(
        asked.intent.id, answers, home=home, skills=skills, load_model=lambda: pytest.fail("asked again")
    )


def said(documents: Sequence[Any]) -> list[dict[str, object]]:
    return [one.model_dump(exclude_defaults=True) for one in documents]


def test_a_rule_that_nobody_can_check_is_a_question_with_three_ways_out(home: Home, skills: Skills) -> None:
    asked = ask(home, skills, "order paper, be kind", rule="be kind")
    assert isinstance(asked, Clarify)
    (question,) = asked.questions
    assert (question.field, question.required, question.options) == (
        "promise.be kind",
        True,
        (SIGN, WISH, DROP),
    )
    assert question.prompt.startswith("Nobody here can check “be kind”.")
    assert asked.intent.unknowns[0].severity == "blocking"


@pytest.mark.parametrize(
    ("answer", "constraints", "criteria", "standing"),
    [
        (SIGN, [], [{"what": "be kind"}], [("frame.success_criteria[0]", "signed_off", True)]),
        (WISH, [{"rule": "be kind"}], [], [("frame.constraints[0]", "not_checkable", False)]),
        (DROP, [], [], []),
        ("", [], [], []),
    ],
)
def test_an_answer_says_what_becomes_of_it(
    home: Home, skills: Skills, answer: str, constraints: list[Any], criteria: list[Any], standing: list[Any]
) -> None:
    asked = ask(home, skills, "order paper, be kind", rule="be kind")
    done = answered(home, skills, asked, u1=answer)
    assert isinstance(done, Compiled)
    frame = done.intent.frame
    assert (said(frame.constraints), said(frame.success_criteria)) == (constraints, criteria)
    assert done.plan is not None
    assert [(one.place, one.standing, one.hard) for one in done.plan.promises] == standing


def test_anything_else_is_no_answer(home: Home, skills: Skills) -> None:
    asked = ask(home, skills, "order paper, be kind", rule="be kind")
    with pytest.raises(InputError) as refused:
        answered(home, skills, asked, u1="yes")
    assert (refused.value.code, refused.value.place) == ("ANSWER_UNREADABLE", "promise.be kind")
    assert SIGN in refused.value.fix


@pytest.mark.parametrize(
    ("goal", "says", "words"),
    [
        ("order paper only in Sweden", {"jurisdiction_allow": "Sweden"}, "Sweden"),
        ("order paper, at least 4 stars", {"quality": "at least 4 stars"}, "at least 4 stars"),
        ("order paper, done when in my hands", {"delivered": "my hands"}, "my hands"),
        ("order paper once the tests pass", {"external": "the tests pass"}, "the tests pass"),
        ("order paper, see https://a.example is nice", {"external": "https://a.example is nice"}, None),
        ("order paper, audited by KPMG", {"attestation": "KPMG"}, "KPMG"),
        ("order paper every week", {"recurrence": "every week"}, "every week"),
    ],
)
def test_whatever_can_never_be_seen_is_asked_about(
    home: Home, skills: Skills, goal: str, says: dict[str, str], words: str | None
) -> None:
    asked = ask(home, skills, goal, **says)
    assert isinstance(asked, Clarify)
    assert [one.field for one in asked.questions] == [f"promise.{words or next(iter(says.values()))}"]
    done = answered(home, skills, asked, u1=WISH)
    assert isinstance(done, Compiled)
    assert not any(one.hard for one in done.plan.promises)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("goal", "says", "standing"),
    [
        ("order paper, don't change anything", {"rule": "don't change anything"}, "enforced"),
        ("order paper for $5", {"budget": "$5"}, "enforced"),
        ("order paper by Friday", {"deadline": "Friday"}, "enforced"),
        ("order paper into out/a.md", {"delivered": "out/a.md"}, "checked"),
        ("order paper until https://a.example is up", {"external": "https://a.example is up"}, "checked"),
        (
            "order paper until https://a.example/x returns 200",
            {"external": "https://a.example/x returns 200"},
            "checked",
        ),
        ("order paper, approved by me", {"signed_off": "me"}, "signed_off"),
    ],
)
def test_what_is_held_or_seen_is_not_asked_about_and_stands_in_the_plan(
    home: Home, skills: Skills, goal: str, says: dict[str, str], standing: str
) -> None:
    done = ask(home, skills, goal, **says)
    assert isinstance(done, Compiled)
    assert done.plan is not None
    assert {one.standing for one in done.plan.promises} == {standing}
    assert all(one.says for one in done.plan.promises)


def test_only_a_person_says_what_becomes_of_it(home: Home, skills: Skills) -> None:
    asked = ask(home, skills, "order paper, be kind", rule="be kind")
    with pytest.raises(InputError) as refused:
        recompile_with_answers(
            asked.intent.id,  # type: ignore[union-attr]
            {"u1": DROP},
            home=home,
            skills=skills,
            load_model=lambda: pytest.fail("asked again"),
            unseen=True,
        )
    assert refused.value.code == "PERSON_ONLY"
    assert home.journal.view(asked.intent.id).state == "clarifying"  # type: ignore[union-attr]


def test_a_name_is_the_key_that_is_called_so(home: Home, skills: Skills) -> None:
    home.keyring.trust(KIM, "user", label="Kim")
    done = ask(home, skills, "order paper, approved by kim", signed_off="kim")
    assert isinstance(done, Compiled)
    assert said(done.intent.frame.success_criteria) == [{"by": KIM}]


def test_an_unknown_name_is_asked_about_with_the_known_ones(home: Home, skills: Skills) -> None:
    home.keyring.trust(KIM, "user", label="Kim")
    asked = ask(home, skills, "order paper, approved by Anna", signed_off="Anna")
    assert isinstance(asked, Clarify)
    assert asked.questions[0].options == ("Kim", SIGN, WISH, DROP)
    assert "“Anna”" in asked.questions[0].prompt
    done = answered(home, skills, asked, u1="Kim")
    assert isinstance(done, Compiled)
    assert said(done.intent.frame.success_criteria) == [{"by": KIM}]


def test_a_region_that_was_said_of_a_host_holds_the_plan_to_it(
    home: Home, tmp_path: Any, skills: Skills
) -> None:
    folder = tmp_path / "there"
    (folder / "order").mkdir(parents=True)
    skill = skills.by_id["order"]
    text = (skill.path / "SKILL.mtx").read_text().replace("fs/write@1.0.0", "http/get@1.0.0")
    (folder / "order" / "SKILL.mtx").write_text(text)
    plan = PLAN.replace("fs/write", "http/get").replace(": write\n", ": network\n")
    plan = plan.replace('{path: order.txt, content: "${slot.item}"}', "{url: https://api.example/x}")
    (folder / "order" / "plan.yaml").write_text(plan)
    own = find_skills([folder])
    goal = "order paper only in Germany"
    asked = ask(home, own, goal, jurisdiction_allow="Germany")
    assert isinstance(asked, Clarify)
    assert "mcl grant add network --host api.example --region" in asked.questions[0].prompt
    grants, agent = Grants(home), home.keyring.agent.did
    grants.grant_hosts(agent, ["api.example"], regions=["DE"])
    done = ask(home, own, goal, jurisdiction_allow="Germany")
    assert isinstance(done, Compiled)
    grants.revoke_hosts(agent, ["api.example"])  # what is compiled again is what was compiled then
    draft = home.journal.view(done.intent.id).draft
    assert draft is not None
    model = Scripted(says={"slot.item": "paper", "jurisdiction_allow": "Germany"})
    assert recompile(done.intent, draft, home=home, skills=own, model=model) == done.intent
    assert [one.standing for one in done.plan.promises] == ["enforced"]  # type: ignore[union-attr]


def test_the_same_is_compiled_again(home: Home, skills: Skills) -> None:
    home.keyring.trust(KIM, "user", label="Kim")
    goal = "order paper, be kind, approved by Anna"
    model = Scripted(says={"slot.item": "paper", "rule": "be kind", "signed_off": "Anna"})
    asked = compile_with(goal, home=home, skills=skills, model=model)
    done = answered(home, skills, asked, u1=SIGN, u2="Kim")
    assert isinstance(done, Compiled)
    view = home.journal.view(done.intent.id)
    assert view.draft is not None
    again = recompile(done.intent, view.draft, answers=view.answers, home=home, skills=skills, model=model)
    assert again == done.intent


def test_a_goal_without_limits_has_a_plan_as_before(home: Home, skills: Skills) -> None:
    done = ask(home, skills, "order paper")
    assert isinstance(done, Compiled)
    assert done.plan is not None
    assert done.plan.promises == ()


@pytest.mark.parametrize(
    ("words", "hard"),
    [
        ("inget från China och helst billigt", True),
        ("nothing from China and ideally made here", True),
        ("utom China", True),
        ("var som helst utom i China", True),
        ("ideally red but never from China", True),
        ("ideally nothing from China", False),
    ],
)
def test_a_ban_is_a_wish_only_where_its_own_words_say_so(
    home: Home, skills: Skills, words: str, hard: bool
) -> None:
    done = ask(home, skills, f"order paper, {words}", jurisdiction_deny="China")
    (found,) = (one for one in done.intent.frame.constraints if one.type == "jurisdiction")
    assert (found.deny, found.hard) == (("CN",), hard)


def test_words_that_begin_a_clause_are_not_torn_from_those_that_repeat(home: Home, skills: Skills) -> None:
    asked = ask(home, skills, "order paper, så fort lådan är tom")
    assert isinstance(asked, Clarify)
    assert [one.field for one in asked.questions] == ["promise.så fort lådan är tom"]
