"""The way of a person and an agent: add a server, approve its tools, call, be asked, look back."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest
from desks import Desk, Peers, talk

# The way of docs/mcp-session.py, which is tried in every run, with more turns.
pytestmark = pytest.mark.slow
LOOK = {"name": "notes:look", "args": {"token": "t"}, "intent": {"operation_type": "read"}}


def test_a_server_is_added_approved_trusted_called_and_looked_back_on(desk: Desk, peers: Peers) -> None:
    desk("server", "add", "notes", "--", *peers.command("plain"))
    assert json.loads(desk("server", "list", "--json").out)["servers"][0]["name"] == "notes"
    desk("server", "check", "notes")
    asked: list[str] = []
    answers = [("approve", "yes please"), ("deny", "not that")]

    async def person(context: Any, params: Any) -> Any:
        from mcp.types import ElicitResult

        asked.append(params.message)
        decision, reason = answers[len(asked) - 1]
        return ElicitResult(action="accept", content={"decision": decision, "reason": reason})

    async def before() -> None:
        async with desk.client(mode="legacy") as client:
            answer = await client.call_tool("call_tool_read", LOOK)
            assert answer.structured_content["code"] == "TOOL_QUARANTINED"
            assert "mcl tool approve notes:look" in answer.structured_content["fix"]

    async def after() -> None:
        async with desk.client(mode="legacy", elicitation_callback=person) as client:
            found = await client.call_tool("retrieve_tools", {"query": "keep one more note"})
            best = found.structured_content["tools"][0]
            assert (best["name"], best["call_with"]) == ("notes:add_note", "call_tool_write")
            described = await client.call_tool("describe_tool", {"name": best["name"]})
            assert described.structured_content["definition"]["inputSchema"]["required"] == ["text"]

            read = await client.call_tool("call_tool_read", LOOK)
            assert read.structured_content["token"] == "t"
            wrong = await client.call_tool("call_tool_read", {**LOOK, "name": best["name"]})
            assert wrong.structured_content["code"] == "SERVER_MISMATCH"
            assert not asked

            said = {"data_sensitivity": "private", "reason": "the user said so"}
            wanted = {"name": best["name"], "args": {"text": "buy milk"}, "intent": said}
            kept = await client.call_tool(best["call_with"], wanted)
            assert kept.content[0].text == "kept: buy milk"
            wiped = await client.call_tool(
                "call_tool_destructive", {"name": "notes:wipe", "args": {}, "reason": "tidy up"}
            )
            assert wiped.structured_content["code"] == "GATE_DENIED"
            assert "not that" in wiped.structured_content["message"]

    talk(before)
    warned = desk("tool", "approve", "--server", "notes", "--yes", expect=4)
    assert "notes:look wants a secret as an argument" in warned.err  # it is called token, and is none
    desk("tool", "approve", "notes:look", "--yes", "--despite-warnings")
    desk("server", "trust", "notes")
    talk(after)
    assert (peers.folder / "notes.txt").read_text() == "buy milk\n"
    assert "buy milk" in asked[0]
    assert "notes:wipe" in asked[1]
    kept = [json.loads(line) for line in desk("activity", "export").out.splitlines()]
    told = [(one["tool"], one["verdict"], one["code"]) for one in kept if one["server"] == "notes"]
    assert told == [
        ("look", "denied", "TOOL_QUARANTINED"),
        ("look", "allowed", ""),
        ("add_note", "denied", "SERVER_MISMATCH"),
        ("add_note", "allowed", ""),
        ("wipe", "denied", "GATE_DENIED"),
    ]
    desk("log", "verify")


@pytest.mark.parametrize("decision", ["approve", "deny"])
def test_without_forms_a_call_waits_for_the_persons_terminal(desk: Desk, peers: Peers, decision: str) -> None:
    desk.enter("notes", command=peers.command("plain"))
    said: list[str] = []

    async def whole() -> Any:
        async with desk.client(mode="auto") as client, anyio.create_task_group() as tasks:

            async def progress(done: float, total: float | None, message: str | None) -> None:
                said.append(message or "")

            async def decide() -> None:
                while not (gates := json.loads(desk("gate", "list", "--json").out)["gates"]):
                    await anyio.sleep(0.1)
                desk("gate", decision, gates[0]["id"])

            tasks.start_soon(anyio.to_thread.run_sync, anyio.run, decide)
            args = {"name": "notes:add_note", "args": {"text": "milk"}, "reason": "to remember"}
            return await client.call_tool("call_tool_write", args, progress_callback=progress)

    answer = talk(whole)
    if decision == "approve":
        assert answer.content[0].text == "kept: milk"
        assert (peers.folder / "notes.txt").read_text() == "milk\n"
    else:
        assert answer.structured_content["code"] == "GATE_DENIED"
        assert not (peers.folder / "notes.txt").exists()
    desk("log", "verify")
