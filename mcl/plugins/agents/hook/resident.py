"""The resident process of a home: it has everything loaded, so that a hook is answered at once.

One a home, held by a lock. It listens on a socket in the home that only its owner can reach, answers only its
owner, and ends by itself: after a while without events, when its code or its home is not what it was, when
its socket is another's, or when it hangs. Whoever gets no answer from it decides without it.
"""

from __future__ import annotations

import gc
import os
import socket
import stat
import struct
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

from executor.core.files import LOCK_FILE, take
from executor.sandbox.child import start_detached
from executor.store.home import Home
from ir import MclError
from mcl.core.errors import HookError
from mcl.plugins.agents.hook.answer import Answering, failed
from mcl.plugins.agents.hook.messages import (
    FIELDS,
    FOLDER,
    LOCK,
    SOCKET,
    VERSION,
    code_place,
    packed,
    received,
)
from mcl.plugins.agents.hosts.host import HostAnswer

# ---- Starting it: detached, with nothing of the environment that it is started in.

# -I: no variables of Python's, no folder of the current user's or of whoever starts it.
_PROGRAM: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from mcl.plugins.agents.hook.resident import main; sys.exit(main(sys.argv[2]))"
)
_ENVIRONMENT: Final = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYDANTIC_DISABLE_PLUGINS": "__all__",
}


def start(place: Path) -> bool:
    """Start the resident process of a home, unless it is there; whether one was started. Never raises."""
    try:
        if sys.platform != "linux" or is_running(place):
            return False
        command = [sys.executable, "-I", "-c", _PROGRAM, os.fsdecode(code_place()), str(place)]
        start_detached(command, environment=_ENVIRONMENT)
    except (OSError, ValueError):
        return False
    return True


def is_running(place: Path) -> bool:
    """Whether a process holds the lock of a home's resident one. Raises OSError where it cannot be told."""
    try:
        folder = opened_folder(place)
    except FileNotFoundError:
        return False
    try:
        lock = os.open(LOCK, LOCK_FILE, 0o600, dir_fd=folder)
        try:
            return not take(lock, wait=False)
        finally:
            os.close(lock)
    finally:
        os.close(folder)


def opened_folder(place: Path, *, make: bool = False) -> int:
    """The descriptor of the folder that the socket lies in: ours, and nobody else's to enter.

    Raises OSError, also where it is somebody else's, open to others, or a link.
    """
    folder = place / FOLDER
    if make:
        folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    status = os.fstat(descriptor)
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
        os.close(descriptor)
        raise PermissionError(f"{folder} is open to others")
    return descriptor


IDLE_S: Final = 15 * 60.0
HUNG_S: Final = 30.0  # for one decision, after which this process is of no use
_TICK_S: Final = 0.25
_MESSAGE_S: Final = 2.0  # for a message to come in
_TURN_S: Final = 2.0  # that a request waits for those before it
_AT_ONCE: Final = 8  # requests; who finds it busier decides without it


class Resident:
    """A resident process at work. idle_s: seconds without events after which it ends."""

    def __init__(self, place: Path, *, idle_s: float = IDLE_S) -> None:
        self._place, self._idle_s = place, idle_s
        self._turn = threading.Lock()
        self._room = threading.BoundedSemaphore(_AT_ONCE)
        self._ended = threading.Event()
        self._since = 0.0  # when the decision began that is being made, 0: none is
        self._last = time.monotonic()
        self._code = _Code()

    def serve(self) -> int:
        """HostAnswer until there is a reason to end; gives the exit code. Raises OSError, MclError."""
        with ExitStack() as held:
            folder = opened_folder(self._place, make=True)
            held.callback(os.close, folder)
            lock = os.open(LOCK, LOCK_FILE, 0o600, dir_fd=folder)
            held.callback(os.close, lock)
            if not take(lock, wait=False):
                return 0
            self._listen(folder)
        return 0

    def _listen(self, folder: int) -> None:
        with Home.open(self._place) as home, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
            self._answering = Answering(home)
            self._found = self._stamp()
            own = _bound(listening, folder)
            listening.settimeout(_TICK_S)
            gc.freeze()
            while not self._ended.is_set() and self._may_go_on(folder, own):
                with suppress(TimeoutError):
                    self._take(listening.accept()[0])
            if _identity(folder) == own:
                os.unlink(SOCKET, dir_fd=folder)

    def end(self) -> None:
        """Let it end; `serve` returns soon."""
        self._ended.set()

    def _may_go_on(self, folder: int, own: tuple[int, int] | None) -> bool:
        now = time.monotonic()
        if self._since and now - self._since > HUNG_S:
            os._exit(1)
        if now - self._last > self._idle_s and not self._since:
            return False
        return _identity(folder) == own and self._stamp() == self._found

    def _stamp(self) -> tuple[object, ...]:
        """Which database and which keys lie in the home; they were read at the start."""
        found: list[object] = []
        for place in (self._place / "mcl.db", *sorted((self._place / "keys").glob("*"))):
            try:
                status = place.stat()
            except OSError:
                continue
            # The database changes with every event, and is the same one.
            changed = 0 if place.name == "mcl.db" else status.st_mtime_ns
            found.append((place.name, status.st_dev, status.st_ino, changed))
        return tuple(found)

    def _take(self, link: socket.socket) -> None:
        if not self._room.acquire(blocking=False):
            link.close()
            return
        self._last = time.monotonic()
        threading.Thread(target=self._serve_one, args=(link,), daemon=True).start()

    def _serve_one(self, link: socket.socket) -> None:
        try:
            with link, suppress(OSError, ValueError):
                peer = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
                if struct.unpack("3i", peer)[1] != os.geteuid():
                    return
                parts = received(_Reading(link, time.monotonic() + _MESSAGE_S))
                link.sendall(packed(self._reply(parts)))
        finally:
            self._room.release()

    def _reply(self, parts: Sequence[bytes]) -> list[bytes]:
        if self._code.changed() or self._stamp() != self._found:
            self.end()
            return [b"ending"]
        if len(parts) != FIELDS or parts[0] != VERSION or parts[1] != code_place():
            return [b"another"]
        if not self._turn.acquire(timeout=_TURN_S):
            return [b"busy"]
        try:
            self._since = time.monotonic()
            answer = self._answer(parts)
        finally:
            self._since = 0.0
            self._last = time.monotonic()
            self._turn.release()
        return [b"answer", str(answer.exit).encode(), answer.out.encode(), answer.err.encode()]

    def _answer(self, parts: Sequence[bytes]) -> HostAnswer:
        asked, data = parts[2:6], parts[6]
        try:
            return self._answering.answer(asked, data)
        except (MclError, OSError, ValueError) as problem:
            return failed(asked, problem)
        except Exception as problem:  # noqa: BLE001 - every event gets an answer, also of our own faults
            fault = f"{type(problem).__name__}: {problem}"[:300]
            return failed(asked, HookError("INTERNAL", fault, fix="report it: mcl had a fault"))


class _Code:
    """Our files as they were when they were loaded."""

    def __init__(self) -> None:
        self._below = os.fsdecode(code_place()) + "/"
        self._seen: dict[str, tuple[int, int, int] | None] = {}
        agents = Path(__file__).resolve().parent.parent
        for data in agents.glob("*/*.toml"):
            self._seen[str(data)] = _as_it_is(str(data))
        self.changed()

    def changed(self) -> bool:
        """Whether one of them is another by now."""
        for module in list(sys.modules.values()):
            name = getattr(module, "__file__", None)
            if name and name.startswith(self._below) and name not in self._seen:
                self._seen[name] = _as_it_is(name)
        return any(_as_it_is(name) != seen for name, seen in self._seen.items())


def main(place: str) -> int:
    """Be the resident process of the home in this folder."""
    try:
        return Resident(Path(place)).serve()
    except (MclError, OSError):
        return 1


def _as_it_is(name: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(name)  # noqa: PTH116 - hundreds of them for each event
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _bound(listening: socket.socket, folder: int) -> tuple[int, int] | None:
    """Listen in the folder, in the place of a socket that a dead process left; gives whose it is."""
    with suppress(FileNotFoundError):
        os.unlink(SOCKET, dir_fd=folder)
    mask = os.umask(0o177)
    try:
        listening.bind(f"/proc/self/fd/{folder}/{SOCKET}")
    finally:
        os.umask(mask)
    listening.listen(_AT_ONCE)
    return _identity(folder)


def _identity(folder: int) -> tuple[int, int] | None:
    try:
        status = os.stat(SOCKET, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None
    return status.st_dev, status.st_ino


class _Reading:
    """Bytes of a connection, until a moment."""

    def __init__(self, link: socket.socket, end: float) -> None:
        self._link, self._end = link, end

    def __call__(self, size: int) -> bytes:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._link.settimeout(left)
        return self._link.recv(size)
