"""The door of the command line: what is a person's, a person does, at a terminal and below no agent's host.

A home that was made for programs (`mcl init --unattended`) has no such door. The library has none either:
whoever calls it is a person's own program.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

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
        fix="give the command yourself, in a terminal of your own; for scripts and tests there are homes "
        "that are made by mcl init --unattended",
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
    from mcl.usecases.authority.hosts import agent_host, processes_above

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
