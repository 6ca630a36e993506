"""Activity as agents meet it: every call leaves its record, and read_activity reads them, over the SDK."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from desks import Desk, talk

TOKEN = "ghp_" + "a1B2" * 9


@pytest.mark.parametrize("mode", ["legacy", pytest.param("auto", marks=pytest.mark.slow)])
def test_every_call_leaves_a_record_that_agents_and_people_read(
    desk: Desk, workspace: Path, mode: str
) -> None:
    (workspace / "note.txt").write_text("hello")

    async def conversation() -> None:
        async with desk.client(mode=mode) as client:

            async def call(offered: str, /, **arguments: Any) -> Any:
                return await client.call_tool(offered, arguments)

            read = await call(
                "call_tool_read",
                name="mcl:fs/read",
                args={"path": "note.txt"},
                intent={"operation_type": "read", "data_sensitivity": "private", "reason": f"for {TOKEN}"},
            )
            assert not read.is_error, read
            unsaid = await call("call_tool_read", name="mcl:fs/read", args={"path": "note.txt"})
            assert unsaid.structured_content["code"] == "MISSING_INTENT"
            assert (await call("call_tool_write", name="mcl:fs/read", operation_type="read")).is_error
            assert (await call("call_tool_read", name="nobody:x", operation_type="read")).is_error
            assert (await call("call_tool_read", nonsense=TOKEN)).is_error

            told = (await call("read_activity")).structured_content
            newest = told["activity"]
            assert [one["verdict"] for one in newest] == ["denied"] * 4 + ["allowed"]
            assert [one["code"] for one in newest[2:4]] == ["INTENT_MISMATCH", "MISSING_INTENT"]
            first = newest[-1]
            assert first["metadata"] == {
                "intent": {
                    "operation_type": "read",
                    "data_sensitivity": "private",
                    "reason": "for [redacted: GitHub token]",
                },
                "tool_variant": "call_tool_read",
            }
            assert (first["server"], first["tool"], first["args"]) == ("mcl", "fs/read", {"path": "note.txt"})
            assert TOKEN not in json.dumps(told)

            some = (await call("read_activity", status=["denied"], limit=2)).structured_content
            assert len(some["activity"]) == 2
            rest = await call("read_activity", status=["denied"], limit=2, cursor=some["next"])
            assert [one["row"] for one in rest.structured_content["activity"]] == [
                one["row"] for one in newest[2:4]
            ]
            for bad in ({"status": "ok"}, {"colour": "red"}, {"limit": 101}, {"cursor": "x"}, {"since": 7}):
                refused = await call("read_activity", **bad)
                assert refused.is_error
                assert refused.structured_content["code"] == "BAD_FILTER"
                assert refused.structured_content["fix"].startswith("allowed: ")

    talk(conversation)
    said = json.loads(desk("activity", "list", "--tool", "read_activity", "--json").out)["activity"]
    assert [one["verdict"] for one in said].count("allowed") == 3
    assert {one["code"] for one in said} == {"", "BAD_FILTER"}
    assert len(said) == 8
    assert desk("log", "verify").code == 0
