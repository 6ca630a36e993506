"""`mcl correct` and `mcl plan compare`: at the terminal and in scripts, beside a run in another process."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest

NOTE = ("compile", "remember to water the plants", "--no-ai", "--skill", "general", "--verb", "build")
NOTE += ("--slot", "object=plants", "--json")
FERNS = ("--set", "plan.note.args.content=Water the ferns")


@pytest.fixture
def waiting(mcl):
    """The id of an intent whose run waits at its gate in another process, and that process."""
    id = mcl(*NOTE).document["id"]
    assert mcl("accept", id, "--yes").code == 0
    process = mcl.start("run", id)
    end = time.monotonic() + 60
    while not mcl("gate", "list", "--json").document["gates"]:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "the run asks nobody"
        time.sleep(0.05)
    yield id, process
    process.kill()
    process.communicate()


def ended(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """The exit code and the output of a process that ends by itself, its input still open."""
    process.wait(60)
    assert process.stdout is not None
    return process.returncode, process.stdout.read().decode()


def note_of(mcl, id: str) -> Path:
    return mcl.folder / "mcl-notes" / f"{id}.md"


def test_a_material_correction_stops_the_other_process_and_the_run_goes_on_after_an_accept(mcl, waiting):
    id, process = waiting
    corrected = mcl("correct", id, *FERNS, "--reason", "the ferns", "--yes", "--json")
    assert corrected.code == 10, corrected.err
    told = corrected.document
    assert (told["material"], told["state"], told["again"]) == (True, "proposed", [])
    assert [(one["code"], one["place"]) for one in told["changes"]] == [
        ("ARGS_CHANGED", "plan.note.args.content")
    ]
    assert told["next"] == [f"mcl accept {id}", f"mcl run {id}"]
    code, out = ended(process)
    assert code == 10
    assert f"mcl accept {id}" in out
    assert mcl("gate", "list", "--json").document["gates"] == []
    assert mcl("run", id).code == 4
    assert mcl("accept", id, "--yes").code == 0
    assert mcl("run", id, "--yes-gates").code == 0
    assert note_of(mcl, id).read_text() == "Water the ferns"
    assert mcl("log", "verify").code == 0
    log = mcl("log", id).out
    assert "the ferns" in log
    assert mcl("replay", id).code == 0  # as it was compiled


def test_a_correction_that_is_not_material_leaves_the_other_process_at_work(mcl, waiting):
    id, process = waiting
    corrected = mcl("correct", id, "--set", "budget.max_calls=5", "--yes")
    assert (corrected.code, "BUDGET_LOWERED" in corrected.out) == (0, True)
    assert mcl("show", id, "--json").document["intent"]["budget"] == {"max_calls": 5}
    gate = mcl("gate", "list", "--json").document["gates"][0]["id"]
    assert mcl("gate", "approve", gate).code == 0
    code, out = ended(process)
    assert code == 0, out
    assert note_of(mcl, id).exists()
    assert mcl("replay", id).code == 0


def test_the_question_shows_the_difference_and_anything_but_yes_signs_nothing(mcl, waiting):
    id, _ = waiting
    before = mcl("log", "--json", "--limit", "0").document
    for answer in (b"", b"no\n", b"YES!\n"):
        asked = mcl.fed(answer, "correct", id, *FERNS)
        assert asked.code == 4
        for word in ("plan.note.args.content", "Water the ferns", "needs a new accept", "why"):
            assert word in asked.out
        assert "[y/N]" in asked.err
        assert "nothing was signed" in asked.err
    assert mcl("log", "--json", "--limit", "0").document == before
    assert mcl.fed(b"y\n", "correct", id, "--set", "budget.max_calls=5").code == 0


def test_what_the_gate_would_refuse_is_said_before_it_is_signed(mcl, waiting):
    id, _ = waiting
    asked = mcl.fed(b"n\n", "correct", id, "--set", "plan.note.args.path=../elsewhere.md")
    assert asked.code == 4
    assert "The gate will refuse note: OUT_OF_SCOPE" in asked.out
    signed = mcl("correct", id, "--set", "plan.note.args.path=.git/config", "--yes", "--json")
    assert [one["code"] for one in signed.document["refused"]] == ["PROTECTED_PATH"]


def test_patches_come_from_a_file_or_standard_input(mcl, waiting):
    id, _ = waiting
    patches = [{"op": "add", "path": "/intent/budget", "value": {"max_calls": 7}}]
    Path("patches.json").write_text(json.dumps(patches))
    assert mcl("correct", id, "--patch", "patches.json", "--yes").code == 0
    patches[0]["value"] = {"max_calls": 6}
    piped = mcl.other("correct", id, "--patch", "-", "--yes", "--json", stdin=json.dumps(patches).encode())
    assert piped.code == 0, piped.err
    assert mcl("show", id, "--json").document["intent"]["budget"] == {"max_calls": 6}


def test_a_correction_that_does_not_fit_says_what_and_where_and_signs_nothing(mcl, waiting):
    id, _ = waiting
    before = mcl("log", "--json", "--limit", "0").document
    for arguments, code, exit in (
        ((), "USAGE", 2),
        (("--set", "plan.nowhere.args.a=b"), "PATH_UNKNOWN", 2),
        (("--set", "budget.max_calls=many"), "VALUE_WRONG", 2),
        (("--patch", "nowhere.json"), "FILE_UNREADABLE", 2),
        (("--patch", "notes"), "FILE_UNREADABLE", 2),
        (("--patch", "notes/monday.txt"), "PATCH_WRONG", 2),
        (("--unset", "deadline"), "PATH_UNKNOWN", 2),
        (("--retry-from", "nowhere"), "CORRECTION_INVALID", 4),
        (("--set", "frame.verb=destroy"), "CORRECTION_INVALID", 4),
        (("--unset", "plan.keep"), "CORRECTION_INVALID", 4),
    ):
        done = mcl("correct", id, *arguments, "--yes", "--json")
        assert (done.code, done.document["error"]["code"]) == (exit, code)
        assert done.document["error"]["fix"]
    assert mcl("log", "--json", "--limit", "0").document == before


def test_what_was_signed_and_has_not_run_is_corrected_too(mcl):
    id = mcl.signed()
    assert mcl("correct", id, "--set", "budget.max_calls=5", "--yes").code == 0
    assert mcl("show", id, "--json").document["state"] == "accepted"
    assert mcl("cancel", id).code == 0
    refused = mcl("correct", id, "--set", "budget.max_calls=4", "--yes")
    assert refused.code == 4
    assert "there is nothing to correct" in refused.err


def test_materiality_answers_by_its_exit_code(mcl):
    id = mcl.compiled()
    shown = mcl("show", id, "--json").document
    before, after = Path("before.json"), Path("after.json")
    before.write_text(json.dumps(shown["plan"]))
    root = shown["plan"]["root"]
    root["description"] = "in other words"
    after.write_text(json.dumps(shown["plan"]))
    same = mcl("plan", "compare", "before.json", "after.json", "--json")
    assert same.code == 0
    assert same.document["material"] is False
    assert [one["code"] for one in same.document["changes"]] == ["TEXT_CHANGED"]
    shown["plan"]["budget"] = {"max_calls": 3}
    before.write_text(json.dumps(shown["plan"]))
    raised = mcl("plan", "compare", "before.json", "after.json")
    assert raised.code == 10
    for word in ("BUDGET_RAISED", "plan.budget.max_calls", "needs a new accept"):
        assert word in raised.out
    assert mcl("plan", "compare", id, id, "--json").document["changes"] == []
    for arguments in (("before.json", "gone.json"), (id, "before.json"), ("notes/monday.txt", "before.json")):
        wrong = mcl("plan", "compare", *arguments, "--json")
        assert wrong.code == 2, wrong.out
        assert wrong.document["error"]["fix"] or wrong.document["error"]["place"]


def test_a_deadline_is_judged_from_the_moment_that_is_named(mcl):
    intent = mcl("show", mcl.compiled(), "--json").document["intent"]
    for name, deadline in (("a.json", "2027-01-01T12:00:00Z"), ("b.json", "2027-01-01T13:00:00Z")):
        Path(name).write_text(json.dumps({**intent, "deadline": deadline}))
    assert mcl("plan", "compare", "a.json", "b.json", "--at", "2027-01-01T00:00:00Z").code == 0
    assert mcl("plan", "compare", "a.json", "b.json", "--at", "2027-01-01T09:00:00Z").code == 10
    assert mcl("plan", "compare", "a.json", "b.json", "--at", "noon", "--json").code == 2


def test_a_run_whose_process_was_killed_is_corrected_and_resumed(mcl, waiting):
    id, process = waiting
    process.kill()
    process.wait(30)
    assert mcl("correct", id, "--set", "budget.max_calls=5", "--yes").code == 0
    assert mcl("correct", id, *FERNS, "--retry-from", "ask", "--yes").code == 10
    assert mcl("accept", id, "--yes").code == 0
    assert mcl("run", id, "--yes-gates").code == 0
    assert note_of(mcl, id).read_text() == "Water the ferns"


def test_of_two_corrections_of_the_same_the_second_is_told_that_it_is_stale(mcl, waiting):
    id, _ = waiting
    first = mcl.start("correct", id, "--set", "budget.max_calls=5")
    second = mcl.start("correct", id, "--set", "budget.max_calls=4")
    for process in (first, second):
        assert process.stdout is not None
        while b"Not material" not in process.stdout.readline():
            assert process.poll() is None
    _, told = first.communicate(b"y\n", timeout=60)
    assert first.returncode == 0, told
    _, told = second.communicate(b"y\n", timeout=60)
    assert second.returncode == 4
    assert b"STALE_CORRECTION" in told
    assert mcl("show", id, "--json").document["intent"]["budget"] == {"max_calls": 5}


def test_a_folder_that_is_no_workspace_keeps_nobody_from_correcting(mcl, waiting, monkeypatch):
    id, _ = waiting
    monkeypatch.chdir(mcl.home)
    assert mcl("correct", id, "--set", "budget.max_calls=5", "--yes").code == 0
    assert mcl("correct", id, "--set", "budget.max_calls=4", "--yes", "--workspace", ".").code == 4


@pytest.mark.parametrize(
    "same",
    [
        ("--set", "budget.max_calls=5"),
        ("--patch", "-"),
        ("--unset", "deadline"),
        ("--retry-from", "note"),
    ],
    ids=["a value that it has", "no patches", "what is not there", "a node that has not begun"],
)
def test_a_correction_that_changes_nothing_is_not_signed(mcl, waiting, same):
    id, _ = waiting
    assert mcl("correct", id, "--set", "budget.max_calls=5", "--yes").code == 0
    before = mcl("log", id).out
    told = mcl.fed(b"[]", "correct", id, *same, "--yes")
    assert told.code in (2, 4)
    assert "code  CORRECTION_INVALID" in told.err or "code  PATH_UNKNOWN" in told.err
    assert mcl("log", id).out == before


def test_a_budget_of_zero_is_a_difference_is_shown_and_holds(mcl, waiting):
    id, process = waiting
    told = mcl("correct", id, "--set", "budget.max_calls=0", "--yes", "--json")
    assert told.code in (0, 10), told.err
    assert [(one["place"], one["after"]) for one in told.document["changes"]] == [("budget.max_calls", 0)]
    assert mcl("show", id, "--json").document["intent"]["budget"]["max_calls"] == 0
    assert "0 calls" in mcl("show", id).out
    [gate] = mcl("gate", "list", "--json").document["gates"]
    assert mcl("gate", "approve", gate["id"]).code == 0
    code, out = ended(process)
    assert (code, "the budget allows no call" in out) == (4, True), out
    assert not note_of(mcl, id).exists()
    assert mcl("log", "verify").code == 0


def test_a_gate_is_answered_with_a_correction_which_is_neither_yes_nor_no(mcl, waiting):
    id, process = waiting
    [gate] = mcl("gate", "list", "--json").document["gates"]
    told = mcl("gate", "correct", gate["id"], "--set", "object=ferns", "--yes", "--json")
    assert told.code == 10, told.err
    assert "frame.objects[0]" in [one["place"] for one in told.document["changes"]]
    code, out = ended(process)
    assert code == 10, out
    assert mcl("gate", "list", "--json").document["gates"] == []
    assert mcl("accept", id, "--yes").code == 0
    assert mcl("run", id, "--yes-gates").code == 0
    assert mcl("replay", id).code == 0


def test_a_correction_is_typed_where_a_gate_is_answered(mcl, waiting):
    id, process = waiting
    process.stdin.write(b"correct\ncorrect the ferns too\nn\ncorrect the ferns too\ny\n")
    process.stdin.flush()
    code, out = ended(process)
    assert code == 10, out
    _, err = process.communicate()
    said = err.decode()
    assert "Sign this correction?" in said
    assert "nothing was signed" in said
    assert "the ferns too" in mcl("show", id, "--json").document["intent"]["prose"]
    assert "is no answer to this" in said  # the word alone says nothing


def test_a_correction_that_is_refused_leaves_the_gate_as_it_was(mcl, waiting):
    id, process = waiting
    process.stdin.write(b"correct use ghp_" + b"a1B2" * 9 + b"\napprove\n")
    process.stdin.flush()
    code, out = ended(process)
    assert code == 0, out
    assert b"SECRET_INLINE" in process.stderr.read()
    assert note_of(mcl, id).exists()
