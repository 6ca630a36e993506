"""Steps of a plan, as who has them answered meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from executor import Home
from grammars import core_modules
from ir import IntentAcceptBody, derive_seed
from mcl.core.home import sealed
from mcl.model.matcher import PatternMatcher
from tests.cli.conftest import Shell
from tests.cli.skill_writing import SKILL, STEP
from tests.model.random_gguf import small_words, write_gguf


@pytest.fixture
def steps(mcl: Shell) -> Shell:
    """A shell with a skill that reads a page and has a model say something of it."""
    skill(mcl.home / "skills" / "read-page", "extract")
    return mcl


def skill(folder: Path, kind: str) -> None:
    folder.mkdir(parents=True)
    (folder / "SKILL.mtx").write_text(SKILL)
    (folder / "plan.yaml").write_text(STEP.replace("KIND", kind))


def compiled(mcl: Shell, *more: str) -> str:
    goal = ("compile", "read the page notes/monday.txt", "--skill", "read-page", "--verb", "find")
    done = mcl(*goal, "--slot", "file=notes/monday.txt", *more, "--json")
    assert done.code == 0, done.out + done.err
    return str(done.document["id"])


def end_of(mcl: Shell, id: str, node: str) -> dict[str, object]:
    rows = mcl("log", id, "--json").document["rows"]
    steps = [str(row["row"]) for row in rows if row["kind"] == "plan.step"]
    bodies = [mcl("log", "show", number, "--json").document["body"] for number in steps]
    return next(body for body in bodies if body["node_id"] == node and body["status"] == "completed")


def test_the_row_of_a_step_says_which_model_answered_what(steps: Shell) -> None:
    id = compiled(steps, "--no-ai")
    assert steps("accept", id, "--yes").code == 0
    ran = steps("run", id, "--no-ai", "--json")
    assert ran.code == 0, ran.out + ran.err
    known = {one["name"]: one["digest"] for one in steps("model", "list", "--json").document["models"]}
    body = end_of(steps, id, "tell")
    assert body["model"] == known["no-ai"]
    assert len(str(body["prompt"])) == 64
    intent = steps("show", id, "--json").document["intent"]
    made = intent["compile_metadata"]
    seed = derive_seed(
        intent_id=id,
        actor=intent["actor"],
        snapshot_hash=made.get("cortex_snapshot_hash", ""),
        mtx_digest=made["mtx_digest"],
        model_digest=known["no-ai"],
    )
    assert body["seed"] == seed.hex
    assert end_of(steps, id, "read")["model"] == ""


def kind_of(mcl: Shell, kind: str) -> None:
    (mcl.home / "skills" / "read-page" / "plan.yaml").write_text(STEP.replace("KIND", kind))


def test_accept_names_the_model_of_each_step_and_says_that_it_cannot_write(steps: Shell) -> None:
    id = compiled(steps, "--no-ai")
    known = {one["name"]: one["digest"] for one in steps("model", "list", "--json").document["models"]}
    shown = steps.other("accept", id, stdin=b"n\n").out
    assert f"bundled {known['bundled'][:12]} is asked at tell" in " ".join(shown.split())
    assert "cannot write" in shown
    verdicts = steps("plan", id, "--json").document["verdicts"]
    assert next(one["model"]["name"] for one in verdicts if one["node"] == "tell") == "bundled"
    signed = steps("accept", id, "--yes", "--no-ai", "--json").document
    assert signed["models"] == {"tell": {"name": "no-ai", "digest": known["no-ai"], "writes": False}}


@pytest.mark.parametrize("kind", ["summarize", "write", "translate"])
def test_a_plan_that_wants_text_written_is_refused_before_anything_where_no_model_writes(
    steps: Shell, kind: str
) -> None:
    kind_of(steps, kind)
    id = compiled(steps, "--no-ai")
    refused = steps("accept", id, "--yes")
    assert (refused.code, "NO_MODEL" in refused.err) == (4, True)
    assert "bundled copies words of what it is given, and does not write" in " ".join(refused.err.split())
    assert "mcl model add" in refused.err
    assert steps("show", id, "--json").document["state"] == "proposed"
    with Home.open(steps.home) as home:  # signed all the same by who was told
        found = home.journal.view(id)
        body = IntentAcceptBody(found.intent_hash, home.clock.now(), plan_hash=found.plan_hash)
        home.journal.append(sealed(home, "intent.accept", body, intent=id, at=home.clock.now()))
    ran = steps("run", id, "--json")
    assert ran.code == 4
    assert "NO_MODEL" in ran.out + ran.err
    assert not [row for row in steps("log", id, "--json").document["rows"] if row["kind"] == "plan.step"]


def test_a_compile_says_that_nobody_here_can_answer_a_step(steps: Shell) -> None:
    kind_of(steps, "write")
    goal = ("compile", "read the page notes/monday.txt", "--skill", "read-page", "--verb", "find", "--no-ai")
    done = steps(*goal, "--slot", "file=notes/monday.txt")
    assert done.code == 0
    assert "tell: no model here can answer a step of the kind write" in " ".join(done.err.split())


def test_a_compile_says_it_to_programs_too_and_so_does_an_answer(steps: Shell) -> None:
    kind_of(steps, "write")
    goal = ("compile", "read the page notes/monday.txt", "--skill", "read-page", "--verb", "find", "--no-ai")
    told = steps(*goal, "--slot", "file=notes/monday.txt", "--json").document["unanswerable"]
    assert [(one["node"], one["code"]) for one in told] == [("tell", "NO_MODEL")]
    assert "bundled copies words of what it is given" in told[0]["message"]
    assert "mcl model add" in told[0]["fix"]
    asked = steps("compile", "read the page", *goal[2:], "--json").document
    assert (asked["status"], "unanswerable" in asked) == ("clarify", False), "there is no plan yet"
    answers = [f"{one['id']}=notes/monday.txt" for one in asked["questions"]]
    answered = steps("answer", asked["id"], *answers, "--no-ai", "--json").document
    assert [one["node"] for one in answered["unanswerable"]] == ["tell"]
    kind_of(steps, "extract")
    assert steps(*goal, "--slot", "file=notes/monday.txt", "--json").document["unanswerable"] == []


def test_a_kind_is_routed_to_an_added_model_that_writes_and_to_whom_the_table_names(
    steps: Shell, tmp_path: Path
) -> None:
    words = small_words(control=("<|end|>",))
    chat_path = write_gguf(tmp_path / "chat.gguf", words, context=4096)
    kind_of(steps, "write")
    added = steps("model", "add", str(chat_path), "--name", "writer", "--json").document
    id = compiled(steps, "--no-ai")
    signed = steps("accept", id, "--yes", "--json").document
    assert signed["models"]["tell"] == {"name": "writer", "digest": added["digest"], "writes": True}
    ran = steps("run", id, "--json")
    assert ran.code == 0, ran.out + ran.err
    body = end_of(steps, id, "tell")
    assert (body["model"], str(body["grammar"])[:15]) == (added["digest"], "step_outputs@1 ")
    assert 0 < int(str(body["tokens"])) < 4096

    shipped = core_modules()["step"].read_text()
    (steps.home / "core").mkdir()
    own = steps.home / "core" / "step.mtx"
    own.write_text(shipped.replace('ask.write="used added"', 'ask.write="used"'))
    id = compiled(steps, "--no-ai")
    assert steps("accept", id, "--yes").code == 4
    own.write_text(shipped.replace("ask.extract=used", 'ask.extract="writer used"'))
    kind_of(steps, "extract")
    id = compiled(steps, "--no-ai")
    assert steps("accept", id, "--yes", "--json").document["models"]["tell"]["name"] == "writer"


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("needs.write=write", "needs.write=sing"),
        ('ask.write="used added"', 'ask.write=""'),
        ("needs.code=write", "needs.code=write\nneeds.cook=write"),
    ],
)
def test_a_table_with_a_mistake_is_told_with_its_place(steps: Shell, line: str, wrong: str) -> None:
    id = compiled(steps, "--no-ai")
    (steps.home / "core").mkdir()
    text = core_modules()["step"].read_text()
    assert line in text
    (steps.home / "core" / "step.mtx").write_text(text.replace(line, wrong))
    told = steps("accept", id, "--yes")
    assert told.code != 0
    assert "step.mtx" in told.out + told.err
    assert "Traceback" not in told.err


def test_each_step_is_asked_again_and_compared(steps: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    id = compiled(steps, "--no-ai")
    assert steps("accept", id, "--yes").code == 0
    assert steps("run", id, "--no-ai").code == 0
    plain = steps("replay", id, "--json").document
    assert not [one for one in plain["items"] if one["name"].startswith("step ")]
    told = steps("replay", id, "--steps", "--json")
    assert told.code == 0, told.out + told.err
    [item] = [one for one in told.document["items"] if one["name"] == "step tell"]
    assert item["verdict"] == "same"
    assert json.loads(item["recorded"]) == steps("show", id, "--json").document["outputs"]["tell"]

    real = PatternMatcher.reason
    monkeypatch.setattr(PatternMatcher, "reason", lambda *said: dict.fromkeys(real(*said), "x"))
    told = steps("replay", id, "--steps", "--json")
    [item] = [one for one in told.document["items"] if one["name"] == "step tell"]
    assert (told.code, item["verdict"], item["found"]) == (6, "different", '{"text": "x"}')

    monkeypatch.setattr("mcl.usecases.models.Models.with_digest", lambda *_: None)
    told = steps("replay", id, "--steps", "--json")
    [item] = [one for one in told.document["items"] if one["name"] == "step tell"]
    assert item["verdict"] == "not available"
    assert "is not here; mcl model add it" in item["note"]
