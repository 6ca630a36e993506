"""Whether this process runs below a program that lets agents run commands, by `hosts.toml`.

A process that means to hide can: it starts anew below another parent, with other variables. This tells apart
the honest ones, not whoever has a person's rights and means harm.
"""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Final

_ENDS: Final = (".js", ".mjs", ".cjs", ".ts", ".py", ".exe", ".sh")
_INTERPRETER: Final = re.compile(r"node|nodejs|bun|deno|npx|tsx|uvx?|python[0-9.]*|(ba|da|z)?sh")
_DEEPEST: Final = 64  # parents
_LONGEST: Final = 1 << 20  # bytes of a process's variables


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
    with suppress(OSError, ValueError, subprocess.SubprocessError):
        said = subprocess.run(
            ["/bin/ps", "-A", "-o", "pid=,ppid=,command="], capture_output=True, text=True, timeout=5
        ).stdout
        table = {
            one[0]: (one[1], one[2]) for line in said.splitlines() if len(one := line.split(None, 2)) == 3
        }
        pid = str(os.getppid())
        while pid in table and pid != "1":
            pid, command = table.pop(pid)
            yield Process(tuple(command.split()))


def _by_variable(variables: Mapping[str, str]) -> tuple[str, str] | None:
    for name, row in _table().items():
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
    for name, row in _table().items():
        if names & set(row.get("programs", ())):
            return name
        if any(f"node_modules/{package}/" in folders for package in row.get("packages", ())):
            return name
    return ""


def _stem(path: str) -> str:
    name = PurePosixPath(path).name
    return next((name.removesuffix(end) for end in _ENDS if name.endswith(end)), name)


@cache
def _table() -> Mapping[str, Mapping[str, Sequence[str]]]:
    return tomllib.loads(files(__package__).joinpath("hosts.toml").read_text("utf-8"))
