"""The same call, refused again and again, by whichever door it comes: the host's hook or our MCP server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from offices import Agent, Office

from executor.gate.breaker import Breaker, same_call
from mcl.core.home import open_home
from mcl.plugins.agents.usecases import select_work
from tests.agents.hosting import ClaudeCode, GeminiCli

AUTH = {"id": "INT-001", "name": "Auth", "owned_scope": ["src/auth/**"]}


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    root = (tmp_path / "work").resolve()
    root.mkdir()
    (root / "readme.md").write_text("hello\n")
    with ExitStack() as stack:
        home = stack.enter_context(open_home(tmp_path / "home"))
        office = Office(home, root, stack, stack.enter_context(start_blocking_portal()))
        office.sign(AUTH)
        yield office


@pytest.fixture
def agent(office: Office) -> Agent:
    return office.serve(agent="one").agent("claude-code")


@pytest.fixture
def host(office: Office) -> ClaudeCode:
    return ClaudeCode(office.home, office.root)


def test_the_same_write_counts_together_by_the_hook_and_over_mcp(office, agent, host) -> None:
    assert "NO_INTENT_DECLARED" in host.write(office.root / "readme.md", "new\n").reason
    assert agent.write_refused("readme.md", "new\n")["code"] == "NO_INTENT_DECLARED"
    assert "NO_INTENT_DECLARED" in host.write("readme.md", "new\n").reason
    said = agent.write_refused("readme.md", "new\n")
    assert (said["code"], said["data"]["refused_with"]) == ("CIRCUIT_OPEN", "NO_INTENT_DECLARED")
    assert all(said["data"][part] for part in ("violation", "explanation", "action", "example", "rationale"))
    assert host.write(office.root / "readme.md", "new\n").reason.startswith("CIRCUIT_OPEN: ")
    assert "NO_INTENT_DECLARED" in GeminiCli(office.home, office.root, agent="two").write("readme.md").reason
    # Another agent, another content, another file: other calls.
    assert agent.write_refused("readme.md", "newer\n")["code"] == "NO_INTENT_DECLARED"
    assert agent.write_refused("other.md", "new\n")["code"] == "NO_INTENT_DECLARED"
    # What is checked out meanwhile makes it another call, as before.
    agent.told("select_active_intent", intent_id="INT-001")
    assert agent.write_refused("readme.md", "new\n")["code"] == "OUT_OF_SCOPE"
    assert host.write("readme.md", "new\n").reason.startswith("OUT_OF_SCOPE: ")


def test_the_same_edit_counts_together_too(office, agent, host) -> None:
    given = {"file_path": f"{office.root}/readme.md", "old_string": "hello", "new_string": "bye"}
    ours = {"path": "readme.md", "old": "hello", "new": "bye"}
    for more in ({}, {"replace_all": False}):
        assert host.pre("Edit", {**given, **more}).reason.startswith("NO_INTENT_DECLARED: ")
    said = {"name": "mcl:fs/edit", "args": ours, "intent": {"operation_type": "write"}}
    assert agent.refused("call_tool_write", **said)["code"] == "NO_INTENT_DECLARED"
    assert agent.refused("call_tool_write", **said)["code"] == "CIRCUIT_OPEN"
    assert host.pre("Edit", given).reason.startswith("CIRCUIT_OPEN: ")
    everywhere = host.pre("Edit", {**given, "replace_all": True})
    assert everywhere.reason.startswith("NO_INTENT_DECLARED: ")


def test_a_tool_of_another_server_is_counted_as_our_server_counts_it(office, host) -> None:
    gemini = GeminiCli(office.home, office.root, agent="two")
    for _ in range(3):
        assert "NO_INTENT_DECLARED" in host.pre("mcp__github__make_issue", {"title": "x"}).reason
        told = gemini.pre("mcp_github_make_issue", {"title": "x"}, mcp_context={"server_name": "github"})
        assert "NO_INTENT_DECLARED" in told.reason
    key, now = same_call("github:make_issue", {"title": "x"}, "", None), office.home.clock.now()
    for agent in ("one", "two"):
        assert Breaker(office.home).open(agent, office.root, key, now) == "NO_INTENT_DECLARED"


def test_the_circuit_of_both_doors_outlives_the_processes(tmp_path, office, agent, host) -> None:
    for _ in range(3):
        assert agent.write_refused("readme.md", "new\n")["code"] == "NO_INTENT_DECLARED"
    with open_home(office.home.path) as other:
        assert ClaudeCode(other, office.root).write("readme.md", "new\n").reason.startswith("CIRCUIT_OPEN: ")
        rows = other.db.read("SELECT count(*) FROM refused_calls WHERE times >= 3")
    assert rows == [(1,)]


def test_reading_a_stale_file_again_closes_the_circuit_at_both_doors(office, agent, host) -> None:
    place = office.root / "src" / "auth" / "a.py"
    place.parent.mkdir(parents=True)
    place.write_text("one\n")
    select_work("INT-001", agent="one", root=office.root, home=office.home)
    host.read(place)
    place.write_text("theirs\n")
    for _ in range(3):
        assert host.write(place, "mine\n").reason.startswith("STALE_FILE: ")
    assert host.write(place, "mine\n").reason.startswith("CIRCUIT_OPEN: ")
    assert agent.write_refused("src/auth/a.py", "mine\n")["code"] == "CIRCUIT_OPEN"
    host.read(place)
    assert agent.write("src/auth/a.py", "mine\n")
    assert host.write(place, "mine\n").verdict == "allow"


def test_what_only_one_door_refuses_opens_nothing_at_the_other(office, agent, host) -> None:
    args = {"name": "mcl:fs/write", "args": {"path": "readme.md", "content": "new\n"}}
    codes = [
        agent.refused("call_tool_read", **args, intent={"operation_type": "read"})["code"] for _ in range(4)
    ]
    assert codes == ["SERVER_MISMATCH"] * 3 + ["CIRCUIT_OPEN"]
    assert host.write("readme.md", "new\n").reason.startswith("NO_INTENT_DECLARED: ")
    assert agent.write_refused("readme.md", "new\n")["code"] == "NO_INTENT_DECLARED"


def test_no_more_refusals_are_kept_than_a_home_may_hold(office, monkeypatch) -> None:
    monkeypatch.setattr("executor.gate.breaker._KEPT", 5)
    denials = Breaker(office.home)
    for number in range(20):
        denials.note("one", office.root, f"call {number}", "OUT_OF_SCOPE", office.home.clock.now())
    assert office.home.db.read("SELECT count(*) FROM refused_calls") == [(5,)]
