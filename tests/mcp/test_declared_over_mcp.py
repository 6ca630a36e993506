"""Declared calls as clients meet them: codes and messages on the wire, and that nothing refused was done."""

from __future__ import annotations

import json
from typing import Any

import pytest
from desks import Desk, Peers, talk

from executor import Grants
from mcl.core.home import open_home
from mcl.plugins.mcp.classify import classify as classify_tool
from mcl.plugins.mcp.classify import unclassify as unclassify_tool

# Variant and arguments of a call of notes:wipe; the code and the message ("": any) that come back.
REFUSED: list[tuple[str, dict[str, Any], str, str]] = [
    ("read", {}, "MISSING_INTENT", "intent parameter is required for call_tool_read"),
    ("read", {"operation_type": ""}, "MISSING_OPERATION_TYPE", "intent.operation_type is required"),
    (
        "read",
        {"intent": {"operation_type": "unknown"}},
        "INVALID_OPERATION_TYPE",
        "Invalid intent.operation_type 'unknown': must be read, write, or destructive",
    ),
    (
        "read",
        {"intent": {"operation_type": "write"}},
        "INTENT_MISMATCH",
        "Intent mismatch: tool is call_tool_read but intent declares write",
    ),
    (
        "write",
        {"reason": "tidy up"},
        "SERVER_MISMATCH",
        "Tool 'notes:wipe' is marked destructive by server, use call_tool_destructive",
    ),
    (
        "destructive",
        {"data_sensitivity": "secret"},
        "INVALID_SENSITIVITY",
        "Invalid intent.data_sensitivity 'secret': must be public, internal, private, or unknown",
    ),
    (
        "destructive",
        {"reason": "x" * 1001},
        "REASON_TOO_LONG",
        "intent.reason exceeds maximum length of 1000 characters",
    ),
    ("read", {"args": {}, "args_json": "{}"}, "ARGS_TWICE", "args and args_json are both given"),
    ("read", {"args_json": "{"}, "BAD_ARGS_JSON", ""),
    ("read", {"args": "x"}, "BAD_ARGS", "args is a text, not an object"),
    ("read", {"intent": "read"}, "BAD_INTENT", "intent is a text, not an object"),
    ("read", {"intent": {"reason": "a"}, "reason": "b"}, "INTENT_TWICE", ""),
    ("read", {"why": "x"}, "UNKNOWN_ARGUMENT", "there is no argument 'why'"),
    ("read", {"name": "wipe", "reason": "x"}, "BAD_TOOL_NAME", "'wipe' names no server"),
    ("read", {"name": "notes:wpie", "reason": "x"}, "UNKNOWN_TOOL", "there is no tool 'notes:wpie'"),
    ("read", {"name": 5}, "BAD_TOOL_NAME", ""),
    ("read", {"name": "notes:look", "reason": "x"}, "INVALID_ARGS", "token is missing"),
    ("read", {"name": "notes:look", "args": {"token": 5}, "reason": "x"}, "INVALID_ARGS", ""),
]


@pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.slow)])
def test_each_refusal_of_a_declaration_comes_back_as_structured_content_and_nothing_was_done(
    desk: Desk, peers: Peers, mode: str
) -> None:
    (peers.folder / "notes.txt").write_text("keep me\n")
    desk.enter("notes", command=peers.command("plain"))
    seen: list[str] = []

    async def person(context: Any, params: Any) -> Any:
        from mcp.types import ElicitResult

        seen.append(params.message)
        return ElicitResult(action="accept", content={"decision": "deny", "reason": "no"})

    async def conversation() -> None:
        async with desk.client(mode=mode, elicitation_callback=person) as client:
            for variant, arguments, code, message in REFUSED:
                given = {"name": "notes:wipe", **arguments}
                answer = await client.call_tool(f"call_tool_{variant}", given)
                told = answer.structured_content
                assert answer.is_error, (code, told)
                assert told["code"] == code, told
                assert told["message"] == message or not message
                assert told["fix"]
                assert told["example"]
                assert code in answer.content[0].text
            look = {"name": "notes:look", "args_json": '{"token": "t"}', "intent": {}}
            for variant in ("read", "write", "destructive"):  # declaring more is no harm
                answer = await client.call_tool(f"call_tool_{variant}", look)
                assert answer.structured_content["token"] == "t"
            assert seen == []
            # The operator makes a warning of a mismatch, while clients are connected.
            (desk.home / "policy.toml").write_text("[intent_declaration]\nstrict_server_validation = false\n")
            answer = await client.call_tool(
                "call_tool_read", {"name": "notes:wipe", "reason": "only looking"}
            )
            assert answer.structured_content["code"] == "GATE_DENIED"
            assert "declared it as read, which is less than it does" in seen[0]

    talk(conversation)
    assert (peers.folder / "notes.txt").read_text() == "keep me\n"
    kept = [json.loads(line) for line in desk("activity", "export").out.splitlines()]
    lenient = kept[len(REFUSED) + 3 :]
    assert [one["code"] for one in kept[: -len(lenient)]] == [code for _, _, code, _ in REFUSED] + [""] * 3
    assert not any(one["warnings"] for one in kept[: -len(lenient)])
    assert lenient
    assert all("SERVER_MISMATCH" in str(one["warnings"]) for one in lenient)


@pytest.mark.slow
def test_what_an_operator_classifies_counts_at_once_for_a_client_that_is_connected(
    desk: Desk, peers: Peers
) -> None:
    desk.enter("notes", command=peers.command("plain"), trusted=False)
    look = {"name": "notes:look", "args": {"token": "t"}, "intent": {}}

    async def conversation() -> None:
        async with desk.client(mode="auto") as client:
            before = await client.call_tool("call_tool_read", look)
            assert before.structured_content["code"] == "SERVER_MISMATCH"
            assert "its server is not trusted" in before.structured_content["message"]
            classify_tool("notes:look", "read", ["network"], home=home)
            ungranted = await client.call_tool("call_tool_read", look)
            assert ungranted.structured_content["code"] == "CAPABILITY_DENIED"
            Grants(home).grant(home.keyring.agent.did, ["network"])
            after = await client.call_tool("call_tool_read", look)
            assert after.structured_content["token"] == "t"
            described = await client.call_tool("describe_tool", {"name": "notes:look"})
            assert described.structured_content["call_with"] == "call_tool_read"
            unclassify_tool("notes:look", home=home)
            again = await client.call_tool("call_tool_read", look)
            assert again.structured_content["code"] == "SERVER_MISMATCH"

    with open_home(desk.home) as home:
        talk(conversation)
