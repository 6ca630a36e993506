"""What a person answered once is proposed openly for the same words, and for no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mcl
from executor import Home
from ir import canonical_bytes
from mcl.compiler.compiler import (
    Clarify,
    Compiled,
    GoalOptions,
    Outcome,
    compile_goal,
    recompile,
    recompile_with_answers,
)
from mcl.core.errors import InputError
from mcl.language.skills import Skills
from mcl.memory import Memory, MemoryStore
from mcl.memory.lessons import setting
from mcl.plugins.memories.verification import verify_home
from tests.compiler.conftest import ORDER, PLAN, Compile, Scripted

GOAL = "order something nice"


def ask_and_answer(
    home: Home, compiles: Compile, skills: Skills, folder: Path, model: Scripted, goal: str, **answers: str
) -> Compiled:
    """Compile a goal that leaves questions, answer them, accept the intent."""
    asked = compiles(goal, model)
    assert isinstance(asked, Clarify), asked
    by_field = {question.field: question.unknown_id for question in asked.questions}
    said = {by_field[name.replace("__", ".")]: text for name, text in answers.items()}
    outcome = recompile_with_answers(
        asked.intent.id, said, home=home, skills=skills, load_model=lambda: model
    )
    assert isinstance(outcome, Compiled), outcome
    mcl.accept(outcome.intent.id, home=home, skills=[folder])
    return outcome


@pytest.fixture
def taught(home: Home, compiles: Compile, skills: Skills, skills_folder: Path) -> Memory:
    """The memory of one answer: for GOAL the item is red paper."""
    done = ask_and_answer(home, compiles, skills, skills_folder, Scripted(), GOAL, slot__item="red paper")
    [memory] = MemoryStore(home).memories().find(tags=("learned",))
    assert memory.source == f"matrix://intent/{done.intent.id}"
    return memory


def item(outcome: Outcome) -> str:
    assert isinstance(outcome, Compiled | Clarify)
    return next((one.value for one in outcome.intent.frame.objects if one.name == "item"), "")


def test_an_accepted_answer_is_proposed_for_the_same_words_with_where_it_comes_from(
    taught: Memory, compiles: Compile, home: Home
) -> None:
    assert taught.text == "order: for “order something nice”, item is “red paper”"
    again = compiles("  Order something nice. ", Scripted())
    assert isinstance(again, Compiled)
    assert item(again) == "red paper"
    [reference] = again.intent.references
    assert (reference.uri, reference.role, reference.summary) == (taught.uri, "slot.item", taught.text)
    assert verify_home(home).ok
    assert home.journal.verify().ok


def test_other_words_are_asked_about_again(taught: Memory, compiles: Compile) -> None:
    other = compiles("order something very nice", Scripted())
    assert isinstance(other, Clarify)
    assert item(other) == ""


def test_nothing_is_learned_before_the_intent_is_accepted(
    home: Home, compiles: Compile, skills: Skills
) -> None:
    asked = compiles(GOAL, Scripted())
    recompile_with_answers(
        asked.intent.id, {"u1": "red paper"}, home=home, skills=skills, load_model=Scripted
    )
    assert MemoryStore(home).snapshot().size == 0


def test_what_is_given_or_answered_now_counts_more(taught: Memory, compiles: Compile) -> None:
    given = compiles(GOAL, Scripted(), slots={"item": "blue paper"})
    assert item(given) == "blue paper"
    assert given.intent.references == ()


def test_another_accepted_answer_is_the_next_version_and_counts_from_then_on(
    home: Home, compiles: Compile, skills: Skills, skills_folder: Path
) -> None:
    model = Scripted()
    first, second = compiles(GOAL, model), compiles(GOAL, model)
    for asked, text in ((first, "red paper"), (second, "ink")):
        recompile_with_answers(
            asked.intent.id, {"u1": text}, home=home, skills=skills, load_model=lambda: model
        )
        mcl.accept(asked.intent.id, home=home, skills=[skills_folder])
    [memory] = MemoryStore(home).memories().find(tags=("learned",))
    assert (memory.version, dict(memory.data)["answer"]) == (2, "ink")
    assert item(compiles(GOAL, model)) == "ink"


def test_the_same_answer_again_changes_nothing(
    home: Home, compiles: Compile, skills: Skills, skills_folder: Path
) -> None:
    first, second = compiles(GOAL, Scripted()), compiles(GOAL, Scripted())
    for asked in (first, second):
        recompile_with_answers(asked.intent.id, {"u1": "ink"}, home=home, skills=skills, load_model=Scripted)
        mcl.accept(asked.intent.id, home=home, skills=[skills_folder])
    assert MemoryStore(home).snapshot().size == 1


def test_forgetting_makes_it_a_question_again(taught: Memory, compiles: Compile, home: Home) -> None:
    MemoryStore(home).forget(taught.uri)
    assert isinstance(compiles(GOAL, Scripted()), Clarify)


def test_learning_can_be_turned_off_and_on_and_what_was_learned_waits(
    taught: Memory,
    compiles: Compile,
    home: Home,
    skills: Skills,
    skills_folder: Path,
) -> None:
    cortex = MemoryStore(home)
    cortex.write([setting(on=False, at=taught.at)])
    assert isinstance(compiles(GOAL, Scripted()), Clarify)
    ask_and_answer(home, compiles, skills, skills_folder, Scripted(), "order more", slot__item="ink")
    assert [one.uri for one in cortex.memories().find(tags=("learned",))] == [taught.uri]
    cortex.write([setting(on=True, at=taught.at)])
    assert item(compiles(GOAL, Scripted())) == "red paper"


@pytest.mark.parametrize("answer", ["AKIAABCDEFGHIJKLMNOP", "http://me:secret99@example.org/x"])
def test_no_secret_is_taken_for_an_answer(
    home: Home, compiles: Compile, skills: Skills, skills_folder: Path, answer: str
) -> None:
    model = Scripted(skill="look", verb="find")  # it has no plan, which would refuse the secret too
    with pytest.raises(InputError) as caught:
        ask_and_answer(home, compiles, skills, skills_folder, model, "look it up", slot__what=answer)
    assert (caught.value.code, caught.value.place) == ("SECRET_INLINE", "slot.what")
    assert not any(answer.encode() in row.wire for row in home.journal.rows())


def test_what_was_a_secret_is_not_learned(
    home: Home, compiles: Compile, skills: Skills, skills_folder: Path
) -> None:
    model = Scripted(skill="look", verb="find")
    said = "[redacted: API key]"
    ask_and_answer(home, compiles, skills, skills_folder, model, "look it up", slot__what=said)
    assert MemoryStore(home).snapshot().size == 0


def test_an_answer_that_could_not_be_read_today_is_asked_again(
    taught: Memory, home: Home, tmp_path: Path
) -> None:
    from mcl.language.skills import find_skills

    folder = tmp_path / "other" / "order"
    folder.mkdir(parents=True)
    (folder / "SKILL.mtx").write_text(ORDER.replace("slot item: string", "slot item: uint"))
    (folder / "plan.yaml").write_text(PLAN)
    outcome = compile_goal(GOAL, home=home, skills=find_skills([folder.parent]), model=Scripted())
    assert isinstance(outcome, Clarify)
    assert item(outcome) == ""


def test_which_of_several_was_meant_is_learned_for_the_word_in_any_goal(
    home: Home, compiles: Compile, skills: Skills, skills_folder: Path
) -> None:
    cortex = MemoryStore(home)
    north = cortex.put("Fact", "Acme of the north sells paper", id="north")
    cortex.put("Fact", "Acme of the south sells paper", id="south")
    says = {"slot.item": "paper", "slot.supplier": "Acme"}
    model = Scripted(says=says, certainty={"slot.item": 0.4})  # unsure enough to be asked
    answers = {"slot__item": "paper", "slot__supplier": north.uri}
    goal = "order paper from Acme"
    done = ask_and_answer(home, compiles, skills, skills_folder, model, goal, **answers)
    assert [one.uri for one in done.intent.frame.objects if one.name == "supplier"] == [north.uri]
    learned = cortex.memories().find(tags=("learned",))
    [memory] = [one for one in learned if one.edges == (("means", north.uri),)]
    assert memory.text == f"order: “Acme” as supplier means {north.uri}"
    newer = cortex.put("Fact", "Acme of the north sells paper and ink", id="north")
    says = {"slot.item": "ink", "slot.supplier": "ACME"}
    other = compiles("please order ink from ACME", Scripted(says=says))
    assert isinstance(other, Compiled)
    assert [one.uri for one in other.intent.frame.objects if one.name == "supplier"] == [newer.uri]
    assert [one.uri for one in other.intent.references] == [newer.uri, memory.uri]
    cortex.forget(newer.uri)  # what was meant is gone: only the other is left
    left = compiles("please order ink from ACME", Scripted(says=says))
    assert [one.uri.split("/")[-1] for one in left.intent.frame.objects if one.uri] == ["south@v1"]


def test_the_skill_that_was_meant_is_learned_for_the_goal(
    home: Home, compiles: Compile, skills: Skills, skills_folder: Path
) -> None:
    says = {"slot.what": "granite", "slot.item": "granite"}
    unsure = Scripted(skill="look", sure=0.4, says=says)
    done = ask_and_answer(home, compiles, skills, skills_folder, unsure, "granite", skill="order")
    assert done.intent.compile_metadata is not None
    again = compiles("granite", unsure)
    assert isinstance(again, Compiled)
    assert again.intent.compile_metadata is not None
    assert again.intent.compile_metadata.skill_id == "order"
    assert "skill" in [one.role for one in again.intent.references]


def test_a_compile_from_before_is_replayed_without_what_was_learned_since(
    home: Home, compiles: Compile, skills: Skills, skills_folder: Path, core: Any
) -> None:
    model = Scripted(says={"slot.item": "something"}, certainty={"slot.item": 0.99})
    before = compiles(GOAL, model)
    assert isinstance(before, Compiled)
    unsure = Scripted(says={"slot.item": "something"}, certainty={"slot.item": 0.3})
    ask_and_answer(home, compiles, skills, skills_folder, unsure, GOAL, slot__item="ink")
    after = compiles(GOAL, model)
    assert (item(before), item(after)) == ("something", "ink")
    for outcome in (before, after):
        draft = home.journal.view(outcome.intent.id).draft
        assert draft is not None
        again = recompile(outcome.intent, draft, home=home, skills=skills, model=model, core=core)
        assert canonical_bytes(again) == canonical_bytes(outcome.intent)


def test_replay_proves_the_memories_that_an_intent_refers_to(
    home: Home, compiles: Compile, skills_folder: Path
) -> None:
    memory = MemoryStore(home).put("Fact", "Acme", id="acme")
    model = Scripted(says={"slot.item": "paper", "slot.supplier": "Acme"})
    outcome = compiles("order paper from Acme", model)
    MemoryStore(home).put("Fact", "Acme AB", id="acme")

    def told() -> Any:
        done = mcl.replay(outcome.intent.id, home=home, skills=[skills_folder])
        return next(item for item in done.items if item.name == "memory")

    item = told()
    assert (item.verdict, item.note) == ("same", "1 referred to and proved; 1 later changes were left out")
    row = home.journal.rows(kind="record.cortex.put", limit=1)[0]
    with home.db.write() as connection:
        connection.execute("DROP TRIGGER journal_keeps")
        changed = (row.wire.replace(b"Acme", b"Bcme"), row.seq)
        connection.execute("UPDATE journal SET wire = ? WHERE seq = ?", changed)
    item = told()
    assert item.verdict == "different"
    assert memory.uri in item.note


@pytest.mark.parametrize("answer", ["matrix://no address", "matrix://skill/" + "x" * 2500, "x" * 600])
def test_no_answer_keeps_an_intent_from_being_accepted(
    home: Home, compiles: Compile, skills: Skills, skills_folder: Path, answer: str
) -> None:
    done = ask_and_answer(home, compiles, skills, skills_folder, Scripted(), GOAL, slot__item=answer)
    assert home.journal.view(done.intent.id).state == "accepted"
    assert item(compiles(GOAL, Scripted())) in (answer, "")


def test_giving_something_else_and_accepting_it_is_a_later_answer(
    taught: Memory, home: Home, compiles: Compile, skills_folder: Path
) -> None:
    given = compiles(GOAL, Scripted(), slots={"item": "blue paper"})
    assert item(compiles(GOAL, Scripted())) == "red paper"  # nothing was accepted yet
    signed = mcl.accept(given.intent.id, home=home, skills=[skills_folder])
    assert signed.remembered == (taught.uri.replace("@v1", "@v2"),)
    assert item(compiles(GOAL, Scripted())) == "blue paper"
    other = compiles("order something else", Scripted(), slots={"item": "ink"})
    assert mcl.accept(other.intent.id, home=home, skills=[skills_folder]).remembered == ()


def test_what_was_learned_is_not_taken_for_a_thing_that_is_meant(
    taught: Memory, home: Home, tmp_path: Path
) -> None:
    from mcl.language.skills import find_skills
    from mcl.memory.lessons import bundle

    cortex = MemoryStore(home)
    nice = cortex.put("Preference", "something nice from Acme", id="nice", tags=("pinned",))
    cortex.put("Preference", taught.text, id="copy", tags=("learned", "pinned"))
    near = bundle(cortex.memories(), GOAL, types=("Preference",), tags=("learned",), tokens=500)
    assert near.memories == (nice,)
    folder = tmp_path / "other" / "order"
    folder.mkdir(parents=True)
    (folder / "SKILL.mtx").write_text(ORDER.replace("find(type=Fact", "find(type=Preference"))
    (folder / "plan.yaml").write_text(PLAN)
    slots = {"item": "x", "supplier": "something nice"}
    outcome = compile_goal(
        "order x",
        home=home,
        skills=find_skills([folder.parent]),
        model=Scripted(),
        options=GoalOptions(slots=slots),
    )
    assert isinstance(outcome, Compiled)
    assert [one.uri for one in outcome.intent.references] == [nice.uri]
