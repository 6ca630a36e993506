"""Calls that are refused again and again: of one run, and of agents in any process of a home."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from executor.core.hashing import json_hash

if TYPE_CHECKING:
    from executor.store.home import Home

MOST: Final = 3  # times that the very same call is refused before its caller is told to stop; of runs too
FORGOTTEN: Final = timedelta(seconds=60)  # after which it usually counts anew
_KEPT: Final = 4096  # calls of a home
# number: grows with each note, so that the oldest can go. lease: what the agent held then, "" nothing.
_TABLES: Final = (
    """
    CREATE TABLE refused_calls (
        number INTEGER PRIMARY KEY AUTOINCREMENT, root TEXT NOT NULL, agent TEXT NOT NULL, key TEXT NOT NULL,
        lease TEXT NOT NULL, code TEXT NOT NULL, times INTEGER NOT NULL, at TEXT NOT NULL,
        UNIQUE (root, agent, key)
    ) STRICT;
    """,
)

# With which a call is refused for its file or for what is checked out: the same at every door.
SHARED: Final = frozenset({"NO_INTENT_DECLARED", "OUT_OF_SCOPE", "PROTECTED_PATH", "STALE_FILE"})


def same_call(tool: str, args: Mapping[str, object], file: str, saw: str | None) -> str:
    """The key of a call, whichever door it comes by.

    Args:
        tool: as our server names it, such as mcl:fs/write or github:create_issue. args: without the path of
            its file, and without `base`; what is false or null counts as left out. file: relative to the
            governed folder, "" where it names none. saw: sha256 (hex) of the version that its agent knows:
            who reads the file again makes another call.
    """
    given = {name: value for name, value in args.items() if value is not None and value is not False}
    return json_hash([tool, given, file, saw])


class RunBreaker:
    """The calls of one run that were refused."""

    def __init__(self) -> None:
        self._times: Counter[str] = Counter()

    def note(self, key: str) -> None:
        """The call of this key was refused."""
        self._times[key] += 1

    def open(self, key: str) -> bool:
        """Whether it was refused too often to be tried again."""
        return self._times[key] >= MOST


class Breaker:
    """The calls of agents that were refused lately in this home: one that comes again and again is cut
    short.

    forgets: after which a call counts anew.
    """

    def __init__(self, home: Home, *, forgets: timedelta = FORGOTTEN) -> None:
        self._db, self._forgets = home.db, forgets
        self._db.migrate("breaker", _TABLES)

    def note(self, agent: str, root: Path | str, key: str, code: str, at: str, *, lease: str = "") -> int:
        """This call was refused; how often by now.

        Args:
            agent: "" where all count together. root: the governed folder that it was made in, "" where none
                governs. key: the same for the same
                call, such as a hash of tool and arguments. code: with which it was
                refused. at: the moment now. lease: what the agent holds, such as the ULID of its intent;
                a call that was refused under another one counts as new.

        Raises:
            HomeError.
        """
        with self._db.write("agents") as connection:
            times = self._times(agent, root, key, at, lease)[0] + 1
            made = connection.execute(
                "INSERT OR REPLACE INTO refused_calls (root, agent, key, lease, code, times, at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (str(root), agent, key, lease, code, times, at),
            )
            connection.execute(
                "DELETE FROM refused_calls WHERE number <= ?", ((made.lastrowid or 0) - _KEPT,)
            )
        return times

    def repeated(
        self, agent: str, root: Path | str, key: str, code: str, at: str, *, lease: str = ""
    ) -> str | None:
        """The code with which this call, just refused again, was refused MOST times lately. None: it was not,
        and this refusal is noted. The arguments are those of `note`. Raises HomeError."""
        before = self.open(agent, root, key, at, lease=lease)
        if before is None:
            self.note(agent, root, key, code, at, lease=lease)
        return before

    def open(self, agent: str, root: Path | str, key: str, at: str, *, lease: str = "") -> str | None:
        """The code with which a call was refused MOST times lately; None: not so often. Raises HomeError."""
        times, code = self._times(agent, root, key, at, lease)
        return code if times >= MOST else None

    def _times(self, agent: str, root: Path | str, key: str, at: str, lease: str) -> tuple[int, str]:
        sql = "SELECT times, code, at, lease FROM refused_calls WHERE root = ? AND agent = ? AND key = ?"
        found = self._db.read(sql, (str(root), agent, key))
        if not found or found[0][3] != lease:
            return 0, ""
        times, code, last, _ = found[0]
        age = datetime.fromisoformat(at) - datetime.fromisoformat(str(last))
        return (int(times), str(code)) if timedelta() <= age < self._forgets else (0, "")
