"""What another home governs: there an unattended one signs and runs nothing."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from executor.store.home import Home
from mcl.core.home import own_place
from mcl.usecases.authority.door import DoorError


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
