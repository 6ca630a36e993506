"""The door of the command line: what is a person's, a person does, at a terminal and below no agent's host.

A home that was made for programs (`mcl init --unattended`) has no such door. The library has none either:
whoever calls it is a person's own program.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from executor.core.errors import ToolError
from executor.core.tables import table_beside
from executor.store.home import Home
from ir import MclError
from ir.errors import REFUSED
from mcl.core.environment import HOME
from mcl.core.home import own_place

TURNED_AWAY: Final = "record.person.refused"
TERMINAL: Final = "/dev/tty"


class DoorError(MclError):
    """A person's command, and nobody shows that a person gives it; `place` is the command."""

    exit_code = REFUSED


def require_person(command: str) -> None:
    """Let a person's command pass, and nobody else's. What is refused stands in the journal of the home.

    command: as it is told, such as `mcl gate approve`. Raises DoorError PERSON_ONLY; HomeError, KeyringError.
    """
    why = nobody_here()
    if not why:
        return
    home = _home()
    if home is not None and home.unattended:
        return
    if home is not None:
        with suppress(MclError):  # of a sealed key, above all; it is refused all the same
            home.journal.record(TURNED_AWAY, {"command": command, "why": why})
    raise DoorError(
        "PERSON_ONLY",
        f"only a person does this, and {why}",
        place=command,
        fix="give the command yourself, in a terminal of your own; scripts and tests use a home of their "
        "own, which MCL_HOME=./other mcl init --unattended makes",
    )


def require_own_place(command: str) -> None:
    """Keep an agent from making the home of its person an unattended one. Raises DoorError PERSON_ONLY."""
    if not os.environ.get(HOME) and (above := below_agent()):
        raise DoorError(
            "PERSON_ONLY",
            f"it would make the home of the person, and {above}",
            place=command,
            fix="name a folder for it: MCL_HOME=./here mcl init --unattended",
        )


def may_answer(home: Home) -> bool:
    """Whether what is read here may count as a person's answer."""
    return not nobody_here() or home.unattended


def nobody_here() -> str:
    """Why nothing shows that a person is at this process, in words; "" where one is."""
    if above := below_agent():
        return above
    return "" if _at_terminal() else "there is no terminal here"


def below_agent() -> str:
    """What shows that an agent's host is above this process, in words; "" where nothing does."""

    return agent_host(os.environ, processes_above())


def _at_terminal() -> bool:
    """Whether this process has a controlling terminal, and takes its input from it or tells its errors there.

    A document may come through a pipe, and errors may go into a file; of a person both do not.
    """
    try:
        device = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    os.close(device)
    return any(_is_terminal(stream) for stream in (0, 2))


def _is_terminal(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor) and stat.S_ISCHR(os.fstat(descriptor).st_mode)
    except OSError:
        return False


def _home() -> Home | None:
    """The home of this process, where there is one."""
    from mcl.core.home import locate, open_home

    return open_home() if (locate() / "mcl.db").exists() else None


# ---- What another home governs: there an unattended one signs and runs nothing.


def require_not_governed_elsewhere(home: Home, root: Path) -> None:
    """Keep an unattended home from signing or running anything in a folder that the person's own governs.

    Only the home at the platform's place is known to others; one that MCL_HOME names is not found from here.
    Raises DoorError GOVERNED_ELSEWHERE.
    """
    other = own_place()
    if not home.unattended or os.path.realpath(other) == os.path.realpath(home.path):
        return
    real = Path(os.path.realpath(root))
    for governed in map(Path, _roots(other / "mcl.db")):
        if real.is_relative_to(governed) or governed.is_relative_to(real):
            raise DoorError(
                "GOVERNED_ELSEWHERE",
                f"work in {governed} is signed in {other}, where an unattended home counts for nothing",
                place=str(root),
                fix="a person does it with that home, without MCL_HOME",
            )


def _roots(database: Path) -> list[str]:
    if not database.exists():
        return []
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=5)) as connection:
            return [str(root) for (root,) in connection.execute("SELECT root FROM work_roots")]
    except sqlite3.Error:  # nothing was signed there, or nobody can tell what
        return []


# ---- Whether this process runs below a program that lets agents run commands, by `hosts.toml`.
#
# A process that means to hide can: it starts anew below another parent, with other variables. This tells
# apart the honest ones, not whoever has a person's rights and means harm.


_ENDS: Final = (".js", ".mjs", ".cjs", ".ts", ".py", ".exe", ".sh")
_INTERPRETER: Final = re.compile(r"node|nodejs|bun|deno|npx|tsx|uvx?|python[0-9.]*|(ba|da|z)?sh")
_DEEPEST: Final = 64  # parents
_LONGEST: Final = 1 << 20  # bytes of a process's variables
_LONGEST_LIST: Final = 16 << 20  # bytes of what ps says


@dataclass(frozen=True, slots=True)
class Process:
    """A process: its words, other names, and the variables it was started with, where they may be seen."""

    words: tuple[str, ...]
    names: tuple[str, ...] = ()
    variables: Mapping[str, str] | None = None


def agent_host(environment: Mapping[str, str], parents: Sequence[Process]) -> str:
    """What shows that an agent's host is above, in words; "" where nothing does."""
    if found := _by_variable(environment):
        return f"{found[0]} sets {found[1]}"
    for process in parents:
        if name := _by_program(process):
            return f"{name} is above this process"
        if found := _by_variable(process.variables or {}):
            return f"{found[0]} set {found[1]} for a process above this one"
    return ""


def processes_above() -> tuple[Process, ...]:
    """The parents of this process, the nearest first, as far as the system tells."""
    if not Path("/proc/self/stat").exists():
        return tuple(_told_by_ps())
    found, pid = list[Process](), os.getppid()
    while pid > 0 and len(found) < _DEEPEST:  # in a container the host may be the first of all
        place = Path("/proc") / str(pid)
        try:
            # The name stands in brackets, and may hold any character: what follows is behind the last one.
            pid = int((place / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
            found.append(_process(place))
        except (OSError, ValueError, IndexError):
            break
    return tuple(found)


def _process(place: Path) -> Process:
    words = _words(place / "cmdline")
    names = [(place / "comm").read_text(errors="replace").strip()]
    with suppress(OSError):
        names.append(os.readlink(place / "exe").removesuffix(" (deleted)"))  # noqa: PTH115
    variables = dict(one.split("=", 1) for one in _words(place / "environ") if "=" in one)
    return Process(words, tuple(names), variables)


def _words(place: Path) -> tuple[str, ...]:
    with suppress(OSError), place.open("rb") as file:
        return tuple(one.decode(errors="replace") for one in file.read(_LONGEST).split(b"\0"))
    return ()


def _told_by_ps() -> Iterator[Process]:
    """The same where there is no /proc."""
    from executor.sandbox.process import run_command
    from mcl.core.event_loop import at_once

    listing = ["/bin/ps", "-A", "-o", "pid=,ppid=,command="]
    with suppress(OSError, ValueError, ToolError):
        ran = at_once(
            lambda: run_command(
                listing, cwd=Path("/"), environment={}, max_output=_LONGEST_LIST, alone=True, seconds=5
            )
        )
        rows = [line.split(None, 2) for line in ran.out.decode(errors="replace").splitlines()]
        table = {row[0]: (row[1], row[2]) for row in rows if len(row) == 3}
        pid = str(os.getppid())
        while pid in table and pid != "1":
            pid, command = table.pop(pid)
            yield Process(tuple(command.split()))


def _by_variable(variables: Mapping[str, str]) -> tuple[str, str] | None:
    for name, row in table_beside(__file__, "hosts").items():
        for one in row.get("variables", ()):
            variable, sign, value = one.partition("=")
            if variables.get(variable) and (not sign or variables[variable] == value):
                return name, variable
    return None


def _by_program(process: Process) -> str:
    names = {_stem(one) for one in (*process.words[:1], *process.names)}
    program = ""
    if any(_INTERPRETER.fullmatch(one) for one in names):  # its first word that is no option is the program
        program = next((word for word in process.words[1:] if word and not word.startswith("-")), "")
        names.add(_stem(program))
    folders = f"{program}\0{process.words[0] if process.words else ''}"
    for name, row in table_beside(__file__, "hosts").items():
        if names & set(row.get("programs", ())):
            return name
        if any(f"node_modules/{package}/" in folders for package in row.get("packages", ())):
            return name
    return ""


def _stem(path: str) -> str:
    name = PurePosixPath(path).name
    return next((name.removesuffix(end) for end in _ENDS if name.endswith(end)), name)
