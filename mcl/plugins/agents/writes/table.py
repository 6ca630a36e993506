"""The tables of what an agent saw and writes; of the home, and worth nothing beyond it."""

from __future__ import annotations

from typing import Final

# number: grows with each note, so that the oldest can go. record: id of the record of the files that a call
# which has not ended may change. root: its governed folder. caller: who makes it, where the line of what it
# changed is owed by that process; "" of a host's own calls.
TABLES: Final = (
    """
    CREATE TABLE agent_seen (
        number INTEGER PRIMARY KEY AUTOINCREMENT, root TEXT NOT NULL, agent TEXT NOT NULL, path TEXT NOT NULL,
        sha256 TEXT NOT NULL, UNIQUE (root, agent, path)
    ) STRICT;
    CREATE TABLE agent_denials (
        number INTEGER PRIMARY KEY AUTOINCREMENT, root TEXT NOT NULL, agent TEXT NOT NULL, key TEXT NOT NULL,
        lease TEXT NOT NULL, code TEXT NOT NULL, times INTEGER NOT NULL, at TEXT NOT NULL,
        UNIQUE (root, agent, key)
    ) STRICT;
    CREATE TABLE agent_kept (
        number INTEGER PRIMARY KEY AUTOINCREMENT, intent TEXT NOT NULL, node TEXT NOT NULL,
        record TEXT NOT NULL, UNIQUE (intent, node)
    ) STRICT;
    """,
    """
    ALTER TABLE agent_kept ADD COLUMN root TEXT NOT NULL DEFAULT '';
    ALTER TABLE agent_kept ADD COLUMN caller TEXT NOT NULL DEFAULT '';
    """,
    # executor.gate.breaker counts refusals, of every door.
    "DROP TABLE agent_denials;",
)
