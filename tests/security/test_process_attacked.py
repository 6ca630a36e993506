"""Tests of a folder that try to see, keep or leave more than they may."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from walks import Walks, gone, parallel, tool

from executor import Grants, Outcome

pytestmark = pytest.mark.usefixtures("unsandboxed")  # the tests look for processes by their ids


@pytest.fixture
def project(walks: Walks) -> Walks:
    """A workspace with an interpreter, whose agent may run commands."""
    place = walks.write(".venv/bin/python", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    place.chmod(0o755)
    grants, agent = Grants(walks.home), walks.home.keyring.agent.did
    grants.grant(agent, ["shell"])
    return walks


def run(walks: Walks, /, *, timeout_ms: int = 0, **args: str) -> Outcome:
    return walks.go(tool("n1", "process/tests", "shell", timeout_ms=timeout_ms, **args), verb="build")


def answer(outcome: Outcome) -> Mapping[str, Any]:
    assert outcome.state == "completed", outcome.failure
    found = outcome.outputs["n1"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    ("select", "code"),
    [
        *[(text, "INVALID_ARGS") for text in ("-x", "--pdb", "-p evil", "@args", "", "/etc/passwd", "$(id)")],
        *[(text, "INVALID_ARGS") for text in ("a;b", "a\nb", "../out.py", ".env/x.py")],
        *[(text, "OUT_OF_SCOPE") for text in ("a/../../out.py", "a/../../out.py::test", "link.py")],
        ("a/.env", "PROTECTED_PATH"),
    ],
)
def test_a_selection_is_no_option_and_leads_nowhere_else(project: Walks, select: str, code: str) -> None:
    mark = project.workspace.parent / "mark"
    project.write("../out.py", f"open({str(mark)!r}, 'w')\n")
    (project.workspace / "link.py").symlink_to("../out.py")
    project.write("test_it.py", "def test_it(): pass\n")
    failure = run(project, select=select).failure
    assert failure is not None
    assert (failure.code, failure.denied) == (code, True)
    assert not mark.exists()


def test_tests_see_named_variables_and_an_empty_home_that_goes_away(
    project: Walks, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "MCL_PASSPHRASE",
        "SSH_AUTH_SOCK",
        "PYTHONPATH",
        "LD_PRELOAD",
    ):
        monkeypatch.setenv(name, "hunter2hunter2")
    project.write(
        "test_it.py",
        "import json, os, pathlib\n"
        "def test_it():\n"
        "    home = [place.name for place in pathlib.Path.home().iterdir()]\n"
        "    told = {'names': sorted(os.environ), 'values': str(dict(os.environ)), 'home': home,"
        " 'where': str(pathlib.Path.home()), 'mode': oct(pathlib.Path.home().stat().st_mode)}\n"
        "    pathlib.Path('told.json').write_text(json.dumps(told))\n",
    )
    assert answer(run(project))["passed"] is True
    told = json.loads((project.workspace / "told.json").read_text())
    allowed = {
        *(
            "CI",
            "GIT_TERMINAL_PROMPT",
            "GOFLAGS",
            "HOME",
            "LANG",
            "LC_ALL",
            "NO_COLOR",
            "PATH",
            "TERM",
            "TMPDIR",
        ),
        *("PYTHONDONTWRITEBYTECODE", "PYTHONNOUSERSITE", "RUSTUP_HOME", "npm_config_update_notifier"),
        *(
            "PYTEST_CURRENT_TEST",
            "PYTEST_VERSION",
            "PWD",
            "OLDPWD",
            "SHLVL",
            "_",
            "LC_CTYPE",
        ),  # sh's, pytest's
    }
    assert set(told["names"]) <= allowed
    assert "hunter2" not in told["values"]
    assert (told["home"], told["mode"][-3:]) == (["tmp"], "700")
    assert not Path(told["where"]).exists()


LEAVES = """import os, pathlib, signal, subprocess, time
def test_leaves_a_process():
    child = subprocess.Popen(["sh", "-c", "trap '' TERM HUP INT; sleep 60 & wait; sleep 60"])
    pathlib.Path("pids").write_text(f"{os.getpid()} {child.pid}")
"""


def test_processes_that_tests_leave_behind_are_ended(project: Walks) -> None:
    project.write("test_it.py", LEAVES)
    assert answer(run(project))["passed"] is True
    assert all(gone(int(one)) for one in (project.workspace / "pids").read_text().split())


# By make, which starts at once: the process ids are written long before the time limit.
STAYS = """.PHONY: test
test:
\t@trap '' TERM HUP INT; sleep 60 & echo $$! $$$$ > pids.new; mv pids.new pids; wait; sleep 60
"""


def test_tests_that_never_end_are_ended_with_all_they_started(project: Walks) -> None:
    project.write("Makefile", STAYS)
    outcome = run(project, timeout_ms=2000)
    assert outcome.failure is not None
    assert outcome.failure.code == "TIMEOUT"
    assert all(gone(int(one)) for one in (project.workspace / "pids").read_text().split())


def test_the_failure_of_a_sibling_ends_running_tests(project: Walks) -> None:
    project.write("one/Makefile", STAYS)
    project.write(
        "two/Makefile",
        "test: waits\n\t@echo waits: No rule to make target \"'test'\"; exit 2\n"
        "waits:\n\t@while [ ! -e ../one/pids ]; do sleep 0.05; done\n.PHONY: test waits\n",
    )
    outcome = project.go(
        parallel(
            "n0",
            tool("n1", "process/tests", "shell", path="one"),
            tool("n2", "process/tests", "shell", path="two"),
        ),
        verb="build",
    )
    assert outcome.nodes == {"n0": "failed", "n1": "cancelled", "n2": "failed"}
    assert all(gone(int(one)) for one in (project.workspace / "one/pids").read_text().split())


def test_a_process_that_left_the_session_does_not_hold_the_run_up(project: Walks) -> None:
    project.write(
        "test_it.py",
        "import pathlib, subprocess\n"
        "def test_leaves():\n"
        "    child = subprocess.Popen(['sleep', '50'], start_new_session=True)\n"
        "    pathlib.Path('pid').write_text(str(child.pid))\n",
    )
    project.write("pytest.ini", "[pytest]\naddopts = -s\n")  # the child inherits the log
    started = time.monotonic()
    try:
        assert answer(run(project))["passed"] is True
        assert time.monotonic() - started < 40  # the child sleeps 50 s
    finally:
        with suppress(ProcessLookupError):
            os.kill(int((project.workspace / "pid").read_text()), signal.SIGKILL)


def test_a_log_moves_no_terminal_keeps_no_secret_and_has_an_end(project: Walks) -> None:
    token = "ghp_" + "a1B2" * 9
    project.write(
        "test_it.py",
        "def test_it():\n"
        f"    print('\\x1b[2J\\x1b]0;owned\\x07 {token}\\u202e\\r' + 'x' * 3000000 + ' {token} \\x1b[31m')\n"
        "    assert 0\n",
    )
    found = answer(run(project))
    told = "".join(str(value) for value in found.values())
    assert not {"\x1b", "\x07", "\u202e", "\r"} & set(told)
    assert token not in told
    assert len(told) < 200_000
    assert found["truncated"] is True


def test_a_program_of_the_workspace_does_not_stand_in_for_make(
    project: Walks, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = project.workspace / "mark"
    trap = project.write("bin/make", f"#!/bin/sh\ntouch {mark}\n")
    trap.chmod(0o755)
    project.write("Makefile", ".PHONY: test\ntest:\n\t@exit 0\n")
    monkeypatch.setenv("PATH", f"{trap.parent}:bin:.:{os.environ['PATH']}")
    run(project, suite="make")
    assert not mark.exists()


MORE = [pytest.param(one, marks=pytest.mark.slow) for one in ("bin", "directory", "not executable")]


@pytest.mark.parametrize("what", ["folder", "dangling", "fifo", *MORE])
def test_an_interpreter_that_is_none_or_lies_elsewhere_is_not_run(walks: Walks, what: str) -> None:
    grants, agent = Grants(walks.home), walks.home.keyring.agent.did
    grants.grant(agent, ["shell"])
    mark, outside = walks.workspace.parent / "mark", walks.workspace.parent / "outside"
    (outside / "bin").mkdir()
    trap = outside / "bin/python"
    trap.write_text(f"#!/bin/sh\ntouch {mark}\n")
    trap.chmod(0o755)
    venv = walks.workspace / ".venv"
    if what == "folder":
        venv.symlink_to(outside)
    else:
        venv.mkdir()
        if what == "bin":
            (venv / "bin").symlink_to(outside / "bin")
        else:
            (venv / "bin").mkdir()
            place = venv / "bin/python"
            if what == "dangling":
                place.symlink_to("nowhere")
            elif what == "directory":
                place.mkdir()
            elif what == "fifo":
                os.mkfifo(place, 0o755)
            else:
                place.write_text(f"#!/bin/sh\ntouch {mark}\n")
    walks.write("test_it.py", "def test_it(): pass\n")
    outcome = run(walks)  # with python3, which may have pytest or not
    assert outcome.failure is None or outcome.failure.code == "COMMAND_NOT_FOUND", outcome.failure
    assert not mark.exists()


def test_project_files_that_are_links_out_of_the_workspace_are_not_read(project: Walks) -> None:
    outside = project.workspace.parent / "outside"
    (outside / "pytest.ini").write_text("[pytest]\n")
    (outside / "tests").mkdir()
    (outside / "tests/test_it.py").write_text("def test_it(): pass\n")
    (project.workspace / "pytest.ini").symlink_to(outside / "pytest.ini")
    (project.workspace / "tests").symlink_to(outside / "tests")
    failure = run(project).failure
    assert failure is not None
    assert failure.code == "NO_TESTS"


@pytest.mark.parametrize(
    ("declared", "verb", "code"),
    [
        ("read", "build", "SERVER_MISMATCH"),
        ("write", "build", "SERVER_MISMATCH"),
        ("network", "deliver", "SERVER_MISMATCH"),
        ("shell", "find", "INTENT_MISMATCH"),
        ("shell", "analyze", "INTENT_MISMATCH"),
        ("shell", "monitor", "INTENT_MISMATCH"),
    ],
)
def test_tests_hide_behind_no_smaller_word(project: Walks, declared: str, verb: str, code: str) -> None:
    project.write("test_it.py", "open('mark', 'w')\ndef test_it(): pass\n")
    failure = project.go(tool("n1", "process/tests", declared), verb=verb).failure
    assert failure is not None
    assert failure.code == code
    assert not (project.workspace / "mark").exists()
