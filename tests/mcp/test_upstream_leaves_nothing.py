"""No process of a server outlives its owner, whatever it started and however the owner ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest
from desks import PEERS, first_line, running, talk
from servers_for_tests import PATIENCE, entered

from executor import Home
from mcl.catalog.servers import Servers
from mcl.plugins.mcp.upstream.process import running as server_process

OWNER = """
import sys
from pathlib import Path
import anyio
from mcl.core.home import open_home
from mcl.catalog.servers import Servers
from mcl.plugins.mcp.upstream.upstreams import Upstreams

async def main():
    async with Upstreams(Servers(open_home(Path(sys.argv[1])))) as upstreams:
        print((await upstreams.start())[0].state, flush=True)
        await anyio.sleep(120)

anyio.run(main)
"""
linux = pytest.mark.skipif(
    sys.platform != "linux", reason="Linux: what a server leaves behind is found in /proc"
)


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def gone(processes: list[int]) -> bool:
    """Whether all of them end, in time."""
    until = time.monotonic() + PATIENCE
    while any(map(alive, processes)) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(map(alive, processes))


def child(place: Path) -> list[str]:
    return ["hostile_start", "--way", "child", "--file", str(place)]


@linux
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_an_owner_that_is_killed_leaves_no_process_behind(
    home: Home, tmp_path: Path, environment: dict[str, str], end: signal.Signals
) -> None:
    place = tmp_path / "ids"
    script, *options = child(place)
    command = [sys.executable, "-S", str(PEERS / f"{script}.py"), *options]
    Servers(home).add("bad", command=command, folder=tmp_path)
    with running([sys.executable, "-c", OWNER, str(home.path)], environment) as owner:
        assert first_line(owner, "stdout") == "up"
        processes = [int(one) for one in place.read_text().split()]
        assert len(processes) == 2
        assert all(map(alive, processes))
        owner.send_signal(end)
        owner.wait(PATIENCE)
        assert gone(processes)


@linux
def test_what_a_server_left_in_another_session_ends_with_its_connection(home: Home, tmp_path: Path) -> None:
    place = tmp_path / "ids"

    async def conversation() -> None:
        async with entered(home, {"bad": child(place)}) as upstreams:
            assert (await upstreams.start())[0].state == "up"

    talk(conversation)
    assert gone([int(one) for one in place.read_text().split()])


@linux
def test_a_server_that_ends_takes_what_it_started_with_it(tmp_path: Path) -> None:
    place = tmp_path / "id"
    stubborn = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(120)"
    script = (
        "import subprocess, sys; from pathlib import Path;"
        f"one = subprocess.Popen([sys.executable, '-c', {stubborn!r}], start_new_session=True);"
        f"Path({str(place)!r}).write_text(str(one.pid)); sys.exit(3)"
    )
    launcher = Path(__file__).parents[2] / "executor" / "sandbox" / "launcher.py"
    life, ours = os.pipe()
    try:
        ended = subprocess.run(
            [sys.executable, "-I", "-S", str(launcher), str(life), "0", sys.executable, "-S", "-c", script],
            pass_fds=[life],
            timeout=PATIENCE,
        )
    finally:
        os.close(life)
        os.close(ours)
    assert ended.returncode == 3
    assert gone([int(place.read_text())])


@linux
def test_a_server_that_stopped_its_launcher_leaves_nothing_either(tmp_path: Path) -> None:
    place = tmp_path / "id"
    script = "kill -STOP $PPID; setsid sleep 600 & echo $! > id.new; mv id.new id; wait"

    async def connection() -> None:
        command = ("/bin/sh", "-c", script)
        async with server_process(command, str(tmp_path), {"PATH": "/usr/bin:/bin"}):
            while not place.exists():
                await anyio.sleep(0.01)

    anyio.run(connection)
    assert gone([int(place.read_text())])


@linux
def test_a_program_that_cannot_be_started_is_told_on_standard_error(tmp_path: Path) -> None:
    launcher = Path(__file__).parents[2] / "executor" / "sandbox" / "launcher.py"
    life, ours = os.pipe()
    no_program = tmp_path / "program"
    no_program.write_text("no program")
    try:
        ended = subprocess.run(
            [sys.executable, "-I", "-S", str(launcher), str(life), "0", str(no_program)],
            pass_fds=[life],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    finally:
        os.close(life)
        os.close(ours)
    assert (ended.returncode, "could not be started" in ended.stderr) == (127, True)
