"""The table of commands, `commands.toml`: which are a person's, which an agent's, which only show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from executor.core.tables import table_beside
from mcl.plugins.hooks import plugins

Who = Literal["person", "agent", "shows"]
As = Literal["", "own", "named", "host"]


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A row. path: such as `gate approve`; who, persons, as_: as the table says."""

    path: str
    who: Who
    persons: tuple[str, ...] = ()
    as_: As = ""

    def is_persons(self, options: Sequence[str] = ()) -> bool:
        """Whether only a person does it, given these options."""
        return self.who == "person" or any(one in self.persons for one in options)


@cache
def commands() -> Mapping[str, CommandEntry]:
    """All rows by their path, those of plug-ins too. Raises InputError PLUGIN_BROKEN."""
    rows = dict(table_beside(__file__, "commands")["commands"])
    for plugin in plugins():
        own = table_beside(f"{plugin.folder}/plugin", "commands")["commands"] if plugin.commands else {}
        for path, row in own.items():  # of its own commands alone: it says nothing of those of others
            if path not in rows and any(f"{path} ".startswith(f"{words} ") for words in plugin.commands):
                rows[path] = row
    return {
        path: CommandEntry(path, row["who"], tuple(row.get("persons", ())), row.get("as", ""))
        for path, row in rows.items()
    }


@cache
def plain_options() -> frozenset[str]:
    """The options with which what shows, or is an agent's own, writes no file."""
    return frozenset(table_beside(__file__, "commands")["plain_options"])


def command_in(words: Sequence[str]) -> CommandEntry | None:
    """The row of a command line without its program; None where it is of no command by its first words."""
    return next((row for count in (3, 2, 1) if (row := commands().get(" ".join(words[:count])))), None)
