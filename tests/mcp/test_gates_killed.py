"""Servers that are killed while a call waits or is made, clients that lie on the wire, a sealed key."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from desks import PATIENCE, Desk, Peers, first_line, running, surroundings
from gated import decide, notes

from executor.core.errors import WalkError
from executor.gate.grants import Grants
from mcl.core.home import open_home
from mcl.usecases.gates import open_gates
from mcl.usecases.run import run


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A home with a server that nobody trusts."""
    folder = tmp_path_factory.mktemp("killed")
    desk = Desk(folder / "home", folder / "work", surroundings(folder))
    desk.workspace.mkdir()
    desk.enter("plain", command=Peers(desk.workspace, desk.environment).command("plain"), trusted=False)
    with open_home(desk.home) as home:
        Grants(home).grant(home.keyring.agent.did, ["network"])
    return desk


@pytest.fixture
def desk(made: Desk) -> Iterator[Desk]:
    yield made
    with open_home(made.home) as home:
        assert home.journal.verify().ok


class Wire:
    """A client of the handshake era that writes its own bytes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.last = 0

    def write(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def read(self, fits: Any) -> dict[str, Any]:
        """The next message that fits; others are passed over."""
        line = first_line(self.process, "stdout", lambda line: fits(json.loads(line)))
        found: dict[str, Any] = json.loads(line)
        return found

    def request(self, method: str, **params: Any) -> int:
        self.last += 1
        self.write(id=self.last, method=method, params=params)
        return self.last

    def answer(self, id: int) -> dict[str, Any]:
        return self.read(lambda message: message.get("id") == id and "method" not in message)

    def call(self, tool: str, /, **args: Any) -> int:
        said = {"name": tool, "args": args, "operation_type": "destructive"}
        return self.request("tools/call", name="call_tool_destructive", arguments=said)

    def asked(self) -> dict[str, Any]:
        return self.read(lambda message: message.get("method") == "elicitation/create")


@contextmanager
def wire(desk: Desk, *, asks: bool = True, environment: Any = None) -> Iterator[Wire]:
    """`mcl mcp serve` over stdio, and a client that says it can show forms, or not."""
    with running(desk.command(), environment or desk.environment, cwd=desk.workspace) as process:
        client = Wire(process)
        can = {"elicitation": {}} if asks else {}
        who = {"name": "liar", "version": "1"}
        id = client.request("initialize", protocolVersion="2025-06-18", capabilities=can, clientInfo=who)
        client.answer(id)
        client.write(method="notifications/initialized")
        yield client


def kill(client: Wire) -> None:
    os.kill(client.process.pid, signal.SIGKILL)
    client.process.wait(timeout=PATIENCE)


def the_gate(desk: Desk) -> tuple[str, str]:
    """The ids of the question that waits, and of the intent that it would become."""
    with open_home(desk.home) as home:
        [gate] = [one for one in open_gates(home=home) if one.call]
        return gate.id, gate.intent_id


def told(answer: dict[str, Any]) -> str:
    found: dict[str, Any] = answer["result"]["structuredContent"]
    return str(found.get("code", ""))


# ---- killed ----


@pytest.mark.slow
def test_a_call_that_is_approved_after_its_server_was_killed_is_made_once_by_mcl_run(desk: Desk) -> None:
    with wire(desk) as client:
        client.call("plain:add_note", text="after the kill")
        client.asked()
        kill(client)
    gate, intent = the_gate(desk)
    approved = desk("gate", "approve", gate)
    assert f"mcl run {intent}" in approved.err
    assert notes(desk, "after the kill") == 0
    assert desk("run", intent, "--deny-gates").code == 0  # nobody is asked again
    assert notes(desk, "after the kill") == 1
    with open_home(desk.home) as home, pytest.raises(WalkError) as refused:
        run(intent, workspace=desk.workspace, home=home)
    assert refused.value.code == "NOT_ACCEPTED"
    assert notes(desk, "after the kill") == 1


@pytest.mark.slow
def test_a_server_that_is_killed_while_the_approved_call_is_made_makes_it_no_second_time(desk: Desk) -> None:
    started = desk.workspace / "killed.started"
    with wire(desk, asks=False) as client:
        client.call("plain:slow", seconds=50, name="killed")
        gate, intent = until_asked(desk)
        desk("gate", "approve", gate)
        until(started)
        kill(client)
    started.unlink()
    assert "RUN_INTERRUPTED" in desk("run", intent, expect=None).err
    resumed = desk("run", intent, "--resume", "--deny-gates", expect=4)
    assert "GATE_DENIED" in resumed.out + resumed.err  # it may have happened, so a person would be asked
    assert not started.exists()


def until(place: Path) -> None:
    import time

    end = time.monotonic() + PATIENCE
    while not place.exists():
        assert time.monotonic() < end, f"{place} was never made"
        time.sleep(0.02)


def until_asked(desk: Desk) -> tuple[str, str]:
    import time

    end = time.monotonic() + PATIENCE
    with open_home(desk.home) as home:
        while not (found := [one for one in open_gates(home=home) if one.call]):
            assert time.monotonic() < end, "nothing was asked"
            time.sleep(0.05)
    return found[0].id, found[0].intent_id


@pytest.mark.slow
def test_a_server_whose_client_is_gone_closes_its_questions(desk: Desk) -> None:
    with wire(desk) as client:
        client.call("plain:add_note", text="nobody waits")
        client.asked()
        gate, _ = the_gate(desk)
        assert client.process.stdin is not None
        client.process.stdin.close()
        client.process.stdin = None
        client.process.wait(timeout=PATIENCE)
    assert "GATE_CLOSED" in desk("gate", "approve", gate, expect=4).err
    assert notes(desk, "nobody waits") == 0


# ---- on the wire ----


@pytest.mark.parametrize(
    "lie",
    [
        {"result": {"action": "approve"}},
        {"result": {"action": "accept"}},
        {"result": {"action": "accept", "content": {"decision": ["approve"]}}},
        {"result": {"action": "accept", "content": "approve"}},
        {"result": {"decision": "approve"}},
        {"result": {"action": "decline", "content": {"decision": "approve"}}},
    ],
    ids=str,
)
def test_a_client_that_answers_what_is_no_answer_has_said_no(liar: Wire, desk: Desk, lie: Any) -> None:
    id = liar.call("plain:add_note", text=f"a lie: {lie}")
    content = lie["result"].get("content")
    accepted = lie["result"].get("action") == "accept" and (content is None or isinstance(content, dict))
    for _ in range(3 if accepted else 1):  # a form that was filled in with no answer is asked again, twice
        liar.write(id=liar.asked()["id"], **lie)
    assert told(liar.answer(id)) == "GATE_DENIED"
    assert notes(desk, f"a lie: {lie}") == 0


@pytest.fixture(scope="module")
def liar(made: Desk) -> Iterator[Wire]:
    with wire(made) as client:
        yield client


def test_an_answer_to_a_question_that_was_not_asked_yet_counts_for_nothing(liar: Wire, desk: Desk) -> None:
    for number in range(200):  # whatever number the next question will have
        liar.write(id=number, result={"action": "accept", "content": {"decision": "approve"}})
    id = liar.call("plain:add_note", text="too early")
    asked = liar.asked()
    assert notes(desk, "too early") == 0
    liar.write(id=asked["id"], result={"action": "decline"})
    assert told(liar.answer(id)) == "GATE_DENIED"
    assert notes(desk, "too early") == 0


def test_an_answer_to_one_of_two_questions_counts_for_that_one(liar: Wire, desk: Desk) -> None:
    one = liar.call("plain:add_note", text="the one")
    first = liar.asked()
    other = liar.call("plain:add_note", text="the other")
    second = liar.asked()
    assert "    | the other" in second["params"]["message"].split("\n")
    liar.write(id=second["id"], result={"action": "accept", "content": {"decision": "approve"}})
    assert told(liar.answer(other)) == ""
    liar.write(id=second["id"], result={"action": "accept", "content": {"decision": "approve"}})
    assert notes(desk, "the one") == 0
    liar.write(id=first["id"], result={"action": "cancel"})
    assert told(liar.answer(one)) == "GATE_DENIED"
    assert (notes(desk, "the one"), notes(desk, "the other")) == (0, 1)


def test_a_client_that_fails_to_show_the_form_leaves_it_to_mcl_gate(liar: Wire, desk: Desk) -> None:
    id = liar.call("plain:add_note", text="shown elsewhere")
    liar.write(id=liar.asked()["id"], error={"code": -32601, "message": "cannot show that"})
    gate, _ = the_gate(desk)
    decide(desk, gate, "approve")
    assert told(liar.answer(id)) == ""
    assert notes(desk, "shown elsewhere") == 1


# ---- sealed ----


@pytest.mark.slow
def test_where_the_users_key_is_sealed_a_client_can_refuse_and_only_its_owner_approve(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path / "home", tmp_path / "work", surroundings(tmp_path))
    desk.workspace.mkdir()
    (desk.workspace / "a.txt").write_text("old")
    with open_home(desk.home):
        pass
    owner = Desk(desk.home, desk.workspace, {**desk.environment, "MCL_PASSPHRASE": "correct horse"})
    owner("key", "new", "--role", "user")

    def overwrite(client: Wire, content: str) -> int:
        return client.call("mcl:fs/write", path="a.txt", content=content, overwrite=True)

    with wire(desk, environment=owner.environment) as client:  # that it could sign does not matter
        id = overwrite(client, "approved in the client")
        asked = client.asked()
        assert asked["params"]["requestedSchema"]["properties"]["decision"]["enum"] == ["deny", "wait"]
        assert "mcl gate approve" in asked["params"]["message"].split("\n")[-1]
        approve = {"action": "accept", "content": {"decision": "approve"}}
        client.write(id=asked["id"], result=approve)
        for _ in range(2):  # it is no answer here, so it is asked again
            client.write(id=client.asked()["id"], result=approve)
        assert told(client.answer(id)) == "GATE_DENIED"

        id = overwrite(client, "approved by its owner")
        client.write(id=client.asked()["id"], result={"action": "accept", "content": {"decision": "wait"}})
        gate, _ = the_gate(desk)
        assert "KEY_SEALED" in desk("gate", "approve", gate, expect=4).err
        owner("gate", "approve", gate)
        assert told(client.answer(id)) == ""
    assert (desk.workspace / "a.txt").read_text() == "approved by its owner"
    with open_home(desk.home) as home:
        assert home.journal.verify().ok
