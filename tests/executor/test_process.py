"""Child processes: no shell, nothing inherited, capped, killed as a group."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from walks import gone

from executor import ToolError
from executor.sandbox.environment import own_code
from executor.sandbox.process import Finished, run_command

ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


def run(*argv: str, cwd: Path = Path("/"), limit: int = 1000, timeout: float = 60) -> Finished:
    async def go() -> Finished:
        with anyio.fail_after(timeout):
            return await run_command(argv, cwd=cwd, environment=ENVIRONMENT, max_output=limit)

    return anyio.run(go)


def test_arguments_reach_the_program_as_they_are() -> None:
    assert run("/usr/bin/printf", "%s|", "a b", "$HOME", "`id`", "*").out == b"a b|$HOME|`id`|*|"


def test_status_and_both_outputs_are_given() -> None:
    finished = run("/bin/sh", "-c", "echo out; echo err >&2; exit 7")
    assert (finished.status, finished.out, finished.err) == (7, b"out\n", b"err\n")


def test_nothing_of_the_environment_is_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET_TOKEN", "hunter2hunter2")
    assert b"hunter2" not in run("/usr/bin/env").out


def test_output_beyond_the_limit_is_read_and_dropped() -> None:
    finished = run("/bin/sh", "-c", "head -c 5000000 /dev/zero; echo done >&2", limit=100)
    assert (len(finished.out), finished.truncated, finished.err) == (100, True, b"done\n")


def test_standard_input_is_empty() -> None:
    assert run("/bin/cat").out == b""


def test_what_it_is_to_read_is_its_standard_input() -> None:
    said = b"line\n" * 100_000  # more than a pipe holds

    async def go() -> Finished:
        return await run_command(
            ["/usr/bin/wc", "-c"], cwd=Path("/"), environment={}, max_output=100, alone=True, said=said
        )

    assert int(anyio.run(go).out) == len(said)


def test_a_command_that_takes_longer_than_it_has_is_ended(tmp_path: Path) -> None:
    script = ["/bin/sh", "-c", f"echo $$ > {tmp_path}/pid; exec sleep 600"]

    async def go() -> None:
        await run_command(script, cwd=Path("/"), environment=ENVIRONMENT, max_output=100, seconds=2)

    with pytest.raises(TimeoutError):
        anyio.run(go)
    assert gone(int((tmp_path / "pid").read_text()))


def test_code_of_ours_in_another_process_finds_the_same_modules_and_gets_no_secret(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_SECRET_TOKEN", "hunter2hunter2")
    monkeypatch.setenv("MCL_HOME", "/somewhere")
    argv, environment = own_code("platform")
    assert (argv[1:], environment["MCL_HOME"]) == (["-m", "platform"], "/somewhere")
    assert "MY_SECRET_TOKEN" not in environment
    assert set(filter(None, sys.path)) <= set(environment["PYTHONPATH"].split(":"))


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(ToolError, match="nothing-here") as caught:
        run("/nothing-here")
    assert caught.value.code == "COMMAND_NOT_FOUND"


@pytest.mark.parametrize("ignore", ["", "trap '' TERM; "])
def test_a_timeout_ends_the_command_and_its_children(tmp_path: Path, ignore: str) -> None:
    script = f"{ignore}sleep 600 & echo $! > {tmp_path}/pids; echo $$ >> {tmp_path}/pids; wait; wait"
    pids = tmp_path / "pids"

    async def command() -> None:
        await run_command(["/bin/sh", "-c", script], cwd=tmp_path, environment=ENVIRONMENT, max_output=100)

    async def go() -> None:
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(command)
                while not pids.exists() or len(pids.read_text().split()) < 2:
                    await anyio.sleep(0.01)
                tasks.cancel_scope.deadline = anyio.current_time()

    anyio.run(go)
    for process in pids.read_text().split():
        assert gone(int(process))


def test_a_grandchild_that_stays_behind_does_not_hold_the_caller_up(tmp_path: Path) -> None:
    finished = run("/bin/sh", "-c", f"sleep 600 & echo $! > {tmp_path}/pid; echo done")
    assert finished.out == b"done\n"
    assert gone(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("native", [False, True])
def test_a_cancel_at_any_moment_leaves_no_process(tmp_path: Path, native: bool) -> None:
    pids = tmp_path / "pids"
    script = f"echo $$ >> {pids}; (sleep 60 & echo $! >> {pids}; wait)"

    async def start() -> None:
        command = ["/bin/sh", "-c", script]
        await run_command(command, cwd=tmp_path, environment=ENVIRONMENT, max_output=100, alone=True)

    async def cancelled(after: float) -> None:
        if native:  # as asyncio does on Ctrl-C
            task = asyncio.ensure_future(start())
            await asyncio.sleep(after)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        else:
            with anyio.move_on_after(after):
                await start()

    async def many() -> None:
        began = anyio.current_time()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(start)
            while not pids.exists() or len(pids.read_text().split()) < 2:
                await anyio.sleep(0.001)
            tasks.cancel_scope.cancel()
        took = anyio.current_time() - began
        for number in range(60):
            await cancelled(number * took / 30)  # from before the fork until well after the first output

    anyio.run(many)
    time.sleep(0.3)  # a process that was left behind has written its id by now
    left = pids.read_text().split()
    assert left
    assert [process for process in left if not gone(int(process))] == []


def test_a_command_killed_by_a_signal_has_a_negative_status() -> None:
    assert run("/bin/sh", "-c", "kill -9 $$").status == -signal.SIGKILL
