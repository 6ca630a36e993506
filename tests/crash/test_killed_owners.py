"""What mcl started ends with mcl, also where mcl is killed (kill -9) and can end nothing itself."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from walks import gone

from executor import ToolError
from executor.sandbox.child import GroupLeash, TreeLeash, launched, unlaunched
from executor.sandbox.process import run_command
from tests.conftest import make_home

PATIENCE = 60.0
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux: the kernel has own means")
HELD = """
from pathlib import Path
from executor.sandbox.child import GroupLeash

holds = GroupLeash.holds
def told(leash, group):
    holds(leash, group)
    Path("held").touch()
GroupLeash.holds = told
"""
OWNER = (
    HELD
    + """
import sys
import anyio
from executor.sandbox.process import run_command

folder, alone, script = Path(sys.argv[1]), sys.argv[2] == "alone", sys.argv[3]
argv = ["/bin/sh", "-c", script]
environment = {"PATH": "/usr/bin:/bin"}
anyio.run(lambda: run_command(argv, cwd=folder, environment=environment, max_output=100, alone=alone))
"""
)
_DEAF = """sh -c 'trap "" HUP TERM INT; echo $$ >> pids; exec sleep 600'"""
STAYS = f"{_DEAF} & {_DEAF} & wait"
# Out of the session; out of it and without a parent; in the group.
LEAVES = f"setsid {_DEAF} & (setsid {_DEAF} &); nohup {_DEAF} > /dev/null 2>&1 & wait"
# The same, and ends once all of them are there.
ENDS = f"{LEAVES.removesuffix('wait')} while [ $(wc -l < pids) -lt 3 ]; do sleep 0.02; done; echo done"


def wait_for(true: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < until
        time.sleep(0.01)


def ids(folder: Path) -> list[int]:
    place = folder / "pids"
    return [int(one) for one in place.read_text().split()] if place.exists() else []


@contextmanager
def running(
    command: list[str], environment: dict[str, str], folder: Path
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("alone", "script", "count"), [("alone", STAYS, 2), ("tree", LEAVES, 3)], ids=["alone", "tree"]
)
def test_a_killed_owner_leaves_nothing_of_what_it_ran(
    tmp_path: Path, alone: str, script: str, count: int
) -> None:
    with running(
        [sys.executable, "-c", OWNER, str(tmp_path), alone, script], dict(os.environ), tmp_path
    ) as owner:
        wait_for(lambda: len(ids(tmp_path)) == count and (alone == "tree" or (tmp_path / "held").exists()))
        owner.kill()
        owner.wait(PATIENCE)
        left = [one for one in ids(tmp_path) if not gone(one)]
    assert left == []


def test_a_machine_without_proc_is_left_with_nothing_either(tmp_path: Path) -> None:
    without = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    try:
        subprocess.run([*without, "mount -t tmpfs none /proc"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounts: no other view of the file system can be made here")
    own = [sys.executable, "-c", OWNER, str(tmp_path), "tree", STAYS]
    hidden = [*without, 'mount -t tmpfs none /proc && exec "$@"', "sh", *own]
    with running(hidden, dict(os.environ), tmp_path) as owner:
        wait_for(lambda: len(ids(tmp_path)) == 2)
        owner.kill()
        owner.wait(PATIENCE)
        left = [one for one in ids(tmp_path) if not gone(one)]
    assert left == []


def test_an_editor_is_told_to_hang_up_where_mcl_is_killed(tmp_path: Path) -> None:
    script = "trap 'echo kept > kept; exit' HUP; echo $$ > pids; while :; do sleep 0.02; done"
    program = f"""{HELD}
import anyio
from executor.tools.process.terminal import run_foreground
argv = ["/bin/sh", "-c", {script!r}]
anyio.run(lambda: run_foreground(argv, cwd={str(tmp_path)!r}, environment={ENVIRONMENT!r}))
"""
    with running([sys.executable, "-c", program], dict(os.environ), tmp_path) as owner:
        wait_for(lambda: len(ids(tmp_path)) == 1 and (tmp_path / "held").exists())
        owner.kill()
        owner.wait(PATIENCE)
        assert gone(ids(tmp_path)[0])
    assert (tmp_path / "kept").read_text() == "kept\n"


@pytest.mark.slow
def test_tests_end_with_an_mcl_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("test:\n\t@sh ./script\n")
    (tmp_path / "script").write_text(LEAVES)
    home = make_home(tmp_path.parent / f"{tmp_path.name}-home")
    environment = {**os.environ, "MCL_HOME": str(home)}
    mcl = [sys.executable, "-m", "mcl"]
    granted = [*mcl, "grant", "add", "shell", "write", "read"]
    subprocess.run(granted, env=environment, cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    call = [*mcl, "tool", "call", "process/tests", "suite=make", "--yes", "--yes-gates"]
    with running(call, environment, tmp_path) as owner:
        wait_for(lambda: len(ids(tmp_path)) == 3)
        owner.kill()
        owner.wait(PATIENCE)
        left = [one for one in ids(tmp_path) if not gone(one)]
    assert left == []


def test_what_left_its_session_ends_with_the_command(tmp_path: Path) -> None:
    (tmp_path / "pids").touch()
    argv = ["/bin/sh", "-c", ENDS]
    finished = anyio.run(lambda: run_command(argv, cwd=tmp_path, environment=ENVIRONMENT, max_output=100))
    assert (finished.status, finished.out) == (0, b"done\n")
    assert len(ids(tmp_path)) == 3
    assert [one for one in ids(tmp_path) if not gone(one, within=0)] == []


def test_a_launcher_that_was_stopped_ends_what_it_runs_all_the_same(tmp_path: Path) -> None:
    async def cancelled() -> None:
        async with anyio.create_task_group() as tasks:
            argv = ["/bin/sh", "-c", f"kill -STOP $PPID; {STAYS}"]
            tasks.start_soon(lambda: run_command(argv, cwd=tmp_path, environment=ENVIRONMENT, max_output=100))
            while len(ids(tmp_path)) < 2:
                await anyio.sleep(0.01)
            tasks.cancel_scope.cancel()

    anyio.run(cancelled)
    assert [one for one in ids(tmp_path) if not gone(one, within=1)] == []


@pytest.mark.parametrize("alone", [True, False])
def test_commands_leave_no_descriptor_and_no_zombie(tmp_path: Path, alone: bool) -> None:
    async def many() -> set[Path]:
        async def one(script: str, after: float = PATIENCE) -> None:
            with anyio.move_on_after(after):
                argv = ["/bin/sh", "-c", script]
                await run_command(argv, cwd=tmp_path, environment=ENVIRONMENT, max_output=9, alone=alone)

        async def missing() -> None:
            argv = [str(tmp_path / "missing")]
            with pytest.raises(ToolError) as caught:
                await run_command(argv, cwd=tmp_path, environment=ENVIRONMENT, max_output=9, alone=alone)
            assert caught.value.code == "COMMAND_NOT_FOUND"
            assert "No such file" in caught.value.message

        await one("exit 3")
        before = set(Path("/proc/self/fd").iterdir())
        for number in range(4):
            await one("exit 3")
            await one("sleep 600", 0.02 * number)
            await missing()
        return set(Path("/proc/self/fd").iterdir()) ^ before

    assert anyio.run(many) == set()
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    assert [
        one for one in children if Path(f"/proc/{one}/stat").read_text().rpartition(")")[2][1] == "Z"
    ] == []


def test_what_a_launcher_is_told_to_run_is_known_by_its_argument_list() -> None:
    launcher = launched(["/bin/echo", "-c", "x"], 7, {})
    assert unlaunched(launcher) == ("/bin/echo", "-c", "x")
    others = (["/bin/echo", *launcher], launcher[:6], [launcher[0], "-c", *launcher[2:]], ["/bin/echo"])
    assert [unlaunched(argv) for argv in others] == [tuple(argv) for argv in others]


def test_a_leash_may_be_let_go_twice() -> None:
    leashes = (GroupLeash(["/bin/true"]), TreeLeash(["/bin/true"], ENVIRONMENT))
    for leash in leashes:
        with leash:
            leash.release()
        assert leash.theirs == -1
