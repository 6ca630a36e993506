"""Tests of a folder that try to get out of bubblewrap: what they reach and leave behind."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from walks import Walks, parallel, tool

from executor import Grants

# What a hostile test tries; each gives what it got, or the name of the error that stopped it.
ATTACKS = """
import ctypes, json, os, pathlib, signal, socket, subprocess
here = pathlib.Path.cwd()
def tried(what):
    try:
        return what()
    except Exception as problem:
        return type(problem).__name__
def link(target):
    place = here / "link"
    place.unlink(missing_ok=True)
    place.symlink_to(target)
    return place.read_text()
def hard(name):
    os.link(here / name, here / "hard")
    return (here / "hard").read_text()
def moved():
    (here / "sub").rename(here / "sub2")
    return (here / "sub2/.env").read_text()
def mounted():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.umount2(str(here / ".env").encode(), 2) != 0:
        raise OSError(ctypes.get_errno(), "no")
    return (here / ".env").read_text()
def parents():
    found = []
    for place in pathlib.Path("/proc").glob("[0-9]*/environ"):
        found.append(place.read_bytes().decode(errors="replace"))
    return "hunter2" in "".join(found)
def killed():
    os.kill(OUTSIDE, signal.SIGKILL)
    return "killed"
def abstract():
    with socket.socket(socket.AF_UNIX) as made:
        made.connect("\\0" + NAME)
    return "connected"
def device():
    os.mknod(here / "disk", 0o600 | 0o060000, os.makedev(8, 0))
    return os.open(here / "disk", os.O_RDONLY)
def remounted():
    mount = ["mount", "-o", "remount,rw", str(here / ".git")]
    return subprocess.run(mount, capture_output=True).returncode != 0
def writable(place):
    os.close(os.open(place, os.O_WRONLY))
    return "open"
def test_attacks():
    told = {
        "root": tried(lambda: pathlib.Path("/proc/1/root" + SECRET).read_text()),
        "self": tried(lambda: pathlib.Path("/proc/self/root" + SECRET).read_text()),
        "cwd": tried(lambda: pathlib.Path("/proc/1/cwd/..", SECRET[1:]).read_text()),
        "link": tried(lambda: link(SECRET)),
        "hard": tried(lambda: hard(".env")),
        "moved": tried(moved),
        "unmounted": tried(mounted),
        "parents": tried(parents),
        "killed": tried(killed),
        "abstract": tried(abstract),
        "device": tried(device),
        "shadow": tried(lambda: pathlib.Path("/etc/shadow").read_text()),
        "docker": tried(lambda: os.stat("/var/run/docker.sock")),
        "git": tried(lambda: (here / ".git/config").write_text("[core]\\n\\tfsmonitor = evil")),
        "hook": tried(lambda: os.symlink("/bin/sh", here / ".git/hooks/post-checkout")),
        "renamed": tried(lambda: (here / ".git").rename(here / "old")),
        "remounted": tried(remounted),
        # Opened and closed: where it can be, the machine stays as it is.
        "kernel": tried(lambda: open("/proc/sys/kernel/core_pattern", "r+").close()),
        "sysrq": tried(lambda: open("/proc/sysrq-trigger", "w").close()),
        "writable": [str(one) for one in pathlib.Path("/proc").glob("[a-z]*")
                     if tried(lambda: writable(one)) == "open"],
        "usr": tried(lambda: pathlib.Path("/usr/evil").write_text("x")),
    }
    (here / "told.json").write_text(json.dumps(told))
"""


@pytest.fixture
def project(walks: Walks, sandboxed: str, monkeypatch: pytest.MonkeyPatch) -> Walks:
    grants, agent = Grants(walks.home), walks.home.keyring.agent.did
    grants.grant(agent, ["shell"])
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    return walks


def test_nothing_outside_is_reached_from_inside(
    project: Walks, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "hunter2hunter2")
    secret = project.workspace.parent / "outside/secret.txt"
    project.git("init", "-q")
    config = (project.workspace / ".git/config").read_text()
    project.write(".env", "TOKEN=hunter2")
    project.write("sub/.env", "TOKEN=hunter2")
    name = f"mcl-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"\0{name}")
        server.listen()
        given = f"SECRET, OUTSIDE, NAME = {str(secret)!r}, {os.getpid()}, {name!r}\n"
        project.write("test_it.py", given + ATTACKS)
        outcome = project.go(tool("n1", "process/tests", "shell"), verb="build")
    assert outcome.failure is None, outcome.failure
    told: dict[str, Any] = json.loads((project.workspace / "told.json").read_text())
    assert told.pop("git") in ("OSError", "PermissionError")
    assert told.pop("hook") in ("OSError", "PermissionError")
    assert told.pop("renamed") in ("OSError", "PermissionError")
    assert told.pop("usr") in ("OSError", "PermissionError")
    assert told.pop("kernel") in ("OSError", "PermissionError")
    assert told.pop("sysrq") in ("OSError", "PermissionError", "FileNotFoundError")
    assert told.pop("device") in ("OSError", "PermissionError")
    assert told.pop("unmounted") in ("OSError", "PermissionError")
    assert told.pop("hard") in ("OSError", "")  # of another mount, or empty
    assert told.pop("moved") in ("OSError", "")
    assert told == {
        "root": "FileNotFoundError",
        "self": "FileNotFoundError",
        "cwd": "FileNotFoundError",
        "link": "FileNotFoundError",
        "parents": False,
        "killed": "ProcessLookupError",
        "abstract": "ConnectionRefusedError",
        "shadow": "FileNotFoundError",
        "docker": "FileNotFoundError",
        "remounted": True,
        "writable": [],
    }
    assert (project.workspace / ".git/config").read_text() == config
    assert (project.workspace / ".env").read_text() == "TOKEN=hunter2"
    assert "hunter2" not in json.dumps(outcome.outputs)


LATER = """
import pathlib
def test_looks():
    found = [place.read_text() for place in pathlib.Path.cwd().rglob(".env")]
    assert found == ["", ""], "hunter2" in str(found)
"""


def test_what_one_run_moves_out_of_sight_the_next_one_does_not_see_either(project: Walks) -> None:
    project.write(".env", "TOKEN=hunter2")
    project.write("b/.env", "TOKEN=hunter2")
    mover = "import os\ndef test_it():\n    os.mkdir('node_modules')\n    os.rename('b', 'node_modules/b')\n"
    mover += "    for n in range(3000): open(f'node_modules/b/{n}', 'w').close()\n"
    project.write("test_it.py", mover)
    project.go(tool("n1", "process/tests", "shell"), verb="build")
    project.write("test_it.py", LATER)
    outcome = project.go(tool("n1", "process/tests", "shell"), verb="build")
    assert outcome.failure is None, outcome.failure
    assert outcome.outputs["n1"]["passed"] is True, outcome.outputs  # type: ignore[index]  # an object


def test_no_file_of_the_workspace_talks_a_command_out_of_its_sandbox(project: Walks) -> None:
    mark = project.workspace.parent / "mark"
    project.write("Makefile", f".PHONY: test\ntest:\n\t@touch {mark}\n")
    here = os.open(project.workspace, os.O_RDONLY)
    for _ in range(20):  # a path that is longer than a program can be given
        os.mkdir("d" * 250, dir_fd=here)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open(".env", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    assert project.refusal(tool("n1", "process/tests", "shell")) == "SANDBOX_FAILED"
    assert not mark.exists()


def test_the_first_failure_of_twenty_commands_ends_the_others_with_all_they_started(project: Walks) -> None:
    mark = "73.21"
    for number in range(19):
        stays = f".PHONY: test\ntest:\n\t@touch started; setsid sleep {mark} & sleep {mark}\n"
        project.write(f"p{number}/Makefile", stays)
    waits = "while [ ! -e ../p0/started ]; do sleep 0.05; done"
    fails = "echo No rule to make target \\'test\\'; exit 2"
    project.write("p19/Makefile", f".PHONY: test\ntest:\n\t@{waits}; {fails}\n")
    nodes = [tool(f"n{number}", "process/tests", "shell", path=f"p{number}") for number in (19, *range(19))]
    outcome = project.go(parallel("n", *nodes), verb="build")
    assert outcome.nodes.pop("n19") == "failed"
    assert outcome.nodes.pop("n") == "failed"
    assert set(outcome.nodes.values()) == {"cancelled"}
    end = time.monotonic() + 20
    while running(mark) and time.monotonic() < end:
        time.sleep(0.01)
    assert not running(mark)


def running(mark: str) -> bool:
    """Is there a process with this word in its command line?"""
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in place.read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False
