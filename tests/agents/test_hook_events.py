"""Hooks: any event gets an answer, and what is kept of it."""

from __future__ import annotations

import json
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from executor.sandbox.paths import Workspace
from mcl.plugins.agents.guard.judge import HookGate
from mcl.plugins.agents.hosts import NAMES
from mcl.plugins.agents.hosts.host import MOST, host_named
from mcl.plugins.agents.trace.line import TRACE
from tests.agents.hosting import ClaudeCode, GeminiCli, refusals, trace

NAMED = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")

TOOLS = sorted({tool for name in NAMES for tool in host_named(name).tools} | {"mcp__x__y", "Unknown"})

GOOD = {
    "session_id": "s",
    "cwd": "/tmp",
    "hook_event_name": "PreToolUse",
    "tool_name": "Write",
    "tool_input": {"file_path": "/tmp/x"},
}


BAD = [
    b"",
    b"null",
    b"[]",
    b"{",
    b"\xff\xfe{}",
    json.dumps({**GOOD, "hook_event_name": "Stop"}).encode(),
    json.dumps({**GOOD, "tool_name": ["Write"]}).encode(),
    json.dumps({**GOOD, "cwd": "relative"}).encode(),
    json.dumps({**GOOD, "cwd": "/a\x00b"}).encode(),
    json.dumps({**GOOD, "tool_input": []}).encode(),
    json.dumps({**GOOD, "tool_input": {}}).encode(),
    json.dumps({**GOOD, "tool_input": {"file_path": 7}}).encode(),
    json.dumps({**GOOD, "tool_input": {"file_path": "a\x00b"}}).encode(),
    json.dumps({**GOOD, "tool_input": {"file_path": "\ud800"}}).encode(),
    json.dumps({**GOOD, "tool_input": {"file_path": "x" * 5000}}).encode(),
    json.dumps({**GOOD, "tool_name": "Bash", "tool_input": {"command": None}}).encode(),
    json.dumps(GOOD).encode().replace(b'"/tmp/x"', b'"/tmp/x", "file_path": "/tmp/y"'),
    json.dumps(GOOD).encode().replace(b'"/tmp/x"', b"NaN"),
    b'{"tool_input": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    b'{"tool_input": ' + b'{"a":' * 150 + b"1" + b"}" * 150 + b"}",
    b'{"a": ' + b"9" * 10_000 + b"}",
    b'"' + b"x" * (17 << 20) + b'"',
]


def test_an_event_that_cannot_be_read_is_refused_before_and_told_after(claude):
    for data in BAD:
        told = claude.send("pre", data)
        assert (told.exit, told.verdict) == (2, "deny"), data[:80]
        assert told.reason.startswith(("BAD_EVENT", "EVENT_TOO_LARGE")), data[:80]
        after = claude.send("post", data)
        assert (after.exit, after.out) == (0, {}), data[:80]
        assert after.err, data[:80]


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
_PATHS = st.text(alphabet="ab./\\~ \t\n\x00é\ud800-", max_size=12)
_FIELDS = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(("file_path", "notebook_path", "command", "path", "dir_path"), _VALUES | _PATHS),
)
_EVENTS = st.fixed_dictionaries(
    {"tool_input": _FIELDS | _VALUES, "tool_name": st.sampled_from(TOOLS) | _VALUES},
    optional=dict.fromkeys(("session_id", "cwd", "hook_event_name", "tool_use_id"), _VALUES | _PATHS),
)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(_EVENTS, min_size=1, max_size=5), st.sampled_from([ClaudeCode, GeminiCli]))
def test_whatever_an_event_says_it_gets_an_answer(working, events, kind):
    host = kind(working.home, working.cwd)
    for said in events:
        before = host.send("pre", json.dumps({**host.event("pre", "Write", {}), **said}).encode())
        assert (before.exit, before.verdict) in ((0, ""), (0, "allow"), (0, "ask"), (2, "deny"))
        assert host.send("post", json.dumps({**host.event("post", "Write", {}), **said}).encode()).exit == 0


def test_a_call_that_cannot_be_judged_is_recorded_by_its_hash_alone(project, claude, monkeypatch):
    broken = b'{"tool_name": "sekret", "tool_input"'
    large = b'"' + b"x" * MOST + b'"'
    assert claude.send("pre", broken).exit == 2
    assert claude.send("pre", large).exit == 2
    claude.send("post", broken)
    kept = refusals(project)
    assert [one["code"] for one in kept] == ["BAD_EVENT", "EVENT_TOO_LARGE"]
    assert [one["event"] for one in kept] == [sha256(one).hexdigest() for one in (broken, large)]
    assert not any(b"sekret" in row.wire for row in project.home.journal.rows())
    project.clock.later(minutes=2)
    monkeypatch.setattr(HookGate, "decide", lambda self, event, caller: [][0])
    with pytest.raises(IndexError):
        claude.bash("echo sekret")
    assert refusals(project)[-1]["code"] == "INTERNAL"


def test_a_flood_of_what_cannot_be_judged_does_not_fill_the_journal(project, claude):
    for number in range(100):
        assert claude.send("pre", b"%d" % number).exit == 2
    assert [one["times"] for one in refusals(project)] == [1, 2, 4, 8, 16, 32, 64]
    project.clock.later(minutes=2)
    assert claude.send("pre", b"again").exit == 2
    assert refusals(project)[-1]["times"] == 1


def test_a_host_or_an_agent_that_is_none_is_refused(claude):
    claude.name = "no-such-host"
    assert claude.write("/tmp/x").exit == 2
    claude.name, claude.agent = "claude-code", "no name\n"
    assert claude.write("/tmp/x").exit == 2


def test_what_is_told_stays_within_what_hosts_keep(project, working):
    told = working.pre("Write", {"file_path": f"{project.root}/" + "x" * 4000})
    assert told.exit == 2
    assert len(told.reason) < 10_000


def test_the_trace_may_be_in_the_way_and_no_host_is_kept_waiting(project, working):
    project.file.parent.joinpath(TRACE).symlink_to("/dev/null")
    given = {"file_path": f"{project.root}/src/auth/login.py", "content": "x"}
    assert working.pre("Write", given).verdict == "allow"
    (project.root / "src/auth/login.py").write_text("x")
    told = working.post("Write", given)
    assert told.exit == 0
    assert "OUT_OF_SCOPE" in told.err


def test_no_secret_of_a_call_is_kept(project, claude):
    claude.bash("curl -H 'Authorization: Bearer sekret-sekret-sekret' example.org")
    claude.pre("Write", {"file_path": f"{project.root}/docs/x.md", "content": "sekret-sekret-sekret"})
    assert not any(b"sekret" in row.wire for row in project.home.journal.rows())


def test_the_workspace_is_not_left_open(project, working):
    before = sum(1 for _ in Path("/proc/self/fd").iterdir()) if Path("/proc/self/fd").exists() else 0
    for _ in range(10):
        working.write(project.root / "src/auth/login.py")
        working.bash("ls")
        working.write(project.root / "docs/index.md")
    if before:
        assert sum(1 for _ in Path("/proc/self/fd").iterdir()) <= before + 2
    Workspace(project.root).close()


@pytest.mark.parametrize("kind", [ClaudeCode, GeminiCli])
@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("echo evil > README.rst; false", "README.rst"),
        ("echo fine > src/auth/login.py; exit 3", "src/auth/login.py"),
        ("pytest", "src/auth/test_new.py"),
    ],
)
def test_what_a_command_wrote_is_noted_however_it_ended(project, working, kind, command, path) -> None:
    for words in (("init", "-q"), ("add", "."), (*NAMED, "commit", "-qm", "one")):
        subprocess.run(["git", "-C", str(project.root), *words], check=True, capture_output=True)
    host = kind(project.home, project.root)
    given = {"command": command}
    tool = "Bash" if kind is ClaudeCode else "run_shell_command"
    assert host.pre(tool, given).verdict == "ask"
    (project.root / path).write_text("evil\n")
    told = host.failed(tool, given)
    assert told.exit == 0
    (line,) = trace(project)
    assert (line["file"], line["intent"]) == (path, "INT-001" if path.startswith("src/auth") else "")
    strayed = project.home.journal.rows(kind="record.agent.strayed")
    if path.startswith("src/auth"):
        assert strayed == []
    else:
        assert len(strayed) == 1
        assert told.out["hookSpecificOutput"]["hookEventName"] == host.failure_name
        assert path in told.context
    assert host.pre(tool, given).verdict == "ask", "and is no part of what comes next"
    host.post(tool, given)
    assert len(trace(project)) == 1


def test_who_was_shown_nothing_has_seen_nothing(project, working) -> None:
    place = project.root / "src/auth/login.py"
    working.read(place)
    place.write_text("somebody else's\n")
    given = {"file_path": str(place)}
    working.pre("Read", given)
    working.failed("Read", given)
    assert "STALE_FILE" in working.write(place).reason


def test_an_event_of_the_other_kind_is_none(working) -> None:
    said = working.event("failed", "Bash", {"command": "x"})
    assert working.send("pre", json.dumps(said).encode()).exit == 2
    assert "BAD_EVENT" in working.send("post", json.dumps({**said, "hook_event_name": "Stop"}).encode()).err
