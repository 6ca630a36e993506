"""Corrections that a person writes into a form of a client, at a gate and before the accept: in both eras, by
the SDK's client against a server in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from asking import room
from mcp import Client
from mcp.types import ElicitResult
from walks import without_critic

import mcl
from executor import Home
from executor.walker.questions import GateQuestion
from ir import IntentCorrectBody
from mcl.plugins.mcp.corrections import FormCorrections
from mcl.plugins.mcp.forms import plan_people
from mcl.plugins.mcp.process import opened
from mcl.plugins.mcp.server import Face
from mcl.plugins.mcp.service import GoalCompiler
from mcl.plugins.mcp.upstream.channels import SILENT
from mcl.serve.exchange import Caller, Filled, Form
from mcl.usecases.accept import accept
from mcl.usecases.intents import show
from tests.cli.skill_writing import SKILL

ERAS = pytest.mark.parametrize("era", ["legacy", "auto"])
PLAN = """\
version: 1
plans:
  - root:
      id: page
      kind: sequential
      children:
        - id: ask
          kind: gate
          gate: {question: "Read it?", options: [{name: approve, continues: true}]}
        - id: read
          kind: tool_call
          tool_call:
            tool_ref: matrix://tool/fs/read@1.0.0
            side_effect_class: read
            args: {path: "${slot.file}", max_bytes: "${slot.size}"}
"""
FERNS = "the ferns too"


@dataclass
class Hall:
    """A server in this process, and people before clients who fill in forms as a test says."""

    home: Home
    workspace: Path
    stack: ExitStack
    portal: BlockingPortal
    face: Face = field(init=False)
    seen: list[str] = field(default_factory=list)
    fields: list[set[str]] = field(default_factory=list)

    def runs(self, intent: str, era: str, *answers: Any, **more: Any) -> Any:
        """Run an intent before a person who gives these answers, one a form: a form that comes after them is
        closed. A callable is called while its form is open, and gives its answer."""
        left = list(answers)

        async def fill(context: Any, params: Any) -> Any:
            self.seen.append(params.message)
            self.fields.append(set(params.requested_schema["properties"]))
            answer = left.pop(0) if left else None
            answer = answer() if callable(answer) else answer
            return ElicitResult(action="cancel" if answer is None else "accept", content=answer)

        async def call() -> Any:
            async with Client(self.face.server, mode=era, elicitation_callback=fill) as client:
                return await client.call_tool("run_intent", {"intent": intent, **more})

        return self.portal.call(call)

    def note(self) -> str:
        """An intent whose plan asks before it keeps a note of its words."""
        given = {"skill": "general", "verb": "build", "slots": {"object": "plants"}, "ai": False}
        made = mcl.compile_goal("remember to water the plants", **given, home=self.home)  # type: ignore[arg-type]
        return made.require().intent.id

    def page(self) -> str:
        """An intent whose plan asks before it reads a page: of its words nothing is made."""
        given = {"skill": "read-page", "verb": "find", "slots": {"file": "one.txt"}, "ai": False}
        return mcl.compile_goal("read the page one.txt", **given, home=self.home).require().intent.id  # type: ignore[arg-type]

    def failed(self) -> str:
        """An intent whose run failed, as its page is gone."""
        without_critic(self.home)
        intent = self.accepted(self.page())
        (self.workspace / "one.txt").rename(self.workspace / "gone")
        assert code(self.runs(intent, "auto", {"decision": "approve"})) == "NOT_FOUND"
        self.seen.clear()
        return intent

    def page_is_back(self) -> None:
        (self.workspace / "gone").rename(self.workspace / "one.txt")

    def accepted(self, intent: str) -> str:
        accept(intent, home=self.home)
        return intent

    def corrections(self, intent: str) -> list[IntentCorrectBody]:
        bodies = (one.body for one in self.home.journal.envelopes(intent))
        return [one for one in bodies if isinstance(one, IntentCorrectBody)]

    def refusals(self, intent: str) -> list[str]:
        rows = self.home.journal.rows(intent, kind="record.gate.refused")
        return [str(self.home.journal.open(row.wire).body["code"]) for row in rows]  # type: ignore[union-attr]

    def state(self, intent: str) -> str:
        return self.home.journal.view(intent).state


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "one.txt").write_text("an invoice\n")
    skill = tmp_path / "home" / "skills" / "read-page"
    with ExitStack() as stack:
        home = stack.enter_context(mcl.open_home(tmp_path / "home"))
        skill.mkdir(parents=True)
        (skill / "SKILL.mtx").write_text(SKILL)
        (skill / "plan.yaml").write_text(PLAN)
        made = Hall(home, tmp_path / "work", stack, stack.enter_context(start_blocking_portal()))
        serving = opened(home, made.workspace, GoalCompiler(home, ai=False))
        made.face = stack.enter_context(made.portal.wrap_async_context_manager(serving))
        yield made
        assert home.journal.verify().ok


def code(result: Any) -> str:
    return str(result.structured_content["code"]) if result.is_error else ""


# ---- at a gate ----


@ERAS
def test_words_at_a_gate_are_shown_signed_unseen_and_stop_the_run_where_they_are_material(
    hall: Hall, era: str
) -> None:
    intent = hall.accepted(hall.note())
    ended = hall.runs(intent, era, {"correction": FERNS}, {"decision": "sign"})
    assert code(ended) == "CORRECTED"
    assert f"mcl accept {intent}" in ended.structured_content["fix"]
    question, shown = hall.seen
    assert "What is to be otherwise, said in the field for it, decides nothing" in question
    assert f"remember to water the plants\\n{FERNS}" in shown
    assert f"Material: it needs a new accept, at a terminal: mcl accept {intent}" in shown
    [signed] = hall.corrections(intent)
    assert signed.unseen
    assert hall.state(intent) == "proposed"
    assert not (hall.workspace / "mcl-notes").exists()
    accept(intent, home=hall.home)
    assert hall.runs(intent, era, {"decision": "approve"}).structured_content["state"] == "completed"
    [note] = (hall.workspace / "mcl-notes").iterdir()
    assert FERNS in note.read_text()


@ERAS
def test_what_is_not_material_goes_on_and_the_question_is_put_again(hall: Hall, era: str) -> None:
    intent = hall.accepted(hall.page())
    words = {"correction": "for at most 20 EUR"}
    ended = hall.runs(intent, era, words, {"decision": "sign"}, {"decision": "approve"})
    assert ended.structured_content["state"] == "completed"
    assert "Not material: no new accept is needed." in hall.seen[1]
    assert hall.seen[2].split("\n")[0] == "Corrected."
    assert hall.seen[2].split("\n")[1:] == hall.seen[0].split("\n")
    budget = hall.home.journal.view(intent).intent.budget  # type: ignore[union-attr]
    assert budget is not None
    assert budget.max_cost is not None


@ERAS
@pytest.mark.parametrize("decision", ["approve", "deny"])
def test_words_beside_a_decision_are_a_correction_and_no_decision(
    hall: Hall, era: str, decision: str
) -> None:
    intent = hall.accepted(hall.note())
    both = {"decision": decision, "correction": FERNS}
    ended = hall.runs(intent, era, both, {"decision": "leave it as it is"}, {"decision": "approve"})
    assert ended.structured_content["state"] == "completed"
    assert hall.seen[2].startswith("Not corrected: nothing was signed.\n")
    assert hall.corrections(intent) == []
    [note] = (hall.workspace / "mcl-notes").iterdir()
    assert FERNS not in note.read_text()


@pytest.mark.parametrize("answer", [None, {}, {"decision": "yes"}, {"decision": 7}, {"decision": ["sign"]}])
def test_only_the_one_answer_signs_a_correction(hall: Hall, answer: Any) -> None:
    intent = hall.accepted(hall.note())
    hall.runs(intent, "legacy", {"correction": FERNS}, answer, {"decision": "deny"})
    assert hall.corrections(intent) == []


@pytest.mark.parametrize("words", ["x" * 5000, ["the ferns"], 7], ids=["too long", "a list", "a number"])
def test_what_cannot_be_read_as_words_is_never_passed_over_for_an_approval(hall: Hall, words: Any) -> None:
    intent = hall.accepted(hall.note())
    tries = [{"decision": "approve", "correction": words}] * 3
    assert code(hall.runs(intent, "auto", *tries)) in ("GATE_DENIED", "INVALID_ARGS")
    assert not (hall.workspace / "mcl-notes").exists()


@ERAS
def test_what_becomes_of_a_promise_that_nobody_can_check_is_said_in_no_form(hall: Hall, era: str) -> None:
    intent = hall.accepted(hall.page())
    rude = {"correction": "without being rude"}
    ended = hall.runs(intent, era, rude, {"decision": "approve"})
    assert ended.structured_content["state"] == "completed"
    assert "(PERSON_ONLY); say it at a terminal: mcl correct, or mcl gate correct" in hall.seen[1]
    assert hall.corrections(intent) == []
    assert hall.refusals(intent) == ["PERSON_ONLY"]


@ERAS
def test_words_that_are_refused_leave_the_gate_as_it_was_and_are_kept_without_secrets(
    hall: Hall, era: str
) -> None:
    intent = hall.accepted(hall.note())
    token = "ghp_" + "a1B2" * 9
    ended = hall.runs(intent, era, {"correction": f"use {token}"}, {"decision": "approve"})
    assert ended.structured_content["state"] == "completed"
    assert "SECRET_INLINE" in hall.seen[1]
    assert token not in hall.seen[1]
    assert hall.refusals(intent) == ["SECRET_INLINE"]


@ERAS
def test_what_a_correction_leaves_open_is_asked_by_a_further_form(hall: Hall, era: str) -> None:
    intent = hall.accepted(hall.note())

    def ferns() -> dict[str, str]:
        [name] = hall.fields[-1]
        return {name: "ferns"}

    ended = hall.runs(intent, era, {"correction": "drop the object"}, ferns, {"decision": "sign"})
    assert code(ended) == "CORRECTED"
    assert "Your correction leaves something open." in hall.seen[1]
    [signed] = hall.corrections(intent)
    assert signed.unseen
    objects = hall.home.journal.view(intent).intent.frame.objects  # type: ignore[union-attr]
    assert [one.value for one in objects if one.name == "object"] == ["ferns"]


def test_who_answers_nothing_of_what_is_left_open_has_signed_nothing(hall: Hall) -> None:
    intent = hall.accepted(hall.note())
    drop = {"correction": "drop the object"}
    ended = hall.runs(intent, "legacy", drop, None, drop, {}, {}, {"decision": "approve"})
    assert ended.structured_content["state"] == "completed"
    assert hall.seen[2].startswith("Not corrected: nothing was signed.\n")
    assert hall.seen[5].startswith("Not corrected: something must be known first")
    assert (hall.corrections(intent), hall.refusals(intent)) == ([], ["QUESTIONS_OPEN"])


@pytest.mark.parametrize("kind", ["approval", "in_doubt", "sign_off"])
def test_only_a_gate_of_the_plan_itself_asks_for_words(hall: Hall, kind: Any) -> None:
    question = GateQuestion("0" * 26, "1" * 26, "save", kind, "Allow exactly this?")
    shown: list[Form] = []

    async def closed(form: Form) -> Filled:
        shown.append(form)
        return Filled("cancel")

    async def corrects(*said: Any) -> tuple[str, bool]:
        raise AssertionError("no words were asked for")

    who = Caller("tester", "1.0", "handshake", "1", True, SILENT, closed)
    people = plan_people(hall.face._session, who, corrects)
    hall.portal.call(people.ask, question)
    assert "correction" not in shown[0].schema["properties"]  # type: ignore[operator]


@pytest.mark.parametrize("sealed", [False, True])
def test_where_the_key_is_sealed_no_form_takes_a_correction(tmp_path: Path, sealed: bool) -> None:
    with room(tmp_path, sealed=sealed) as here:
        given = {"skill": "general", "verb": "build", "slots": {"object": "plants"}, "ai": False}
        made = mcl.compile_goal("remember to water the plants", **given, home=here.home)  # type: ignore[arg-type]
        found, session = show(made.require().intent.id, home=here.home), here.session
        assert FormCorrections(session).may_ask(found, here.caller()) is not sealed  # type: ignore[arg-type]
        assert not FormCorrections(session).may_ask(found, here.caller(can=False))  # type: ignore[arg-type]


# ---- before the accept ----


@ERAS
def test_who_has_not_accepted_says_in_a_form_what_is_to_be_otherwise_and_nothing_is_accepted(
    hall: Hall, era: str
) -> None:
    intent = hall.note()
    ended = hall.runs(intent, era, {"correction": FERNS}, {"decision": "sign"}, {})
    assert code(ended) == "NOT_ACCEPTED"
    assert f"mcl accept {intent}" in ended.structured_content["fix"]
    first, _, again = hall.seen
    assert "You accept it at a terminal alone" in first
    assert "    | remember to water the plants" in first
    assert "    |   note: matrix://tool/fs/write@1.0.0 (write)" in first
    assert hall.fields[0] == {"correction"}, "nothing in it accepts"
    assert f"    | {FERNS}" in again
    [signed] = hall.corrections(intent)
    assert signed.unseen
    assert hall.state(intent) == "proposed"
    assert code(hall.runs(intent, era)) == "NOT_ACCEPTED"
    assert len(hall.seen) == 3, "who had nothing to say is not asked again"


@ERAS
def test_who_accepts_at_a_terminal_while_the_form_is_open_has_it_run(hall: Hall, era: str) -> None:
    intent = hall.page()

    def accepts() -> dict[str, str]:
        accept(intent, home=hall.home)
        return {}

    ended = hall.runs(intent, era, accepts, {"decision": "approve"})
    assert ended.structured_content["state"] == "completed"


def test_a_client_that_shows_no_forms_is_refused_at_once_and_one_that_does_not_wait_is_told(
    hall: Hall,
) -> None:
    intent = hall.note()

    async def unable() -> Any:
        async with Client(hall.face.server, mode="legacy") as client:
            return await client.call_tool("run_intent", {"intent": intent})

    assert code(hall.portal.call(unable)) == "NOT_ACCEPTED"
    told = hall.runs(intent, "legacy", wait_s=0).structured_content
    assert (told["state"], f"mcl accept {intent}" in told["how_to_go_on"]) == ("proposed", True)


# ---- after a run failed ----


@ERAS
def test_what_failed_is_corrected_in_words_and_goes_on_once_a_person_accepted(hall: Hall, era: str) -> None:
    without_critic(hall.home)
    (hall.workspace / "archive").mkdir()
    (hall.workspace / "archive" / "a.md").write_text("invoice 12\n")
    slots = {"text": "invoice", "folder": "notes", "pattern": "*", "report": "report.md"}
    given = {"skill": "files-report", "verb": "deliver", "slots": slots, "ai": False}
    goal = "write the lines with invoice in notes to report.md"
    made = mcl.compile_goal(goal, **given, home=hall.home)  # type: ignore[arg-type]
    intent = hall.accepted(made.require().intent.id)
    ended = hall.runs(intent, era)
    assert code(ended) == "NOT_FOUND"
    assert f"mcl correct {intent}" in ended.structured_content["data"]["how_to_go_on"]

    def accepts() -> dict[str, str]:
        assert hall.state(intent) == "proposed", "a signed correction accepts nothing"
        accept(intent, home=hall.home)
        return {}

    words = {"correction": "in the folder archive instead"}
    ended = hall.runs(intent, era, words, {"decision": "sign"}, accepts, {"decision": "approve"})
    assert ended.structured_content["state"] == "completed"
    assert "invoice 12" in (hall.workspace / "report.md").read_text()
    failed, shown, waits = hall.seen[:3]
    assert "A program asks to go on with a run that failed:" in failed
    assert "search: matrix://tool/fs/search@1.0.0 (read), failed" in failed
    assert hall.fields[0] == {"correction", "retry_from"}
    assert "| notes → archive" in shown
    assert f"Material: it needs a new accept, at a terminal: mcl accept {intent}" in shown
    assert waits.startswith(f"Corrected: it needs a new accept, at a terminal: mcl accept {intent}\n")
    [signed] = hall.corrections(intent)
    assert signed.unseen


@ERAS
def test_a_node_that_failed_is_run_again_without_another_word(hall: Hall, era: str) -> None:
    intent = hall.failed()
    hall.page_is_back()
    typo = {"retry_from": "raed"}
    ended = hall.runs(intent, era, typo, {"retry_from": "read"}, {"decision": "sign"}, {})
    assert code(ended) == "NOT_ACCEPTED"
    assert "no node of the plan is called raed (CORRECTION_INVALID)" in hall.seen[1]
    assert "Runs again: read" in hall.seen[2]
    assert hall.refusals(intent) == ["CORRECTION_INVALID"]
    assert hall.state(intent) == "proposed"
    accept(intent, home=hall.home)
    assert hall.runs(intent, era).structured_content["state"] == "completed"
    [signed] = hall.corrections(intent)
    assert (signed.retry_from, signed.unseen) == ("read", True)


def test_who_has_nothing_to_say_of_what_failed_is_asked_once_until_it_failed_again(hall: Hall) -> None:
    intent = hall.failed()
    again = hall.runs(intent, "auto", {})
    assert (code(again), len(hall.seen), hall.state(intent)) == ("NOT_ACCEPTED", 1, "failed")
    assert again.structured_content["message"] == (
        "the run of this intent failed, and no person has corrected it"
    )
    assert f"mcl correct {intent}" in again.structured_content["fix"]
    hall.runs(intent, "auto", {})
    assert len(hall.seen) == 1
    mcl.correct(intent, retry_from="read", home=hall.home)
    hall.accepted(intent)
    assert code(hall.runs(intent, "auto")) == "NOT_FOUND"
    hall.runs(intent, "auto", {})
    assert len(hall.seen) == 2


def test_who_does_not_wait_is_told_what_a_person_does_about_what_failed(hall: Hall) -> None:
    intent = hall.failed()
    told = hall.runs(intent, "legacy", wait_s=0).structured_content
    assert (told["state"], f"mcl correct {intent}" in told["how_to_go_on"]) == ("failed", True)

    async def look() -> Any:
        async with Client(hall.face.server, mode="legacy") as client:
            ran = await client.call_tool("run_intent", {"intent": intent})
            return ran, await client.call_tool("get_intent", {"intent": intent})

    ran, got = hall.portal.call(look)
    assert code(ran) == "NOT_ACCEPTED", "a client without forms is refused at once"
    assert ran.structured_content["fix"] == got.structured_content["how_to_go_on"] == told["how_to_go_on"]


def test_what_cannot_go_on_from_where_it_failed_shows_no_form(hall: Hall) -> None:
    skill = hall.home.path / "skills" / "read-page"
    (skill / "SKILL.mtx").write_text(
        SKILL.replace("§TOOLS\n", "§TOOLS\nmatrix://tool/fs/write@1.0.0\n", 1).replace("find", "build", 1)
    )
    save = """\
        - id: ask
          kind: tool_call
          tool_call:
            tool_ref: matrix://tool/fs/write@1.0.0
            side_effect_class: write
            args: {path: copy.txt, content: x}
"""
    before, after = PLAN.index("        - id: ask"), PLAN.index("        - id: read")
    (skill / "plan.yaml").write_text(PLAN[:before] + save + PLAN[after:])
    given = {"skill": "read-page", "verb": "build", "slots": {"file": "gone.txt"}, "ai": False}
    made = mcl.compile_goal("read the page gone.txt", **given, home=hall.home)  # type: ignore[arg-type]
    intent = hall.accepted(made.require().intent.id)
    assert code(hall.runs(intent, "auto", {"decision": "approve"})) == "NOT_FOUND"
    assert mcl.undo(intent, workspace=hall.workspace, home=hall.home).state == "undone"
    hall.seen.clear()
    ended = hall.runs(intent, "auto", {"retry_from": "read"})
    assert (code(ended), hall.seen) == ("NOT_ACCEPTED", [])
    assert ended.structured_content["message"] == "this intent is failed, and runs no more"
