"""What may stand in the schema of a database: what the components of this program made, and nothing else.

A trigger or a view that somebody else put there would write or answer in our name. Triggers and indexes of
ours that are gone change no answer: they keep from mistakes, and make faster.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

VERSIONS: Final = (
    "CREATE TABLE IF NOT EXISTS components (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT"
)
_OBJECTS: Final = "SELECT type, name, tbl_name, sql FROM sqlite_schema"
_Object: TypeAlias = tuple[str, str, str, str | None]  # type, name, table, sql


class Schema:
    """The schema of the components that were met so far, built in memory as a file's is."""

    def __init__(self) -> None:
        self._like = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._like.execute(VERSIONS)
        self._met: dict[str, int] = {}  # component: how many of its steps
        self._known: dict[str, _Object] = {}

    def meet(self, component: str, steps: Sequence[str]) -> None:
        """A component whose tables are in the file."""
        if self._met.get(component) == len(steps):
            return
        for step in steps[self._met.get(component, 0) :]:
            for statement in statements(step):
                self._like.execute(statement)
        self._met[component] = len(steps)
        self._known = {one[1]: one for one in self._like.execute(_OBJECTS)}

    def flaw(self, there: Iterable[Sequence[Any]]) -> str:
        """What in the schema of a file is not as it was made, in words; "" for nothing. there: its objects
        (type, name, table, sql). What belongs to components that were not met is theirs to judge."""
        found = {str(name): (kind, str(name), table, sql) for kind, name, table, sql in there}
        tables = {name for name, (kind, *_) in self._known.items() if kind == "table"}
        shadows = tuple(f"{one[1]}_" for one in self._known.values() if _is_virtual(one))
        for name, made in self._known.items():
            if name.startswith(shadows or "\0") or name.startswith("sqlite_"):
                continue
            if name not in found and made[0] == "table":
                return f"the {made[0]} {name} is gone"
            if name in found and found[name] != made:
                return f"the {made[0]} {name} is not as it was made"
        for name, (kind, _, table, _) in found.items():
            if name in self._known or name.startswith("sqlite_"):
                continue
            if kind == "view" or (kind == "trigger" and table in tables):
                return f"the {kind} {name}" + ("" if kind == "view" else f" on {table}") + " is none of mcl's"
        return ""

    @staticmethod
    def objects(connection: sqlite3.Connection) -> list[_Object]:
        """What stands in the schema of a file."""
        return connection.execute(_OBJECTS).fetchall()


def statements(script: str) -> Iterator[str]:
    """The statements of a script; `executescript` would commit the transaction around it."""
    statement = ""
    for piece in script.split(";"):
        statement += piece + ";"
        if sqlite3.complete_statement(statement):
            if statement.strip(" \n;"):
                yield statement
            statement = ""


def _is_virtual(one: _Object) -> bool:
    return (one[3] or "").upper().startswith("CREATE VIRTUAL")
