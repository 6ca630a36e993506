"""What stands in a program's configuration: the command that starts mcl, and nothing that is secret."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mcl.core.environment import HOME
from mcl.core.errors import InputError
from mcl.serve.install.hosts import Host

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Entry:
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
        """The entry as TOML."""
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


def entry_for(host: Host, name: str, *, workspace: Path | None, environment: Mapping[str, str]) -> Entry:
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
    return Entry(host, name, command, tuple(args), env)


def command_of_mcl() -> list[str]:
    """The command of this installation, whatever the program's PATH will be."""
    here = Path(sys.executable).absolute()
    script = here.parent / "mcl"
    return [str(script)] if script.is_file() else [str(here), "-m", "mcl"]


def _toml(value: object) -> str:
    """A text or a list of texts; what JSON writes of these is TOML too, but for DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
