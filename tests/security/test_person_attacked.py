"""An agent with a shell that would be taken for its person: what doors catch, and what a sealed key does.

Real homes, real processes and terminals. The agent runs below a process that is called as its host is, with
the variable that this one sets.
"""

from __future__ import annotations

import os
import pty
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import mcl
from executor.core.tables import table_beside
from executor.store.home import Home
from ir.errors import MclError
from mcl.usecases.authority import door, unlocked
from mcl.usecases.authority.door import agent_host, processes_above
from tests.cli.test_cli_door import clean

HOSTS = table_beside(door.__file__, "hosts")

pytestmark = [
    pytest.mark.attended,
    pytest.mark.skipif(shutil.which("script") is None, reason="Linux: script(1) makes the terminals here"),
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="Linux: its /proc"),
]
WORDS = b"correct horse"
ACCEPT = f"{shlex.quote(sys.executable)} -m mcl accept @last --yes"
INIT = f"{shlex.quote(sys.executable)} -m mcl init --unattended"
# All that the command needs, and nothing of the host.
BARE = 'env -i PATH="$PATH" HOME="$HOME" MCL_HOME="$MCL_HOME" PYTHONPATH="$PYTHONPATH" TERM=dumb'
OWN_PTY = "script -qec {} /dev/null"
FORKED = (
    "import os, sys\n"
    "if os.fork(): sys.exit()\n"
    "os.setsid()\n"
    "if os.fork(): os._exit(0)\n"
    "os.execvp('sh', ['sh', '-c', sys.argv[1]])\n"
)


def quoted(*words: str) -> str:
    return shlex.join(words)


def detached(line: str) -> str:
    """Below no parent that the agent has: as `at`, cron, and whatever forks twice would start it."""
    return quoted(sys.executable, "-c", FORKED, line)


def spawned(line: str) -> str:
    """At a terminal that Python makes."""
    return quoted(sys.executable, "-c", f"import pty; pty.spawn(['sh', '-c', {line!r}])")


CAUGHT = {
    "as it is": ACCEPT,
    "without the variable": f"env -u CLAUDECODE {ACCEPT}",
    "without any variable": f"{BARE} {ACCEPT}",
    "with yes in a pipe": f"yes | {BARE} {ACCEPT}",
    "at a terminal of its own": OWN_PTY.format(shlex.quote(ACCEPT)),
    "at one, without variables": OWN_PTY.format(shlex.quote(f"{BARE} {ACCEPT}")),
    "the other way round": f"{BARE} {OWN_PTY.format(shlex.quote(ACCEPT))}",
    "at a terminal of Python": spawned(f"{BARE} {ACCEPT}"),
    "in a session of its own": f"setsid -w {BARE} {ACCEPT}",
    "with nohup": f"nohup {BARE} {ACCEPT}",
    "forked twice, without a terminal": detached(f"{BARE} {ACCEPT}"),
    "forked twice at once, as at and cron do": f"(setsid {BARE} sh -c {shlex.quote(ACCEPT)} &)",
    "as a home that has nobody": f"{BARE} {INIT}; {BARE} {ACCEPT}",
    "forked twice, at a terminal, made bare too late": detached(
        f"{BARE} {OWN_PTY.format(shlex.quote(ACCEPT))}"
    ),
}
# Somebody with the rights of the person who starts anew below nobody, without variables, at a terminal of
# their own, is to all appearances the person. Found out, and written down in docs/security.md.
NOT_CAUGHT = {
    "bare, forked twice, at a terminal of its own": f"{BARE} {detached(OWN_PTY.format(shlex.quote(ACCEPT)))}",
}
PASSPHRASES = ("", "password", "correct  horse", "y")


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    """The folder of a person with a compiled intent, which the agent would have accepted."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("invoice\n")
    with mcl.open_home(tmp_path / "home") as home:
        slots = {"text": "invoice", "folder": "notes", "pattern": "*"}
        mcl.compile_goal(
            "find the word invoice in the folder notes",
            *(),
            home=home,
            ai=False,
            skill="files-find",
            verb="find",
            slots=slots,
        )
    return tmp_path


def state(folder: Path) -> str:
    with Home.open(folder / "home") as home:
        (id,) = home.journal.intents()
        return home.journal.view(id).state


def attack(folder: Path, line: str, typed: str = "") -> str:
    """Run a line as the agent's host would, and wait until all that it started has ended. What was said."""
    said = folder / "said.txt"
    around = clean(
        folder / "home", HOME=str(folder), CLAUDECODE="1", CLAUDE_CODE_ENTRYPOINT="cli", MARK=str(folder)
    )
    with said.open("wb") as out:
        process = subprocess.Popen(
            ["claude", "-c", f"{line}\n:"],  # the last command, so that the shell stays above
            executable="/bin/sh",
            env=around,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        process.communicate(f"{typed}\n".encode() * 3, timeout=120)
        left_alone(folder)
    return said.read_text(errors="replace")


def left_alone(folder: Path) -> None:
    """Wait for what runs in the folder below nobody; end it where it waits for an answer. What forks while it
    is looked for is not seen once, but not three times."""
    until, quiet = time.monotonic() + 60, 0
    while quiet < 3:
        pids = [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit()]
        running = [pid for pid in pids if in_folder(pid, folder)]
        quiet = 0 if running else quiet + 1
        if time.monotonic() > until:
            for pid in running:
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)


def in_folder(pid: int, folder: Path) -> bool:
    try:
        return pid != os.getpid() and Path(f"/proc/{pid}/cwd").readlink() == folder
    except OSError:
        return False


@pytest.mark.parametrize("name", CAUGHT)
def test_the_doors_catch_it_without_any_passphrase(agent: Path, name: str) -> None:
    said = attack(agent, CAUGHT[name])
    assert state(agent) == "proposed", said
    assert "PERSON_ONLY" in said or "HOME_ATTENDED" in said, said
    with Home.open(agent / "home") as home:
        assert home.journal.rows(kind="record.person.refused"), "what was refused stands in the journal"
        assert home.journal.verify().ok


@pytest.mark.parametrize("name", NOT_CAUGHT)
def test_what_the_doors_do_not_catch_is_written_down(agent: Path, name: str) -> None:
    if agent_host({}, processes_above()):
        pytest.skip("this test itself runs below an agent's host, which takes in orphans")
    said = attack(agent, NOT_CAUGHT[name])
    assert state(agent) == "accepted", said
    page = (Path(__file__).parents[2] / "docs" / "security.md").read_text()
    assert "against the same user only a sealed key holds" in page


@pytest.mark.parametrize("name", [*CAUGHT, *NOT_CAUGHT])
def test_a_sealed_key_holds_against_all_of_them(agent: Path, name: str) -> None:
    with Home.open(agent / "home") as home:
        home.keyring.seal("user", WORDS)
    for typed in PASSPHRASES if name in NOT_CAUGHT else ("",):
        said = attack(agent, (CAUGHT | NOT_CAUGHT)[name], typed)
        assert state(agent) == "proposed", said


def test_nor_does_the_library_sign_with_a_sealed_key(agent: Path) -> None:
    with Home.open(agent / "home") as home:
        home.keyring.seal("user", WORDS)
    seed = (agent / "home" / "keys" / "user.json").read_text()
    assert '"seed"' not in seed
    for passphrase in (None, b"password"):
        with mcl.open_home(agent / "home", passphrase=passphrase) as home:
            with pytest.raises(MclError) as caught:
                mcl.accept("@last", home=home)
            assert caught.value.code in ("KEY_SEALED", "KEY_PASSPHRASE_WRONG")
    assert state(agent) == "proposed"
    with mcl.open_home(agent / "home", passphrase=WORDS) as home:
        mcl.accept("@last", home=home)
    assert state(agent) == "accepted"


def test_what_stands_in_the_environment_is_no_persons_word(agent: Path) -> None:
    with Home.open(agent / "home") as home:
        home.keyring.seal("user", WORDS)
    bare = BARE.replace("env -i", f"env -i MCL_PASSPHRASE={shlex.quote(WORDS.decode())}")
    line = f"{bare} {detached(OWN_PTY.format(shlex.quote(ACCEPT)))}"
    attack(agent, line, "password")
    assert state(agent) == "proposed"


def test_every_host_of_the_table_is_caught_by_its_process_alone() -> None:
    """The same by name: no variable of a host, and its program above."""
    for row in HOSTS.values():
        for program in row.get("programs", ()):
            code = "import os; from mcl.usecases.authority.door import below_agent; print(below_agent())"
            around = {**clean(Path("/nonexistent"))}
            done = subprocess.run(
                [program, "-c", f"{shlex.join([sys.executable, '-c', code])}\n:"],
                executable="/bin/sh",
                env=around,
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert "above this process" in done.stdout, (program, done)
            break


# ---- A key that its person unlocked for a while: for one terminal, for what its shell itself starts.


PROGRAM = f"{sys.executable} -m mcl"
ASKS = "passphrase of the keys: "


class ShellAtTerminal:
    """A shell at a terminal of its own, in which a person types."""

    def __init__(self, home: Path) -> None:
        self.pid, self.device = pty.fork()
        if self.pid == 0:  # pragma: no cover - another process
            os.chdir(home.parent)
            os.execvpe("sh", ["sh", "-i"], clean(home, PS1="ready> ", ENV=""))
        self.seen = ""
        self.settled = 0
        self.until("ready> ")

    def until(self, *texts: str) -> str:
        """Which of some texts is printed first."""
        end = time.monotonic() + 60
        while not (found := [one for one in texts if one in self.seen]):
            assert time.monotonic() < end, self.seen
            if select.select([self.device], [], [], 0.2)[0]:
                self.seen += os.read(self.device, 65536).decode(errors="replace")
        return found[0]

    def type(self, line: str) -> None:
        self.seen = ""
        os.write(self.device, f"{line}\n".encode())

    def asks(self, line: str) -> bool:
        """Whether a command asks for the passphrase; if so it is not given one."""
        self.type(f"{line} 2>&1; echo en''ded")
        asked = self.until(ASKS, "ended\r\n") == ASKS
        if asked:
            os.write(self.device, b"\x03")
        self.settle()
        return asked

    def settle(self) -> None:
        """Waits until nothing but the shell is left at the terminal, and all that was printed is read.

        Who asked for a passphrase throws away what is typed before it has ended.
        """
        end = time.monotonic() + 60
        while any(self._is_here(int(one.name)) for one in Path("/proc").iterdir() if one.name.isdigit()):
            assert time.monotonic() < end, self.seen
            time.sleep(0.02)
        self.settled += 1
        self.type(f"echo set''tled {self.settled}")
        self.until(f"settled {self.settled}\r\n")

    def _is_here(self, process: int) -> bool:
        with suppress(ProcessLookupError, PermissionError):
            return process != self.pid and os.getsid(process) == self.pid
        return False

    def end(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with suppress(OSError):
            os.close(self.device)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A person's home whose keys are sealed."""
    place = tmp_path / "home"
    Home.open(place, passphrase=b"open sesame").close()
    yield place
    unlocked.lock(place)


@pytest.fixture
def shell(home: Path) -> Iterator[ShellAtTerminal]:
    """A shell in which the key was unlocked."""
    made = ShellAtTerminal(home)
    made.type(f"{PROGRAM} key unlock --for 1h")
    made.until(ASKS)
    os.write(made.device, b"open sesame\n")
    made.until("unlocked at this terminal until")
    made.until("ready> ")
    yield made
    made.end()


SIGNS = f"{PROGRAM} grant add shell"  # a person's command


def test_the_passphrase_is_not_asked_again_at_this_terminal_and_by_nobody_else(shell, home):
    assert not shell.asks(SIGNS)
    with Home.open(home) as opened:
        kinds = [row.kind for row in opened.journal.rows()]
    assert "record.person.unlocked" in kinds
    assert shell.asks(f"sh -c '{SIGNS}; true'")  # below another program of the same terminal
    assert shell.asks(f"{PROGRAM} key new --role user")  # a new key needs the passphrase that seals it
    other = ShellAtTerminal(home)
    assert other.asks(SIGNS)  # another terminal
    other.type(f"{PROGRAM} key lock")
    other.until("locked")
    other.end()
    assert shell.asks(SIGNS)


def test_a_program_that_asks_the_holder_itself_gets_nothing(shell, home):
    probe = home.parent / "probe.py"
    probe.write_text(
        "import os\nfrom pathlib import Path\nfrom mcl.usecases.authority.unlocked import _addresses, _told\n"
        f"for one in _addresses(Path({str(home)!r})):\n    print('got', len(_told(one, b'ask')))\n"
    )
    shell.type(f"sh -c '{sys.executable} {probe}; true'")
    shell.until("got 0")
    assert [len(unlocked._told(one, b"ask")) for one in unlocked._addresses(home)] == [0]


@pytest.mark.slow
def test_it_ends_with_its_shell_and_with_its_time(shell, home):
    assert len([*unlocked._addresses(home)]) == 1
    shell.end()
    end = time.monotonic() + 30
    while [*unlocked._addresses(home)]:
        assert time.monotonic() < end
        time.sleep(0.2)
    again = ShellAtTerminal(home)
    again.type(f"{PROGRAM} key unlock --for 1s")
    again.until(ASKS)
    os.write(again.device, b"open sesame\n")
    again.until("unlocked at this terminal until")
    end = time.monotonic() + 30
    while [*unlocked._addresses(home)]:
        assert time.monotonic() < end
        time.sleep(0.2)
    assert again.asks(SIGNS)
    again.end()
