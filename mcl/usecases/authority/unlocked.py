"""Keys that a person unlocked for a while, at one terminal: a small process holds them, and gives them to
nobody but what that terminal's shell itself starts.

Whoever asks must be a child of just that shell, in its session, in the foreground of its terminal, and run in
the Python that mcl runs in: what such a command starts in turn (a tool, a program, an agent) is no child of
the shell, and gets nothing. It lasts until its time is over, the shell has ended, or `mcl key lock`. The keys
lie in the memory of the process alone, which no other of this user may read. Linux; elsewhere there is none.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from executor.core.errors import KeyringError
from executor.sandbox.child import keep_to_ourselves, start_detached
from executor.store.home import Home

_ASK, _LOCK, _DONE = b"ask", b"lock", b"done"
_SEED: Final = 32  # bytes of a key
_MOST: Final = 4 * _SEED
_PATIENCE_S: Final = 1.0  # for one question
_LOOK_S: Final = 1.0  # between two looks at the shell and the clock
_PREFIX: Final = "mcl-key-"
_SOCKETS: Final = Path("/proc/net/unix")  # all that have a name
# -I: no variables of Python's, no folder of the current user's or of whoever starts it.
_PROGRAM: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from mcl.usecases.authority.unlocked import hold; sys.exit(hold(*sys.argv[2:]))"
)
_ENVIRONMENT: Final = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYDANTIC_DISABLE_PLUGINS": "__all__"}


@dataclass(frozen=True)
class TerminalShell:
    """The shell that a person types in. pid, began: the process, and when it began (which no later one of its
    number has); session, terminal: theirs, by their numbers; program: what mcl runs in."""

    pid: int
    began: int
    session: int
    terminal: int
    program: str

    @classmethod
    def here(cls) -> TerminalShell | None:
        """The one that started this process; None where there is no terminal, or no telling."""
        own, shell = _Status.of(os.getpid()), _Status.of(os.getppid())
        if own is None or shell is None or not own.terminal or shell.session != own.session:
            return None
        return cls(shell.pid, shell.began, own.session, own.terminal, _program(os.getpid()))

    @property
    def is_there(self) -> bool:
        """Whether it still runs."""
        shell = _Status.of(self.pid)
        return shell is not None and shell.began == self.began

    def started(self, pid: int) -> bool:
        """Whether a process is one that it started, in its foreground."""
        found = _Status.of(pid)
        return (
            found is not None
            and found.parent == self.pid
            and (found.session, found.terminal) == (self.session, self.terminal)
            and found.foreground == found.group
            and _program(pid) == self.program
            and self.is_there
        )

    def address(self, home: Path) -> str:
        """The name of the socket of its holder; the first character says that it lies in no folder."""
        return f"\0{_name_of(home)}{self.session}-{self.terminal}-{self.pid}"


def unlock(home: Home, shell: TerminalShell, seeds: Sequence[bytes], seconds: int) -> None:
    """Let this shell's commands sign with these keys for so long; what was unlocked here before ends.

    Raises KeyringError UNLOCK_FAILED.
    """
    address = shell.address(home.path)
    _told(address, _LOCK)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    given, keys = os.pipe()
    try:
        for _ in range(20):  # until the one before has ended
            with suppress(OSError):
                listening.bind(address)
                break
            time.sleep(0.05)
        listening.listen(4)
        os.write(keys, b"".join(seeds))
        code = Path(__file__).resolve().parents[3]
        words = [json.dumps(asdict(shell)), str(seconds), str(listening.fileno()), str(given)]
        start_detached(
            [sys.executable, "-I", "-c", _PROGRAM, str(code), *words],
            environment=_ENVIRONMENT,
            descriptors=(listening.fileno(), given),
        )
    except OSError as error:
        message = f"no process could be started that holds the key: {error.strerror or error}"
        raise KeyringError("UNLOCK_FAILED", message, place="key", fix="try again: mcl key unlock") from error
    finally:
        listening.close()
        os.close(given)
        os.close(keys)


def lock(home: Path) -> int:
    """End all that was unlocked of a home, at whatever terminal; how many there were."""
    return sum(_told(address, _LOCK) == _DONE for address in _addresses(home))


def lend(home: Home) -> bool:
    """Let the sealed keys of a home sign, where they are unlocked for this process; whether all are."""
    shell = TerminalShell.here() if sys.platform == "linux" else None
    if shell is None:
        return False
    given = _told(shell.address(home.path), _ASK)
    for place in range(0, len(given) - _SEED + 1, _SEED):
        with suppress(KeyringError):  # what holds the name may be anybody's
            home.keyring.lend(given[place : place + _SEED])
    return home.keyring.opens


# ---- The process that holds them.


def hold(shell: str, seconds: str, listening: str, given: str) -> int:
    """Be that process. Ends by itself."""
    keep_to_ourselves()
    typed = TerminalShell(**json.loads(shell))
    until = _now() + int(seconds)
    with os.fdopen(int(given), "rb") as pipe:
        keys = pipe.read(_MOST)
    with socket.socket(fileno=int(listening)) as door:
        door.settimeout(_LOOK_S)
        while _now() < until and typed.is_there:
            with suppress(OSError):
                link, _ = door.accept()
                with link:
                    if _answered(link, typed, keys):
                        break
    return 0


def _answered(link: socket.socket, shell: TerminalShell, keys: bytes) -> bool:
    """Answer one question; whether it was the last."""
    link.settimeout(_PATIENCE_S)
    pid, user, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    if user != os.geteuid():
        return False
    asked = link.recv(16)
    if asked == _ASK and shell.started(pid):
        link.sendall(keys)
    if asked == _LOCK:
        link.sendall(_DONE)
    return asked == _LOCK


def _now() -> float:
    """Seconds that go on while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


# ---- Who asks, and whom.


def _told(address: str, words: bytes) -> bytes:
    """What the holder of a name answers; nothing where there is none, or it is somebody else's."""
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(_PATIENCE_S)
        link.connect(address)
        peer = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        if struct.unpack("3i", peer)[1] != os.geteuid():
            return b""
        link.sendall(words)
        link.shutdown(socket.SHUT_WR)
        found = b""
        while len(found) < _MOST and (piece := link.recv(_MOST)):
            found += piece
        return found
    return b""


def _name_of(home: Path) -> str:
    return f"{_PREFIX}{sha256(os.fsencode(os.path.realpath(home))).hexdigest()[:20]}-"


def _addresses(home: Path) -> Iterator[str]:
    """The sockets of all holders of a home's keys."""
    name = f"@{_name_of(home)}"
    with suppress(OSError):
        for line in _SOCKETS.read_text(errors="replace").splitlines():
            said = line.rpartition(" ")[2]
            if said.startswith(name):
                yield f"\0{said[1:]}"


@dataclass(frozen=True)
class _Status:
    """What /proc says of a process, as far as it is asked."""

    pid: int
    parent: int
    group: int
    session: int
    terminal: int
    foreground: int
    began: int

    @classmethod
    def of(cls, pid: int) -> _Status | None:
        try:
            text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
            # The name stands in brackets, and may hold any character: what follows is behind the last one.
            words = text.rpartition(")")[2].split()
            parent, group, session, terminal, foreground = map(int, words[1:6])
            return cls(pid, parent, group, session, terminal, foreground, int(words[19]))
        except (OSError, ValueError, IndexError):
            return None


def _program(pid: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115
    except OSError:
        return ""
