"""On a terminal: colours, a live tree, questions in between; and deciding gates from another terminal."""

from __future__ import annotations

import codecs
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTE = (
    *("compile", "remember to water the plants", "--no-ai", "--skill", "general", "--verb", "build"),
    *("--slot", "object=plants", "--json"),
)


class Terminal:
    """A command on a pseudo-terminal of 100 columns."""

    def __init__(self, mcl, *words: str, **env: str) -> None:
        leader, follower = pty.openpty()
        plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mcl", *words],
            cwd=mcl.folder,
            env={**plain, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLUMNS": "100", **env},
            stdin=follower,
            stdout=follower,
            stderr=follower,
        )
        os.close(follower)
        self.leader, self.seen = leader, ""
        self._decoder = codecs.getincrementaldecoder("utf-8")()  # a letter may come in two pieces

    def until(self, text: str, seconds: float = 60) -> str:
        """Everything printed until `text` appears, or the command ends."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < end, self.seen
            if not select.select([self.leader], [], [], 0.2)[0]:
                continue
            try:
                piece = os.read(self.leader, 65536)
            except OSError:  # the command has ended
                break
            if not piece:
                break
            self.seen += self._decoder.decode(piece)
        return self.seen

    def type(self, text: str) -> None:
        os.write(self.leader, text.encode())

    def interrupt(self) -> int:
        """The exit code after Ctrl-C: pressed again where it fell between two looks of the line editor."""
        for _ in range(20):
            self.process.send_signal(signal.SIGINT)  # what the terminal does
            end = time.monotonic() + 3
            while time.monotonic() < end and self.process.poll() is None:
                if select.select([self.leader], [], [], 0.2)[0]:
                    with suppress(OSError):  # the command has ended
                        self.seen += self._decoder.decode(os.read(self.leader, 65536))
            if self.process.poll() is not None:
                break
        return self.end()

    def end(self) -> int:
        """The exit code."""
        self.until("\0never")
        code = self.process.wait(timeout=60)
        os.close(self.leader)
        return code


def asked(mcl) -> str:
    """An accepted intent whose plan begins with a gate."""
    id = mcl(*NOTE).document["id"]
    assert mcl("accept", id, "--yes").code == 0
    return id


def test_colours_are_for_terminals_and_no_color_is_honoured(mcl):
    assert mcl.compiled()
    coloured = Terminal(mcl, "show", "@last")
    assert coloured.end() == 0
    assert "\x1b[" in coloured.seen
    assert "[invoice]" not in coloured.seen
    plain = Terminal(mcl, "show", "@last", NO_COLOR="1")
    assert plain.end() == 0
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", plain.seen)


def test_a_run_shows_a_live_tree_and_leaves_the_terminal_to_a_question(mcl):
    id = asked(mcl)
    run = Terminal(mcl, "run", id)
    run.until("no answer refuses")
    assert "running" in run.seen
    run.type("approve\n")
    assert run.end() == 0
    assert "completed" in run.seen
    assert (mcl.folder / "mcl-notes" / f"{id}.md").exists()


# Ctrl-C, as the terminal does it; a supervisor; a terminal that was closed.
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda one: one.name)
def test_ctrl_c_ends_with_130_and_the_run_can_be_resumed(mcl, how):
    id = asked(mcl)
    ours = signal.getsignal(how)
    signal.signal(
        how, signal.SIG_DFL
    )  # whoever started these tests may have it ignored (nohup), and so had it
    try:
        run = Terminal(mcl, "run", id)
    finally:
        signal.signal(how, ours)
    run.until("no answer refuses")
    run.process.send_signal(how)
    assert run.end() == 130
    assert "Traceback" not in run.seen
    assert f"interrupted; go on with it: mcl run {id} --resume" in run.seen
    again = mcl("run", id)
    assert (again.code, f"mcl run {id} --resume" in again.err) == (4, True)
    assert mcl("run", id, "--resume", "--yes-gates").code == 0
    assert (mcl.folder / "mcl-notes" / f"{id}.md").exists()


def running(words: str) -> list[str]:
    """The processes of this machine whose command line has these words."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            said = place.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            found += [said] if words in said else []
    return found


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="Linux: processes in /proc")
def test_what_it_started_ends_with_it_when_it_is_told_to_end(mcl):
    nap = f"sleep {600 + os.getpid() / 10**7:.7f}"
    (mcl.folder / "Makefile").write_text(f"test:\n\t{nap}\n")
    assert mcl("grant", "add", "shell").code == 0
    run = mcl.start("tool", "call", "process/tests", "suite=make", "--yes")
    deadline = time.monotonic() + 60
    while not running(nap) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert running(nap), run.stderr and run.stderr.read()
    run.terminate()
    assert run.wait(timeout=60) == 130
    deadline = time.monotonic() + 60
    while running(nap) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running(nap)
    for stream in (run.stdin, run.stdout, run.stderr):
        stream.close()


@pytest.mark.parametrize(("word", "code"), [("approve", 0), ("deny", 4)])
def test_a_gate_can_be_decided_from_another_terminal(mcl, word, code):
    id = asked(mcl)
    assert mcl("gate", "list").out.strip() == "nothing is waiting"
    run = mcl.start("run", id)  # its standard input stays open and silent
    for _ in range(600):
        gates = mcl("gate", "list", "--json").document["gates"]
        if gates:
            break
        time.sleep(0.1)
    assert gates[0]["intent_id"] == id
    assert "Keep the goal as a note" in gates[0]["question"]
    decided = mcl("gate", word, gates[0]["id"][:-3])
    assert decided.code == 0, decided.err
    try:
        assert run.wait(timeout=60) == code
    finally:
        for stream in (run.stdin, run.stdout, run.stderr):
            stream.close()
    assert (mcl.folder / "mcl-notes" / f"{id}.md").exists() is (code == 0)
    late = mcl("gate", word, gates[0]["id"])
    assert (late.code, "GATE_RESOLVED" in late.err) == (4, True)


def test_sealed_keys_sign_with_their_passphrase_only(mcl):
    mcl.passphrase = "correct horse"
    assert mcl("init").code == 0
    assert json.loads(mcl("key", "list", "--json").out)["keys"][0]["sealed"]
    id = mcl.compiled()
    mcl.passphrase = ""
    refused = mcl("accept", id, "--yes")
    assert (refused.code, "KEY_SEALED" in refused.err) == (4, True)
    mcl.passphrase = "wrong"
    assert "KEY_PASSPHRASE_WRONG" in mcl("accept", id, "--yes").err
    mcl.passphrase = "correct horse"
    assert mcl("accept", id, "--yes").code == 0
    assert mcl("run", id).code == 0


@pytest.mark.slow
def test_a_passphrase_is_asked_for_on_the_terminal_where_keys_are_sealed(mcl):
    made = Terminal(mcl, "init", "--passphrase")
    made.until("passphrase for the new keys: ")
    made.type("correct horse\n")
    made.until("once more: ")
    made.type("correct horse\n")
    assert made.end() == 0
    compiled = Terminal(mcl, *mcl.COMPILE)
    compiled.until("passphrase of the keys: ")
    compiled.type("correct horse\n")
    assert compiled.end() == 0
    assert "correct horse" not in made.seen + compiled.seen
