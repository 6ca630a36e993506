"""Hooks: what an agent may write, and what becomes of it."""

from __future__ import annotations

import os
import pwd
from dataclasses import replace
from pathlib import Path

import pytest

from executor.walker.questions import AlwaysApprove
from mcl.plugins.agents.work.store import SignedWork
from mcl.usecases.runs import undo
from tests.agents.conftest import AUTH, Project, Written
from tests.agents.hosting import ClaudeCode, GeminiCli, refusals, trace


def test_a_write_without_a_checkout_is_refused_with_all_five_parts_and_exit_code_2(project, claude):
    told = claude.write(project.root / "src/auth/login.py")
    assert (told.exit, told.verdict) == (2, "deny")
    assert told.reason.startswith("NO_INTENT_DECLARED: ")
    assert "without declaring an intent" in told.reason
    assert "INT-001, INT-002" in told.reason
    assert "Required action:" in told.reason
    assert "Example:" in told.reason
    assert "Why this" in told.reason
    assert told.err.strip() == told.reason.strip()
    assert "--agent one" in told.reason
    assert [one["code"] for one in refusals(project)] == ["NO_INTENT_DECLARED"]
    assert (project.root / "src/auth/login.py").read_text() == "one\ntwo\n"


def test_a_write_in_scope_is_allowed_traced_and_can_be_put_back(project, working):
    told = working.write(project.root / "src/auth/login.py", "one\nthree\n")
    assert (told.exit, told.verdict) == (0, "allow")
    (line,) = trace(project)
    assert (line["intent"], line["tool"], line["file"]) == ("INT-001", "Write", "src/auth/login.py")
    assert (line["lines"], line["author"], line["agent"]) == ([[2, 2]], "agent", "one")
    assert project.complete("INT-001", people=AlwaysApprove()).success
    assert undo(project.item().intent_id, home=project.home).state == "undone"
    assert (project.root / "src/auth/login.py").read_text() == "one\ntwo\n"


def _reads(project, monkeypatch) -> list[str]:
    """The intents whose signed documents are read from now on."""
    read: list[str] = []
    real = SignedWork._read
    monkeypatch.setattr(SignedWork, "_read", lambda self, intent: read.append(intent) or real(self, intent))
    return read


def test_an_owner_among_many_is_named_and_not_all_of_them_are_read(project, monkeypatch):
    many = [Written(f"INT-{at:03}", scope=(f"src/part{at}/**", "shared/**")) for at in range(1, 61)]
    project.sign(*many)
    assert project.select("INT-001").success
    read = _reads(project, monkeypatch)
    host = ClaudeCode(project.home, project.root)
    assert "in the scope of INT-040." in host.write(project.root / "src/part40/x.py").reason
    assert len(read) <= 2
    assert "No other intent" in host.write(project.root / "other/x.py").reason
    idle = ClaudeCode(project.home, project.root, agent="two")
    told = idle.write(project.root / "shared/x.py").reason
    assert "INT-001, INT-002" in told
    assert "INT-020 and others." in told
    assert len(read) <= 30


def test_owners_are_as_they_were_signed_whatever_the_index_says(project, claude):
    project.sign(AUTH, Written("INT-002", scope=("docs/**",)), Written("INT-003", scope=("docs/a/**",)))
    assert project.select("INT-001").success
    place, change = project.root / "docs/a/x.md", "UPDATE work_patterns SET patterns = ?"
    assert "in the scope of INT-002, INT-003." in claude.write(place).reason
    for said in (
        '{"INT-001": ["docs/**"], "INT-002": ["docs/**"], "INT-009": ["docs/**"]}',
        "[",
        "{}",
        "[1]",
    ):
        with project.home.db.write("work") as connection:
            connection.execute(change, (said,))
        told = claude.write(place, said)
        assert told.exit == 2
        assert "INT-009" not in told.reason
        assert "INT-003" not in told.reason
    with project.home.db.write("work") as connection:
        connection.execute("DELETE FROM work_patterns")
    assert "in the scope of INT-002, INT-003." in claude.write(place, "again").reason
    project.sign(replace(AUTH, status="IN_PROGRESS"), Written("INT-003", scope=("docs/a/**",)))
    assert "in the scope of INT-003." in claude.write(place, "changed").reason


OUT_OF_REACH = [
    ("docs/index.md", "OUT_OF_SCOPE: "),
    ("src/auth.py", "OUT_OF_SCOPE: "),
    ("src/AUTH/login.py", "OUT_OF_SCOPE: "),
    ("src/auth/../main.py", "OUT_OF_SCOPE: "),
    ("notes/c.md", "OUT_OF_SCOPE: "),
    ("/etc/passwd", "OUT_OF_SCOPE: "),
    ("../elsewhere.txt", "OUT_OF_SCOPE: "),
    (".git/config", "PROTECTED_PATH: "),
    ("src/auth/.GIT/hooks/post-commit", "PROTECTED_PATH: "),
    ("src/auth/.env", "PROTECTED_PATH: "),
    (".orchestration/active_intents.yaml", "PROTECTED_PATH: "),
    (".orchestration/agent_trace.jsonl", "PROTECTED_PATH: "),
    (".claude/settings.json", "PROTECTED_PATH: "),
    (".Claude/Settings.local.json", "PROTECTED_PATH: "),
    (".mcp.json", "PROTECTED_PATH: "),
]


def test_nothing_else_is_written_with_an_intent_checked_out(project, working):
    for path, code in OUT_OF_REACH:
        whole = path if path.startswith("/") else f"{project.root}/{path}"
        told = working.pre("Write", {"file_path": whole, "content": "x"})
        assert (told.exit, told.verdict) == (2, "deny"), path
        assert told.reason.startswith(code), path


def test_settings_are_closed_also_to_an_intent_that_has_every_file(project):
    project.sign(Written("INT-001", scope=("**",)))
    assert project.select("INT-001").success
    host = ClaudeCode(project.home, project.root)
    settings = (".claude/settings.json", ".gemini/settings.json", ".mcp.json")
    settings += (".claude/skills/x/SKILL.md", ".claude/agents/x.md", ".Claude/commands/a/x.md")
    for path in (*settings, *(f"packages/one/{path}" for path in settings)):
        assert host.pre("Edit", {"file_path": f"{project.root}/{path}"}).exit == 2
    assert host.pre("Write", {"file_path": f"{project.root}/src/any.py"}).verdict == "allow"


def test_a_link_leads_no_write_out_of_scope(project, working, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (project.root / "src/auth/out").symlink_to(outside)
    (project.root / "src/auth/file.py").symlink_to(project.root / "src/main.py")
    (project.root / "src/auth/loop").symlink_to(project.root / "src/auth/loop")
    os.link(project.root / "src/main.py", project.root / "src/auth/second.py")
    os.mkfifo(project.root / "src/auth/pipe")
    for path in ("out/x.py", "file.py", "loop", "loop/x", "second.py", "pipe", "out/../x.py"):
        told = working.pre("Write", {"file_path": f"{project.root}/src/auth/{path}", "content": "x"})
        assert (told.exit, path) == (2, path)
    (tmp_path / "way-in").symlink_to(project.root / "src")
    assert working.pre("Write", {"file_path": f"{tmp_path}/way-in/main.py"}).exit == 2
    assert working.pre("Write", {"file_path": f"{tmp_path}/way-in/auth/x.py"}).verdict == "allow"


def test_a_relative_path_is_taken_from_the_folder_of_the_event(project, working):
    working.cwd = project.root / "src"
    assert working.pre("Write", {"file_path": "auth/x.py"}).verdict == "allow"
    assert working.pre("Write", {"file_path": "main.py"}).verdict == "deny"


def test_another_agents_checkout_is_nobody_elses(project, working):
    other = ClaudeCode(project.home, project.root, agent="two")
    assert other.write(project.root / "src/auth/login.py").verdict == "deny"
    assert project.select("INT-002", "two").success
    assert other.write(project.root / "docs/index.md").verdict == "allow"
    assert other.write(project.root / "src/auth/login.py").verdict == "deny"
    assert working.write(project.root / "src/auth/login.py").verdict == "allow"
    assert [line["agent"] for line in trace(project)] == ["two", "one"]


def test_an_expired_lease_lets_nothing_be_written_and_each_call_renews_it(project, working):
    for _ in range(4):
        project.clock.later(minutes=10)
        assert working.write(project.root / "src/auth/login.py").verdict == "allow"
    project.clock.later(minutes=16)
    assert working.write(project.root / "src/auth/login.py").verdict == "deny"


def test_editing_the_file_of_intents_gains_an_agent_nothing(project, working):
    project.write(Written("INT-001", scope=("**",)))
    assert working.write(project.root / "docs/index.md").verdict == "deny"


def test_a_write_over_what_somebody_else_wrote_is_stale_until_it_is_read_again(project, working):
    place = project.root / "src/auth/login.py"
    working.read(place)
    assert working.write(place, "mine\n").verdict == "allow"
    place.write_text("theirs\n")
    told = working.write(place, "mine again\n")
    assert told.exit == 2
    assert told.reason.startswith("STALE_FILE: ")
    assert place.read_text() == "theirs\n"
    working.read(place)
    assert working.write(place, "mine again\n").verdict == "allow"


def test_the_same_call_refused_three_times_is_not_looked_at_again_until_something_changed(project, claude):
    given = {"file_path": f"{project.root}/docs/index.md", "content": "x"}
    for _ in range(3):
        assert "without declaring" in claude.pre("Write", given).reason
    assert claude.pre("Write", given).reason.startswith("CIRCUIT_OPEN: ")
    assert "without declaring" in claude.pre("Write", {**given, "content": "y"}).reason
    assert project.select("INT-002").success
    assert claude.pre("Write", given).verdict == "allow"


def test_a_call_that_failed_or_was_declined_leaves_no_line(project, working):
    assert working.pre("Write", {"file_path": f"{project.root}/src/auth/new.py"}).verdict == "allow"
    assert working.pre("Edit", {"file_path": f"{project.root}/src/auth/login.py"}).verdict == "allow"
    working.post("Edit", {"file_path": f"{project.root}/src/auth/login.py"})  # and nothing was changed
    assert trace(project) == []


def test_a_write_that_no_hook_was_asked_about_is_traced_all_the_same(project, working):
    place = project.root / "docs/index.md"
    place.write_text("without asking\n")
    working.post("Write", {"file_path": str(place), "content": "without asking\n"})
    (line,) = trace(project)
    assert (line["file"], line["intent"], line["before"]) == ("docs/index.md", "", None)


def test_what_another_session_was_let_do_does_not_count_as_this_ones(project, working):
    given = {"file_path": f"{project.root}/src/auth/login.py", "content": "x"}
    assert working.pre("Write", given).verdict == "allow"
    (project.root / "src/auth/login.py").write_text("x")
    other = ClaudeCode(project.home, project.root, session="another", calls=working.calls)
    other.post("Write", given)
    assert [line["before"] for line in trace(project)] == [
        None
    ]  # seen, but not as the one that was asked about
    working.post("Write", given)
    assert trace(project)[-1]["before"] is not None


@pytest.fixture
def person(tmp_path, monkeypatch) -> Path:
    """The home folder of whoever runs this."""
    folder = tmp_path / "person"
    folder.mkdir()
    entry = pwd.getpwuid(os.geteuid())
    monkeypatch.setattr(
        pwd, "getpwuid", lambda user: pwd.struct_passwd((*entry[:5], str(folder), entry.pw_shell))
    )
    return folder


def test_what_a_host_keeps_for_itself_is_left_to_it(project, claude, person):
    gemini = GeminiCli(project.home, project.root)
    plan, notes = ".claude/plans/calm-otter.md", ".claude/projects/-srv-x/memory/MEMORY.md"
    for held in (False, True):
        if held:
            assert project.select("INT-001").success
        for path in (plan, notes):
            assert claude.pre("Write", {"file_path": f"{person}/{path}"}).out == {}
        (person / plan).parent.mkdir(parents=True, exist_ok=True)
        (person / plan).write_text("1. think\n")
        assert claude.pre("Edit", {"file_path": f"{person}/{plan}"}).out == {}
        asked = {"file_path": f"{person}/.gemini/tmp/x/y/plans/a.md"}
        assert gemini.pre("write_file", asked).out == {}
    assert refusals(project) == []


def test_nothing_else_in_the_folder_of_the_person_is_a_hosts_own(project, working, person, tmp_path):
    plans = person / ".claude/plans"
    plans.mkdir(parents=True)
    (plans / "link.md").symlink_to(person / ".bashrc")
    (plans / "away").symlink_to(tmp_path)
    (person / ".profile").write_text("x")
    os.link(person / ".profile", plans / "second.md")
    (person / ".claude/projects").symlink_to(project.root)
    settings = (".claude/settings.json", ".claude/plans/settings.json", ".claude/plans/../settings.json")
    others = (
        ".bashrc",
        ".claude/CLAUDE.md",
        ".claude/plans/x.sh",
        ".claude/plans/deep/x.md",
        ".claude/skills/a.md",
    )
    linked = ("link.md", "away/x.md", "second.md", "../projects/src/memory/x.md")
    for path in (*settings, *others, *(f".claude/plans/{one}" for one in linked)):
        assert working.pre("Write", {"file_path": f"{person}/{path}"}).verdict == "deny", path
    gemini = GeminiCli(project.home, project.root)
    assert gemini.pre("write_file", {"file_path": f"{plans}/x.md"}).verdict == "deny"


def test_in_a_governed_folder_nothing_is_a_hosts_own(project, claude, person):
    governed = person / ".claude"
    governed.mkdir()
    there = Project(governed, project.home, project.clock)
    there.sign(AUTH)
    assert claude.pre("Write", {"file_path": f"{governed}/plans/x.md"}).verdict == "deny"


def test_a_tool_that_only_starts_what_is_judged_itself_is_left_to_the_host(project, claude):
    for tool in ("Skill", "CronCreate"):
        assert claude.pre(tool, {"skill": "review"}).out == {}
    gemini = GeminiCli(project.home, project.root)
    assert gemini.pre("tracker_create_task", {"title": "x"}).out == {}
