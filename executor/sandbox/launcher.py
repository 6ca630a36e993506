"""Runs one program as a child, and ends it with all that it started: when it ends, when told to, or when the
owner is gone.

Run as a program of its own (``python -I -S launcher.py LIFE FLAGS PROGRAM ARGUMENTS…``), with nothing but
the standard library. LIFE is one end of a pipe or socket whose other end only the owner holds: when the owner
ends in whatever way, the kernel closes it. Where the program cannot be started, a socket is told why: the
number of the error. FLAGS are letters: ``l``, the program is meant to have LC_CTYPE, which Python adds to an
environment without a locale; ``r``, it may raise its rights (sudo and the like).

The program gets none of the capabilities with which the owner's variables and memory could be read, not even
as root.

What the program starts and leaves behind becomes a child of this process (Linux): nothing outlives it.
Ends with the program's status, or by the signal that ended it.
"""

import os
import select
import signal
import sys
import time

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36  # linux/prctl.h
_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL = 24, 38, 47, 4
_CAPABILITIES_V3 = 0x20080522  # linux/capability.h: two words of 32 bits a set
_PRYING = (19, 21, 38)  # CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_PERFMON: each reads /proc/PID/environ of others
_GRACE = 0.5  # seconds between the polite signal and the final one
_LAST = 5.0  # seconds until what cannot be killed is left


def main() -> None:
    """Start the program, wait for its end or the owner's, leave nothing behind."""
    life, flags, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    os.set_inheritable(life, False)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    told_to_end: list[int] = []
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(name, lambda number, _: told_to_end.append(number))
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _prctl(_PR_SET_DUMPABLE, 0)  # the program could open LIFE in /proc, and hold it open
    waiting = select.poll()  # select knows no descriptor above 1023, and an owner may have as many
    waiting.register(life, select.POLLIN)
    if waiting.poll(0):  # the owner has thought better of it
        os._exit(143)
    program = os.fork()
    if program == 0:
        _become(command, flags, life)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # held open here, they would never end for the owner
        os.dup2(nothing, stream)
    status: int | None = None
    waiting.register(woken, select.POLLIN)
    while status is None and not told_to_end:
        if any(end == life for end, _ in waiting.poll()):
            break
        os.read(woken, 4096)
        status, _ = _reap(program)
    _end_all(program)
    if status is not None and status < 0:
        if -status != signal.SIGKILL:  # which is nobody's to set
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status if status is not None and status >= 0 else 143)


def _become(command: list[str], flags: str, life: int) -> None:
    try:
        os.setsid()
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        for name in ("SIGCHLD", "SIGTERM", "SIGINT", "SIGHUP", "SIGPIPE", "SIGXFSZ"):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        environment = {
            name: value for name, value in os.environ.items() if "l" in flags or name != "LC_CTYPE"
        }
        _give_up(raises="r" in flags)
        os.execve(command[0], command, environment)  # noqa: S606  # a program and its arguments, no shell
    except OSError as problem:
        said = f"{command[0]} could not be started: {problem.strerror}\n"
        for end, words in ((2, said), (life, str(problem.errno))):
            try:  # noqa: SIM105  # contextlib costs every start some ms
                os.write(end, words.encode())
            except OSError:  # nobody reads it, or it is the reading end of a pipe
                pass
    finally:
        os._exit(127)


def _give_up(*, raises: bool) -> None:
    """Give up the capabilities that read other processes, for good: root gets them back with the next program
    that it starts, unless they leave the bounding set, or no program may raise rights."""
    if sys.platform != "linux":
        return
    import ctypes

    system = ctypes.CDLL(None)
    system.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    bound = [system.prctl(_PR_CAPBSET_DROP, one, 0, 0, 0) == 0 for one in _PRYING]
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable, twice
    if system.capget(header, sets) == 0:
        for one in _PRYING:
            for place in range(3):
                sets[3 * (one // 32) + place] &= ~(1 << one % 32)
        system.capset(header, sets)
    if not raises or (os.geteuid() == 0 and not all(bound)):
        system.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def _reap(program: int) -> tuple[int | None, bool]:
    """Take leave of those that ended: the program's exit status, if it is one (negative: a signal); and
    whether no process is left below this one."""
    status = None
    while True:
        try:
            ended, how = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            # On Linux what lost its parent is our child; elsewhere the group is all that is known.
            return status, sys.platform == "linux" or not _signal(program, 0)
        if ended == 0:
            return status, False
        if ended == program:
            status = os.waitstatus_to_exitcode(how)


def _end_all(program: int) -> None:
    begun = time.monotonic()
    asked: set[int] = set()
    while not _reap(program)[1] and (spent := time.monotonic() - begun) < _LAST:
        for group in _groups(program):
            if spent >= _GRACE or group not in asked:
                _signal(group, signal.SIGKILL if spent >= _GRACE else signal.SIGTERM)
            asked.add(group)
        time.sleep(0.01)


def _groups(program: int) -> set[int]:
    """The process groups of all below this process. A group is signalled in one piece: whoever forks all the
    time has another number by then, and still the same group."""
    below: dict[int, list[tuple[int, int]]] = {}
    try:
        known_here = os.readlink("/proc/self")  # noqa: PTH115  # no pathlib: it is slow
        names = [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    except OSError:  # no Linux, or it is not mounted
        return {program}
    if known_here != str(os.getpid()):  # it tells of other processes, by the same numbers
        return {program}
    for name in names:
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                parent, group = file.read().rpartition(b")")[2].split()[1:3]
        except (OSError, ValueError):
            continue  # it ended meanwhile
        below.setdefault(int(parent), []).append((int(name), int(group)))
    found = {program} if _is_child(program) else set()  # what hides from us (hidepid) is in no list
    next_ = [os.getpid()]
    while next_:
        children = [child for one in next_ for child in below.get(one, [])]
        found.update(group for _, group in children)
        next_ = [one for one, _ in children]
    return found - {os.getpgrp(), 0}


def _is_child(program: int) -> bool:
    """Is its number still its own?"""
    try:
        os.waitid(os.P_PID, program, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _signal(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except OSError:
        return False
    return True


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    main()
