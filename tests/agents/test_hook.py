"""Hooks: reading, folders, commands and other tools, and another host."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mcl.core.distribution import install_line
from mcl.plugins.agents.guard.aftermath import STRAYED
from mcl.plugins.agents.hosts import NAMES
from mcl.plugins.agents.hosts.host import OURS, host_named
from mcl.plugins.agents.trace.line import TRACE
from mcl.plugins.agents.usecases import import_work, trace_work
from mcl.plugins.mcp.offered.tools import OFFERED
from tests.agents.conftest import Written, yaml_of
from tests.agents.hosting import ClaudeCode, GeminiCli, refusals, trace


def test_reading_needs_no_intent_but_what_is_protected_is_asked_about(project, claude, tmp_path):
    assert claude.read(project.root / "src/main.py").verdict == "allow"
    assert claude.read(project.root / ".env").verdict == "ask"
    assert claude.read(project.root / ".orchestration/active_intents.yaml").verdict == "ask"
    (project.root / "innocent.txt").symlink_to(project.root / ".git/config")
    assert claude.read(project.root / "innocent.txt").verdict == "ask"
    assert claude.read(project.home.path / "keys/agent.json").verdict == "ask"
    assert claude.read(tmp_path / "elsewhere.txt").verdict == ""
    assert claude.pre("Grep", {"pattern": "x"}).verdict == ""
    assert claude.pre("Glob", {"pattern": "*", "path": str(project.root / ".git")}).verdict == "ask"


def test_where_nothing_was_signed_the_host_decides_as_it_would_without_hooks(project, claude, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    host = ClaudeCode(project.home, elsewhere)
    for tool, asked in (
        ("Write", {"file_path": f"{elsewhere}/x"}),
        ("Read", {"file_path": f"{elsewhere}/x"}),
        ("Bash", {"command": "rm -rf x"}),
        ("mcp__github__create_issue", {}),
        ("mcp__mcl__run_intent", {}),
    ):
        told = host.pre(tool, asked)
        assert (told.exit, told.out) == (0, {})
    assert refusals(project) == []


def test_from_elsewhere_a_governed_folder_is_still_governed(project, claude, tmp_path):
    host = ClaudeCode(project.home, tmp_path)
    assert host.write(project.root / "docs/index.md").verdict == "deny"
    assert host.bash(f"rm -rf {project.root}/docs").verdict == "deny"


def test_who_was_started_for_a_governed_folder_does_not_leave_it_by_cd(project, claude, tmp_path):
    claude.cwd, claude.project = tmp_path, str(project.root)
    assert claude.bash("touch /tmp/x").verdict == "deny"
    assert claude.write(tmp_path / "x").verdict == "deny"
    assert claude.pre("mcp__db__drop", {}).verdict == "deny"


def test_the_home_is_written_by_nobody(project, claude, tmp_path):
    host = ClaudeCode(project.home, tmp_path)
    assert host.write(project.home.path / "policy.toml").exit == 2


def test_a_command_that_may_change_files_needs_an_intent_and_then_a_person(project, claude):
    assert claude.bash("make test").verdict == "deny"
    assert project.select("INT-001").success
    assert claude.bash("make test").verdict == "ask"


def test_an_agent_selects_in_its_own_name_and_signs_nothing(project, claude):
    assert claude.bash("mcl work list").verdict == "allow"
    assert claude.bash("mcl work select INT-001 --agent one").verdict == "allow"
    for command in (
        "mcl work select INT-001",
        "mcl work select INT-001 --agent two",
        "mcl work release --agent=two",
        "mcl work complete --age two",
    ):
        assert claude.bash(command).reason.startswith("WRONG_AGENT: ")
    for command in (
        "mcl work import --yes",
        "mcl gate approve 01M7ZYTG61FE",
        "mcl accept @last",
        "mcl grant add network --host example.org",
        "mcl key new",
        "mcl hook post-tool-use",
        "mcl review dismiss run.py:5 --why x",
    ):
        assert claude.bash(command).reason.startswith("PERSON_ONLY: ")
    assert claude.bash("MCL_HOME=/tmp/other mcl work list").verdict == "deny"
    claude.agent, claude.environment_agent = "", "named"
    assert claude.bash("mcl work select INT-001").verdict == "allow"


def test_unknown_tools_and_other_servers_count_as_destructive(project, claude):
    names = ["mcp__github__create_issue", "mcp__mcl__evil__write", "mcp__mclx__select_active_intent", "New"]
    names += [
        "mcp__mcl__",
        "mcp__mcl__write_anything",
        "mcp__plugin_x_mcl__select_active_intent",
        "PowerShell",
    ]
    for name in names:
        assert claude.pre(name, {"intent_id": "INT-001"}).verdict == "deny"
    for name in sorted(OURS):
        assert claude.pre(f"mcp__mcl__{name}", {}).verdict == "allow"
    assert project.select("INT-001").success
    for name in names:
        assert claude.pre(name, {"intent_id": "INT-002"}).verdict == "ask"


def test_in_a_plan_nothing_is_written_without_the_hosts_own_question(project, working):
    given = {"file_path": f"{project.root}/src/auth/login.py", "content": "x"}
    assert working.pre("Write", given, permission_mode="plan").out == {}
    assert working.pre("Write", given).verdict == "allow"


def test_our_own_tools_are_those_that_the_server_offers():
    assert {one.name for one in OFFERED} == OURS


def test_what_only_spawns_or_asks_is_left_to_the_host(claude):
    for tool in ("Task", "TodoWrite", "AskUserQuestion", "WebFetch"):
        assert claude.pre(tool, {}).out == {}


def git(root: Path, *arguments: str) -> None:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, env=environment, capture_output=True)


def test_files_that_a_command_changed_out_of_scope_are_told_and_recorded(project, working):
    root = project.root
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "as it was")
    (root / "src/main.py").write_text("changed by a person before\n")
    assert working.bash("make everything").verdict == "ask"
    (root / "src/auth/login.py").write_text("by the command\n")
    (root / "docs/new.md").write_text("by the command\n")
    git(root, "rm", "-q", "-f", "docs/index.md")
    git(root, "commit", "-qm", "also committed")
    told = working.post("Bash", {"command": "make everything", "description": "what it does"})
    assert told.exit == 0
    assert "docs/index.md, docs/new.md" in told.context
    assert "src/main.py" not in told.context
    lines = {str(line["file"]): line["intent"] for line in trace(project)}
    assert lines == {"src/auth/login.py": "INT-001", "docs/index.md": "", "docs/new.md": ""}
    (row,) = project.home.journal.rows(kind=STRAYED)
    assert project.home.journal.open(row.wire).body["files"] == ["docs/index.md", "docs/new.md"]


def test_a_file_of_a_folder_with_work_of_its_own_is_no_file_of_the_folder_around_it(project, working):
    root = project.root
    inner = root / "src/auth/inner"
    (inner / ".orchestration").mkdir(parents=True)
    (inner / ".orchestration/active_intents.yaml").write_text(yaml_of(Written("INT-009", scope=("x/**",))))
    assert import_work(agree=lambda plan: True, root=inner, home=project.home).agreed
    assert working.write(inner / "a.py").verdict == "deny"
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "as it was")
    assert working.bash("make everything").verdict == "ask"
    (inner / "a.py").write_text("by the command\n")
    told = working.post("Bash", {"command": "make everything", "description": "what it does"})
    assert "src/auth/inner/a.py" in told.context
    assert [(line["file"], line["intent"]) for line in trace(project)] == [("src/auth/inner/a.py", "")]


@pytest.mark.parametrize("place", ["file", "folder"])
def test_a_link_that_was_put_in_the_way_meanwhile_is_told_and_recorded(project, working, tmp_path, place):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    given = {"file_path": f"{project.root}/src/auth/new.py", "content": "x\n"}
    assert working.pre("Write", given).verdict == "allow"
    if place == "file":
        (project.root / "src/auth/new.py").symlink_to(elsewhere / "new.py")
    else:
        (project.root / "src/auth").rename(tmp_path / "away")
        (project.root / "src/auth").symlink_to(elsewhere)
    (project.root / "src/auth/new.py").write_text("x\n")
    told = working.post("Write", given)
    assert (told.exit, told.context.partition(":")[0]) == (0, "OUT_OF_SCOPE")
    (row,) = project.home.journal.rows(kind=STRAYED)
    assert project.home.journal.open(row.wire).body["files"] == [given["file_path"]]
    assert trace(project) == []


def test_what_cannot_be_noted_stops_nothing_and_is_told_as_that(project, working):
    (project.file.parent / TRACE).mkdir()
    given = {"file_path": f"{project.root}/src/auth/new.py", "content": "x\n"}
    assert working.pre("Write", given).verdict == "allow"
    (project.root / "src/auth/new.py").write_text("x\n")
    told = working.post("Write", given)
    assert (told.exit, told.out) == (0, {})
    assert told.err.startswith("NOT_A_FILE: what the call left could not be noted: ")
    (project.file.parent / TRACE).rmdir()
    working.write(project.root / "src/auth/other.py")
    assert [line["file"] for line in trace(project)] == ["src/auth/new.py", "src/auth/other.py"]


def test_what_a_call_changed_of_which_nobody_saw_the_end_is_named_beside_the_trace(project, working):
    files = [project.root / "src/auth" / name for name in ("killed.py", "declined.py", "later.py")]
    for file in files:
        assert working.pre("Write", {"file_path": str(file), "content": "x\n"}).verdict == "allow"
    for file in (files[0], files[2]):
        file.write_text("x\n")
    working.write(files[2], "y\n")  # a line tells of what is there now
    found = trace_work(root=project.root, home=project.home)
    assert found.report.ok
    assert [(one.file, one.tool) for one in found.unended] == [("src/auth/killed.py", "Write")]
    assert found.to_json()["unended"] == [one.to_json() for one in found.unended]
    files[0].unlink()
    assert trace_work(root=project.root, home=project.home).unended == ()


def test_gemini_cli_is_another_table(project, claude):
    gemini = GeminiCli(project.home, project.root)
    given = {"file_path": f"{project.root}/src/auth/login.py", "content": "new\n"}
    told = gemini.pre("write_file", given)
    assert (told.exit, told.verdict) == (2, "deny")
    assert "declaring an intent" in told.err
    assert project.select("INT-001").success
    assert gemini.pre("write_file", given).out["decision"] == "allow"
    (project.root / "src/auth/login.py").write_text("new\n")
    assert gemini.post("write_file", given).out == {}
    assert trace(project)[0]["tool"] == "write_file"
    shell = {"command": "ls", "dir_path": str(project.root / "src")}
    assert gemini.pre("run_shell_command", shell).verdict == "allow"
    assert gemini.pre("run_shell_command", {**shell, "dir_path": "/etc"}).verdict == ""
    asked = gemini.pre("run_shell_command", {"command": "make"})
    assert (asked.exit, asked.verdict) == (0, "ask")
    assert asked.out["systemMessage"]
    both = {"file_path": f"{project.root}/src/auth/login.py", "directory": "/", "dir_path": "/tmp"}
    assert gemini.pre("run_shell_command", {**both, "command": "ls"}).exit == 2


def test_whose_tool_it_is_gemini_says_beside_the_name(project, claude):
    gemini = GeminiCli(project.home, project.root)
    ours = {"mcp_context": {"server_name": "mcl", "tool_name": "select_active_intent"}}
    theirs = {"mcp_context": {"server_name": "mcl_select", "tool_name": "active_intent"}}
    assert gemini.pre("mcp_mcl_select_active_intent", {}, **ours).verdict == "allow"
    assert gemini.pre("mcp_mcl_select_active_intent", {}, **theirs).verdict == "deny"
    assert gemini.pre("mcp_mcl_select_active_intent", {}).verdict == "deny"


@pytest.mark.parametrize("name", NAMES)
def test_every_table_says_what_its_tools_take(name):
    host = host_named(name)
    for tool, known in host.tools.items():
        assert (known.does in ("reads", "searches", "writes")) == bool(known.paths), tool
        assert (known.does == "shell") == bool(known.command), tool


@pytest.mark.parametrize("text", ['deny = ["fs/dleete"]\n', "deny = [\n", 'dny = ["fs/delete"]\n'])
def test_a_policy_that_cannot_be_followed_lets_no_agent_do_what_is_judged(project, claude, text):
    assert project.select("INT-001").success
    assert claude.bash("make test").verdict == "ask"
    (project.home.path / "policy.toml").write_text(text)
    for told in (
        claude.write(project.root / "src/auth/login.py"),
        claude.bash("make test"),
        claude.pre("mcp__db__drop", {}),
    ):
        assert told.verdict == "deny", told
        assert "BAD_POLICY" in str(told.out) + str(getattr(told, "err", "")), told


@pytest.mark.parametrize("missing", ["mcl.plugins.agents", "mcl.plugins.agents.hook.answer", "pydantic"])
def test_where_it_cannot_be_loaded_every_call_is_refused(project, missing):
    starts = (
        "import sys\n"
        f"sys.modules[{missing!r}] = None\n"
        "from mcl.cli.main import main\n"
        "sys.exit(main(['hook', 'pre-tool-use']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", starts],
        input='{"tool_name": "Bash"}',
        capture_output=True,
        text=True,
        env={**os.environ, "MCL_HOME": str(project.home.path), "MCL_NO_HELPER": "1"},
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert missing in done.stderr
    assert install_line() in done.stderr
    assert "Traceback" not in done.stderr
