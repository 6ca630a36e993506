"""A call that needs a person becomes a question; its answer is bound to just this call, and counts once."""

from __future__ import annotations

import string
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from asking import Room, answering, code_of, probe, room, says
from hypothesis import given
from hypothesis import strategies as st

from executor.core.clock import instant
from executor.core.errors import GateError
from executor.store.journal.record import Record
from mcl.plugins.mcp.call_questions import ApprovedCall, CallQuestions, Pending
from mcl.plugins.mcp.forms import States
from mcl.serve.exchange import Caller, Filled, Form
from mcl.usecases.call_question import CallQuestion, call_questions
from mcl.usecases.gates import decide_gate, open_gates

pytestmark = pytest.mark.attended  # no command of a person is given, and rows are counted

SIGNED = ["intent.draft", "intent.compiled", "plan.proposed", "intent.accept", "policy.gate"]


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Room]:
    with room(tmp_path) as opened:
        yield opened


def the_question(here: Room, id: str = "") -> CallQuestion:
    [asked] = call_questions(here.home, id)
    return asked


# ---- approved ----


def test_an_approved_call_is_an_intent_of_one_node_made_once(here: Room) -> None:
    seen: list[Form] = []
    settled, made = here.go(
        here.overwrite(), here.caller(elicit=answering(says("approve", reason="go"), seen=seen))
    )
    assert made.failure is None
    assert made.output["path"] == "a.txt"
    assert here.text() == "new"
    assert here.kinds()[:7] == ["record.gate.asked", *SIGNED, "policy.gate.resolve"]
    view = here.home.journal.view(settled.intent_id)
    assert (view.state, view.nodes["n1"]) == ("completed", "completed")
    [resolve] = [one for one in here.home.journal.envelopes(settled.intent_id) if "resolve" in one.kind]
    assert resolve.body.reason == "go"  # type: ignore[union-attr]
    [form] = seen
    assert form.schema["properties"]["decision"]["enum"] == ["deny", "approve"]  # type: ignore[index]

    again = anyio.run(here.questions.run_approved, here.session, settled)
    assert again.failure.code == "APPROVAL_CONSUMED"
    assert here.kinds().count("intent.attest") == 1


def test_nothing_is_signed_in_the_users_name_before_somebody_decides(here: Room) -> None:
    pending = here.pending(here.overwrite())
    rows = here.home.journal.rows()
    assert [row.kind for row in rows] == ["record.gate.asked"]
    record = here.home.journal.open(rows[0].wire)
    assert isinstance(record, Record)
    assert record.from_ == here.home.keyring.agent.did
    assert here.home.journal.intents() == ()  # it is no intent of the person's, and @last is none either
    assert pending.gate == rows[0].id


def test_a_call_comes_again_with_the_form_filled_in_and_is_made(here: Room) -> None:
    call = here.overwrite()
    pending = here.pending(call)
    settled, made = here.back(call, pending.wanted.state)
    assert isinstance(settled, ApprovedCall)
    assert made.output["path"] == "a.txt"
    assert here.text() == "new"


@pytest.mark.parametrize(
    "value",
    [
        *("${n0.output}", "$${x}", "007", "", " \n", "ü\u202e", "null", '{"not": "an object"}'),
        *({"a": ["${x}", 1e3, None]}, [], 12345678901234567890, 1.5, True, None),
    ],
)  # fmt: skip
def test_every_value_is_what_was_asked_about_when_the_call_is_made(here: Room, value: object) -> None:
    got: list[object] = []

    async def take(args: Any, bench: Any) -> dict[str, object]:
        got.append(args["what"])
        return {"text": "done"}

    kinds = {str: "string", dict: "object", list: "array", int: "integer", float: "number", bool: "boolean"}
    schema = {"type": kinds.get(type(value), "null")}
    args = {"type": "object", "additionalProperties": False, "properties": {"what": schema}}
    here.tools.append(probe("take", take, effects=("write",), operation="destructive", safety="C", args=args))
    settled, made = here.go(here.call("mcl:test/take", {"what": value}), here.approver())
    assert isinstance(settled, ApprovedCall), settled
    assert (made.failure, got) == (None, [value])
    assert type(got[0]) is type(value)


# ---- not approved ----


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize(
    ("answer", "signed"),
    [
        (Filled("decline"), True),
        (says("deny", reason="not this file"), True),
        (Filled("cancel"), False),
        (says("Approve"), False),
        (says("approve "), False),
        (says(True), False),
        (says(["approve"]), False),
        (says("wait"), False),
        (Filled("accept", {}), False),
        (Filled("accept", {"approve": "approve"}), False),
        (says("approve", reason=["a", "list"]), False),
        (says("approve", reason="x" * 1001), False),
    ],
)
def test_whatever_is_not_exactly_an_approval_is_a_no(
    here: Room, era: Any, answer: Filled, signed: bool
) -> None:
    call = here.overwrite()
    if era == "handshake":
        settled, _ = here.go(call, here.caller(elicit=answering(*[answer] * 3)))
    else:
        settled = here.pending(call)
        for _ in range(3):  # what is no answer is asked again
            if isinstance(settled, Pending):
                state = settled.wanted.state
                settled, _ = here.go(call, here.caller("modern", state=state, filled={"call": answer}))
    assert code_of(settled) == "GATE_DENIED"
    assert here.text() == "old"
    # Only what a person chose is signed in their name; the rest is closed by the agent.
    assert ("intent.cancel" in here.kinds(), "record.gate.closed" in here.kinds()) == (signed, not signed)
    if "reason" in answer.content and signed:
        assert "not this file" in settled.reason
    assert open_gates(home=here.home) == ()


def test_a_client_that_answers_nonsense_has_said_no(here: Room) -> None:
    settled, _ = here.go(here.overwrite(), here.caller(elicit=answering(ValueError("no such action"))))
    assert code_of(settled) == "GATE_DENIED"
    assert here.text() == "old"


def test_a_question_that_nobody_answers_in_time_is_a_no_and_a_record(here: Room) -> None:
    call = here.overwrite()

    async def whole() -> Any:
        asked = here.asks(call)
        soon = replace(asked, expires_at=here.home.clock.now())
        return await here.questions.settle(here.session, call, soon, here.caller(can=False))

    assert code_of(anyio.run(whole)) == "GATE_TIMEOUT"
    assert here.kinds() == ["record.gate.asked", "record.gate.timeout"]


def test_a_form_that_stays_open_is_taken_back_when_its_time_is_over(here: Room) -> None:
    call, taken_back = here.overwrite(), []

    async def never(form: Form) -> Filled:
        try:
            await anyio.sleep_forever()
        except BaseException:
            taken_back.append(form)
            raise
        return says("approve")

    async def whole() -> Any:
        soon = datetime.fromisoformat(here.home.clock.now()) + timedelta(seconds=0.7)
        ask = replace(here.asks(call), expires_at=instant(soon))
        return await here.questions.settle(here.session, call, ask, here.caller(elicit=never))

    assert code_of(anyio.run(whole)) == "GATE_TIMEOUT"
    assert len(taken_back) == 1
    assert here.text() == "old"


def test_a_client_that_does_not_hear_that_its_call_waits_still_gets_its_answer(here: Room) -> None:
    class Broken:
        async def progress(self, *_: Any) -> None:
            raise anyio.BrokenResourceError

        async def log(self, *_: Any) -> None:
            raise anyio.BrokenResourceError

    async def whole() -> Any:
        found: list[Any] = []

        async def ask() -> None:
            caller = replace(here.caller(can=False), channel=Broken())
            found.append(await here.settle(here.overwrite(), caller))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            while not here.kinds():
                await anyio.sleep(0.01)
            decide_gate(the_question(here).id, "approve", home=here.home)
        return found[0]

    assert isinstance(anyio.run(whole), ApprovedCall)


def test_an_answer_that_comes_too_late_does_not_count(here: Room) -> None:
    call = here.overwrite()
    pending = here.pending(call)
    here.clock.minutes = 16
    settled, _ = here.back(call, pending.wanted.state)
    assert code_of(settled) == "GATE_TIMEOUT"
    with pytest.raises(GateError) as refused:
        decide_gate(pending.gate, "approve", home=here.home)
    assert refused.value.code == "GATE_CLOSED"
    assert here.text() == "old"


def test_an_approval_that_is_not_used_in_time_is_used_by_nobody(here: Room) -> None:
    call = here.overwrite()
    pending = here.pending(call)
    decide_gate(pending.gate, "approve", home=here.home)
    here.clock.minutes = 16
    settled, made = here.back(call, pending.wanted.state)
    assert isinstance(settled, ApprovedCall)
    assert made.failure.code == "GATE_TIMEOUT"
    assert here.home.journal.view(settled.intent_id).state == "failed"
    assert here.text() == "old"


# ---- the answer of one call used for another ----


def test_an_answer_counts_for_its_own_call_only(here: Room) -> None:
    state = here.pending(here.overwrite()).wanted.state
    for other in (
        here.overwrite("other content"),
        here.overwrite(path="b.txt"),
        here.overwrite(reason="another reason"),
        here.overwrite(data_sensitivity="public"),
        here.call("mcl:fs/delete", {"path": "a.txt"}),
    ):
        settled, _ = here.back(other, state)
        assert code_of(settled) == "APPROVAL_MISMATCH"
    assert here.text() == "old"
    assert open_gates(home=here.home)  # and the question itself still waits for its own call


def test_an_answer_counts_once(here: Room) -> None:
    call = here.overwrite()
    state = here.pending(call).wanted.state
    assert here.back(call, state)[1].failure is None
    (here.workspace / "a.txt").write_text("written since")
    settled, _ = here.back(call, state)
    assert code_of(settled) == "APPROVAL_CONSUMED"
    assert here.text() == "written since"


def test_a_refusal_cannot_be_turned_round_with_the_same_state(here: Room) -> None:
    call = here.overwrite()
    state = here.pending(call).wanted.state
    assert code_of(here.back(call, state, decision="deny")[0]) == "GATE_DENIED"
    assert code_of(here.back(call, state, decision="approve")[0]) == "GATE_DENIED"
    assert here.text() == "old"


def test_two_that_bring_the_same_answer_at_once_make_one_call(here: Room) -> None:
    call = here.overwrite()
    state, ask = here.pending(call).wanted.state, here.asks(call)
    found: list[Any] = []

    async def one() -> None:
        caller = here.caller("modern", state=state, filled={"call": says("approve")})
        settled = await here.questions.settle(here.session, call, ask, caller)
        assert isinstance(settled, ApprovedCall)
        found.append(await here.questions.run_approved(here.session, settled))

    async def both() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(one)
            tasks.start_soon(one)

    anyio.run(both)
    codes = sorted(made.failure.code if made.failure else "" for made in found)
    assert codes == ["", "APPROVAL_CONSUMED"]
    assert here.kinds().count("intent.attest") == 1


def test_what_one_client_was_given_another_cannot_use(here: Room) -> None:
    call = here.overwrite()
    state = here.pending(call, client="tester").wanted.state
    assert code_of(here.back(call, state, client="somebody else")[0]) == "APPROVAL_MISMATCH"
    assert here.text() == "old"


@given(st.one_of(st.text(), st.text(string.ascii_letters + string.digits + "-_=", max_size=400)))
def test_a_state_that_was_not_given_out_says_nothing(state: str) -> None:
    nobody: Any = None
    caller = Caller("tester", "1.0", "modern", "1", can_elicit=True, channel=nobody, state=state)
    assert States().read(caller) is None


def test_what_another_process_gave_out_is_refused(here: Room) -> None:
    call = here.overwrite()
    state = here.pending(call).wanted.state
    here.questions = CallQuestions(here.home)
    assert code_of(here.back(call, state)[0]) == "APPROVAL_MISMATCH"
    assert code_of(here.back(call, state[:-8] + "AAAAAAA=")[0]) == "APPROVAL_MISMATCH"
    assert here.text() == "old"
