"""`mcl hook pre-tool-use` and `post-tool-use` from start to end, as fast as an interpreter starts.

Everything that takes time to load is asked of the resident process; where that is not there, or does not
answer as it should, this process decides itself. Whatever goes wrong before a call refuses it.
"""

from __future__ import annotations

import os
import sys
import time

from mcl.plugins.agents.hook.messages import FOLDER, MOST, SOCKET, VERSION, code_place, packed, received

TYPE_CHECKING = False  # importing `typing` would take as long as the rest of this file
if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcl.plugins.agents.hosts.host import HostAnswer

VERBS = {"pre-tool-use": "pre", "post-tool-use": "post"}
DEFAULT_HOST = "claude-code"
READ_S, ASK_S, JUDGE_S = 10.0, 3.0, 10.0  # seconds for the event, for the resident process, for this one
_BLOCK = 2
_CONNECT_S = 0.5


def options(arguments: Sequence[str]) -> tuple[str, str, str] | None:
    """Verb, host and agent of a command line; None where the full command line has to read it."""
    if not arguments or arguments[0] not in VERBS:
        return None
    given = {"--host": DEFAULT_HOST, "--agent": ""}
    rest = list(arguments[1:])
    while rest:
        name, sign, value = rest.pop(0).partition("=")
        if name not in given or (not sign and not rest):
            return None
        given[name] = value if sign else rest.pop(0)
    return VERBS[arguments[0]], given["--host"], given["--agent"]


def main(arguments: Sequence[str]) -> int | None:
    """The line after `mcl hook`; None where the full command line has to read it."""
    asked = options(arguments)
    return None if asked is None else run(*asked)


def run(verb: str, host: str, agent: str) -> int:
    """Read an event from standard input, answer on standard output; gives the exit code, and never raises."""
    try:
        event = _event()
        parts = [VERSION, code_place(), *(text.encode() for text in (verb, host, agent)), _surroundings()]
        home = _home()
        if home and not os.path.lexists(f"{home}/mcl.db"):  # nobody signed anything here
            return _out("{}", "", 0)
        frame = packed([*parts, event])
        answer = _asked(home, frame) if home and len(frame) <= MOST else None
        return _out(*answer) if answer is not None else _judged_here(parts[2:], event)
    except BaseException as problem:  # noqa: BLE001 - an exit code other than 2 would let the call pass
        return _failed(verb, problem)


def _event() -> bytes:
    """Standard input, at most MOST bytes and one more, for as long as it takes somebody who is there."""
    import select

    data = bytearray()
    try:
        source = sys.stdin.buffer.fileno()
    except (AttributeError, OSError, ValueError):
        return b""
    end = time.monotonic() + READ_S
    while len(data) <= MOST:
        if not select.select([source], [], [], max(0.0, end - time.monotonic()))[0]:
            raise TimeoutError("standard input does not end")
        piece = os.read(source, 1 << 20)
        if not piece:
            break
        data += piece
    return bytes(data)


def _surroundings() -> bytes:
    """What the host set for its hooks, and where its shell finds programs."""
    names = ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "MCL_AGENT", "PATH")
    return packed([os.fsencode(os.environ.get(name, ""))[:65536] for name in names])[4:]


def _home() -> str:
    """The folder of the home as `mcl.core.home.locate` finds it, "" where that takes more to find out."""
    if named := os.environ.get("MCL_HOME"):
        return os.path.abspath(os.path.expanduser(named))  # noqa: PTH100, PTH111
    if sys.platform != "linux":
        return ""
    data = os.environ.get("XDG_DATA_HOME", "").strip() or os.path.expanduser("~/.local/share")  # noqa: PTH111
    return os.path.join(data, "mcl")  # noqa: PTH118


def _asked(home: str, frame: bytes) -> tuple[str, str, int] | None:
    """What the resident process answers; None where there is none, or it is not surely ours."""
    import _socket
    import _struct
    import stat

    if not hasattr(_socket, "SO_PEERCRED"):
        return None
    own = os.geteuid()
    try:
        folder = os.open(f"{home}/{FOLDER}", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        status, there = os.fstat(folder), os.stat(SOCKET, dir_fd=folder, follow_symlinks=False)
        if status.st_uid != own or status.st_mode & 0o077 or not stat.S_ISSOCK(there.st_mode):
            return None
        link.settimeout(_CONNECT_S)
        link.connect(f"/proc/self/fd/{folder}/{SOCKET}")  # however long the path of the home is
        peer = link.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
        if there.st_uid != own or _struct.unpack("3i", peer)[1] != own:
            return None
        end = time.monotonic() + ASK_S
        link.settimeout(ASK_S)
        link.sendall(frame)

        def read(size: int) -> bytes:
            link.settimeout(max(0.01, end - time.monotonic()))
            if time.monotonic() > end:
                raise TimeoutError
            return link.recv(size)

        parts = received(read)
        if len(parts) != 4 or parts[0] != b"answer":
            return None
        return parts[2].decode(), parts[3].decode(), int(parts[1])
    except (OSError, ValueError):
        return None
    finally:
        link.close()
        os.close(folder)


def _judged_here(parts: Sequence[bytes], event: bytes) -> int:
    """The same decision, made by this process; and the resident one is started for the next."""
    import threading

    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"  # as every command does
    from mcl.core.home import locate
    from mcl.plugins.agents.hook.answer import answer_once
    from mcl.plugins.agents.hook.resident import start

    found: list[HostAnswer | BaseException] = []

    def work() -> None:
        try:
            found.append(answer_once(locate(), parts, event))
        except BaseException as problem:  # noqa: BLE001 - told by the thread that waits
            found.append(problem)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(JUDGE_S)
    if not found:
        raise TimeoutError("no decision in time")
    if isinstance(answer := found[0], BaseException):
        raise answer
    code = _out(answer.out, answer.err, answer.exit)
    if not os.environ.get("MCL_NO_HELPER"):
        start(locate())
    return code


def _out(out: str, err: str, code: int) -> int:
    """Say it; a stream that nobody reads changes nothing about the exit code."""
    for stream, text in ((sys.stdout, out), (sys.stderr, err)):
        try:
            if text and stream is not None:
                stream.write(text if text.endswith("\n") else text + "\n")
                stream.flush()
        except (OSError, ValueError):
            continue
    return code


def _failed(verb: str, problem: BaseException) -> int:
    said = f"{type(problem).__name__}: {problem}".encode("ascii", "backslashreplace").decode()[:500]
    if isinstance(problem, ImportError):
        from mcl.core.distribution import install_line

        said += f"; install it again: {install_line()}"
    if verb == "pre":
        return _out("", f"INTERNAL: the call could not be judged, so it is refused ({said})", _BLOCK)
    return _out("{}", f"INTERNAL: the call could not be noted ({said})", 0)
