"""`mcl intents map`: the files of a folder, each with the intents under which it was changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from executor.core.errors import ScopeError
from executor.store.home import Home
from mcl.core.home import open_home
from mcl.plugins.agents.trace.folder import opened_folder
from mcl.plugins.agents.trace.map import read_map
from mcl.plugins.agents.trace.trace import Trace
from mcl.plugins.agents.work.root import find_root
from mcl.plugins.agents.work.store import Work


@dataclass(frozen=True)
class WorkMap:
    """By file, relative to root, the labels of the intents under which it was changed; both in order."""

    root: Path
    files: Mapping[str, tuple[str, ...]]

    def to_json(self) -> dict[str, object]:
        """As a JSON object."""
        return {"root": str(self.root), "files": {path: list(labels) for path, labels in self.files.items()}}


def map_work(*, root: Path | None = None, home: Home | None = None) -> WorkMap:
    """What the map in the folder says, and what this home knows besides.

    root: a folder in it (default: this one).
    Raises ScopeError where the map is no plain file, HomeError.
    """
    home = home or open_home()
    found = find_root(Work(home), root or Path.cwd())
    known: dict[str, set[str]] = {}
    try:
        with opened_folder(found) as folder:
            for path, labels in read_map(folder).items():
                known.setdefault(path, set()).update(labels)
    except ScopeError as problem:
        if problem.code != "NOT_FOUND":
            raise
    for path, label in Trace(home, found).pairs():
        known.setdefault(path, set()).add(label)
    return WorkMap(found, {path: tuple(sorted(known[path])) for path in sorted(known)})
