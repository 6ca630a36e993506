"""The programs that mcl can be entered in: where each keeps its servers, in which form, and what is entered.

That is the command that starts mcl, and nothing that is secret.

Taken from their documentation of November 2026 (`docs`). A program that is not here takes the command and
arguments of any that is.
"""

from __future__ import annotations

import difflib
import json
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from executor.core.tables import table_beside
from mcl.core.environment import HOME
from mcl.core.errors import InputError

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
Folder = Literal["started", "variable", "named"]


@dataclass(frozen=True, slots=True)
class Host:
    """One program.

    file: of a user's own configuration, below the folder of the home; mac: where it lies elsewhere on macOS;
    moved: a variable that names the folder in which the file lies instead. key: the object in the file that
    holds the servers. extra: further fields of an entry. folder: is a server started in the folder that is
    worked in, can that be named by a variable (`variable`), or has it to be named once and for all? add: the
    program's own command for it, with ``{name}`` and ``{command}``.
    """

    name: str
    title: str
    file: str
    key: str
    docs: str
    format: Literal["json", "toml"] = "json"
    mac: str = ""
    moved: str = ""
    extra: Mapping[str, object] = field(default_factory=dict)
    folder: Folder = "named"
    variable: str = ""
    add: str = ""

    def place(self, home: Path, environment: Mapping[str, str]) -> Path:
        """The file. home: the user's own folder."""
        if self.moved and (moved := environment.get(self.moved)):
            return Path(moved).expanduser() / Path(self.file).name
        if self.mac and sys.platform == "darwin":
            return home / self.mac
        return home / self.file


HOSTS: Final = tuple(Host(name, **fields) for name, fields in table_beside(__file__).items())


def host_named(name: str) -> Host:
    """The program of this name.

    Raises:
        InputError: HOST_UNKNOWN.
    """
    known = {host.name: host for host in HOSTS}
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    raise InputError(
        "HOST_UNKNOWN",
        f"{name[:80]!a} is no program that is known here{f'; {near[0]} is' if near else ''}",
        place="--host",
        fix=f"one of {', '.join(known)}; others take the command that any of these is given",
    )


@dataclass(frozen=True, slots=True)
class HostEntry:
    """The entry of one server in one program. name: what it is called there."""

    host: Host
    name: str
    command: str
    args: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def value(self) -> dict[str, object]:
        """The entry as the program's file has it."""
        value: dict[str, object] = {**self.host.extra, "command": self.command, "args": list(self.args)}
        return {**value, "env": dict(self.env)} if self.env else value

    @property
    def snippet(self) -> str:
        """The whole of a file that has nothing else."""
        if self.host.format == "toml":
            return self.table
        return json.dumps({self.host.key: {self.name: self.value}}, ensure_ascii=False, indent=2) + "\n"

    @property
    def table(self) -> str:
        head = f"[{self.host.key}.{self.name}]"
        lines = [head, *(f"{key} = {_toml(value)}" for key, value in self.value.items() if key != "env")]
        if self.env:
            lines += [
                "",
                f"{head[:-1]}.env]",
                *(f"{key} = {_toml(value)}" for key, value in self.env.items()),
            ]
        return "\n".join(lines) + "\n"

    @property
    def by_command(self) -> str:
        """The program's own command that enters it, "" where it has none that could."""
        if not self.host.add or self.env:
            return ""
        return self.host.add.format(name=self.name, command=shlex.join((self.command, *self.args)))


def entry_for(host: Host, name: str, *, workspace: Path | None, environment: Mapping[str, str]) -> HostEntry:
    """The entry for a program.

    Args:
        workspace: the folder that tools work in; None: what is worked in there, where the program says what
            that is, else the current folder. environment: MCL_HOME is taken from it, where it is set.

    Raises:
        InputError: BAD_NAME.
    """
    if not _NAME.fullmatch(name):
        fix = "letters, digits, _ and -, 64 at most"
        raise InputError("BAD_NAME", f"{name[:80]!a} is no name for a server", place="--name", fix=fix)
    command, *first = command_of_mcl()
    args = [*first, "mcp", "serve"]
    if workspace is not None or host.folder == "named":
        args += ["--workspace", str((workspace or Path.cwd()).absolute())]
    elif host.folder == "variable":
        args += ["--workspace", host.variable]
    home = environment.get(HOME)
    env = {HOME: str(Path(home).expanduser().absolute())} if home else {}
    return HostEntry(host, name, command, tuple(args), env)


def command_of_mcl() -> list[str]:
    """The command of this installation, whatever the program's PATH will be."""
    here = Path(sys.executable).absolute()
    script = here.parent / "mcl"
    return [str(script)] if script.is_file() else [str(here), "-m", "mcl"]


def _toml(value: object) -> str:
    """A text or a list of texts; what JSON writes of these is TOML too, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
