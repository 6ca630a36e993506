"""What lies in a folder, so that two looks at it can be compared: whoever changed it, and by whatever way."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

Snapshot: TypeAlias = Mapping[str, str]  # path below the folder -> what is there

_BESIDE_A_DATABASE = ("-wal", "-shm", "-journal")


def look(folder: Path) -> Snapshot:
    """Every file, folder and link below a folder; no link is followed. "" is the folder itself."""
    found: dict[str, str] = {}
    for here, folders, files in os.walk(folder):
        for name in (*folders, *files):
            place = Path(here, name)
            found[str(place.relative_to(folder))] = _told(place)
    return found


def look_at_home(folder: Path) -> Snapshot:
    """As ``look``, of a home of mcl: of a database its rows count, not its bytes; an empty table is none."""
    found: dict[str, str] = {}
    for path, told in look(folder).items():
        if path.endswith(".db"):
            found |= {f"{path}:{table}": rows for table, rows in _tables(folder / path).items()}
        elif not path.endswith(_BESIDE_A_DATABASE) and told != "folder":
            found[path] = told
    return found


def changes(before: Snapshot, after: Snapshot) -> tuple[str, ...]:
    """The paths at which two looks differ, sorted."""
    return tuple(sorted(path for path in {*before, *after} if before.get(path, "") != after.get(path, "")))


def _told(place: Path) -> str:
    status = place.lstat()
    if stat.S_ISLNK(status.st_mode):
        return f"link to {place.readlink()}"
    if stat.S_ISDIR(status.st_mode):
        return "folder"
    mode = f"{stat.S_IMODE(status.st_mode):o}"
    if not stat.S_ISREG(status.st_mode):
        return f"special {mode}"
    return f"file {mode} {hashlib.sha256(place.read_bytes()).hexdigest()}"


def _tables(place: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    with closing(sqlite3.connect(f"file:{place}?mode=ro", uri=True)) as database:
        names = database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            " AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"  # their rows lie in tables of their own
        ).fetchall()
        for (name,) in names:
            quoted = '"' + name.replace('"', '""') + '"'
            rows = database.execute(f"SELECT * FROM {quoted}").fetchall()  # noqa: S608  # names of its own
            if rows:
                found[name] = hashlib.sha256(repr(sorted(map(repr, rows))).encode()).hexdigest()
    return found
