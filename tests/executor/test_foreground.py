"""A program in the foreground of a terminal: it gets what the person types, and gives the terminal back."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from walks import gone

RUN = """
import sys
from functools import partial
import anyio
from executor.tools.process.terminal import run_foreground

async def main():
    with anyio.move_on_after(float(sys.argv[1])):
        status = await run_foreground(sys.argv[2:], cwd="/", environment={"PATH": "/usr/bin:/bin"})
        print("ended", status, flush=True)
        return
    print("given up", flush=True)

anyio.run(main)
"""
# What a shell with job control does: the job in the foreground, until it ends or is stopped; then `fg`.
SHELL = """
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpgrp())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.executable, [sys.executable, "-c", *sys.argv[1:]])
while True:
    _, how = os.waitpid(job, os.WUNTRACED)
    if not os.WIFSTOPPED(how):
        break
    os.tcsetpgrp(0, os.getpgrp())
    print("stopped", flush=True)
    sys.stdin.readline()
    os.tcsetpgrp(0, job)
    os.killpg(job, signal.SIGCONT)
os.tcsetpgrp(0, os.getpgrp())
print("job ended", os.waitstatus_to_exitcode(how), flush=True)
"""


class Terminal:
    """A terminal, a program on it, and somebody who types."""

    def __init__(self, *argv: str) -> None:
        self.said = ""
        self.pid, self._end = pty.fork()
        if self.pid == 0:
            os.execv(argv[0], argv)

    def type(self, text: str) -> None:
        os.write(self._end, text.encode())

    def wait_for(self, text: str, within: float = 60.0) -> None:
        end = time.monotonic() + within
        while text not in self.said:
            assert time.monotonic() < end, self.said
            if select.select([self._end], [], [], 0.1)[0]:
                try:
                    self.said += os.read(self._end, 4096).decode()
                except OSError:
                    assert text in self.said, self.said
                    return

    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self._end)[3] & termios.ECHO)

    def close(self) -> None:
        os.close(self._end)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


@pytest.fixture
def opened() -> Iterator[list[Terminal]]:
    found: list[Terminal] = []
    yield found
    for one in found:
        one.close()


def start(opened: list[Terminal], script: str, *, seconds: float = 60, shell: bool = False) -> Terminal:
    job = (RUN, str(seconds), "/bin/sh", "-c", script)
    opened.append(Terminal(sys.executable, "-c", *((SHELL, *job) if shell else job)))
    return opened[-1]


def test_it_reads_what_is_typed_and_its_status_comes_back(opened: list[Terminal]) -> None:
    terminal = start(opened, 'echo ready; read line; echo "got $line"; exit 3')
    terminal.wait_for("ready")
    terminal.type("hello\n")
    terminal.wait_for("got hello")
    terminal.wait_for("ended 3")


def test_ctrl_c_is_for_the_program_alone_and_the_settings_of_the_terminal_come_back(
    opened: list[Terminal],
) -> None:
    script = "stty -echo; trap 'echo interrupted; kill -9 $$' INT; echo ready; while :; do sleep 0.05; done"
    terminal = start(opened, script)
    terminal.wait_for("ready")
    assert not terminal.echoes()
    terminal.type("\x03")
    terminal.wait_for("interrupted")
    terminal.wait_for("ended -9")
    assert terminal.echoes()


@pytest.mark.slow
def test_when_it_takes_too_long_its_whole_group_is_killed(opened: list[Terminal], tmp_path: Path) -> None:
    below = tmp_path / "below"
    script = f"trap '' TERM HUP; sleep 100 & echo $! > {below}; stty -echo; echo ready; wait; sleep 100"
    terminal = start(opened, script, seconds=1)
    terminal.wait_for("given up")
    assert terminal.echoes()
    assert gone(int(below.read_text()))


def test_ctrl_z_suspends_both_and_both_go_on(opened: list[Terminal]) -> None:
    script = 'stty echo; echo ready; read line; echo "got $line"'  # `stty` waits until it has the terminal
    terminal = start(opened, script, shell=True)
    terminal.wait_for("ready")
    terminal.type("\x1a")
    terminal.wait_for("stopped")
    terminal.type("fg\n")
    terminal.type("hello\n")
    terminal.wait_for("got hello")
    terminal.wait_for("ended 0")
    terminal.wait_for("job ended 0")


@pytest.mark.slow
def test_ctrl_z_without_a_shell_to_come_back_to_changes_nothing(opened: list[Terminal]) -> None:
    terminal = start(opened, 'echo ready; read line; echo "got $line"')
    terminal.wait_for("ready")
    terminal.type("\x1a")
    terminal.type("hello\n")
    terminal.wait_for("got hello")
    terminal.wait_for("ended 0")


@pytest.mark.slow
def test_a_program_that_speaks_through_pipes_does_not_take_the_terminal_of_who_started_it(
    opened: list[Terminal], tmp_path: Path
) -> None:
    script = f"{sys.executable} -c '{RUN}' 60 /bin/sh -c 'read line; echo $? > {tmp_path}/read; : > /dev/tty'"
    opened.append(Terminal("/bin/sh", "-c", f"(({script}) < /dev/null 2>&1) | cat; echo over; read line"))
    opened[-1].wait_for("over")
    assert "ended" in opened[-1].said
    assert "ended 0" not in opened[-1].said  # there is no terminal to be had
    assert (tmp_path / "read").read_text() == "1\n"
