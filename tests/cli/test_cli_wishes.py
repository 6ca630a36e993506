"""A goal of two wishes, from its words to what is done: one Intent, one plan, each wish by its own skill."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Shell

GOAL = "find the word invoice in the folder notes and then make a note that the ship sails"


@pytest.fixture
def two(mcl: Shell) -> str:
    mcl("init")
    done = mcl("compile", GOAL, "--no-ai", "--json")
    assert done.code == 0, done.out + done.err
    return str(done.document["id"])


def test_both_are_in_what_is_signed_and_both_are_done(mcl: Shell, two: str) -> None:
    intent = mcl("show", two, "--json").document["intent"]
    (wish,) = intent["frame"]["further"]
    assert (intent["frame"]["verb"], wish["verb"]) == ("find", "build")
    assert wish["prose"] == "make a note that the ship sails"
    assert [one["value"] for one in wish["objects"] if one["name"] == "note"] == ["the ship sails"]
    marks = {one["field"]: GOAL[one["start"] : one["end"]] for one in intent["compile_metadata"]["spans"]}
    assert marks["frame.further[0]"] == "make a note that the ship sails"
    assert marks["frame.further[0].objects[0]"] == "the ship sails"
    seen = mcl("plan", two).out
    assert "wish-2/note" in seen
    assert "fs/append" in seen
    assert mcl("accept", two, "--yes").code == 0
    assert mcl("run", two).code == 0
    assert (mcl.folder / "notes.md").read_text() == "- the ship sails\n"
    assert mcl("replay", two).code == 0


def test_a_person_sees_both_before_anything_is_signed(mcl: Shell, two: str) -> None:
    shown = mcl("show", two).out
    assert "and then" in shown
    assert "the ship sails" in shown
    assert "mcl plan" in shown


def test_two_wishes_of_one_skill(mcl: Shell) -> None:
    mcl("init")
    goal = "make a note that the ship sails and then make a note that the crew sleeps"
    id = mcl("compile", goal, "--no-ai", "--json").document["id"]
    assert mcl("accept", id, "--yes").code == 0
    assert mcl("run", id).code == 0
    assert (mcl.folder / "notes.md").read_text() == "- the ship sails\n- the crew sleeps\n"


@pytest.mark.parametrize(
    "goal",
    [
        "find the word invoice in the folder notes and then encrypt them",  # no skill here does that
        "find the word invoice in the folder notes and then delete the file",
    ],
)
def test_a_wish_that_nothing_here_does_is_asked_about(mcl: Shell, goal: str) -> None:
    mcl("init")
    done = mcl("compile", goal, "--no-ai", "--json")
    assert done.code == 3
    asked = [one["field"] for one in json.loads(done.out)["questions"]]
    assert any(one.startswith("promise.") for one in asked), asked


def test_a_correction_of_the_first_keeps_the_second(mcl: Shell, two: str) -> None:
    assert mcl("correct", two, "--set", "slot.text=coffee", "--yes").code == 10
    plan = mcl("show", two, "--json").document["plan"]
    nodes = json.dumps(plan["root"])
    assert "coffee" in nodes
    assert "the ship sails" in nodes
    assert "invoice" not in nodes
    assert mcl("accept", two, "--yes").code == 0
    assert mcl("run", two).code == 0
    assert (mcl.folder / "notes.md").exists()
