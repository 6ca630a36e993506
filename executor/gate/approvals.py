"""Approvals: a person's signed answer to one question about one exact call, good once.

The answer is a ``policy.gate.resolve`` in the journal, signed by the user's key, whose ``answer`` is the
binding (claim.py). What is kept here besides is only which of them were used.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from executor.store.home import Home

APPROVE = "approve"
DENY = "deny"
IN_DOUBT = "matrix://rule/in-doubt"  # why a node is asked about after a crash; then a slash, and its key
_TABLES = [
    """CREATE TABLE approvals_used (
         gate TEXT PRIMARY KEY, intent TEXT NOT NULL, node TEXT NOT NULL, binding TEXT NOT NULL,
         used_at TEXT NOT NULL
       ) STRICT"""
]


class Approvals:
    """Which approvals of a home were used."""

    def __init__(self, home: Home) -> None:
        home.db.migrate("approvals", _TABLES)
        self._tables, self._clock = home.journal.tables, home.clock

    def used(self, gate: str) -> bool:
        """Was the approval given at this gate used already?"""
        return bool(self._tables.read("SELECT 1 FROM approvals_used WHERE gate = ?", (gate,)))

    def use(self, gate: str, *, intent: str, node: str, binding: str) -> bool:
        """Use an approval up. False where it was used before: of two callers at once, one gets it."""
        try:
            with self._tables.changing() as connection:
                connection.execute(
                    "INSERT INTO approvals_used VALUES (?, ?, ?, ?, ?)",
                    (gate, intent, node, binding, self._clock.now()),
                )
        except sqlite3.IntegrityError:
            return False
        return True
