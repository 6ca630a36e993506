"""How many bytes the store of before-images holds, without looking at each of its contents again.

Contents lie in 256 folders, and a folder's own time changes whenever a name in it comes or goes: so what was
counted in it once holds for as long as that time is the same, whoever adds, removes, or is killed meanwhile.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from executor.store.home import Home
from executor.walker.undo.store import ImageStore

_COMPONENT: Final = "undo_total"
_TABLES: Final = (
    """
    CREATE TABLE undo_folders (
        name TEXT PRIMARY KEY, changed INTEGER NOT NULL, bytes INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE undo_tried (one INTEGER PRIMARY KEY CHECK (one = 1), bytes INTEGER NOT NULL) STRICT;
    """,
)
# A file system's time stands still for some milliseconds: within them a name could come that does not show.
_SETTLED: Final = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Total:
    """What the store holds. bytes: of all contents. tried: how many were left when room was last made, 0
    where it never was. counted: folders that were counted anew, each with its time in ns and its bytes."""

    bytes: int
    tried: int = 0
    counted: Mapping[str, tuple[int, int]] = field(default_factory=dict, repr=False)

    def keep(self, connection: sqlite3.Connection) -> None:
        """Remember what was counted, with whatever else is written."""
        rows = [(name, *known) for name, known in self.counted.items()]
        connection.executemany("INSERT OR REPLACE INTO undo_folders VALUES (?, ?, ?)", rows)


def total(home: Home, store: ImageStore) -> Total:
    """Count what is in the store: only folders that are another than when they were counted last.

    Raises HomeError.
    """
    home.db.migrate(_COMPONENT, _TABLES)
    known = {name: (changed, size) for name, changed, size in home.db.read("SELECT * FROM undo_folders")}
    tried = home.db.read("SELECT bytes FROM undo_tried")
    now = datetime.fromisoformat(home.clock.now())
    settled = int((now - _SETTLED).timestamp()) * 1_000_000_000
    held, counted = 0, dict[str, tuple[int, int]]()
    for name, changed in store.folders():
        then, size = known.get(name, (-1, 0))
        if then != changed:
            size = sum(one for _, one in store.names(name))
            if changed < settled:
                counted[name] = (changed, size)
        held += size
    return Total(held, int(tried[0][0]) if tried else 0, counted)


def note_tried(home: Home, left: int) -> None:
    """So many bytes were left when room was made. Raises HomeError."""
    with home.db.write(_COMPONENT) as connection:
        connection.execute("INSERT OR REPLACE INTO undo_tried VALUES (1, ?)", (left,))
