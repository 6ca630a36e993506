"""Which version of a file an agent last read or wrote, so that a write over a newer one is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from executor.store.home import Home
from mcl.plugins.agents.writes.table import TABLES

_KEPT: Final = 1 << 16  # notes of a home


class Seen:
    """The versions that the agents of a home saw."""

    def __init__(self, home: Home) -> None:
        self._db = home.db
        self._db.migrate("agent_writes", TABLES)

    def note(self, root: Path, agent: str, path: str, sha256: str | None) -> None:
        """This agent read or wrote this version. path: relative to root. sha256: hex; None: no file is there.

        Raises HomeError.
        """
        if self.of(root, agent, path) == sha256:
            return
        with self._db.write("agents") as connection:
            if sha256 is None:
                connection.execute(
                    "DELETE FROM agent_seen WHERE root = ? AND agent = ? AND path = ?",
                    (str(root), agent, path),
                )
                return
            made = connection.execute(
                "INSERT OR REPLACE INTO agent_seen (root, agent, path, sha256) VALUES (?, ?, ?, ?)",
                (str(root), agent, path, sha256),
            )
            connection.execute("DELETE FROM agent_seen WHERE number <= ?", ((made.lastrowid or 0) - _KEPT,))

    def of(self, root: Path, agent: str, path: str) -> str | None:
        """sha256 (hex) of the file as this agent last saw it; None where it never did. Raises HomeError."""
        sql = "SELECT sha256 FROM agent_seen WHERE root = ? AND agent = ? AND path = ?"
        found = self._db.read(sql, (str(root), agent, path))
        return str(found[0][0]) if found else None
