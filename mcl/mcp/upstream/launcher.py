"""Runs one server as a child, and ends it with all that it started: when told to, or when we are gone.

Run as a program of its own (``python -I -S launcher.py LIFE LOCALE PROGRAM ARGUMENTS…``), with nothing but
the standard library. LIFE is the reading end of a pipe whose other end only the owner holds: when the owner
ends in whatever way, the kernel closes it. LOCALE says whether the server is meant to have LC_CTYPE, which
Python adds to an environment without a locale.

What the server starts and leaves behind becomes a child of this process (Linux), so that nothing outlives it.
"""

import os
import select
import signal
import sys
import time

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h
_GRACE = 1.0  # seconds between the polite signal and the final one
_LAST = 5.0  # seconds until what cannot be killed is left


def main() -> None:
    """Start the server, wait for its end or the owner's, leave nothing behind."""
    life, keeps_locale, command = int(sys.argv[1]), sys.argv[2] == "1", sys.argv[3:]
    os.set_inheritable(life, False)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    told_to_end: list[int] = []
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(name, lambda number, _: told_to_end.append(number))
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    server = os.fork()
    if server == 0:
        _become(command, keeps_locale)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # held open here, they would never end for the owner
        os.dup2(nothing, stream)
    status: int | None = None
    waiting = select.poll()  # select knows no descriptor above 1023, and an owner may have as many
    for end in (life, woken):
        waiting.register(end, select.POLLIN)
    while status is None and not told_to_end:
        if any(end == life for end, _ in waiting.poll()):
            break
        os.read(woken, 4096)
        status = _reap(server)
    _end_all(server)
    os._exit(status if status is not None else 143)


def _become(command: list[str], keeps_locale: bool) -> None:
    try:
        os.setsid()
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        for name in ("SIGCHLD", "SIGTERM", "SIGINT", "SIGHUP", "SIGPIPE", "SIGXFSZ"):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        environment = {
            name: value for name, value in os.environ.items() if keeps_locale or name != "LC_CTYPE"
        }
        os.execve(command[0], command, environment)  # noqa: S606  # a program and its arguments, no shell
    except OSError as problem:
        os.write(2, f"{command[0]} could not be started: {problem.strerror}\n".encode())
    finally:
        os._exit(127)


def _reap(server: int) -> int | None:
    """Take leave of those that ended; the exit status of the server, if it is one of them."""
    found = None
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if ended == 0:
            return found
        if ended == server:
            code = os.waitstatus_to_exitcode(status)
            found = code if code >= 0 else 128 - code


def _end_all(server: int) -> None:
    begun = time.monotonic()
    polite = True
    while (left := _left(server)) and (spent := time.monotonic() - begun) < _LAST:
        if polite or spent >= _GRACE:
            for one in left:
                _signal(one, signal.SIGTERM if polite else signal.SIGKILL)
            polite = False
        time.sleep(0.01)
        _reap(server)


def _left(server: int) -> list[int]:
    """Every process below this one."""
    below: dict[int, list[int]] = {}
    try:
        names = [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208  # no pathlib: it is slow
    except OSError:  # no Linux: the group of the server is all that is known
        return [-server] if _signal(-server, 0) else []
    for name in names:
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                state, parent = file.read().rpartition(b")")[2].split()[:2]
        except (OSError, ValueError):
            continue  # it ended meanwhile
        if state not in (b"Z", b"X"):
            below.setdefault(int(parent), []).append(int(name))
    found, next_ = [], [os.getpid()]
    while next_:
        next_ = [child for one in next_ for child in below.get(one, [])]
        found += next_
    return found


def _signal(process: int, number: int) -> bool:
    try:
        if process < 0:
            os.killpg(-process, number)
        else:
            os.kill(process, number)
    except OSError:
        return False
    return True


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main()
