"""The operator's policy as clients of `mcl mcp serve` meet it: the process that they start, in both eras."""

from __future__ import annotations

import json
from typing import Any

import pytest
from desks import Desk, Peers, talk

ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])
LOOK = {"name": "plain:look", "args": {}, "intent": {"operation_type": "read", "reason": "to see"}}


@ERAS
def test_a_policy_that_cannot_be_followed_is_told_to_the_client_by_each_call(
    desk: Desk, peers: Peers, mode: str
) -> None:
    desk.enter("plain", command=peers.command("plain"))
    policy = desk.home / "policy.toml"
    policy.write_text('deny = ["plain:look", "fs/wrte"]\n')

    async def code(client: Any, name: str, arguments: dict[str, Any]) -> str:
        told = await client.call_tool(name, arguments)
        return str(told.structured_content["code"]) if told.is_error else ""

    async def whole() -> None:
        async with desk.client(mode=mode) as client:
            assert len((await client.list_tools()).tools) > 3  # it is connected, and sees what is offered
            refused = await client.call_tool("call_tool_read", LOOK)
            assert refused.is_error
            said = refused.structured_content
            assert said["code"] == "BAD_POLICY"
            assert "'fs/wrte'" in said["message"]
            assert "nearest: fs/write" in said["message"]
            assert said["data"]["place"] == f"{policy}:1"
            assert refused.content[0].text.startswith("plain:look blocked: the policy cannot be followed")
            for name, arguments in (
                ("call_tool_write", {**LOOK, "name": "mcl:fs/read", "intent": {"reason": "to see"}}),
                ("retrieve_tools", {"query": "look"}),
                ("describe_tool", {"name": "plain:look"}),
            ):
                assert await code(client, name, arguments) == "BAD_POLICY", name
            listed = await client.list_resources()
            assert not listed.resources
            left_out = (listed.meta or {})["mcl/left_out"]
            assert [one["code"] for one in left_out] == ["BAD_POLICY"]

            policy.write_text('deny = ["plain:look"]\n')  # mended, and no client starts anew
            assert await code(client, "call_tool_read", LOOK) == "TOOL_DENIED"
            hits = (await client.call_tool("retrieve_tools", {"query": "look"})).structured_content["tools"]
            assert "plain:look" not in [hit["name"] for hit in hits]
            policy.write_text("")
            assert await code(client, "call_tool_read", LOOK) in ("", "INVALID_ARGS")
            policy.write_text("deny = [")
            assert await code(client, "call_tool_read", LOOK) == "BAD_POLICY"

    talk(whole)
    policy.unlink()
    kept = [json.loads(line) for line in desk("activity", "export", "--format", "jsonl").out.splitlines()]
    assert [one["code"] for one in kept if (one["server"], one["tool"]) == ("plain", "look")][:2] == [
        "BAD_POLICY",
        "TOOL_DENIED",
    ]
