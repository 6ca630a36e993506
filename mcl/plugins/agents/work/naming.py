"""Which work a message to an agent names: the owners of a path, and what can be selected.

Found by an index beside the leases, so that not every signed document is read. It decides nothing: what is
named first was read and checked as it was signed, and whether a file may be written is not asked here.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from executor.core.errors import HomeError
from executor.store.home import Home
from ir import MclError
from mcl.plugins.agents.work.item import WorkItem
from mcl.plugins.agents.work.store import COMPONENT, Work

if TYPE_CHECKING:
    from executor.core.globs import Scope

MOST: Final = 21  # that are named; of more it is only told that they are there
_DONE: Final = "SELECT 1 FROM journal WHERE intent = ? AND kind = 'intent.attest' LIMIT 1"


def owners(home: Home, work: Work, root: Path, path: str) -> tuple[str, ...]:
    """The labels of work that is not done and may change a path; MOST at most."""
    fitting = (label for label, scope in _scopes(_patterns(home, work, root)) if scope.matches(path))
    return _named(home, work, root, fitting, lambda one: one.checkout_scope.matches(path))


def selectable(home: Home, work: Work, root: Path) -> tuple[str, ...]:
    """The labels of work that is neither done nor blocked; MOST at most."""
    return _named(home, work, root, iter(work.labels(root)), lambda one: one.status != "BLOCKED")


def note_patterns(
    connection: sqlite3.Connection, root: str, row: str, patterns: Mapping[str, tuple[str, ...]]
) -> None:
    """Keep the patterns of a folder's work, by label. row: of the journal, which says what counts there."""
    said = _written(patterns)
    connection.execute("INSERT OR REPLACE INTO work_patterns VALUES (?, ?, ?)", (root, row, said))


def _named(
    home: Home, work: Work, root: Path, labels: Iterator[str], holds: Callable[[WorkItem], bool]
) -> tuple[str, ...]:
    ids, found = work.labels(root), list[str]()
    for label in labels:
        if len(found) == MOST:
            break
        if home.db.read(_DONE, (ids.get(label, ""),)):
            continue
        with suppress(MclError):  # what cannot be believed is not named
            item = work.item(root, label)
            if item is not None and item.status != "DONE" and holds(item):
                found.append(label)
    return tuple(found)


def _patterns(home: Home, work: Work, root: Path) -> str:
    """The patterns of a folder's work, as they are kept; read from what was signed where those are of another
    import."""
    sql = "SELECT patterns FROM work_patterns JOIN work_roots USING (root, row) WHERE root = ?"
    for (said,) in home.db.read(sql, (str(root),)):
        return str(said)
    rows = home.db.read("SELECT row FROM work_roots WHERE root = ?", (str(root),))
    made = {one.label: one.scope for one in work.items(root)}
    with suppress(HomeError), home.db.write(COMPONENT) as connection:  # it is found without it, too
        for (row,) in rows:
            note_patterns(connection, str(root), row, made)
    return _written(made)


def _written(patterns: Mapping[str, tuple[str, ...]]) -> str:
    return json.dumps(dict(patterns), ensure_ascii=True)


@lru_cache(maxsize=4)
def _scopes(said: str) -> tuple[tuple[str, Scope], ...]:
    """The scope of each label; none where nothing can be made of what is kept."""
    from executor.core.globs import Scope
    from mcl.plugins.agents.file.rules import Patterns

    read = Patterns()
    try:
        return tuple((label, Scope(read.good(tuple(texts)))) for label, texts in json.loads(said).items())
    except (AttributeError, TypeError, ValueError):
        return ()
