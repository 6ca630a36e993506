"""What changes between a question and its answer, who may answer, how many may ask, and in whatever order."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from asking import Room, answering, code_of, probe, room, says
from hypothesis import given, settings
from hypothesis import strategies as st

from executor import Home, Walker
from executor.core.errors import GateError, WalkError
from executor.gate.breaker import MOST
from executor.walker.questions import GateQuestion
from mcl.plugins.mcp.call_questions import MAX_OPEN, ApprovedCall, Pending
from mcl.plugins.mcp.forms import plan_people
from mcl.serve.exchange import Filled, Form
from mcl.usecases import call_question as deciding
from mcl.usecases.call_question import CallQuestion, call_questions
from mcl.usecases.gates import decide_gate

pytestmark = pytest.mark.attended  # no command of a person is given, and rows are counted


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Room]:
    with room(tmp_path) as opened:
        yield opened


def the_question(here: Room, id: str = "") -> CallQuestion:
    [asked] = call_questions(here.home, id)
    return asked


def chain_tool(made: list[object]) -> Any:
    async def act(args: Any, bench: Any) -> dict[str, object]:
        made.append(args)
        return {"text": "paid"}

    return probe("pay", act, idempotent=False, effects=("chain",), safety="E")


# ---- what changes between the question and the answer ----


def test_an_approval_is_void_once_the_policy_is_another(here: Room) -> None:
    call = here.overwrite()
    pending = here.pending(call)
    (here.home.path / "policy.toml").write_text("approval_minutes = 60\n")
    settled, _ = here.back(call, pending.wanted.state)
    assert code_of(settled) == "APPROVAL_MISMATCH"
    assert here.text() == "old"
    assert "record.gate.refused" in here.kinds()


def test_an_approval_is_void_where_the_policy_changes_after_it(here: Room) -> None:
    settled = anyio.run(here.settle, here.overwrite(), here.approver())
    (here.home.path / "policy.toml").write_text("approval_minutes = 60\n")
    made = anyio.run(here.questions.run_approved, here.session, settled)
    assert made.failure.code == "APPROVAL_MISMATCH"
    assert here.text() == "old"
    assert here.home.journal.view(settled.intent_id).state == "failed"  # nobody can run it later


def changing_tool(done: list[str], described: str) -> Any:
    async def act(args: Any, bench: Any) -> dict[str, object]:
        done.append(described)
        return {"text": described}

    more: dict[str, Any] = {"operation": "destructive", "safety": "C", "description": described}
    return probe("change", act, effects=("write",), idempotent=False, **more)


def test_a_tool_that_changed_since_it_was_asked_about_is_not_approved(here: Room) -> None:
    done: list[str] = []
    here.tools[:] = [changing_tool(done, "as it was")]
    call = here.call("mcl:test/change", {"text": "x"})
    ask, pending = here.asks(call), here.pending(call)
    here.tools[:] = [changing_tool(done, "as it is now")]

    async def answer() -> Any:
        caller = here.caller("modern", state=pending.wanted.state, filled={"call": says("approve")})
        return await here.questions.settle(here.session, call, ask, caller)

    assert code_of(anyio.run(answer)) == "TOOL_CHANGED"
    assert done == []


def test_a_tool_that_changed_since_it_was_approved_is_not_called(here: Room) -> None:
    done: list[str] = []
    here.tools[:] = [changing_tool(done, "as it was")]
    call = here.call("mcl:test/change", {"text": "x"})
    settled = anyio.run(here.settle, call, here.approver())
    here.tools[:] = [changing_tool(done, "as it is now")]
    made = anyio.run(here.questions.run_approved, here.session, settled)
    assert made.failure.code == "TOOL_CHANGED"
    assert done == []
    assert here.home.journal.view(settled.intent_id).state == "failed"


# ---- who may sign ----


def test_a_chain_call_is_never_approved_in_a_client(here: Room) -> None:
    made: list[object] = []
    here.tools[:] = [chain_tool(made)]
    here.session.grants.grant(here.session.agent, ["chain"])
    call = here.call("mcl:test/pay", {"text": "10 EUR"})
    seen: list[Form] = []

    async def whole() -> Any:
        with anyio.fail_after(60):
            people = answering(*[says("approve")] * 3, seen=seen)
            return await here.settle(call, here.caller(elicit=people))

    assert code_of(anyio.run(whole)) == "GATE_DENIED"  # it was not offered, so it is no answer
    assert "mcl gate approve" in seen[0].message
    assert seen[0].schema["properties"]["decision"]["enum"] == ["deny", "wait"]  # type: ignore[index]
    # Nor is it by a key that any program here can use.
    pending = here.pending(call)
    with pytest.raises(GateError) as refused:
        deciding.approve(here.home, the_question(here, pending.gate))
    assert refused.value.code == "KEY_NOT_PERSONAL"
    assert made == []


def test_a_chain_call_is_approved_by_a_sealed_key_beside_the_client(tmp_path: Path) -> None:
    made: list[object] = []
    with room(tmp_path, sealed=True) as here:
        here.tools[:] = [chain_tool(made)]
        here.session.grants.grant(here.session.agent, ["chain"])
        call = here.call("mcl:test/pay", {"text": "10 EUR"})
        pending = here.pending(call)
        deciding.approve(here.home, the_question(here, pending.gate))  # as mcl gate approve does
        settled, run = here.back(call, pending.wanted.state)
        assert isinstance(settled, ApprovedCall)
        assert (run.failure, len(made)) == (None, 1)


def test_a_sealed_key_signs_nothing_that_was_answered_in_a_client(tmp_path: Path) -> None:
    with room(tmp_path, sealed=True) as here:
        seen: list[Form] = []
        call = here.overwrite()
        settled, _ = here.go(call, here.caller(elicit=answering(*[says("approve")] * 3, seen=seen)))
        assert code_of(settled) == "GATE_DENIED"
        assert "mcl gate approve" in seen[0].message.split("\n")[-1]
        settled, _ = here.go(call, here.caller(elicit=answering(says("deny", reason="not now"))))
        assert "not now" in settled.reason
        assert "intent.cancel" not in here.kinds()  # closed by the agent, signed by nobody else
        settled = here.pending(call)
        for _ in range(3):
            settled, _ = here.back(call, settled.wanted.state, decision="approve")
        assert code_of(settled) == "GATE_DENIED"
        assert here.text() == "old"


# ---- many, again and again ----


def test_the_very_same_call_is_not_asked_about_for_ever(here: Room) -> None:
    for _ in range(MOST):
        assert (
            code_of(here.go(here.overwrite(), here.caller(elicit=answering(Filled("decline"))))[0])
            == "GATE_DENIED"
        )
    refused = here.go(here.overwrite(reason="please"), here.approver())[0]
    assert code_of(refused) == "CIRCUIT_OPEN"
    here.clock.minutes = 11
    settled, _ = here.go(here.overwrite(), here.caller(elicit=answering(Filled("decline"))))
    assert code_of(settled) == "GATE_DENIED"  # asked again
    assert here.go(here.overwrite("another"), here.approver())[1].failure is None


def test_a_person_is_not_flooded(here: Room) -> None:
    for number in range(MAX_OPEN):
        here.pending(here.overwrite(str(number)))
    settled, _ = here.go(here.overwrite("one too many"), here.caller("modern"))
    assert code_of(settled) == "GATE_PENDING"
    here.pending(here.overwrite("of another"), client="another")
    here.clock.minutes = 16  # those that nobody came back for are closed
    assert isinstance(here.go(here.overwrite("now"), here.caller("modern"))[0], Pending)
    assert here.kinds().count("record.gate.timeout") == MAX_OPEN + 1


def test_a_call_that_is_withdrawn_is_closed_and_cannot_be_approved(here: Room) -> None:
    async def whole() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(here.settle, here.overwrite(), here.caller(can=False))
            while not here.kinds():
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()

    anyio.run(whole)
    assert here.kinds() == ["record.gate.asked", "record.gate.closed"]
    with pytest.raises(GateError) as refused:
        decide_gate(the_question(here).id, "approve", home=here.home)
    assert refused.value.code == "GATE_CLOSED"
    assert any("mcl gate approve" in said for said in here.line.said)


def test_what_is_approved_while_the_caller_leaves_is_made_by_nobody(here: Room) -> None:
    async def whole() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(here.settle, here.overwrite(), here.caller(can=False))
            while not here.kinds():
                await anyio.sleep(0.01)
            decide_gate(the_question(here).id, "approve", home=here.home)
            tasks.cancel_scope.cancel()

    anyio.run(whole)
    assert here.kinds()[-1] == "intent.fail"
    assert here.text() == "old"


def test_the_questions_of_a_server_that_ends_are_closed(here: Room) -> None:
    here.pending(here.overwrite())
    here.questions.close()
    assert here.records("record.gate.closed")[0]["why"] == "the server that asked has ended"


# ---- secrets ----


@pytest.mark.parametrize("content", ["ghp_" + "a" * 36, "the value is a-secret-of-this-machine"])
def test_a_secret_in_the_arguments_is_refused_and_kept_nowhere(here: Room, content: str) -> None:
    settled, _ = here.go(here.overwrite(content), here.approver())
    assert code_of(settled) == "SECRET_INLINE"
    assert here.kinds() == []


def test_a_secret_in_the_reason_is_taken_out_of_all_that_is_kept_and_shown(here: Room) -> None:
    seen: list[Form] = []
    call = here.overwrite(reason="with ghp_" + "a" * 36)
    settled, _ = here.go(call, here.caller(elicit=answering(says("approve"), seen=seen)))
    assert isinstance(settled, ApprovedCall)
    assert "ghp_" not in seen[0].message
    assert all(b"ghp_" not in row.wire for row in here.home.journal.rows())


# ---- gates of a running plan ----


def gate(**more: Any) -> GateQuestion:
    return GateQuestion(
        "01M7ZYTG61FEBHXBG1AZE80HT9", "01M7ZYTDXC181SZJRTQSVQHQBM", "n1", "gate", "Go on?", **more
    )


@pytest.mark.parametrize(
    ("options", "filled", "decision"),
    [
        ((), says("approve"), "approve"),
        ((), says("deny", reason="no"), "deny"),
        ((), Filled("decline"), "deny"),
        ((), Filled("cancel"), None),
        ((), says("yes"), ""),  # no answer of the form: asked again
        (("retry", "done", "stop"), says("retry"), "retry"),
        (("retry", "done", "stop"), says("approve"), ""),
    ],
)
def test_the_gates_of_a_plan_are_asked_in_the_client_that_runs_it(
    here: Room, options: Any, filled: Filled, decision: str | None
) -> None:
    seen: list[Form] = []
    people = plan_people(here.session, here.caller(elicit=answering(filled, seen=seen)))
    answer = anyio.run(people.ask, gate(options=options))
    assert (answer.decision if answer else None) == decision
    assert seen[0].schema["properties"]["decision"]["enum"][0] == "deny"  # type: ignore[index]
    assert "    | Go on?" in seen[0].message.split("\n")


# ---- whatever happens, in whatever order ----

ACTS = st.sampled_from(
    [
        "approve",
        "deny",
        "approve elsewhere",
        "deny elsewhere",
        "say yes",
        "say no",
        "close",
        "leave",
        "wait",
        "run",
    ]
)


@settings(max_examples=25)
@given(st.lists(ACTS, max_size=8))
def test_in_whatever_order_things_happen_the_first_decision_counts_and_one_call_is_made(
    tmp_path_factory: Any, acts: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("order")
    with room(folder) as here, Home.open(folder / "home", clock=here.clock) as elsewhere:
        call, decision, made = here.overwrite(), "", 0
        pending = here.pending(call)
        asked, ask = the_question(here, pending.gate), here.asks(call)

        async def bring(decision: str) -> Any:
            filled = {"call": says(decision)}
            caller = here.caller("modern", state=pending.wanted.state, filled=filled)
            settled = await here.questions.settle(here.session, call, ask, caller)
            if not isinstance(settled, ApprovedCall):
                return None
            return await here.questions.run_approved(here.session, settled)

        async def run() -> Any:
            async with Walker(elsewhere, here.registry(), workspace=here.workspace) as walker:
                return await walker.run(asked.intent.id)

        for act in acts:
            word, _, where = act.partition(" ")
            home = elsewhere if where == "elsewhere" else here.home
            done: Any = None
            with suppress(GateError, WalkError):
                if word in ("approve", "deny"):
                    decide_gate(pending.gate, word, home=home)
                    assert decision == ""
                    decision = word
                elif word == "say":
                    word = "approve" if where == "yes" else "deny"
                    done = anyio.run(bring, word)
                    decision = decision or word
                elif word == "close":
                    here.questions.close()
                    decision = decision or "closed"
                elif word == "leave":
                    here.questions.withdraw(here.caller("modern", state=pending.wanted.state), "gone")
                    decision = decision or "closed"
                elif word == "wait":
                    here.clock.minutes += 16
                    decision = decision or "late"
                else:
                    done = anyio.run(run)
            made += done is not None and done.failure is None
            assert made == (here.text() == "new")
        assert made <= (decision == "approve")
