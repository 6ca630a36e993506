"""Calls that were let through and have not come back: what is known of them when they do.

The host tells of a call before it is made and after, to two processes that share nothing but the home.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

from executor.core.clock import instant
from executor.sandbox.paths import Workspace
from executor.store.home import Home

_TABLES: Final = (
    """
    CREATE TABLE agent_calls (
        key TEXT PRIMARY KEY, root TEXT NOT NULL, agent TEXT NOT NULL, intent TEXT NOT NULL,
        label TEXT NOT NULL, tool TEXT NOT NULL, node TEXT NOT NULL, dirty TEXT NOT NULL, at TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    """,
)
_FORGOTTEN: Final = timedelta(days=1)  # a call that never came back failed, or was declined


@dataclass(frozen=True, slots=True)
class Pending:
    """A call that may be made now. intent, label: under which; node: what its before-images are called;
    dirty: of a shell, what git said of the folder before, None of other calls."""

    root: str
    agent: str
    intent: str
    label: str
    tool: str
    node: str
    dirty: Mapping[str, Any] | None = field(default=None, repr=False)


class PendingCalls:
    """The pending calls of a home."""

    def __init__(self, home: Home) -> None:
        self._home = home
        home.db.migrate("agent_hooks", _TABLES)

    def put(self, key: str, call: Pending) -> None:
        """Remember a call; one of the same key is forgotten. Raises HomeError."""
        now = self._home.clock.now()
        dirty = json.dumps(call.dirty)
        row = (key, call.root, call.agent, call.intent, call.label, call.tool, call.node, dirty, now)
        old = instant(datetime.fromisoformat(now) - _FORGOTTEN)
        with self._home.db.write("agent_hooks") as connection:
            connection.execute("DELETE FROM agent_calls WHERE at < ?", (old,))
            connection.execute("INSERT OR REPLACE INTO agent_calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def take(self, key: str, agent: str) -> Pending | None:
        """What is remembered of a call of this agent, once; None where it is nothing. Raises HomeError."""
        if not self._home.db.read("SELECT 1 FROM agent_calls WHERE key = ? AND agent = ?", (key, agent)):
            return None
        sql = "DELETE FROM agent_calls WHERE key = ? AND agent = ? RETURNING *"
        with self._home.db.write("agent_hooks") as connection:
            rows = connection.execute(sql, (key, agent)).fetchall()
        if not rows:
            return None
        _, root, who, intent, label, tool, node, dirty, _ = rows[0]
        return Pending(root, who, intent, label, tool, node, json.loads(dirty))


# ---- A governed folder, opened so that nothing outside it can be reached.


@contextmanager
def opened(root: Path, home: Home) -> Iterator[Workspace]:
    """The folder as a workspace to which the home is closed. Raises ScopeError."""
    workspace = Workspace(root, forbidden=[home.path])
    try:
        yield workspace
    finally:
        workspace.close()
