"""Correcting a goal by slot and in words: the Frame and the plan are made anew together, whatever state the
intent is in, and never disagree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from walks import without_critic

import mcl
from executor import AlwaysApprove, Home
from ir import Intent, MclError, PlanStepBody, PlanTree
from mcl.compiler.corrected_plan import corrected_plan
from mcl.compiler.stages.request import GoalChange
from mcl.core.errors import InputError
from mcl.usecases.corrections import propose_correction, sign_correction
from mcl.usecases.goal_corrections import goal_changes, merged_intent
from mcl.usecases.installed import installed

GOAL = "write the lines with invoice in notes to report.md"
SLOTS = {"text": "invoice", "folder": "notes", "pattern": "*", "report": "report.md"}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "a.md").write_text("invoice 12\ncoffee 3\n")
    return folder


def compiled(home: Home, goal: str = GOAL, **slots: str) -> str:
    """The id of a report that was compiled without a model."""
    given = {"skill": "files-report", "verb": "deliver", "slots": {**SLOTS, **slots}}
    made = mcl.compile_goal(goal, **given, ai=False, home=home)
    return made.require().intent.id


def documents(home: Home, id: str) -> tuple[Intent, PlanTree]:
    view = home.journal.view(id)
    assert view.intent is not None
    assert view.plan is not None
    return view.intent, view.plan


def slots(home: Home, id: str) -> dict[str, str]:
    return {one.name: one.value for one in documents(home, id)[0].frame.objects}


def calls(plan: PlanTree) -> dict[str, dict[str, str]]:
    return {node.id: dict(node.tool_call.args) for node, _ in plan.root.walk() if node.tool_call}


def agree(home: Home, id: str) -> None:
    """The plan is what its skill makes of the Intent; nothing else may ever count."""
    intent, plan = documents(home, id)
    empty = intent.model_copy(update={"frame": intent.frame.model_copy(update={"objects": ()})})
    with pytest.raises(MclError):  # without its slots it is another plan, or none
        corrected_plan(home, intent, empty, plan, installed(home.path, ()))
    told = calls(plan)
    said = {one.name: one.value for one in intent.frame.objects}
    assert told["search"]["query"] == said["text"]
    assert told["search"]["path"] == said["folder"]
    assert told["write"]["path"] == said["report"]
    assert home.journal.verify().ok


def run(home: Home, id: str, work: Path, **more: Any) -> str:
    return mcl.run(id, workspace=work, people=AlwaysApprove(), home=home, **more).state


def test_before_the_accept_a_slot_changes_the_frame_and_the_plan(home: Home, work: Path) -> None:
    id = compiled(home)
    done = mcl.correct(id, changes=["slot.text=coffee", "report=coffee.md"], home=home)
    assert done.state == "proposed"
    assert slots(home, id) == {**SLOTS, "text": "coffee", "report": "coffee.md"}
    assert calls(documents(home, id)[1])["write"]["content"].startswith("# Lines with: coffee\n")
    agree(home, id)
    mcl.accept(id, home=home)
    assert run(home, id, work) == "completed"
    assert (work / "coffee.md").read_text().count("coffee") > 1
    assert not (work / "report.md").exists()


def test_words_are_read_for_the_same_skill_and_stand_behind_the_goal(home: Home) -> None:
    id = compiled(home)
    mcl.correct(id, "in the folder archive instead", ai=False, home=home)
    intent, _ = documents(home, id)
    assert intent.prose == f"{GOAL}\nin the folder archive instead"
    assert slots(home, id)["folder"] == "archive"
    agree(home, id)


def test_a_material_one_after_the_accept_waits_and_what_is_not_stays_accepted(home: Home) -> None:
    id = compiled(home)
    mcl.accept(id, home=home)
    assert mcl.correct(id, "for at most 20 EUR", ai=False, home=home).state == "accepted"
    assert mcl.correct(id, changes=["text=coffee"], home=home).state == "proposed"
    agree(home, id)


def test_after_a_failure_the_run_goes_on_from_there(home: Home, work: Path) -> None:
    (work / "report.md").write_text("mine")
    without_critic(home)
    id = compiled(home)
    mcl.accept(id, home=home)
    assert run(home, id, work) == "failed"
    corrected = mcl.correct(id, changes=["report=other.md"], home=home)
    assert (corrected.state, corrected.material) == ("proposed", True)
    agree(home, id)
    mcl.accept(id, home=home)
    assert run(home, id, work) == "completed"
    assert "invoice 12" in (work / "other.md").read_text()
    assert (work / "report.md").read_text() == "mine"
    bodies = [one.body for one in home.journal.envelopes(id) if isinstance(one.body, PlanStepBody)]
    done = [one.node_id for one in bodies if one.status == "completed"]
    assert done.count("search") == 1  # what had completed did not run again


def test_a_plan_alone_is_not_made_to_do_what_the_goal_does_not_say(home: Home) -> None:
    id = compiled(home)
    size = home.journal.size()
    with pytest.raises(InputError) as refused:
        mcl.correct(id, changes=["plan.write.args.path=elsewhere.md"], home=home)
    assert (refused.value.code, refused.value.place) == ("SAID_BY_SLOT", "plan.write.args.path")
    assert "--set slot.report=" in refused.value.fix
    assert home.journal.size() == size
    mcl.correct(id, changes=["plan.write.description=Write it down"], home=home)  # nothing says this
    agree(home, id)


def test_a_field_of_the_frame_takes_the_plan_with_it(home: Home) -> None:
    id = compiled(home)
    place = next(n for n, one in enumerate(documents(home, id)[0].frame.objects) if one.name == "report")
    mcl.correct(id, changes=[f"frame.objects[{place}].value=elsewhere.md"], home=home)
    assert slots(home, id)["report"] == "elsewhere.md"
    agree(home, id)


def test_what_was_corrected_by_itself_stays_unless_the_goal_changes_it_too(home: Home) -> None:
    id = compiled(home)
    mcl.correct(id, changes=["plan.search.description=Look", "budget.max_calls=5"], home=home)
    mcl.correct(id, changes=["text=coffee"], home=home)
    intent, plan = documents(home, id)
    assert intent.budget is not None
    assert intent.budget.max_calls == 5
    size = home.journal.size()
    agree(home, id)
    mcl.correct(id, changes=["report=b.md"], home=home)
    assert plan.root.children[0].description == "Look"
    assert home.journal.size() > size


def test_the_budget_of_the_plan_follows_that_of_its_intent(home: Home) -> None:
    given = {"skill": "files-report", "verb": "deliver", "slots": SLOTS, "ai": False, "home": home}
    id = mcl.compile_goal(f"{GOAL}, for at most 20 EUR", **given).require().intent.id
    assert documents(home, id)[1].budget == documents(home, id)[0].budget is not None
    mcl.correct(id, "for at most 50 EUR", ai=False, home=home)
    intent, plan = documents(home, id)
    assert plan.budget == intent.budget
    assert intent.budget is not None
    assert str(intent.budget.max_cost.amount if intent.budget.max_cost else "") == "50"


def test_what_it_leaves_open_is_asked_and_nothing_is_signed_until_it_is_answered(home: Home) -> None:
    id = compiled(home)
    size = home.journal.size()
    with pytest.raises(InputError) as asked:
        mcl.correct(id, removed=["slot.report"], home=home)
    assert (asked.value.code, asked.value.exit) == ("QUESTIONS_OPEN", 3)
    assert [one["field"] for one in asked.value.data["questions"]] == ["slot.report"]  # type: ignore[index]
    assert home.journal.size() == size


def test_an_answer_about_a_promise_is_for_a_person(home: Home) -> None:
    id = compiled(home)
    with pytest.raises(InputError) as asked:
        propose_correction(id, words="without being rude", ai=False, home=home)
    [question] = asked.value.data["questions"]  # type: ignore[misc]
    field, option = question["field"], question["options"][1]  # type: ignore[index]
    proposal = propose_correction(
        id, words="without being rude", answers={field: option}, ai=False, home=home
    )
    with pytest.raises(InputError) as refused:
        sign_correction(proposal, home=home, unseen=True)
    assert refused.value.code == "PERSON_ONLY"
    assert sign_correction(proposal, home=home).state == "proposed"
    [rule] = documents(home, id)[0].frame.constraints
    assert not rule.hard


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"words": "make it blue"}, "CORRECTION_UNCLEAR"),
        ({"changes": ["text=invoice"]}, "CORRECTION_UNCLEAR"),
        ({"changes": ["slot.nothing=1"]}, "SLOT_UNKNOWN"),
        ({"changes": ["text=coffee", "budget.max_calls=5"]}, "CORRECTION_MIXED"),
        ({"words": "use ghp_" + "a1B2" * 9}, "SECRET_INLINE"),
        ({"words": "a\0b"}, "GOAL_BINARY"),
        ({"words": "x" * 5000}, "GOAL_TOO_LONG"),
    ],
)
def test_what_cannot_be_taken_is_refused_with_code_place_and_way_out(
    home: Home, given: dict[str, Any], code: str
) -> None:
    id = compiled(home)
    size = home.journal.size()
    with pytest.raises(MclError) as refused:
        mcl.correct(id, **given, ai=False, home=home)
    assert refused.value.code == code
    assert refused.value.place
    assert refused.value.fix
    assert home.journal.size() == size


def test_a_skill_that_is_another_one_now_makes_no_plan_of_a_correction(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = compiled(home)
    monkeypatch.setattr("mcl.language.skills.mtx_digest", lambda *_: "0" * 64)
    with pytest.raises(MclError) as refused:
        mcl.correct(id, changes=["text=coffee"], home=home)
    assert refused.value.code == "SKILL_CHANGED"


def test_what_was_said_is_in_the_journal_and_read_back(home: Home) -> None:
    id = compiled(home)
    mcl.correct(id, changes=["text=coffee"], home=home)
    mcl.correct(id, "in the folder archive instead", ai=False, home=home)
    assert goal_changes(home.journal.view(id)) == (
        GoalChange(fields={"slot.text": "coffee"}),
        GoalChange("in the folder archive instead"),
    )


def test_three_ways_are_one_and_what_two_change_is_a_conflict(home: Home) -> None:
    id = compiled(home)
    intent, _ = documents(home, id)
    was, now = (
        intent.model_copy(update={"deadline": moment})
        for moment in ("2027-01-01T00:00:00Z", "2027-02-01T00:00:00Z")
    )
    assert merged_intent(was, was, now).deadline == now.deadline
    assert merged_intent(now, was, was) == now
    assert merged_intent(now, was, now) == now
    with pytest.raises(InputError) as refused:
        merged_intent(intent, was, now)
    assert (refused.value.code, refused.value.place) == ("CORRECTION_CONFLICT", "deadline")


def verdicts(home: Home, id: str) -> dict[str, str]:
    return {item.name: item.verdict for item in mcl.replay(id, home=home).items}


def test_replay_follows_the_corrections_to_what_was_accepted_and_what_ran(home: Home, work: Path) -> None:
    id = compiled(home)
    assert (mcl.replay(id, home=home).same, mcl.replay(id, home=home).of) == (True, "compiled")
    mcl.correct(id, changes=["text=coffee"], home=home)
    mcl.correct(id, "in the folder archive instead", ai=False, home=home)
    mcl.correct(id, changes=["folder=notes"], home=home)
    mcl.correct(id, changes=["budget.max_calls=5"], home=home)
    mcl.accept(id, home=home)
    assert mcl.replay(id, home=home).of == "accepted"
    assert run(home, id, work) == "completed"
    found = mcl.replay(id, home=home)
    assert found.same, found.items
    assert found.of == "ran"
    chain = [item.name for item in found.items][-6:]
    assert chain == ["correction 1", "correction 2", "correction 3", "correction 4", "accepted", "ran"]
    intent, plan = documents(home, id)
    ran = found.items[-1]
    assert ran.recorded == f"{intent.hash} + {plan.hash}"
    assert "completed" in ran.note


def test_what_ran_is_not_called_the_same_where_a_link_before_it_is_not(
    home: Home, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = compiled(home)
    mcl.correct(id, "in the folder notes instead, text coffee", ai=False, home=home)
    mcl.accept(id, home=home)
    run(home, id, work)
    assert mcl.replay(id, home=home).same
    monkeypatch.setattr("mcl.compiler.stages.changes._manner", lambda *_: "less")
    found = verdicts(home, id)
    assert found["bytes"] == "same"
    assert found["correction 1"] != "same"
    assert found["accepted"] == found["ran"] == found["correction 1"]
    assert not mcl.replay(id, home=home).same


def test_a_run_that_failed_and_was_corrected_says_each_of_the_documents_that_ran(
    home: Home, work: Path
) -> None:
    (work / "report.md").write_text("mine")
    without_critic(home)
    id = compiled(home)
    mcl.accept(id, home=home)
    run(home, id, work)
    before = documents(home, id)
    mcl.correct(id, changes=["report=other.md"], home=home)
    assert mcl.replay(id, home=home).items[-1].recorded == f"{before[0].hash} + {before[1].hash}"
    mcl.accept(id, home=home)
    run(home, id, work)
    after = documents(home, id)
    told = mcl.replay(id, home=home)
    assert told.same, told.items
    assert told.items[-1].recorded == ", then ".join(
        f"{one.hash} + {two.hash}" for one, two in (before, after)
    )


def test_nothing_is_learned_from_an_answer_that_was_corrected(home: Home) -> None:
    def answered() -> str:
        asked = mcl.compile_goal("look around", skill="code-search", ai=False, home=home)
        return mcl.answer(asked.intent.id, {"slot.code": "spam"}, ai=False, home=home).require().intent.id

    id = answered()
    mcl.correct(id, changes=["code=eggs"], home=home)
    assert mcl.accept(id, home=home).remembered == ()
    assert mcl.accept(answered(), home=home).remembered
