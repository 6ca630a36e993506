"""Calls of agents that are refused again and again: whoever repeats itself is told so, in any process."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from executor.home import Home
from mcl.agents.writes.table import TABLES

MOST: Final = 3  # times that the very same call is judged and refused
FORGOTTEN: Final = timedelta(seconds=60)  # after which it is judged again
_KEPT: Final = 4096  # calls of a home


class Denials:
    """The calls of agents that were refused lately in this home."""

    def __init__(self, home: Home) -> None:
        self._db = home.db
        self._db.migrate("agent_writes", TABLES)

    def note(self, agent: str, root: Path, key: str, code: str, at: str, *, lease: str = "") -> int:
        """This call was refused; how often by now.

        Args:
            key: the same for the same call, such as a hash of tool and arguments. code: with which it was
                refused. at: the moment now. lease: what the agent holds, such as the ULID of its intent;
                a call that was refused under another one counts as new.

        Raises:
            HomeError.
        """
        with self._db.write("agents") as connection:
            times = self._times(agent, root, key, at, lease)[0] + 1
            made = connection.execute(
                "INSERT OR REPLACE INTO agent_denials (root, agent, key, lease, code, times, at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (str(root), agent, key, lease, code, times, at),
            )
            connection.execute(
                "DELETE FROM agent_denials WHERE number <= ?", ((made.lastrowid or 0) - _KEPT,)
            )
        return times

    def open(self, agent: str, root: Path, key: str, at: str, *, lease: str = "") -> str | None:
        """The code with which a call was refused MOST times lately; None: judge it. Raises HomeError."""
        times, code = self._times(agent, root, key, at, lease)
        return code if times >= MOST else None

    def _times(self, agent: str, root: Path, key: str, at: str, lease: str) -> tuple[int, str]:
        sql = "SELECT times, code, at, lease FROM agent_denials WHERE root = ? AND agent = ? AND key = ?"
        found = self._db.read(sql, (str(root), agent, key))
        if not found or found[0][3] != lease:
            return 0, ""
        times, code, last, _ = found[0]
        age = datetime.fromisoformat(at) - datetime.fromisoformat(str(last))
        return (int(times), str(code)) if timedelta() <= age < FORGOTTEN else (0, "")
