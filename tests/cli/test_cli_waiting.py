"""`mcl run` where another process is writing to the same file: it waits, and no intent ends by that."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from walks import Walks, tool

from executor import Home
from tests.cli.conftest import Shell

HOLDS = """
import sys
from pathlib import Path
from executor.gate.locks import Locks, SharedLocks
with Locks(SharedLocks(Path(sys.argv[1]), Path(sys.argv[2]), "01OTHER")).hold([(("a.txt",), "write")]):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def intent(mcl: Shell) -> str:
    """An accepted intent that writes to a.txt."""
    mcl("init")
    with Home.open(mcl.home) as home:
        return Walks(home, mcl.folder).accept(tool("n1", "fs/write", "write", path="a.txt", content="x"))


@pytest.fixture
def holder(mcl: Shell, intent: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that is writing to a.txt."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(mcl.home / "locks"), str(mcl.folder.resolve())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def told(out: str) -> str:
    """What was printed, whatever the width it was printed at."""
    return " ".join(out.replace("↪", "").split())


def state(mcl: Shell, id: str) -> Any:
    return json.loads(mcl("show", id, "--json").out)["state"]


def test_a_plan_is_shown_with_what_another_run_is_writing_to(
    mcl: Shell, intent: str, holder: subprocess.Popen[str]
) -> None:
    shown = mcl("plan", intent)
    assert (shown.code, "01OTHER is writing to 'a.txt' now" in told(shown.out)) == (0, True)
    (node,) = json.loads(mcl("plan", "check", intent, "--json").out)["nodes"]
    assert [one["code"] for one in node["warnings"]] == ["SCOPE_CONTENTION"]
    assert node["decision"] == "allow"


def test_a_run_that_waited_long_enough_rests_and_says_how_it_goes_on(
    mcl: Shell, intent: str, holder: subprocess.Popen[str]
) -> None:
    (mcl.home / "policy.toml").write_text("lock_seconds = 2\n")
    done = mcl.other("run", intent, "--deny-gates")
    assert done.code == 4
    printed = told(done.out + done.err)
    assert "waits: the run of the intent 01OTHER is writing to 'a.txt' now" in printed
    assert "paused" in printed
    assert f"mcl run {intent} --resume" in printed
    assert state(mcl, intent) == "accepted"
    holder.kill()
    holder.wait()
    assert mcl("run", intent, "--deny-gates", "--resume").code == 0
    assert (mcl.folder / "a.txt").read_text() == "x"


def test_ctrl_c_ends_the_wait_and_the_run_goes_on(
    mcl: Shell, intent: str, holder: subprocess.Popen[str]
) -> None:
    process = mcl.start("run", intent, "--deny-gates")
    assert process.stdout is not None
    assert process.stderr is not None
    while b"waits:" not in (line := process.stdout.readline()):
        assert line, process.stderr.read()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert b"--resume" in process.stderr.read()
    assert state(mcl, intent) in ("accepted", "executing")
    holder.kill()
    holder.wait()
    assert mcl("run", intent, "--deny-gates", "--resume").code == 0


@pytest.mark.parametrize("said", ["-1", "3601", "1.5", '"long"', "true"])
def test_a_policy_that_says_no_such_number_stops_everything(mcl: Shell, intent: str, said: str) -> None:
    (mcl.home / "policy.toml").write_text(f"lock_seconds = {said}\n")
    done = mcl("run", intent, "--deny-gates")
    assert (done.code == 0, "BAD_POLICY" in done.err) == (False, True)
    assert "lock_seconds is a whole number from 0 to 3600" in done.err
