"""The main job at the command line: a goal compiled, read, signed, run, replayed."""

from __future__ import annotations

import json
import re

import pytest

NOTE = ("compile", "remember to water the plants", "--no-ai", "--skill", "general", "--verb", "build")
NOTE += ("--slot", "object=plants")


def test_the_whole_way_from_goal_to_replay(mcl):
    shown = mcl(*mcl.COMPILE)
    assert shown.code == 0
    assert "first use: made the home" in shown.err
    for word in ("verb", "find", "objects", "invoice", "notes", "unknowns", "confidence", "skill", "hash"):
        assert word in shown.out
    id = re.search(r"mcl accept (\w{26})", shown.out)[1]

    accepted = mcl("accept", "@last", "--yes")
    assert accepted.code == 0
    assert "fs/search@1.0.0" in accepted.out
    assert re.search(r"plan hash +[0-9a-f]{64}", accepted.out)
    assert "allow" in accepted.out

    ran = mcl("run", "@last")
    assert ran.code == 0
    assert "notes/monday.txt:2" in ran.out
    assert "notes/tuesday.md:1" in ran.out
    assert "completed" in ran.out

    log = mcl("log", id)
    kinds = [
        "intent.draft",
        "intent.compiled",
        "plan.proposed",
        "intent.accept",
        "plan.step",
        "intent.attest",
    ]
    places = [log.out.index(kind) for kind in kinds]
    assert places == sorted(places)

    replayed = mcl("replay", id)
    assert replayed.code == 0
    assert "byte for byte the same" in replayed.out

    assert "nothing wrong" in mcl("log", "verify").out


def test_a_second_process_sees_the_same_and_replays_the_same_bytes(mcl):
    id = mcl.compiled()
    other = mcl.other("replay", id[:-2], "--json")
    assert other.code == 0, other.err
    found = json.loads(other.out)
    assert found["intent"] == id
    assert {item["name"]: item["verdict"] for item in found["items"]} == dict.fromkeys(
        ("signature", "hash", "seed", "skill", "model", "grammar", "memory", "bytes", "plan"), "same"
    )


def test_the_same_goal_time_and_id_give_the_same_bytes_in_another_home(mcl, tmp_path):
    fixed = (
        *mcl.COMPILE,
        "--at",
        "2026-11-21T10:00:00Z",
        "--id",
        "01KAGZ3M5N0000000000000001",
        "--dry-run",
        "--json",
    )
    first, second = mcl(*fixed).document, json.loads(mcl.other(*fixed).out)
    assert first["intent"] == second["intent"]
    assert first["stored"] is False
    assert mcl("list", "--json").document["intents"] == []


def test_accepting_asks_and_anything_but_yes_signs_nothing(mcl):
    id = mcl.compiled()
    for typed in (b"", b"\n", b"no\n", b"yes please\n", b"Y E S\n"):
        asked = mcl.fed(typed, "accept", id)
        assert asked.code == 4, typed
        assert "nothing was signed" in asked.err
        assert "Sign this intent" in asked.err
    assert mcl("show", id, "--json").document["state"] == "proposed"
    assert mcl.fed(b"yes\n", "accept", id).code == 0
    assert mcl("show", id, "--json").document["state"] == "accepted"


def test_a_question_is_asked_answered_and_compiled_again(mcl):
    asked = mcl("compile", "sales.csv", "--no-ai", "--skill", "data-summary")
    assert asked.code == 3
    assert "one of: analyze, build" in " ".join(asked.out.split())
    assert re.search(r"mcl answer \w{26} u1=", asked.out)
    wrong = mcl("answer", "@last", "u1=everything")
    assert wrong.code == 2, wrong.out
    unknown = mcl("answer", "@last", "u9=build")
    assert (unknown.code, "ANSWER_UNKNOWN" in unknown.err) == (2, True)
    answered = mcl("answer", "@last", "u1=analyze", "--json")
    assert answered.code == 0, answered.out
    assert answered.document["plan"]["root"]["tool_call"]["tool_ref"] == "matrix://tool/data/summary@1.0.0"
    assert mcl("replay", "@last").code == 0


def test_a_gate_is_asked_at_the_terminal_and_only_the_exact_word_approves(mcl):
    def note() -> str:
        done = mcl(*NOTE, "--json")
        assert done.code == 0, done.out + done.err
        mcl("accept", done.document["id"], "--yes")
        return done.document["id"]

    written = lambda id: (mcl.folder / "mcl-notes" / f"{id}.md").exists()  # noqa: E731
    for typed, code in ((b"", 4), (b"no\n", 4), (b"approve!\n", 4), (b"approve\n", 0), (b"yes\n", 0)):
        id = note()
        ran = mcl.fed(typed, "run", id)
        assert ran.code == code, ran.out + ran.err
        assert "Keep the goal as a note" in ran.err
        assert written(id) is (code == 0)
    id = note()
    assert mcl("run", id, "--deny-gates").code == 4
    assert not written(id)
    id = note()
    assert mcl("run", id, "--yes-gates").code == 0
    assert written(id)


def test_an_intent_runs_once_and_a_cancelled_one_never(mcl):
    id = mcl.signed()
    assert mcl("run", id).code == 0
    again = mcl("run", id)
    assert again.code == 4
    assert "NOT_ACCEPTED" in again.err
    other = mcl.signed()
    assert mcl("cancel", other, "--reason", "no").code == 0
    assert mcl("run", other).code == 4
    assert mcl("cancel", other).code == 4


def test_the_readme_goal_with_the_bundled_model_needs_no_help(mcl):
    made = mcl("compile", "which files in notes mention invoice", "--json")
    assert made.code == 0, made.out + made.err
    assert not made.document["intent"]["compile_metadata"]["model_version"].startswith("no-ai")
    assert mcl("accept", "@last", "--yes").code == 0
    ran = mcl("run", "@last")
    assert ran.code == 0
    assert "notes/monday.txt:2" in ran.out
    other = mcl.other("replay", "@last", "--json")
    assert other.code == 0, other.out + other.err


@pytest.mark.parametrize(
    "goal",
    [
        "remind me on sunday to call her at 15",
        "tomorrow at 9 remind me to feed the cat",
        "remind me every monday at 9 to water the plants",
        "påminn mig på fredag att ringa Anna klockan tre",
    ],
)
def test_a_goal_with_a_moment_is_kept_as_it_was_said(mcl, goal):
    made = mcl("compile", goal, "--at", "2026-11-21T10:00:00Z", "--json")
    assert made.code == 0, made.out + made.err
    intent = made.document["intent"]
    assert intent["prose"] == goal
    for mark in intent["compile_metadata"]["spans"]:
        words = goal[mark.get("start", 0) : mark["end"]]
        assert words == words.strip(" ,")


def test_each_value_that_was_read_from_other_words_is_shown_with_them(mcl):
    goal = "using at most 20 calls, remind me to call Anna tomorrow at 9 in the morning"
    fixed = ("--at", "2026-11-21T10:00:00Z", "--no-ai", "--skill", "schedule-reminder", "--verb", "schedule")
    fixed += ("--zone", "UTC")
    assert mcl("compile", goal, *fixed).code == 0
    shown = " ".join(mcl("show", "@last").out.replace("↪", "").split())
    assert 'when 2026-11-22T09:00:00.000Z ("tomorrow at 9 in the morning")' in shown
    assert 'title "call Anna"' in shown
    assert "“call Anna”" not in shown
    assert '20 calls ("20 calls")' in shown
