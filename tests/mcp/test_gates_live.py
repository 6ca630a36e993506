"""Gates over MCP with real parts: `mcl mcp serve`, the SDK's client in both eras, `mcl gate` in processes of
its own, another server behind it. After each the journal verifies."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from anyio import to_thread
from desks import Desk, Peers, surroundings, talk
from gated import agent, answers, calls, code, decide, keeps, mcl, notes, result, waiting
from walks import Walks, gate, sequence

from executor.core.errors import GateError
from executor.gate.grants import Grants
from mcl.core.home import open_home
from mcl.usecases.gates import open_gates

ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])
ONE_ERA = pytest.mark.parametrize("mode", ["legacy", pytest.param("auto", marks=pytest.mark.slow)])


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A home with servers that nobody trusts, so that each call of their tools needs a person."""
    folder = tmp_path_factory.mktemp("gates")
    desk = Desk(folder / "home", folder / "work", surroundings(folder))
    desk.workspace.mkdir()
    for name in ("plain", "changing"):
        desk.enter(name, command=Peers(desk.workspace, desk.environment).command(name), trusted=False)
    with open_home(desk.home) as home:
        Grants(home).grant(home.keyring.agent.did, ["network"])
    return desk


@pytest.fixture(scope="module")
def served(desk: Desk) -> Iterator[tuple[str, str]]:
    """One `mcl mcp serve --http` for all clients."""
    with desk.over_http() as found:
        yield found


@pytest.fixture(autouse=True)
def verified(desk: Desk) -> Iterator[None]:
    yield
    with open_home(desk.home) as home:
        assert home.journal.verify().ok


# ---- in the client ----


@ERAS
def test_a_call_is_approved_in_the_client_made_once_and_answered(
    desk: Desk, served: tuple[str, str], mode: str
) -> None:
    seen: list[str] = []

    async def whole() -> None:
        async with agent(served, mode, answers("approve", seen)) as client:
            result = await keeps(client, f"kept by {mode}")
            assert code(result) == ""
            assert result.content[0].text == f"kept: kept by {mode}"
            assert result.structured_content == {"result": f"kept: kept by {mode}"}
            progress: list[Any] = []

            async def told(done: float, total: float | None, message: str | None) -> None:
                progress.append((done, total, message))

            assert (await calls(client, "plain:count", {"to": 2}, progress_callback=told)).is_error is False
            while (2, 2, "counted 2") not in progress:
                await anyio.sleep(0.01)
            failed = await calls(client, "plain:fail", {"message": "of its own"})
            assert failed.is_error
            assert failed.content[0].text == "Error executing tool fail: of its own"

    talk(whole)
    assert notes(desk, f"kept by {mode}") == 1
    assert "Server: plain (you do not trust it)" in seen[0].split("\n")
    assert f"    | kept by {mode}" in seen[0].split("\n")
    assert "    | to see" in seen[0].split("\n")


@ERAS
@pytest.mark.parametrize("decision", ["deny", "decline", "cancel", "yes"])
def test_what_is_not_approved_in_the_client_is_not_made(
    desk: Desk, served: tuple[str, str], mode: str, decision: str
) -> None:
    async def whole() -> None:
        async with agent(served, mode, answers(decision)) as client:
            assert code(await keeps(client, f"never {mode} {decision}")) == "GATE_DENIED"

    talk(whole)
    assert notes(desk, f"never {mode} {decision}") == 0


def test_an_answer_counts_for_its_own_call_its_own_client_and_once(
    desk: Desk, served: tuple[str, str]
) -> None:
    from mcp.types import ElicitResult, InputRequiredResult

    yes = {"call": ElicitResult(action="accept", content={"decision": "approve"})}

    def said(text: str, reason: str = "to see") -> dict[str, Any]:
        intent = {"operation_type": "destructive", "reason": reason}
        return {"name": "plain:add_note", "args": {"text": text}, "intent": intent}

    async def whole() -> None:
        async with (
            agent(served, "auto", answers("deny")) as client,
            agent(served, "auto", answers("deny"), name="another") as another,
        ):

            async def again(who: Any, what: dict[str, Any], state: str) -> Any:
                return await who.session.call_tool(
                    "call_tool_destructive", what, input_responses=yes, request_state=state,
                    allow_input_required=True,
                )  # fmt: skip

            first = await client.session.call_tool(
                "call_tool_destructive", said("one"), allow_input_required=True
            )
            assert isinstance(first, InputRequiredResult)
            state = first.request_state or ""
            for who, what in (
                (client, said("two")),
                (client, said("one", "another reason")),
                (client, {**said("one"), "name": "plain:unmarked"}),
                (another, said("one")),
            ):
                assert code(await again(who, what, state)) == "APPROVAL_MISMATCH"
            assert code(await again(client, said("one"), state + "A")) == "APPROVAL_MISMATCH"
            assert code(await again(client, said("one"), state)) == ""
            assert code(await again(client, said("one"), state)) == "APPROVAL_CONSUMED"

    talk(whole)
    assert (notes(desk, "one"), notes(desk, "two")) == (1, 0)


# ---- beside the client ----


@ONE_ERA
def test_a_client_that_cannot_ask_is_told_to_wait_while_a_person_decides_elsewhere(
    desk: Desk, served: tuple[str, str], mode: str
) -> None:
    told: list[str] = []
    got: dict[str, Any] = {}

    async def progress(done: float, total: float | None, message: str | None) -> None:
        told.append(message or "")

    async def whole() -> None:
        async with agent(served, mode) as client, anyio.create_task_group() as tasks:

            async def call(text: str) -> None:
                got[text] = await keeps(client, text, progress_callback=progress)

            tasks.start_soon(call, f"elsewhere {mode}")
            gate = await waiting(desk)
            shown = await mcl(desk, "gate", "show", gate)
            assert f"    | elsewhere {mode}" in shown.out.split("\n")
            # Two people at once: one of them decides.
            both = [
                subprocess.Popen(
                    [sys.executable, "-m", "mcl", "gate", "approve", gate],
                    cwd=desk.workspace, env=desk.environment,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                )
                for _ in range(2)
            ]  # fmt: skip
            ended = [await to_thread.run_sync(result, one) for one in both]
            assert sorted(status for status, _ in ended) == [0, 4], ended
            assert any("GATE_RESOLVED" in said for status, said in ended if status == 4)
            while f"elsewhere {mode}" not in got:
                await anyio.sleep(0.05)
            tasks.start_soon(call, f"refused {mode}")
            gate = await waiting(desk)
            await mcl(desk, "gate", "deny", gate, "--reason", "not today")

    talk(whole)
    assert code(got[f"elsewhere {mode}"]) == ""
    assert code(got[f"refused {mode}"]) == "GATE_DENIED"
    assert "not today" in got[f"refused {mode}"].structured_content["message"]
    assert (notes(desk, f"elsewhere {mode}"), notes(desk, f"refused {mode}")) == (1, 0)
    assert any("mcl gate approve" in message for message in told)


@ERAS
@pytest.mark.parametrize("elsewhere", ["deny", "approve"])
def test_of_two_answers_the_first_counts_and_one_call_is_made(
    desk: Desk, served: tuple[str, str], mode: str, elsewhere: str
) -> None:
    text = f"{elsewhere} elsewhere, then here, {mode}"

    async def first() -> None:
        gate = await waiting(desk)
        await to_thread.run_sync(decide, desk, gate, elsewhere)
        if mode == "legacy":  # the call has its answer; what the form says then nobody hears
            await anyio.sleep(0.5)

    async def whole() -> str:
        async with agent(served, mode, answers("approve", first=first)) as client:
            return code(await keeps(client, text))

    denied = elsewhere == "deny"
    assert talk(whole) == ("GATE_DENIED" if denied else "")
    assert notes(desk, text) == (0 if denied else 1)


@ERAS
def test_a_call_that_the_client_withdraws_cannot_be_approved_any_more(
    desk: Desk, served: tuple[str, str], mode: str
) -> None:
    async def whole() -> str:
        async with agent(served, mode) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(keeps, client, f"withdrawn {mode}")
            gate = await waiting(desk)
            tasks.cancel_scope.cancel()
        while await still_open(desk, gate):
            await anyio.sleep(0.05)
        return gate

    gate = talk(whole)
    with pytest.raises(GateError) as refused:
        decide(desk, gate, "approve")
    assert refused.value.code == "GATE_CLOSED"
    assert notes(desk, f"withdrawn {mode}") == 0


async def still_open(desk: Desk, gate: str) -> bool:
    with open_home(desk.home) as home:
        return any(one.id == gate for one in open_gates(home=home))


# ---- what changes meanwhile ----


@ERAS
def test_a_tool_whose_server_says_otherwise_meanwhile_is_not_called(
    desk: Desk, served: tuple[str, str], mode: str
) -> None:
    desk.approve("changing")

    async def rewritten() -> None:
        async with agent(served, "legacy", answers("approve"), name="another") as other:
            described = f"Say it louder, {mode}."
            assert code(await calls(other, "changing:rewrite", {"described": described})) == ""
            with open_home(desk.home) as home:
                from mcl.catalog.definitions import Definitions

                while not any(one.standing == "changed" for one in Definitions(home).known()):
                    await anyio.sleep(0.05)

    async def whole() -> str:
        async with agent(served, mode, answers("approve", first=rewritten)) as client:
            return code(await calls(client, "changing:say", {"text": "hello"}))

    assert talk(whole) in ("TOOL_CHANGED", "TOOL_QUARANTINED")


@ERAS
def test_an_approval_under_another_policy_is_void(desk: Desk, served: tuple[str, str], mode: str) -> None:
    policy = desk.home / "policy.toml"

    def change() -> None:
        policy.write_text("approval_minutes = 20\n")

    async def whole() -> str:
        async with agent(served, mode, answers("approve", first=change)) as client:
            return code(await keeps(client, f"policy {mode}"))

    try:
        assert talk(whole) == "APPROVAL_MISMATCH"
    finally:
        policy.unlink(missing_ok=True)
    assert notes(desk, f"policy {mode}") == 0


def test_what_was_asked_and_decided_is_in_the_record_of_activity(desk: Desk, served: tuple[str, str]) -> None:
    async def whole() -> None:
        async with agent(served, "auto", answers("approve")) as client:
            await keeps(client, "recorded")

    talk(whole)
    rows = [json.loads(line) for line in desk("activity", "export", "--format", "jsonl").out.splitlines()]
    asked, made = rows[-2:]
    assert (asked["verdict"], asked["code"]) == ("asked", "GATE_PENDING")
    assert (made["verdict"], made["code"], made["gate_id"]) == ("allowed", "", asked["gate_id"])
    assert made["intent_id"]


# ---- gates of a plan ----


def accepted(desk: Desk, *questions: str) -> str:
    """A plan of gates that a person accepted."""
    with open_home(desk.home) as home:
        nodes = [gate(f"g{number}", question) for number, question in enumerate(questions)]
        return Walks(home, desk.workspace).accept(sequence("root", *nodes))


@ERAS
def test_the_gates_of_a_plan_are_asked_in_the_client_that_runs_it(
    desk: Desk, served: tuple[str, str], mode: str
) -> None:
    seen: list[str] = []

    async def whole() -> Any:
        async with agent(served, mode, answers("approve", seen)) as client:
            intent = accepted(desk, "First?", "Second?\nYour answer?")
            return await client.call_tool("run_intent", {"intent": intent})

    assert talk(whole).structured_content["state"] == "completed"
    assert ["    | First?" in seen[0], "    | Second?" in seen[1]] == [True, True]
    assert seen[1].split("\n").count("Your answer?") == 1


@ERAS
def test_a_gate_that_is_refused_in_the_client_ends_the_run(
    desk: Desk, served: tuple[str, str], mode: str
) -> None:
    async def whole() -> Any:
        async with agent(served, mode, answers("decline")) as client:
            return await client.call_tool("run_intent", {"intent": accepted(desk, "Go on?")})

    assert code(talk(whole)) == "GATE_DENIED"


def test_the_answer_to_one_gate_of_a_plan_is_none_to_another(desk: Desk, served: tuple[str, str]) -> None:
    from mcp.types import ElicitResult

    yes = {"gate": ElicitResult(action="accept", content={"decision": "approve"})}
    no = {"gate": ElicitResult(action="decline")}
    intent = accepted(desk, "First?", "Second?", "Third?")

    async def whole() -> None:
        async with (
            agent(served, "auto", answers("deny")) as client,
            agent(served, "auto", answers("deny"), name="another") as another,
        ):

            async def run(who: Any, state: str | None = None, filled: Any = None) -> Any:
                return await who.session.call_tool(
                    "run_intent", {"intent": intent, "wait_s": 5},
                    request_state=state, input_responses=filled, allow_input_required=True,
                )  # fmt: skip

            def asks(result: Any) -> str:
                return next(
                    line.removeprefix("    | ")
                    for line in result.input_requests["gate"].params.message.split("\n")
                    if line.startswith("    | ")
                )

            first = await run(client)
            assert asks(first) == "First?"
            second = await run(client, first.request_state, yes)
            assert asks(second) == "Second?"
            # Neither what was given out for another question, nor what was never given out, nor what was
            # given to somebody else.
            assert asks(await run(client, first.request_state, yes)) == "Second?"
            for number in range(4):
                assert asks(await run(client, f"{intent}/{number}", yes)) == "Second?"
            assert asks(await run(another, second.request_state, yes)) == "Second?"
            third = await run(client, second.request_state, yes)
            assert asks(third) == "Third?"
            assert code(await run(client, third.request_state, no)) == "GATE_DENIED"

    talk(whole)


# ---- many at once ----


@ERAS
def test_of_many_calls_that_wait_at_once_each_gets_its_own_answer(
    desk: Desk, served: tuple[str, str], mode: str
) -> None:
    from mcp.types import ElicitResult

    async def even(context: Any, params: Any) -> Any:
        number = int(next(line for line in params.message.split("\n") if mode in line).split()[-1])
        await anyio.sleep(0.01 * (number * 7 % 5))  # answered in another order than asked
        return ElicitResult(action="accept", content={"decision": "deny" if number % 2 else "approve"})

    got: dict[int, str] = {}

    async def whole() -> None:
        async with (
            agent(served, mode, even) as client,
            agent(served, mode, even, name="another") as another,
            anyio.create_task_group() as tasks,
        ):

            async def one(number: int) -> None:
                got[number] = code(await keeps(another if number % 3 else client, f"{mode} number {number}"))

            for number in range(12):
                tasks.start_soon(one, number)

    talk(whole)
    for number in range(12):
        assert got[number] == ("GATE_DENIED" if number % 2 else "")
        assert notes(desk, f"{mode} number {number}") == 1 - number % 2


@ERAS
def test_an_approved_call_that_the_client_cancels_is_cancelled_at_its_server_and_ended(
    desk: Desk, served: tuple[str, str], mode: str
) -> None:
    started, cancelled = (desk.workspace / f"{mode}.{end}" for end in ("started", "cancelled"))

    async def whole() -> None:
        async with agent(served, mode, answers("approve")) as client, anyio.create_task_group() as tasks:
            tasks.start_soon(calls, client, "plain:slow", {"seconds": 50, "name": mode})
            while not started.exists():
                await anyio.sleep(0.02)
            tasks.cancel_scope.cancel()
        while not cancelled.exists():
            await anyio.sleep(0.02)

    talk(whole)
    with open_home(desk.home) as home:
        intent = home.journal.intents()[0]
        talk(lambda: ended(home, intent))
        view = home.journal.view(intent)
    assert (view.state, view.reason) == ("failed", "cancelled_by_user")
    assert not (desk.workspace / f"{mode}.finished").exists()


async def ended(home: Any, intent: str) -> None:
    while not home.journal.view(intent).terminal:
        await anyio.sleep(0.02)


@pytest.mark.slow
@ERAS
def test_a_client_by_other_hands_shows_the_form_too(desk: Desk, served: tuple[str, str], mode: str) -> None:
    from fastmcp import Client
    from fastmcp.client.transports import StreamableHttpTransport

    seen: list[str] = []

    async def answer(message: str, response_type: Any, params: Any, context: Any) -> Any:
        seen.append(message)
        return response_type(decision="approve", reason="read it")

    async def whole() -> Any:
        transport = StreamableHttpTransport(served[0], auth=served[1])
        async with Client(transport, elicitation_handler=answer, mode=mode) as client:
            said = {"name": "plain:add_note", "args": {"text": f"by fastmcp, {mode}"}}
            return await client.call_tool_mcp(
                "call_tool_destructive", {**said, "operation_type": "destructive"}
            )

    assert not talk(whole).is_error
    assert notes(desk, f"by fastmcp, {mode}") == 1
    assert len(seen) == 1
