"""Hooks: what hosts do with tools of their own passes the one gate, with all that is closed there."""

from __future__ import annotations

import pytest

from executor.gate.grants import Grants
from executor.gate.host import HOST_TOOLS, READ, TOOL, is_hosts
from mcl.plugins.agents.guard import judge
from tests.agents.conftest import Project
from tests.agents.hosting import ClaudeCode, refusals

CALLS = {
    "host/read": ("Read", {"file_path": "src/auth/login.py"}),
    "host/write": ("Write", {"file_path": "src/auth/login.py", "content": "x"}),
    "host/look": ("Bash", {"command": "ls src"}),
    "host/shell": ("Bash", {"command": "make"}),
    "host/tool": ("mcp__db__drop", {}),
}


@pytest.mark.parametrize("name", CALLS)
def test_each_kind_of_call_is_put_to_the_gate_as_a_tool_of_the_host(
    project: Project, working: ClaudeCode, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    asked, decide = [], judge.decide
    monkeypatch.setattr(judge, "decide", lambda call, context: asked.append(call) or decide(call, context))
    assert working.pre(*CALLS[name]).verdict in ("allow", "ask")
    assert [call.tool_ref for call in asked] == [f"matrix://tool/{name}@1.0.0"]


@pytest.mark.parametrize("name", CALLS)
def test_what_the_operator_closes_is_closed_to_hosts_too_and_nothing_else(
    project: Project, working: ClaudeCode, name: str
) -> None:
    (project.home.path / "policy.toml").write_text(f'deny = ["{name}", "fs/write"]\n')
    verdicts = {one: working.pre(*call) for one, call in CALLS.items()}
    assert {one for one, told in verdicts.items() if told.verdict == "deny"} == {name}
    assert verdicts[name].reason.startswith("TOOL_DENIED: ")
    assert [one["code"] for one in refusals(project)] == ["TOOL_DENIED"]


def test_what_was_taken_back_from_the_agent_is_taken_from_its_host(
    project: Project, working: ClaudeCode
) -> None:
    assert working.pre(*CALLS["host/write"]).verdict == "allow"
    Grants(project.home).revoke(project.home.keyring.agent.did, "write")
    told = working.pre(*CALLS["host/write"])
    assert (told.exit, told.reason.partition(":")[0]) == (2, "CAPABILITY_DENIED")
    assert working.pre(*CALLS["host/read"]).verdict == "allow"
    assert working.pre(*CALLS["host/look"]).verdict == "allow"


def test_with_a_policy_that_cannot_be_followed_the_host_decides_about_reading(
    project: Project, working: ClaudeCode
) -> None:
    (project.home.path / "policy.toml").write_text("deny = [")
    assert working.pre(*CALLS["host/read"]).out == {}
    assert working.pre(*CALLS["host/write"]).verdict == "deny"


def test_no_other_manifest_passes_for_a_hosts_tool_by_its_address() -> None:
    assert all(map(is_hosts, HOST_TOOLS.values()))
    assert not is_hosts(TOOL.model_copy(update={"operation": "read"}))
    assert not is_hosts(READ.model_copy())
