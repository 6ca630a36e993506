"""Questions answered, and intents compiled again."""

from typing import Any

import pytest

from executor import Home
from ir import IntentAnswerBody, canonical_bytes
from mcl.compiler.compiler import (
    Clarify,
    Compiled,
    GoalOptions,
    Outcome,
    Refused,
    compile_goal,
    recompile,
    recompile_with_answers,
)
from mcl.core.errors import InputError, MemoryStoreError
from mcl.language.mtx.core import Core
from mcl.language.skills import Skills, find_skills, skill_folders
from mcl.memory import MemoryStore
from mcl.model.matcher import PatternMatcher
from mcl.model.protocol import Model
from tests.compiler.conftest import Scripted, compile_with


class Desk:
    """Compiles and answers over one home; counts how often the model had to be loaded again."""

    def __init__(self, home: Home, skills: Skills, core: Core) -> None:
        self.home, self.skills, self.core, self.loads = home, skills, core, 0

    def ask(self, goal: str, model: Model, **options: Any) -> Clarify:
        outcome = compile_with(
            goal, home=self.home, skills=self.skills, core=self.core, model=model, **options
        )
        assert isinstance(outcome, Clarify)
        return outcome

    def answer(self, id: str, model: Model | None = None, /, **answers: str) -> Outcome:
        return self.answers(id, answers, model)

    def answers(self, id: str, answers: dict[str, str], model: Model | None = None) -> Outcome:
        def load() -> Model:
            self.loads += 1
            assert model is not None, "the model was not needed"
            return model

        return recompile_with_answers(
            id, answers, home=self.home, skills=self.skills, core=self.core, load_model=load
        )

    def again(self, id: str, model: Model) -> bytes:
        view = self.home.journal.view(id)
        assert view.intent is not None
        assert view.draft is not None
        again = recompile(
            view.intent,
            view.draft,
            answers=view.answers,
            home=self.home,
            skills=self.skills,
            core=self.core,
            model=model,
        )
        return canonical_bytes(again)

    def stored(self, id: str) -> bytes:
        intent = self.home.journal.view(id).intent
        assert intent is not None
        return canonical_bytes(intent)


@pytest.fixture
def desk(home: Home, skills: Skills, core: Core) -> Desk:
    return Desk(home, skills, core)


def test_an_answer_fills_the_gap_without_the_model(desk: Desk) -> None:
    asked = desk.ask("order 12 please", Scripted(says={"slot.count": "12"}))
    outcome = desk.answer(asked.intent.id, u1="paper")
    assert isinstance(outcome, Compiled)
    assert [(one.name, one.value) for one in outcome.intent.frame.objects][:2] == [
        ("item", "paper"),
        ("count", "12"),
    ]
    assert (outcome.intent.id, outcome.intent.created_at) == (asked.intent.id, asked.intent.created_at)
    assert outcome.intent.unknowns == ()
    assert desk.loads == 0
    kinds = [row.kind for row in desk.home.journal.rows(asked.intent.id)]
    assert kinds[:2] == ["intent.draft", "intent.clarify"]
    assert kinds[-3:] == ["intent.answer", "intent.compiled", "plan.proposed"]
    assert desk.home.journal.verify().ok


@pytest.mark.parametrize(
    ("answer", "constraints"),
    [("600 SEK", [{"hard": True, "max": {"asset": "SEK", "amount": "600"}}]), ("", [])],
)
def test_a_limit_that_could_not_be_read_is_said_again_or_dropped(
    desk: Desk, answer: str, constraints: list[dict[str, object]]
) -> None:
    asked = desk.ask(
        "order paper for 500 pesos", Scripted(says={"slot.item": "paper", "budget": "500 pesos"})
    )
    outcome = desk.answers(asked.intent.id, {"frame.constraints.budget.max": answer})
    assert isinstance(outcome, Compiled)
    assert [one.model_dump(exclude_defaults=True) for one in outcome.intent.frame.constraints] == constraints


def test_the_verb_and_the_skill_can_be_answers(desk: Desk) -> None:
    model = Scripted(skill="look", verb="find", sure=0.4, says={"slot.what": "granite"})
    asked = desk.ask("granite", model)
    assert asked.questions[0].field == "skill"
    meant = Scripted(verb_sure=0.4, says={"slot.item": "granite"})
    unsure = desk.answer(asked.intent.id, meant, u1="order")
    assert desk.loads == 1
    assert isinstance(unsure, Clarify | Compiled)
    assert unsure.intent.compile_metadata.skill_id == "order"  # type: ignore[union-attr]
    asked = desk.ask("granite", Scripted(sure=0.8, verb_sure=0.4, says={"slot.item": "granite"}))
    fields = [question.field for question in asked.questions]
    assert "frame.verb" in fields
    outcome = desk.answers(
        asked.intent.id, {"frame.verb": "acquire"}, Scripted(says={"slot.item": "granite"})
    )
    assert outcome.intent.frame.verb == "acquire"  # type: ignore[union-attr]
    assert "frame.verb" not in {u.field for u in outcome.intent.unknowns}  # type: ignore[union-attr]


def test_a_limit_that_is_not_certain_is_asked_about_and_its_answer_settles_it(desk: Desk) -> None:
    model = Scripted(
        says={"slot.item": "paper", "budget": "$5", "rule": "no plastic"},
        certainty={"budget": 0.2, "rule": 0.3},
    )
    asked = desk.ask("order paper $5, no plastic", model, skill="order")
    assert [(q.field, q.default) for q in asked.questions] == [
        ("promise.no plastic", ""), ("frame.constraints.budget.max", "$5"),
    ]  # fmt: skip
    done = desk.answers(asked.intent.id, {"u1": "make it a wish", "u2": "$7"})
    assert isinstance(done, Compiled)
    assert [one.model_dump(exclude_defaults=True) for one in done.intent.frame.constraints] == [
        {"hard": True, "max": {"asset": "USD", "amount": "7"}}, {"rule": "no plastic"},
    ]  # fmt: skip


def test_where_each_part_is_fairly_certain_all_of_it_is_to_be_read_and_nothing_is_asked(desk: Desk) -> None:
    says: dict[str, Any] = {"slot.item": "paper", "budget": "$5"}
    model = Scripted(sure=0.8, says=says, certainty={"slot.item": 0.76, "budget": 0.9})
    options = GoalOptions(skill="order", verb="acquire")
    told = compile_goal(
        "order paper $5", home=desk.home, skills=desk.skills, core=desk.core, model=model, options=options
    )
    assert isinstance(told, Compiled)
    assert told.review


def test_what_is_less_likely_right_than_wrong_is_asked_about_and_nothing_beside_it(desk: Desk) -> None:
    says: dict[str, Any] = {"slot.item": "paper", "budget": "$5"}
    model = Scripted(sure=0.8, says=says, certainty={"slot.item": 0.3, "budget": 0.9})
    asked = desk.ask("order paper $5", model, skill="order", verb="acquire")
    assert [(question.field, question.default) for question in asked.questions] == [("slot.item", "paper")]


def test_an_address_is_no_answer_where_a_number_or_an_option_is_wanted(desk: Desk) -> None:
    asked = desk.ask("order", Scripted(says={}))
    for name, text in (("count", "matrix://cortex/Fact/x@v1"), ("speed", "matrix://cortex/Fact/x@v1")):
        with pytest.raises(InputError) as caught:
            desk.ask("order paper", Scripted(), skill="order", slots={name: text})
        assert caught.value.code == "SLOT_VALUE"
    done = desk.answers(asked.intent.id, {"slot.item": "matrix://cortex/Fact/x@v1 or so"})
    assert isinstance(done, Compiled)
    assert [(one.value, one.uri) for one in done.intent.frame.objects[:1]] == [
        ("matrix://cortex/Fact/x@v1 or so", "")
    ]


def test_what_stays_open_is_asked_again_at_most_three_times(desk: Desk) -> None:
    model = Scripted(says={"slot.count": "some", "budget": "cheap", "deadline": "soonish"})
    asked: Outcome = desk.ask("order some, cheap and soonish", model)
    id = asked.intent.id  # type: ignore[union-attr]
    rounds = 1
    while isinstance(asked, Clarify):
        asked = desk.answers(id, {"slot.count": "3"} if rounds == 1 else {"slot.item": ""})
        rounds += 1
    assert rounds == 4
    assert isinstance(asked, Refused)
    assert asked.reason == "ambiguous_request"
    assert desk.home.journal.view(id).state == "failed"


def test_an_answer_that_cannot_be_read_is_refused_before_anything_is_stored(desk: Desk) -> None:
    asked = desk.ask(
        "order a thing for 500 pesos", Scripted(says={"slot.item": "thing", "budget": "500 pesos"})
    )
    rows = len(desk.home.journal.rows())
    for answers, code in (
        ({"u1": "a lot"}, "ANSWER_UNREADABLE"),
        ({"u1": "$5", "frame.constraints.budget.max": "$6"}, "ANSWER_TWICE"),
        ({"u1": "$\0"}, "SLOT_VALUE"),
        ({"u9": "x"}, "ANSWER_UNKNOWN"),
        ({}, "ANSWER_MISSING"),
    ):
        with pytest.raises(InputError) as caught:
            desk.answers(asked.intent.id, answers)
        assert caught.value.code == code
    with pytest.raises(InputError) as caught:
        desk.answers("01M7YRRT830000000000000099", {"u1": "x"})
    assert caught.value.code == "NOT_CLARIFYING"
    assert len(desk.home.journal.rows()) == rows


def test_a_chosen_memory_becomes_the_address(desk: Desk) -> None:
    uris = [
        MemoryStore(desk.home).put("Fact", f"Acme of {place}", id=place).uri for place in ("oslo", "bergen")
    ]
    asked = desk.ask(
        "a deal with Acme",
        Scripted(verb="negotiate", sure=0.4, says={"slot.item": "with", "slot.supplier": "Acme"}),
    )
    outcome = desk.answers(
        asked.intent.id, {"slot.supplier": uris[1], "skill": "order"}, Scripted(verb="negotiate")
    )
    entries = {one.name: one.uri for one in outcome.intent.frame.objects}  # type: ignore[union-attr]
    assert entries["supplier"] == uris[1]


def test_compiling_again_gives_the_same_bytes(desk: Desk) -> None:
    model = Scripted(says={"slot.item": "paper", "deadline": "tomorrow", "slot.count": "3"})
    outcome = compile_goal(
        "order 3 paper by tomorrow",
        home=desk.home,
        skills=desk.skills,
        core=desk.core,
        model=model,
        options=GoalOptions(verb="acquire", zone="Asia/Tokyo", slots={"tags": "x"}),
    )
    assert isinstance(outcome, Compiled)
    assert desk.again(outcome.intent.id, model) == desk.stored(outcome.intent.id)


def test_an_answered_intent_is_compiled_again_with_its_answers(desk: Desk) -> None:
    model = Scripted(says={"slot.count": "12", "budget": "500 pesos"})
    asked = desk.ask("order 12 for 500 pesos", model)
    first = desk.answer(asked.intent.id, u1="50 EUR", u2="paper")
    if isinstance(first, Clarify):
        first = desk.answers(asked.intent.id, {first.questions[0].field: "paper"})
    assert isinstance(first, Compiled)
    assert desk.again(asked.intent.id, model) == desk.stored(asked.intent.id)


def test_memories_of_later_do_not_change_a_replay_and_another_model_does(desk: Desk) -> None:
    cortex = MemoryStore(desk.home)
    cortex.put("Fact", "Acme sells paper", id="acme")
    model = Scripted(says={"slot.item": "paper", "slot.supplier": "Acme"})
    outcome = compile_goal(
        "order paper from Acme", home=desk.home, skills=desk.skills, core=desk.core, model=model
    )
    assert isinstance(outcome, Compiled)
    cortex.put("Fact", "Acme moved to Bergen", id="acme")
    cortex.put("Fact", "Acme is big", id="other")
    id = outcome.intent.id
    assert desk.again(id, model) == desk.stored(id)
    assert desk.again(id, Scripted(digest="e" * 64, says=model.says)) != desk.stored(id)


def test_memories_that_this_home_never_had_are_named(desk: Desk) -> None:
    model = Scripted(says={"slot.item": "paper"})
    outcome = compile_goal("order paper", home=desk.home, skills=desk.skills, core=desk.core, model=model)
    assert isinstance(outcome, Compiled)
    metadata = outcome.intent.compile_metadata.model_copy(update={"cortex_snapshot_hash": "a" * 64})  # type: ignore[union-attr]
    strange = outcome.intent.model_copy(update={"compile_metadata": metadata})
    draft = desk.home.journal.view(outcome.intent.id).draft
    assert draft is not None
    with pytest.raises(MemoryStoreError) as caught:
        recompile(strange, draft, home=desk.home, skills=desk.skills, core=desk.core, model=model)
    assert caught.value.code == "SNAPSHOT_UNKNOWN"


@pytest.mark.parametrize(
    "patches",
    [b"[]x", b'[{"op":"add","path":"/prose","value":"x"}]', b'[{"op":"remove","path":"/answers/nothing"}]',
     b'[{"op":"add","path":"/answers/slot.item","value":7}]', b"{}",
     b'[{"op":"replace","path":"","value":3}]'],
)  # fmt: skip
def test_patches_that_change_anything_but_answers_are_refused(desk: Desk, patches: bytes) -> None:
    model = Scripted(says={"slot.item": "paper"})
    outcome = compile_goal("order paper", home=desk.home, skills=desk.skills, core=desk.core, model=model)
    assert isinstance(outcome, Compiled)
    draft = desk.home.journal.view(outcome.intent.id).draft
    assert draft is not None
    bad = (IntentAnswerBody(patches=patches, answer_of="x"),)
    with pytest.raises(InputError) as caught:
        recompile(
            outcome.intent,
            draft,
            answers=bad,
            home=desk.home,
            skills=desk.skills,
            core=desk.core,
            model=model,
        )
    assert caught.value.code == "ANSWER_PATCH"


@pytest.fixture(scope="module")
def shipped() -> Skills:
    return find_skills(skill_folders(None))


@pytest.mark.parametrize(
    ("goal", "skill"),
    [
        ("find invoice in the folder notes", "files-find"),
        ("git status", "repo-status"),
        ("show the last five commits", "repo-status"),
        ("list the branches", "repo-branch"),
    ],
)
def test_the_shipped_skills_compile_without_ai_and_replay(
    home: Home, core: Core, shipped: Skills, goal: str, skill: str
) -> None:
    desk, model = Desk(home, shipped, core), PatternMatcher()
    outcome: Outcome = compile_goal(goal, home=home, skills=shipped, core=core, model=model)
    while isinstance(outcome, Clarify):
        said = {q.unknown_id: q.default or (q.options[0] if q.options else "x") for q in outcome.questions}
        outcome = desk.answers(outcome.intent.id, said, model)
    assert isinstance(outcome, Compiled)
    assert outcome.intent.compile_metadata.skill_id.startswith(skill)  # type: ignore[union-attr]
    assert outcome.intent.compile_metadata.model_version == "no-ai/1"  # type: ignore[union-attr]
    assert desk.again(outcome.intent.id, model) == desk.stored(outcome.intent.id)


def test_an_answered_verb_or_the_skill_that_was_offered_needs_no_model_again(desk: Desk) -> None:
    asked = desk.ask("granite", Scripted(sure=0.4, verb_sure=0.3, says={"slot.item": "granite"}))
    assert {"skill", "frame.verb"} <= {question.field for question in asked.questions}
    outcome = desk.answers(asked.intent.id, {"skill": "order", "frame.verb": "acquire"})
    assert isinstance(outcome, Compiled)
    again = desk.ask("granite", Scripted(sure=0.4, verb_sure=0.3, says={"slot.item": "granite"}))
    offered = desk.answers(again.intent.id, {"skill": "order"})
    assert isinstance(offered, Clarify)
    outcome = desk.answers(again.intent.id, {"frame.verb": "acquire"})
    assert isinstance(outcome, Compiled)
    assert outcome.intent.frame.verb == "acquire"
    assert desk.loads == 0


def test_a_skill_that_is_not_there_and_a_verb_that_it_lacks_are_no_answers(desk: Desk) -> None:
    asked = desk.ask("granite", Scripted(sure=0.4, verb_sure=0.3, says={"slot.item": "granite"}))
    for answers, code in (
        ({"skill": "ordr"}, "SKILL_UNKNOWN"),
        ({"frame.verb": "frobnicate"}, "VERB_UNKNOWN"),
        ({"skill": "order", "frame.verb": "find"}, "VERB_NOT_OFFERED"),
    ):
        with pytest.raises(InputError) as caught:
            desk.answers(asked.intent.id, answers)
        assert caught.value.code == code
    assert desk.home.journal.view(asked.intent.id).rounds == 1
