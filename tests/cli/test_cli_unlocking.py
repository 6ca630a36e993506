"""A key unlocked for a while: at one terminal, for what its shell itself starts, and for nothing else."""

from __future__ import annotations

import os
import pty
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from executor.store.home import Home
from mcl.usecases.authority import unlocked
from tests.cli.test_cli_door import clean

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="Linux: processes in /proc"),
    pytest.mark.attended,
]
MCL = f"{sys.executable} -m mcl"
ASKS = "passphrase of the keys: "


class ShellAtTerminal:
    """A shell at a terminal of its own, in which a person types."""

    def __init__(self, home: Path) -> None:
        self.pid, self.device = pty.fork()
        if self.pid == 0:  # pragma: no cover - another process
            os.chdir(home.parent)
            os.execvpe("sh", ["sh", "-i"], clean(home, PS1="ready> ", ENV=""))
        self.seen = ""
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
            self.until("ended\r\n", "ready> ")
        return asked

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
    made.type(f"{MCL} key unlock --for 1h")
    made.until(ASKS)
    os.write(made.device, b"open sesame\n")
    made.until("unlocked at this terminal until")
    made.until("ready> ")
    yield made
    made.end()


SIGNS = f"{MCL} grant add shell"  # a person's command


def test_the_passphrase_is_not_asked_again_at_this_terminal_and_by_nobody_else(shell, home):
    assert not shell.asks(SIGNS)
    with Home.open(home) as opened:
        kinds = [row.kind for row in opened.journal.rows()]
    assert "record.person.unlocked" in kinds
    assert shell.asks(f"sh -c '{SIGNS}; true'")  # below another program of the same terminal
    assert shell.asks(f"{MCL} key new --role user")  # a new key needs the passphrase that seals it
    other = ShellAtTerminal(home)
    assert other.asks(SIGNS)  # another terminal
    other.type(f"{MCL} key lock")
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
    again.type(f"{MCL} key unlock --for 1s")
    again.until(ASKS)
    os.write(again.device, b"open sesame\n")
    again.until("unlocked at this terminal until")
    end = time.monotonic() + 30
    while [*unlocked._addresses(home)]:
        assert time.monotonic() < end
        time.sleep(0.2)
    assert again.asks(SIGNS)
    again.end()


def test_a_time_that_is_none_is_told(tmp_path):
    from mcl.core.errors import InputError
    from mcl.usecases.keys import unlock

    with Home.open(tmp_path / "open") as opened:
        for length in ("soon", "0h", "13h", "1d", "-1h", "99999h", ""):
            with pytest.raises(InputError) as refused:
                unlock(length, home=opened)
            assert refused.value.code == "UNLOCK_TIME"


def test_without_a_sealed_key_there_is_nothing_to_unlock(tmp_path):
    from executor.core.errors import KeyringError
    from mcl.usecases.keys import lock, unlock

    with Home.open(tmp_path / "open") as opened:
        with pytest.raises(KeyringError) as refused:
            unlock("1h", home=opened)
        assert refused.value.code == "KEY_NOT_SEALED"
        assert lock(home=opened) == 0
        with pytest.raises(KeyringError, match="is no own key"):
            opened.keyring.lend(b"x" * 32)
