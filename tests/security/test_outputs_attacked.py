"""What tools bring back from hostile files: no terminal obeys it, no secret is in it, and it has an end."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
from walks import NODE, Walks, granted, tool

from executor import AlwaysApprove
from executor.tools.registry import Registry
from mcl.catalog.tools import registry
from mcl.plugins.agents.plugin import PLUGIN as AGENTS
from mcl.plugins.data.plugin import PLUGIN as DATA
from mcl.plugins.repo.plugin import PLUGIN as REPO
from mcl.plugins.versions.plugin import PLUGIN as VERSIONS

ESCAPES = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\x00\r\x08"
TOKEN = "ghp_" + "a1B2" * 9
# The exact text of a file, for nodes that go on with it; it is escaped where it is shown.
EXACT = {("fs/read", "text"), ("git/show", "content")}
ACTIVE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
CALENDAR = (
    "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART:20261201T090000Z\r\n"
    f"SUMMARY:Call\x1b[2J\u202e {TOKEN}\r\nDESCRIPTION:\x9b31m\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)
# Every tool that can be called without a network, with what makes it tell what is there.
CALLS: tuple[NODE, ...] = (
    tool("n1", "calendar/list", path="cal.ics"),
    tool(
        "n1", "calendar/add", "write", path="made.ics", title=f"A{ESCAPES[:4]}B", start="2026-12-01T09:00:00Z"
    ),
    tool("n1", "code/grep", "shell", query="needle"),
    tool("n1", "code/search", pattern="needle"),
    tool("n1", "data/summary", path="table.csv"),
    tool("n1", "data/chart", "write", path="numbers.csv", out="chart.svg"),
    tool("n1", "fs/append", "write", path="log.txt", content="x"),
    tool("n1", "fs/changes", since="2000-01-01"),
    tool("n1", "fs/delete", "write", path="old.txt"),
    tool("n1", "fs/edit", "write", path="edited.txt", old="one", new="two"),
    tool("n1", "fs/list", recursive="true"),
    tool("n1", "fs/read", path="clean.txt"),
    tool("n1", "fs/search", query="needle"),
    tool("n1", "fs/watch", path=".", seconds="1"),
    tool("n1", "fs/write", "write", path="new.txt", content="x"),
    tool("n1", "git/branch"),
    tool("n1", "git/checkout", "write", name="made"),
    tool("n1", "git/diff"),
    tool("n1", "git/log"),
    tool("n1", "git/show"),
    tool("n1", "git/show", file="clean.txt"),
    tool("n1", "git/status"),
    tool("n1", "process/editor", "shell", path="edited.txt"),
    tool("n1", "process/lint", "shell", linter="make"),
    tool("n1", "process/mqlaunch", "shell", command="doctor"),
    tool("n1", "process/tests", "shell", suite="make"),
    tool("n1", "repo/inspect"),
    tool("n1", "repo/tree"),
    tool("n1", "task/assign", "write", assignee="ada", task="Do it"),
    tool("n1", "time/now"),
)
ELSEWHERE = {
    # tests/executor/test_tools_tables.py has their bounds and hostile tables
    *("data/ask", "data/rows", "data/extract", "data/join", "data/convert", "json/query"),
    # tests/executor/test_tools_git_writing has these
    *("git/add", "git/commit", "git/drop", "git/merge", "git/deliver", "git/push", "git/remote", "git/tag"),
    "git/switch",
    *("repo/help", "repo/list", "repo/switch", "repo/where"),  # which say nothing of files
    "agent/dispatch",
    "http/get",
    "http/request",
}  # attacked where the network is


@pytest.fixture
def hostile(walks: Walks, monkeypatch: pytest.MonkeyPatch) -> Walks:
    from executor import Grants

    grants, agent = Grants(walks.home), walks.home.keyring.agent.did
    grants.grant(agent, ["shell"])
    line = ESCAPES.replace("\0", "").replace("\r", "")
    walks.git("init", "-q", "-b", "main")
    for name in ("evil.txt", "evil.py", "log.txt", "old.txt"):
        walks.write(name, f"before\nneedle {line} {TOKEN} needle\n")
    walks.write("edited.txt", f"one {line}\n")
    walks.write("clean.txt", f"{line} {TOKEN}\n")
    (walks.workspace / f"name{ESCAPES[:4]}.txt").write_text("needle\n")
    walks.write("table.csv", f"name{line},value\n{line}{TOKEN},1\n{line},2\n")
    walks.write("numbers.csv", f"name,value{line}\na{line},1\nb,2\n")
    (walks.workspace / "cal.ics").write_bytes(CALENDAR.encode())
    says = "\t@printf '\\033[2J\\302\\233 \\r\\007 %s\\n' " + TOKEN
    program = walks.workspace.parent / "programs/mqlaunch"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{says.strip().removeprefix('@')}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("VISUAL", str(program))
    walks.git("remote", "add", f"origin-{TOKEN}", f"https://{TOKEN}@example.org/{line}{TOKEN}")
    walks.write("Makefile", f".PHONY: test lint\ntest:\n{says}\nlint:\n{says}\n")
    walks.git("add", "-A")
    walks.git("-c", f"user.name=Eve{line}", "commit", "-q", "-m", f"Add {line} {TOKEN}")
    walks.write("evil.txt", f"after {line} {TOKEN}\n")
    (walks.workspace / f"more{ESCAPES[:4]}").write_text("x")
    return walks


def texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield path, name
            yield from texts(item, f"{path}.{name}".lstrip("."))
    elif isinstance(value, list):
        for item in value:
            yield from texts(item, path)


@pytest.mark.parametrize("node", CALLS, ids=lambda node: node["tool_call"]["tool_ref"][14:-6])
def test_what_a_tool_brings_back_moves_no_cursor_and_tells_no_secret(
    hostile: Walks, node: NODE, request: pytest.FixtureRequest
) -> None:
    name = node["tool_call"]["tool_ref"].removeprefix("matrix://tool/").partition("@")[0]
    if name == "code/grep":
        request.getfixturevalue("ripgrep")
    outcome = hostile.go(node, people=AlwaysApprove())
    assert outcome.failure is None, outcome.failure
    for path, text in texts(outcome.outputs["n1"]):
        assert TOKEN not in text, (path, text)
        if (name, path) not in EXACT:
            assert not ACTIVE.search(text), (path, text)
    for event in hostile.watch.events:
        assert not ACTIVE.search(event.preview + event.error)
    steps = [body.result.decode() for body in hostile.records("plan.step")]  # type: ignore[attr-defined]
    assert not any(TOKEN in one for one in steps)
    exact = any(name == tool for tool, _ in EXACT)
    assert exact or not any(ACTIVE.search(one) for one in steps)


def test_no_tool_is_left_out_of_these_attacks() -> None:
    tried = {node["tool_call"]["tool_ref"].removeprefix("matrix://tool/").partition("@")[0] for node in CALLS}
    known = {one.uri.removeprefix("matrix://tool/").partition("@")[0] for one in Registry.builtin().manifests}
    known |= {name for plugin in (DATA, AGENTS, VERSIONS, REPO) for name in plugin.tools}
    assert known - tried == ELSEWHERE


@pytest.mark.parametrize(
    "node",
    [
        tool("n1", "fs/list", recursive="true", limit="5000"),
        tool("n1", "fs/search", query="x", limit="2000"),
        tool("n1", "code/grep", "shell", query="x", limit="2000"),
        tool("n1", "code/search", pattern="x", limit="2000"),
        tool("n1", "fs/changes", since="2000-01-01"),
        tool("n1", "git/status"),
        tool("n1", "git/diff"),
        tool("n1", "git/show"),
        tool("n1", "repo/inspect"),
        tool("n1", "data/summary", path="wide.csv"),
        tool("n1", "fs/read", path="long.txt"),
    ],
    ids=lambda node: node["tool_call"]["tool_ref"][14:-6],
)
def test_however_much_there_is_an_answer_fits_its_limit(
    walks: Walks, node: NODE, request: pytest.FixtureRequest
) -> None:
    if node["tool_call"]["side_effect_class"] == "shell":
        request.getfixturevalue("ripgrep")
        granted(walks, also=["shell"])
    walks.git("init", "-q", "-b", "main")
    walks.write("long.txt", "x" * 3_000_000)
    walks.write(
        "wide.csv",
        ",".join(f"column{number}\u202e" for number in range(3000)) + "\n" + ",".join(["x" * 300] * 3000),
    )
    line = "x" + "\u202e" * 300 + "\n"
    for number in range(700):
        walks.write(f"some/{'é' * 60}{number}.txt", line * 3)
    walks.git("add", "some")
    walks.git("commit", "-q", "-m", "Much")
    walks.git("rm", "-q", "--cached", "-r", "some")
    outcome = walks.go(node)
    assert outcome.failure is None, outcome.failure
    manifest = registry().find(node["tool_call"]["tool_ref"])
    assert manifest is not None
    assert len(json.dumps(outcome.outputs["n1"], ensure_ascii=False).encode()) <= manifest.max_output * 1.2


KEY = (
    "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU\nAAAAsecond\n"
    "-----END OPENSSH PRIVATE KEY-----"
)


@pytest.mark.parametrize(
    "search",
    [
        tool("n1", "fs/search", query="b3Bl"),
        tool("n1", "code/search", pattern="b3Bl"),
        tool("n1", "code/grep", "shell", query="b3Bl"),
    ],
    ids=["fs/search", "code/search", "code/grep"],
)
@pytest.mark.usefixtures("ripgrep")
def test_no_line_from_the_middle_of_a_key_is_found(walks: Walks, search: NODE) -> None:
    granted(walks, also=["shell"])
    (walks.workspace / "notes.txt").write_text(f"b3Bl is how it begins\n{KEY}\nb3Bl stands here, too\n")
    outcome = walks.go(search)
    assert outcome.failure is None, outcome.failure
    found = outcome.outputs["n1"]
    assert isinstance(found, dict)
    assert [match["line"] for match in found["matches"]] == [1, 6]
    assert "b3BlbnNz" not in str(found)
