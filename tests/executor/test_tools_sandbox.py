"""What commands of the workspace see and may do: behind bubblewrap, and where there is none."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from walks import Walks, parallel, tool

from executor import Grants, Outcome, ToolError
from executor.sandbox.bubblewrap import listing, programs_of, require_unchanged


@pytest.fixture
def project(walks: Walks, monkeypatch: pytest.MonkeyPatch) -> Walks:
    """An agent that may run commands, and a PATH with the Python of these tests first."""
    grants, agent = Grants(walks.home), walks.home.keyring.agent.did
    grants.grant(agent, ["shell"])
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    return walks


def run(walks: Walks, which: str = "process/tests", /, *, timeout_ms: int = 0, **args: str) -> Outcome:
    return walks.go(tool("n1", which, "shell", timeout_ms=timeout_ms, **args), verb="build")


def answer(outcome: Outcome) -> Mapping[str, Any]:
    assert outcome.state == "completed", outcome.failure
    found = outcome.outputs["n1"]
    assert isinstance(found, dict)
    return found


def running(mark: str) -> bool:
    """Is there a process with this word in its command line? It gets a while to go, less than it lasts."""
    end = time.monotonic() + 20
    while True:
        lines = []
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                lines.append(place.read_bytes())
            except OSError:
                continue
        if not any(mark.encode() in line.split(b"\0") for line in lines):
            return False
        if time.monotonic() > end:
            return True
        time.sleep(0.01)


LOOKS = """
import json, os, pathlib, socket, sys
def looks(what):
    try:
        return what()
    except OSError as problem:
        return type(problem).__name__
def test_looks():
    here = pathlib.Path.cwd()
    told = {
        "home": looks(lambda: sorted(os.listdir(HOME))),
        "mcl": looks(lambda: sorted(os.listdir(MCL))),
        "beside": looks(lambda: (here.parent / "beside.txt").read_text()),
        "env": looks(lambda: (here / ".env").read_text()),
        "keys": looks(lambda: os.listdir(here / ".ssh")),
        "config": looks(lambda: (here / ".git/config").read_text()),
        "hook": looks(lambda: (here / ".git/hooks/pre-commit").write_text("x")),
        "inside": looks(lambda: (here / "made.txt").write_text("x")),
        "outside": looks(lambda: (here.parent / "made.txt").write_text("x")),
        "network": looks(lambda: socket.create_connection(("127.0.0.1", PORT), 2)),
        "processes": sum(name.isdigit() for name in os.listdir("/proc")) < 20,
        "tmp": {pathlib.Path(place).parts[2] for place in (HOME_OWN, str(here), sys.prefix)
                if place.startswith("/tmp/")} == set(os.listdir("/tmp")),
        "user": os.environ.get("SECRET_OF_MINE", ""),
    }
    (here / "told.json").write_text(json.dumps(told))
"""


def looks(walks: Walks, port: int) -> Mapping[str, Any]:
    named = f"HOME, MCL, PORT = {str(Path.home())!r}, {str(walks.home.path)!r}, {port}\n"
    walks.write("test_it.py", named + 'import os\nHOME_OWN = os.environ["HOME"]\n' + LOOKS)
    walks.write(".env", "TOKEN=hunter2")
    walks.write(".ssh/id_ed25519", "hunter2")
    walks.write("../beside.txt", "hunter2")
    walks.git("init", "-q")
    assert answer(run(walks))["passed"] is True
    told: Mapping[str, Any] = json.loads((walks.workspace / "told.json").read_text())
    return told


def test_tests_in_bubblewrap_see_the_workspace_and_no_home_no_network_and_no_secret(
    project: Walks, sandboxed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_MINE", "hunter2")
    with socket.create_server(("127.0.0.1", 0)) as server:
        told = looks(project, server.getsockname()[1])
    home = told.pop("home")
    assert home == "FileNotFoundError" or not any(name.startswith(".ssh") for name in home)
    assert told == {
        "mcl": "FileNotFoundError",
        "beside": "FileNotFoundError",
        "env": "",
        "keys": [],
        "config": "",
        "hook": "OSError",  # a read-only file system
        "inside": 1,
        "outside": 1,  # into the empty /tmp of its own
        "network": "ConnectionRefusedError",
        "processes": True,
        "tmp": True,
        "user": "",
    }
    assert (project.workspace / "made.txt").exists()
    assert not (project.workspace.parent / "made.txt").exists()
    assert not (project.workspace / ".git/hooks/pre-commit").exists()
    assert (project.workspace / ".env").read_text() == "TOKEN=hunter2"


def test_the_answer_says_what_a_command_was_confined_by(project: Walks, sandboxed: str) -> None:
    project.write("test_it.py", "def test_it(): pass\n")
    assert answer(run(project))["text"].splitlines()[0].endswith(" s, in bubblewrap")


@pytest.mark.parametrize("how", ["missing", "refused"])
def test_where_bubblewrap_does_not_work_that_is_said(
    project: Walks, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    program = project.write(
        "../bwrap", "#!/bin/sh\necho 'bwrap: No permissions to create a namespace' >&2; exit 1\n"
    )
    program.chmod(0o755)
    place = str(program) if how == "refused" else None
    monkeypatch.setattr("executor.sandbox.bubblewrap.find_bubblewrap", lambda: place)
    project.write("test_it.py", "def test_it(): pass\n")
    assert answer(run(project))["text"].splitlines()[0].endswith(" s, without a sandbox")


STAYS = ".PHONY: test\ntest:\n\t@touch started; setsid sleep {0} & sleep {0}\n"


def test_a_timeout_in_bubblewrap_ends_also_what_left_the_session(project: Walks, sandboxed: str) -> None:
    project.write("Makefile", STAYS.format("61.51"))
    failure = run(project, timeout_ms=1500).failure
    assert failure is not None
    assert failure.code == "TIMEOUT"
    assert (project.workspace / "started").exists()
    assert not running("61.51")


def test_the_end_of_a_command_in_bubblewrap_ends_what_it_left_behind(project: Walks, sandboxed: str) -> None:
    project.write("Makefile", ".PHONY: test\ntest:\n\t@setsid sleep 61.52 > /dev/null 2>&1 & exit 0\n")
    assert answer(run(project, suite="make"))["passed"] is True
    assert not running("61.52")


def test_the_failure_of_a_sibling_ends_a_command_in_bubblewrap(project: Walks, sandboxed: str) -> None:
    project.write("one/Makefile", STAYS.format("61.53"))
    waits = "while [ ! -e ../one/started ]; do sleep 0.05; done"
    fails = "echo No rule to make target \\'test\\'; exit 2"
    project.write("two/Makefile", f".PHONY: test\ntest:\n\t@{waits}; {fails}\n")
    nodes = [tool(f"n{at}", "process/tests", "shell", path=name) for at, name in enumerate(("one", "two"), 1)]
    outcome = project.go(parallel("n0", *nodes), verb="build")
    assert outcome.nodes == {"n0": "failed", "n1": "cancelled", "n2": "failed"}
    assert not running("61.53")


LINT = ".PHONY: lint\nlint:\n\t@{}\n"


def test_a_linter_in_bubblewrap_can_write_nothing_in_the_workspace(project: Walks, sandboxed: str) -> None:
    project.write("Makefile", LINT.format("echo bad > made.txt"))
    found = answer(run(project, "process/lint"))
    assert (found["linter"], found["passed"], found["sandbox"]) == ("make", False, "bubblewrap")
    assert "Read-only file system" in found["text"]
    assert not (project.workspace / "made.txt").exists()


@pytest.mark.parametrize(
    "does",
    [
        "echo x > made.txt",
        "rm a.txt",
        "echo more >> a.txt",
        "chmod 600 a.txt",
        "mv a.txt b.txt",
        "mkdir d",
        "cp a.txt c && touch -r a.txt c && mv c a.txt",
    ],
)
def test_a_linter_that_writes_fails_where_it_is_only_watched(
    project: Walks, unsandboxed: None, does: str
) -> None:
    project.write("a.txt", "a\n").chmod(0o644)
    project.write("Makefile", LINT.format(does))
    failure = run(project, "process/lint").failure
    assert failure is not None
    assert failure.code == "WROTE_UNDECLARED"


@pytest.mark.parametrize("how", ["sandboxed", "unsandboxed"])
def test_a_linter_that_only_looks_gives_its_answer(
    project: Walks, request: pytest.FixtureRequest, how: str
) -> None:
    request.getfixturevalue(how)
    project.write("Makefile", LINT.format("touch $$TMPDIR/x; cat a.txt; exit 1"))
    project.write("a.txt", "line 1 is odd\n")
    found = answer(project.go(tool("n1", "process/lint", "shell"), verb="analyze"))
    assert (found["passed"], found["status"]) == (False, 2)
    assert found["sandbox"] == {"sandboxed": "bubblewrap", "unsandboxed": "none"}[how]
    assert "line 1 is odd" in found["text"]


def test_ruff_finds_problems_and_mends_none(project: Walks, sandboxed: str) -> None:
    project.write("pyproject.toml", "[tool.ruff]\nfix = true\n")
    project.write("a.py", "import os\nimport sys\n")
    found = answer(run(project, "process/lint"))
    assert (found["linter"], found["passed"], found["problems"]) == ("ruff", False, 2)
    assert "F401" in found["text"]
    assert (project.workspace / "a.py").read_text() == "import os\nimport sys\n"
    assert sorted(place.name for place in project.workspace.iterdir()) == ["a.py", "pyproject.toml"]
    project.write("a.py", "")
    assert answer(run(project, "process/lint"))["passed"] is True


@pytest.mark.parametrize(
    ("files", "args", "code"),
    [
        ({}, {}, "NO_LINTER"),
        ({"ruff.toml": "not = toml = at all"}, {}, "LINT_NOT_RUN"),
        ({"a.txt": ""}, {"linter": "make"}, "NO_LINTER"),
        ({"a.txt": ""}, {"path": "missing"}, "NOT_FOUND"),
    ],
)
def test_a_linter_that_could_not_run_is_an_error(
    project: Walks, files: Mapping[str, str], args: Mapping[str, str], code: str
) -> None:
    for name, text in files.items():
        project.write(name, text)
    failure = run(project, "process/lint", **args).failure
    assert failure is not None
    assert failure.code == code, failure


def test_what_is_watched_names_the_first_changes(tmp_path: Path) -> None:
    for number in range(9):
        (tmp_path / f"{number}.txt").write_text("")
    (tmp_path / "out").mkdir()
    before = listing(tmp_path, ("out",))
    (tmp_path / "out/report").write_text("its own")
    require_unchanged(before, listing(tmp_path, ("out",)), "lint")
    for number in range(7):
        (tmp_path / f"{number}.txt").write_text("changed")
    with pytest.raises(ToolError) as caught:
        require_unchanged(before, listing(tmp_path, ("out",)), "lint")
    assert caught.value.code == "WROTE_UNDECLARED"
    assert "'0.txt', '1.txt', '2.txt', '3.txt', '4.txt' and 2 more" in caught.value.message


def test_a_persons_own_folders_do_not_come_along_with_their_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for place in (".local/bin", ".local/lib", "bin", "lib", "tools/one/bin", "tools/one/lib", ".venvs/v/bin"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / ".venvs/v/pyvenv.cfg").write_text("")
    found = programs_of(
        [tmp_path / one for one in (".local/bin", "bin", "tools/one/bin", ".venvs/v/bin", "missing")],
        tmp_path / "work",
    )
    assert found == tuple(tmp_path / one for one in (".local/bin", "tools/one", ".venvs/v"))
    assert programs_of([Path("/usr/bin"), Path("/bin/sh")], tmp_path) == ()


def test_a_program_that_bubblewrap_does_not_show_is_named(
    project: Walks, sandboxed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = project.workspace.parent / "person"
    monkeypatch.setenv("HOME", str(person))
    project.write("../person/python", f'#!/bin/sh\nexec "{sys.executable}" "$@"\n').chmod(0o755)
    (project.workspace / ".venv/bin").mkdir(parents=True)
    (project.workspace / ".venv/bin/python").symlink_to(person / "python")
    project.write("test_it.py", "def test_it(): pass\n")
    failure = run(project).failure
    assert failure is not None
    assert failure.code == "COMMAND_NOT_FOUND"
    assert "in the sandbox" in failure.message
