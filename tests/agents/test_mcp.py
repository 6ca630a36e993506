"""Coding agents that work through `mcl mcp serve`, by a real client: from the list of work to its end."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from offices import FILE, Office, write_intents, writing

from executor.walker.questions import AlwaysApprove
from mcl.core.home import open_home
from mcl.plugins.agents.governance import name_of
from mcl.plugins.agents.usecases import complete_work, map_work, trace_work
from mcl.usecases.gates import decide_gate, open_gates
from mcl.usecases.runs import undo

AUTH = {
    "id": "INT-001",
    "name": "JWT & sessions",
    "owned_scope": ["src/auth/**", "docs/auth.md"],
    "constraints": ["Tokens <= 24 h"],
    "acceptance_criteria": [{"type": "delivered", "artifact": "docs/auth.md"}, "Weak passwords are refused"],
}
DOCS = {"id": "INT-002", "name": "Write the guide", "owned_scope": ["docs/guide/**"]}
LOGIN = {"id": "INT-003", "name": "Login alone", "owned_scope": ["src/*/login.py"]}
BLOCKED = {
    "id": "INT-004",
    "name": "Later",
    "owned_scope": ["later/**"],
    "status": "BLOCKED",
    "blocked_reason": "the key is not there",
}


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    root = tmp_path / "work"
    (root / "src" / "auth").mkdir(parents=True)
    (root / "src" / "auth" / "login.py").write_text("def login():\n    pass\n")
    (root / "readme.md").write_text("hello\n")
    with ExitStack() as stack:
        home = stack.enter_context(open_home(tmp_path / "home"))
        yield Office(home, root, stack, stack.enter_context(start_blocking_portal()))


@pytest.mark.parametrize("mode", [pytest.param("legacy", marks=pytest.mark.slow), "auto"])
def test_an_agent_goes_from_the_list_of_work_to_its_end_and_a_person_undoes_it_all(
    office: Office, mode: str
) -> None:
    office.sign(AUTH, DOCS, LOGIN, BLOCKED)
    agent = office.serve().agent("coder", mode)
    login = office.root / "src" / "auth" / "login.py"

    listed = agent.told("list_active_intents")
    assert [one["id"] for one in listed["intents"]] == ["INT-001", "INT-002", "INT-003", "INT-004"]
    assert (listed["active"], listed["agent"]) == ("", "coder")
    blocked = agent.told("list_active_intents", status_filter="BLOCKED")["intents"]
    assert [one["blocked_reason"] for one in blocked] == ["the key is not there"]

    # Looking needs no checkout, changing does.
    assert agent.read("readme.md")["text"] == "hello\n"
    said = agent.write_refused("src/auth/token.py", "x = 1\n")
    assert said["code"] == "NO_INTENT_DECLARED"
    assert "INT-001" in said["message"]
    parts = ("violation", "explanation", "action", "example", "rationale")
    assert all(said["data"][part] for part in parts)
    assert agent.refused("select_active_intent", intent_id="INT-004")["code"] == "BLOCKED"

    selected = agent.call("select_active_intent", intent_id="INT-001")
    context = ElementTree.fromstring(selected.structured_content["context"])
    assert context.get("intent_id") == "INT-001"
    assert [one.text for one in context.findall("owned_scope/pattern")] == AUTH["owned_scope"]
    assert context.findtext("constraints/constraint") == "Tokens <= 24 h"
    assert selected.structured_content["context"] in selected.content[0].text
    assert (
        'status: "IN_PROGRESS"' in (office.root / FILE).read_text()
        or "IN_PROGRESS" in (office.root / FILE).read_text()
    )
    again = agent.refused("select_active_intent", intent_id="INT-002")
    assert again["code"] == "INTENT_ALREADY_ACTIVE"
    assert all(again["data"][part] for part in parts)

    # Out of its scope, and what no agent may touch.
    said = agent.write_refused("docs/guide/one.md", "x\n")
    assert said["code"] == "OUT_OF_SCOPE"
    assert "INT-002" in said["message"]
    assert agent.write_refused(FILE, "active_intents: []\n")["code"] == "PROTECTED_PATH"

    # In it: no person is asked, and what was read need not be named again.
    agent.write("src/auth/token.py", "x = 1\n")
    agent.read("src/auth/login.py")
    agent.write("src/auth/login.py", "def login():\n    return True\n")
    edit = {"path": "src/auth/login.py", "old": "True", "new": "False"}
    said = {"name": "mcl:fs/edit", "args": edit, "intent": {"operation_type": "write"}}
    agent.told("call_tool_write", **said)
    assert login.read_text() == "def login():\n    return False\n"

    # Somebody else writes in between; the same write again is no way round.
    login.write_text("def login():\n    raise SystemExit\n")
    codes = [agent.write_refused("src/auth/login.py", "mine\n")["code"] for _ in range(4)]
    assert codes == ["STALE_FILE"] * 3 + ["CIRCUIT_OPEN"]
    agent.read("src/auth/login.py")
    agent.write("src/auth/login.py", "mine\n")
    agent.write("src/auth/login.py", "mine\n")  # changes nothing, and succeeds
    codes = [agent.write_refused("src/other.py", "x\n")["code"] for _ in range(4)]
    assert codes == ["OUT_OF_SCOPE"] * 3 + ["CIRCUIT_OPEN"]

    # To complete it, what can be looked at must be there, and a person signs off the rest.
    said = agent.refused("complete_intent", verification_notes="tests pass")
    assert (said["code"], said["data"]["status"]) == ("CRITERION_NOT_MET", "IN_PROGRESS")
    agent.write("docs/auth.md", "How it works\n")
    said = agent.refused("complete_intent", verification_notes="tests pass")
    assert said["code"] == "SIGN_OFF_PENDING"
    assert ["Weak passwords" in one for one in said["data"]["left"]] == [True]
    (gate,) = open_gates(home=office.home)
    decide_gate(gate.id, "approve", home=office.home)
    done = agent.told("complete_intent")
    assert (done["success"], done["status"]) == (True, "DONE")
    assert agent.write_refused("src/auth/token.py", "x = 2\n")["code"] == "NO_INTENT_DECLARED"
    assert agent.refused("select_active_intent", intent_id="INT-001")["code"] == "DONE"

    trace = trace_work(root=office.root, home=office.home)
    assert trace.report.ok
    assert [(line.change.file, line.change.lines) for line in trace.lines] == [
        ("src/auth/token.py", ((1, 1),)),
        ("src/auth/login.py", ((2, 2),)),
        ("src/auth/login.py", ((2, 2),)),
        ("src/auth/login.py", ((1, 1),)),
        ("docs/auth.md", ((1, 1),)),
    ]
    assert {(one.change.label, one.change.author, one.change.agent) for one in trace.lines} == {
        ("INT-001", "agent", "coder")
    }
    changed = ("docs/auth.md", "src/auth/login.py", "src/auth/token.py")
    assert map_work(root=office.root, home=office.home).files == dict.fromkeys(changed, ("INT-001",))
    assert json.loads((office.root / ".orchestration" / "intent_map.json").read_text())["files"]

    # What somebody else wrote into login.py stands against putting that one back.
    intent = trace.lines[0].change.intent_id
    report = undo(intent, leave=["src/auth/login.py"], home=office.home)
    assert (report.state, set(report.removed)) == ("undone", {"docs/auth.md", "src/auth/token.py"})
    assert not (office.root / "docs" / "auth.md").exists()
    assert office.home.journal.verify().ok


def test_undo_of_an_intent_without_a_plan_puts_every_file_back(office: Office) -> None:
    office.sign({**AUTH, "acceptance_criteria": ["It works"]})
    agent = office.serve().agent("coder")
    agent.told("select_active_intent", intent_id="INT-001")
    agent.read("src/auth/login.py")
    agent.write("src/auth/login.py", "one\n")
    agent.write("src/auth/login.py", "two\n")
    agent.write("src/auth/deep/new.py", "three\n")
    trace = trace_work(root=office.root, home=office.home)
    assert complete_work("INT-001", people=AlwaysApprove(), root=office.root, home=office.home).success
    report = undo(trace.lines[0].change.intent_id, home=office.home)
    assert report.state == "undone"
    assert (office.root / "src" / "auth" / "login.py").read_text() == "def login():\n    pass\n"
    assert not (office.root / "src" / "auth" / "deep").exists()
    assert not report.not_undone


def test_agents_with_scopes_apart_work_at_once_and_others_wait_for_one_another(office: Office) -> None:
    office.sign(AUTH, DOCS, LOGIN)
    one, other = office.serve().agent("one"), office.agent("other")
    one.told("select_active_intent", intent_id="INT-001")
    overlap = other.refused("select_active_intent", intent_id="INT-003")
    assert overlap["code"] == "SCOPE_OVERLAP"
    assert "src/auth/login.py" in overlap["message"]
    assert other.refused("select_active_intent", intent_id="INT-001")["code"] == "LEASED"
    other.told("select_active_intent", intent_id="INT-002")
    one.write("src/auth/a.py", "1\n")
    other.write("docs/guide/a.md", "2\n")
    assert one.write_refused("docs/guide/a.md", "mine\n")["code"] == "OUT_OF_SCOPE"
    held = {one["id"]: one.get("held_by") for one in other.told("list_active_intents")["intents"]}
    assert held == {"INT-001": "one", "INT-002": "other", "INT-003": None}
    assert one.told("release_active_intent")["released"] == "INT-001"
    assert one.refused("release_active_intent")["code"] == "NOTHING_HELD"
    other.told("release_active_intent")
    other.told("select_active_intent", intent_id="INT-003")
    assert [
        (line.change.agent, line.change.file) for line in trace_work(root=office.root, home=office.home).lines
    ] == [
        ("one", "src/auth/a.py"),
        ("other", "docs/guide/a.md"),
    ]


def test_a_version_that_another_agent_wrote_is_not_written_over_unread(office: Office) -> None:
    office.sign({**AUTH, "acceptance_criteria": ["It works"]})
    one, other = office.serve().agent("one"), office.agent("other")
    one.read("src/auth/login.py")
    other.told("select_active_intent", intent_id="INT-001")
    other.read("src/auth/login.py")
    other.write("src/auth/login.py", "other\n")
    other.told("release_active_intent")
    one.told("select_active_intent", intent_id="INT-001")
    assert one.write_refused("src/auth/login.py", "one\n")["code"] == "STALE_FILE"
    one.read("src/auth/login.py")
    one.write("src/auth/login.py", "one\n")
    # Nor is what somebody deleted made again by one who does not know.
    (office.root / "src" / "auth" / "login.py").unlink()
    assert one.write_refused("src/auth/login.py", "two\n")["code"] == "STALE_FILE"
    said = {
        "name": "mcl:fs/read",
        "args": {"path": "src/auth/login.py"},
        "intent": {"operation_type": "read"},
    }
    assert one.refused("call_tool_read", **said)["code"] == "NOT_FOUND"
    one.write("src/auth/login.py", "two\n")


def test_what_destroys_waits_for_a_person_all_the_same_and_is_traced(office: Office) -> None:
    office.sign({**AUTH, "acceptance_criteria": ["It works"]})
    agent = office.serve().agent("coder", "legacy")
    delete = {"name": "mcl:fs/delete", "args": {"path": "src/auth/login.py"}}
    said = agent.refused("call_tool_destructive", **delete, intent={"operation_type": "destructive"})
    assert said["code"] == "NO_INTENT_DECLARED"
    agent.told("select_active_intent", intent_id="INT-001")

    def decide() -> None:
        until = time.monotonic() + 30
        while not (gates := open_gates(home=office.home)) and time.monotonic() < until:
            time.sleep(0.02)
        decide_gate(gates[0].id, "approve", home=office.home)

    person = threading.Thread(target=decide)
    person.start()
    agent.told("call_tool_destructive", **delete, intent={"operation_type": "destructive"})
    person.join()
    (line,) = trace_work(root=office.root, home=office.home).lines
    assert (line.change.file, line.change.after, line.change.label) == ("src/auth/login.py", None, "INT-001")


def test_no_spelling_of_a_path_and_no_link_leads_out_of_the_scope(office: Office, tmp_path: Path) -> None:
    office.sign({**AUTH, "owned_scope": ["src/auth/**"], "acceptance_criteria": ["It works"]})
    agent = office.serve().agent("coder")
    agent.told("select_active_intent", intent_id="INT-001")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_text("theirs\n")
    (office.root / "src" / "auth" / "away").symlink_to(tmp_path / "outside")
    (office.root / "src" / "auth" / "up").symlink_to(office.root)
    (office.root / "src" / "auth" / "hard.md").hardlink_to(tmp_path / "outside" / "a.md")
    before = {one: one.read_bytes() for one in tmp_path.rglob("*.md")}
    spellings = [
        *("src/auth/../../readme.md", "src/auth/away/a.md", "src/auth/up/readme.md", "src/auth/hard.md"),
        *("SRC/auth/a.py", "src/authority.py", str(office.root / "src" / "auth" / "a.py")),
        *("/etc/motd", "src\\auth\\a.py", "src/auth\n/a.py", "./readme.md", "readme.md"),
    ]
    for path in spellings:
        said = agent.write_refused(path, "mine\n", overwrite=False)
        assert said["code"] in ("OUT_OF_SCOPE", "NOT_A_FILE"), (path, said)
    assert {one: one.read_bytes() for one in tmp_path.rglob("*.md")} == before
    assert not trace_work(root=office.root, home=office.home).lines


def test_every_tool_that_changes_a_file_is_traced(office: Office) -> None:
    office.sign({**AUTH, "acceptance_criteria": ["It works"]})
    agent = office.serve().agent("coder")
    agent.told("select_active_intent", intent_id="INT-001")
    said = {"intent": {"operation_type": "write"}}
    add = {"path": "src/auth/login.py", "content": "# more\n"}
    agent.told("call_tool_write", name="mcl:fs/append", args=add, **said)
    edit = {"path": "src/auth/login.py", "old": "more", "new": "less"}
    agent.told("call_tool_write", name="mcl:fs/edit", args=edit, **said)
    lines = trace_work(root=office.root, home=office.home).lines
    assert [(one.change.tool, one.change.lines) for one in lines] == [
        ("mcl:fs/append", ((3, 3),)),
        ("mcl:fs/edit", ((3, 3),)),
    ]
    assert lines[0].change.after == lines[1].change.before


def test_a_workspace_inside_a_governed_folder_is_governed_too(office: Office) -> None:
    office.sign(AUTH)
    inside = office.serve(office.root / "src").agent("coder")
    inside.told("select_active_intent", intent_id="INT-001")
    inside.write("auth/a.py", "1\n")
    assert inside.write_refused("b.py", "1\n")["code"] == "OUT_OF_SCOPE"
    (line,) = trace_work(root=office.root, home=office.home).lines
    assert line.change.file == "src/auth/a.py"


def test_a_governed_folder_inside_the_workspace_is_governed_as_well(office: Office) -> None:
    """Its files need the checkout that a server of that folder gives; those around it need none."""
    office.sign({**AUTH, "acceptance_criteria": ["It works"]})
    inner, around = office.serve().agent("coder"), office.serve(office.root.parent).agent("coder")
    said = around.write_refused("work/src/auth/a.py", "1\n")
    assert said["code"] == "NO_INTENT_DECLARED"
    inner.told("select_active_intent", intent_id="INT-001")
    around.write("work/src/auth/a.py", "1\n")
    assert around.write_refused("work/readme.md", "1\n")["code"] == "OUT_OF_SCOPE"
    (line,) = trace_work(root=office.root, home=office.home).lines
    assert line.change.file == "src/auth/a.py"


def test_work_that_no_person_signed_is_listed_by_nobody_and_selected_by_nobody(office: Office) -> None:
    write_intents(office.root, AUTH)
    agent = office.serve().agent("coder", "legacy")
    listed = agent.told("list_active_intents")
    assert listed["intents"] == []
    assert "mcl work import" in listed["note"]
    said = agent.refused("select_active_intent", intent_id="INT-001")
    assert (said["code"], said["data"]["success"]) == ("NOT_IMPORTED", False)
    assert agent.refused("select_active_intent", intent_id="int-1")["code"] == "INVALID_ID_FORMAT"
    assert agent.refused("complete_intent")["code"] == "NOTHING_HELD"
    assert "NO_INTENT" not in json.dumps(agent.told("describe_tool", name="mcl:fs/write"))


def test_an_agent_that_rewrites_the_file_or_the_trace_gains_nothing_and_is_seen(office: Office) -> None:
    office.sign(AUTH, DOCS)
    agent = office.serve().agent("coder")
    agent.told("select_active_intent", intent_id="INT-001")
    agent.write("src/auth/a.py", "1\n")
    agent.write("src/auth/a.py", "2\n")
    file = office.root / FILE
    file.write_text(file.read_text().replace("docs/auth.md", "**"))
    assert agent.write_refused("readme.md", "mine\n")["code"] == "OUT_OF_SCOPE"
    trace = office.root / ".orchestration" / "agent_trace.jsonl"
    trace.write_text("".join(trace.read_text().splitlines(keepends=True)[1:]))
    report = trace_work(root=office.root, home=office.home).report
    assert {one.code for one in report.findings} == {"BROKEN_CHAIN", "MISSING_LINE"}


@pytest.mark.parametrize(
    ("client", "name"),
    [
        ("claude-code", "claude-code"),
        ("gemini-cli-mcp-client", "gemini-cli"),
        ("My Editor (beta)!", "my-editor-beta"),
        ("…", "mcp"),
    ],
)
def test_an_agent_is_called_what_its_client_calls_itself(client: str, name: str) -> None:
    assert name_of(client) == name


def test_the_name_that_the_server_was_started_with_counts_for_every_client(office: Office) -> None:
    office.sign(AUTH)
    agent: Any = office.serve(agent="builder-7").agent("whoever")
    assert agent.told("list_active_intents")["agent"] == "builder-7"


@pytest.mark.slow
def test_agents_of_two_processes_do_not_get_into_each_others_work(office: Office) -> None:
    """Each starts a server of its own, named by an option or by the environment, on one home."""
    office.sign(AUTH, DOCS, LOGIN)

    async def talk() -> None:
        async with AsyncExitStack() as stack:

            async def started(*options: str, **environment: str) -> Any:
                command = ["-m", "mcl", "mcp", "serve", "--no-ai", *options]
                variables = {**os.environ, "MCL_HOME": str(office.home.path), **environment}
                server = StdioServerParameters(
                    command=sys.executable, args=command, env=variables, cwd=office.root
                )
                return await stack.enter_async_context(Client(server, read_timeout_seconds=60))

            one = await started("--agent", "one")
            other = await started(MCL_AGENT="other")
            selected = await one.call_tool("select_active_intent", {"intent_id": "INT-001"})
            assert not selected.is_error
            for label, code in (("INT-001", "LEASED"), ("INT-003", "SCOPE_OVERLAP")):
                refused = await other.call_tool("select_active_intent", {"intent_id": label})
                assert refused.structured_content["code"] == code
            await other.call_tool("select_active_intent", {"intent_id": "INT-002"})
            for client, path in ((one, "src/auth/a.py"), (other, "docs/guide/a.md")):
                assert not (await client.call_tool("call_tool_write", writing(path, "x\n"))).is_error
                await client.call_tool("release_active_intent", {})
            taken = await other.call_tool("select_active_intent", {"intent_id": "INT-003"})
            assert not taken.is_error

    anyio.run(talk)
    trace = trace_work(root=office.root, home=office.home)
    assert trace.report.ok
    assert [line.change.agent for line in trace.lines] == ["one", "other"]
