"""One answer at every door: exactly one of the answers, or it is asked again, and never goes on."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from walks import Says, Walks, gate, sequence, tool

from executor import AlwaysApprove, AlwaysDeny, GateAnswer, GateQuestion, Home, Outcome
from executor.gate.approvals import Offer
from executor.walker.questions import TRIES
from ir import PlanTree, PolicyGateBody, PolicyGateResolveBody, check_plan
from ir.plan import NO, YES
from mcl.cli.people import AtTerminal
from mcl.core.errors import InputError
from mcl.plugins.mcp.forms import gate_form, read_form
from mcl.serve.exchange import Filled
from mcl.usecases.gates import decide_gate, open_gates, show_gate

WORDS = {"options": ["send", "later", "drop it", "nein"], "refuses": ["drop it", "nein"]}
PLAIN = {"options": ["drop it", "nein", "nope", "stop"]}
YES_NO: dict[str, Any] = {}
LISTED = {"options": ["approve", "deny"]}


@pytest.fixture
def walks(home: Home, tmp_path: Path) -> Walks:
    work = tmp_path / "walked"
    work.mkdir()
    return Walks(home, work)


def at_terminal(walks: Walks, intent: str, said: list[str]) -> Outcome:
    reading, writing = os.pipe()
    os.write(writing, "".join(f"{line}\n" for line in said).encode())
    os.close(writing)
    with os.fdopen(reading) as stdin, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", stdin)
        return walks.run(intent, people=AtTerminal())


def by_library(walks: Walks, intent: str, said: list[str]) -> Outcome:
    return walks.run(intent, people=Says(*said))


class Form:
    """A client that sends a form off with these decisions, one after the other."""

    def __init__(self, said: list[str]) -> None:
        self.said = said

    async def ask(self, question: GateQuestion) -> GateAnswer | None:
        form = gate_form(question)
        assert form.schema["properties"]["decision"]["enum"]  # type: ignore[index]
        filled = Filled("accept", {"decision": self.said.pop(0)}) if self.said else Filled("cancel")
        return read_form(form, filled)


def by_form(walks: Walks, intent: str, said: list[str]) -> Outcome:
    return walks.run(intent, people=Form(said))


class Dies:
    async def ask(self, question: GateQuestion) -> GateAnswer | None:
        raise KeyboardInterrupt


def from_elsewhere(walks: Walks, intent: str, said: list[str]) -> Outcome:
    """Decided with `mcl gate` while no run waits; what is refused there is tried again."""
    with pytest.raises(KeyboardInterrupt):
        walks.run(intent, people=Dies())
    [asked] = open_gates(home=walks.home)
    for text in said:
        if asked.offer.read(text):
            decide_gate(asked.id, text, home=walks.home)
            break
        with pytest.raises(InputError) as refused:
            decide_gate(asked.id, text, home=walks.home)
        assert refused.value.code == "NOT_AN_OPTION"
        assert all(name in refused.value.fix for name in asked.offer.names)
    return walks.run(intent, people=Says(), resume=True)


Door = Callable[[Walks, str, list[str]], Outcome]
DOORS: dict[str, Door] = {
    "terminal": at_terminal,
    "library": by_library,
    "form": by_form,
    "mcl gate": from_elsewhere,
}
# What a gate lists, what is answered, and what is decided: "" = nobody decided, and it does not go on.
ANSWERS = [
    (WORDS, ["send"], "send"),
    (WORDS, ["drop it"], "-drop it"),
    (WORDS, ["nein"], "-nein"),
    (WORDS, ["nope", "later"], "later"),
    (WORDS, ["y", "yes", "send"], "send"),
    (WORDS, ["", "", ""], ""),
    (WORDS, ["approve", "SEND", "ja"], ""),
    (WORDS, ["maybe", "maybe", "maybe", "send"], ""),
    (PLAIN, ["nope"], "nope"),  # the plan does not say that it refuses, and no word is interpreted
    (PLAIN, ["deny"], "-deny"),
    (PLAIN, ["approve", "yes", "no"], ""),
    (YES_NO, ["approve"], "approve"),
    (YES_NO, ["deny"], "-deny"),
    (YES_NO, ["yep", "approve"], "approve"),
    (LISTED, ["maybe", "deny"], "-deny"),
]
_ODD = {"mcl gate": "a fourth try is one more command there"}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(("options", "said", "decided"), ANSWERS)
def test_an_answer_does_the_same_at_every_door(
    walks: Walks, door: str, options: dict[str, Any], said: list[str], decided: str
) -> None:
    if door in _ODD and len(said) > TRIES:
        said = said[:TRIES]
    plan = sequence("root", gate("n1", **options), tool("n2", "time/now"))
    intent = walks.accept(plan)
    outcome = DOORS[door](walks, intent, list(said))
    bodies = [one.body for one in walks.home.journal.envelopes(intent)]
    signed = [one.decision for one in bodies if isinstance(one, PolicyGateResolveBody)]
    assert signed == [decided.removeprefix("-")] * bool(decided)  # a no that nobody said is signed by nobody
    goes_on = bool(decided) and not decided.startswith("-")
    assert (outcome.state, outcome.nodes["n2"]) == (
        ("completed", "completed") if goes_on else ("denied", "skipped")
    )
    if goes_on and options:
        assert outcome.outputs["n1"] == {"decision": decided, "answer": decided, "reason": ""}


@pytest.mark.parametrize("door", ["terminal", "library", "mcl gate"])
@pytest.mark.parametrize("options", [YES_NO, LISTED])
@pytest.mark.parametrize("word", [*YES, *NO])
def test_yes_and_no_work_where_the_question_is_one(
    walks: Walks, door: str, options: dict[str, Any], word: str
) -> None:
    outcome = DOORS[door](walks, walks.accept(gate("n1", **options)), [word])
    assert outcome.state == ("completed" if word in YES else "denied")


@pytest.mark.parametrize(
    ("options", "decided"),
    [
        (WORDS, "send"),
        ({"options": ["drop it", "later", "send"], "refuses": ["drop it"]}, "later"),
        ({"options": ["later", "approve", "deny"]}, "approve"),
        (YES_NO, "approve"),
    ],
)
def test_whoever_approves_unseen_takes_an_option_that_goes_on(
    walks: Walks, options: dict[str, Any], decided: str
) -> None:
    intent = walks.accept(gate("n1", **options))
    assert walks.run(intent, people=AlwaysApprove()).state == "completed"
    [state] = walks.home.journal.view(intent).gates.values()
    assert (state.decision, state.unseen) == (decided, True)
    refused = walks.accept(gate("n1", **options))
    assert walks.run(refused, people=AlwaysDeny()).state == "denied"


def test_the_reason_never_takes_the_place_of_the_option(walks: Walks) -> None:
    write = tool("n2", "fs/write", "write", path="c.txt", content="${n1.output.answer}/${n1.output.reason}")
    intent = walks.accept(sequence("root", gate("n1", **WORDS), write))
    with pytest.raises(KeyboardInterrupt):
        walks.run(intent, people=Dies())
    [asked] = open_gates(home=walks.home)
    assert asked.refuses == ("drop it", "nein")
    for approves, option in ((True, "approve"), (True, "drop it"), (False, "send")):
        with pytest.raises(InputError) as refused:
            decide_gate(asked.id, option, reason="send", approves=approves, home=walks.home)
        assert refused.value.code == "NOT_AN_OPTION"
    decide_gate(asked.id, "send", reason="drop it", home=walks.home)
    shown = show_gate(asked.id, home=walks.home)
    assert (shown.decision, shown.reason) == ("send", "drop it")
    assert walks.run(intent, resume=True, people=Says()).state == "completed"
    assert (walks.workspace / "c.txt").read_text() == "send/drop it"


@given(
    text=st.text()
    | st.sampled_from([*YES, *NO, "send ", "SEND", " later", "drop it", "ＳＥＮＤ", "sen\u200bd"])
)
@pytest.mark.parametrize("options", [WORDS, PLAIN, YES_NO, LISTED])
def test_whatever_is_not_exactly_an_answer_never_goes_on(options: dict[str, Any], text: str) -> None:
    offer = Offer.of(options.get("options", ()), options.get("refuses", ()))
    goes_on = offer.approves(offer.read(text))
    words = YES if offer.is_yes_no else ()
    listed = set(options.get("options", ())) - set(options.get("refuses", ())) - set(NO)
    assert goes_on == (text in words or text in listed)
    assert offer.refusing
    assert not any(offer.approves(one) for one in (*offer.refusing, text) if one not in listed | set(YES))


@given(st.lists(st.sampled_from(["a", "b", "stop", "deny", "no", "yes", "approve"]), unique=True), st.data())
def test_one_answer_always_refuses(options: list[str], data: st.DataObject) -> None:
    refuses = data.draw(st.lists(st.sampled_from(options), unique=True)) if options else []
    offer = Offer.of(options, refuses)
    assert offer.refusing
    assert set(offer.names) == set(offer.refusing) | set(offer.continuing)
    assert set(refuses) <= set(offer.refusing)


def test_options_that_cannot_be_meant_are_flaws_of_the_plan() -> None:
    def codes(**more: Any) -> set[str]:
        root = {"id": "n1", "kind": "gate", "gate": {"question": "Which?", **more}}
        return {flaw.code for flaw in check_plan(PlanTree.model_validate({"root": root}))} - {
            "PLAN_ID_MISSING",
            "INTENT_ID_MISSING",
            "SKILL_REF_MISSING",
        }

    assert codes(options=["send", "drop it"], refuses=["drop it"]) == set()
    for option in ("", " send", "send\n", "se\x1bnd", "send\u200b"):
        assert codes(options=["other", option]) == {"OPTION_INVALID"}
    assert codes(options=["send", "send"]) == {"OPTION_INVALID"}
    assert codes(options=["yes", "go"], refuses=["yes"]) == {"OPTION_INVALID"}
    assert codes(options=["go"], refuses=["stop"]) == {"OPTION_INVALID"}
    assert codes(options=["no", "drop it"], refuses=["drop it"]) == {"OPTIONS_ALL_REFUSE"}


def test_rows_from_before_options_said_what_they_do_read_as_they_were_meant(walks: Walks) -> None:
    for decision, state in (("red", "completed"), ("stop", "denied"), ("approve", "completed")):
        intent = walks.accept(gate("n1", options=["red", "stop"]))
        with pytest.raises(KeyboardInterrupt):
            walks.run(intent, people=Dies())
        plan = walks.home.journal.view(intent).plan
        assert plan is not None
        old = PolicyGateBody("matrix://rule/plan-gate", "Go on?", plan.id, "n1", ("red", "stop"))
        walks.tell(intent, "policy.gate", old)
        gate_id = [row.id for row in walks.home.journal.rows(kind="policy.gate")][-1]
        walks.tell(
            intent, "policy.gate.resolve", PolicyGateResolveBody(gate_id, decision, walks.home.clock.now())
        )
        assert walks.run(intent, resume=True, people=Says()).state == state
    assert walks.home.journal.verify().ok


def test_time_ends_the_asking_too(walks: Walks) -> None:
    class Unclear:
        async def ask(self, question: GateQuestion) -> GateAnswer | None:
            await anyio.sleep(0.05)
            return GateAnswer("perhaps")

    outcome = walks.run(walks.accept(gate("n1", timeout_ms=60)), people=Unclear())
    assert outcome.failure is not None
    assert outcome.failure.code == "GATE_TIMEOUT"
