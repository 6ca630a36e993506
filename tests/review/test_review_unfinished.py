"""A review whose model fails still tells what was found by then, and that it is not whole."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from scripted import Scripted
from yards import Yard

from mcl.core.errors import ModelError
from mcl.model.protocol import WritingRequest
from mcl.plugins.review.usecases.run import ReviewRun, review_code

SHELL = "import subprocess\n\n\ndef run(words):\n    return subprocess.call(words, shell=True)\n"


def numbers(request: WritingRequest) -> str:
    raise ModelError("MODEL_NUMBERS", "the model gave what is no number", fix="try another file")


def crash(request: WritingRequest) -> str:
    raise RuntimeError("decode failed")


def reviewed(
    yard: Yard, answer: Callable[[WritingRequest], str], text: str = SHELL, *, deep: bool = False
) -> ReviewRun:
    yard.write("a.py", text)
    model = Scripted(answer, digest="0" * 64)
    return review_code("a.py", mode="security", model=model, deep=deep, workspace=yard.folder)


@pytest.mark.parametrize(("answer", "code"), [(numbers, "MODEL_NUMBERS"), (crash, "MODEL_CRASHED")])
def test_what_the_rules_found_is_told_where_the_model_failed(
    yard: Yard, answer: Callable[[WritingRequest], str], code: str
) -> None:
    done = reviewed(yard, answer)
    assert (done.exit, done.whole, done.outcome.state) == (5, False, "failed")
    assert [(one.severity, one.line, one.rule) for one in done.findings] == [("RISK", 5, "B602")]
    assert done.text.startswith("[RISK] a.py:5\n")
    assert done.outcome.nodes["review"] == "failed"
    assert "conclude" not in done.outcome.outputs
    problem = done.problem()
    assert problem is not None
    assert (problem.code, problem.exit) == (code, 5)
    assert "Review it under the contract" in problem.message
    assert "--no-ai" in problem.fix
    assert "--model" in problem.fix


def test_the_document_and_sarif_have_them_and_say_that_they_are_not_all(yard: Yard) -> None:
    done = reviewed(yard, numbers)
    told = done.to_json()
    assert (told["whole"], told["exit"], told["blocking"], told["state"]) == (False, 5, True, "failed")
    assert [one["rule"] for one in told["findings"]] == ["B602"]  # type: ignore[attr-defined, index]
    assert told["failure"]["code"] == "MODEL_NUMBERS"  # type: ignore[index]
    assert "--no-ai" in told["failure"]["fix"]  # type: ignore[index]
    [run] = done.to_sarif()["runs"]  # type: ignore[misc]
    assert [one["ruleId"] for one in run["results"]] == ["B602"]
    [invocation] = run["invocations"]
    assert invocation["executionSuccessful"] is False
    [said] = invocation["toolExecutionNotifications"]
    assert (said["level"], said["descriptor"]["id"]) == ("error", "MODEL_NUMBERS")
    assert "no number" in said["message"]["text"]


def test_nothing_found_by_then_is_not_no_findings(yard: Yard) -> None:
    done = reviewed(yard, numbers, "x = 1\n")
    assert (done.exit, done.findings, done.blocking, done.text) == (5, (), False, "")


def test_what_an_earlier_pass_of_the_model_said_is_told_too(yard: Yard) -> None:
    def answer(request: WritingRequest) -> str:
        if request.system.startswith("You check"):
            raise ModelError("MODEL_NUMBERS", "no number")
        if request.system.startswith("You prepare"):
            return "Responsibility: one.\nPatterns: two.\nHotspots: three."
        return "[WARNING] a.py:4\nThe name is not checked."

    done = reviewed(yard, answer, deep=True)
    assert (done.exit, done.whole) == (5, False)
    assert [(one.line, bool(one.rule)) for one in done.findings] == [(5, True), (4, False)]


def test_it_is_shown_again_as_what_it_is(yard: Yard) -> None:
    done = reviewed(yard, numbers)
    shown = yard.mcl("show", done.outcome.intent_id, "--json").document["review"]
    assert (shown["whole"], shown["findings"], shown["text"]) == (False, done.output["findings"], done.text)
    told = yard.mcl("show", done.outcome.intent_id).out
    assert "[RISK] a.py:5" in told
    assert "These are not all" in told
    ended = reviewed(yard, lambda request: "No findings.")
    assert yard.mcl("show", ended.outcome.intent_id, "--json").document["review"]["whole"] is True
    nothing = reviewed(yard, numbers, "x = 1\n")
    assert "No findings." not in yard.mcl("show", nothing.outcome.intent_id).out


def test_a_context_that_is_too_small_is_answered_with_how_large_one_has_to_be(yard: Yard) -> None:
    yard.write("a.py", SHELL)
    model = Scripted(lambda request: "No findings.", room=10, digest="0" * 64)
    problem = review_code("a.py", model=model, workspace=yard.folder).problem()
    assert problem is not None
    assert (problem.code, "4,096 tokens" in problem.fix) == ("MODEL_CONTEXT", True)
    assert "goal" not in problem.fix


def test_a_review_that_ended_is_whole(yard: Yard) -> None:
    done = reviewed(yard, lambda request: "No findings.")
    assert (done.exit, done.whole, done.to_json()["whole"]) == (1, True, True)
    assert "invocations" not in done.to_sarif()["runs"][0]  # type: ignore[index]


def test_what_failed_is_remembered_of_no_file(yard: Yard) -> None:
    from mcl.plugins.review.memory.history import ReviewMemories

    reviewed(yard, numbers)
    with yard.opened() as home:
        assert ReviewMemories(home, yard.folder).history.last("a.py", 1) == ()


def test_the_command_tells_both(yard: Yard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mcl.plugins.review.usecases import run as act

    whole = act.review_code
    model = Scripted(numbers, digest="0" * 64)
    monkeypatch.setattr(act, "review_code", lambda *a, **more: whole(*a, **{**more, "model": model}))
    yard.write("a.py", SHELL)
    place = tmp_path / "found.sarif"
    told = yard("a.py", "--sarif", str(place))
    assert told.code == 5
    assert told.out.startswith("[RISK] a.py:5\n")
    assert "1 finding in 1 file, 1 of them blocks; the review is not whole" in told.err
    assert "code  MODEL_NUMBERS" in told.err
    assert json.loads(place.read_text())["runs"][0]["results"][0]["ruleId"] == "B602"
    document = yard("a.py", "--json").document
    assert (document["whole"], document["exit"], len(document["findings"])) == (False, 5, 1)
    assert yard("a.py", "--sarif", "-").document["runs"][0]["invocations"][0]["exitCode"] == 5
    yard.write("a.py", "x = 1\n")
    assert yard("a.py").out == ""
