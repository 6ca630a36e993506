"""How leases, and the way to the signed work of each folder, lie in the home's database."""

from typing import Final

COMPONENT: Final = "work"
# work_roots leads to the row of the journal that says what was signed for a folder; that row is checked when
# it is read. work_patterns: what its work may change, to find what a message names without reading all of it;
# what is found is checked against what was signed. agent_leases: one holder a label, one label a holder.
# number: of the lease, never used twice.
TABLES: Final = (
    """
    CREATE TABLE work_roots (root TEXT PRIMARY KEY, row TEXT NOT NULL) STRICT;
    CREATE TABLE agent_leases (
        root TEXT NOT NULL, label TEXT NOT NULL, intent_id TEXT NOT NULL, agent TEXT NOT NULL,
        since TEXT NOT NULL, expires_at TEXT NOT NULL, number INTEGER NOT NULL,
        PRIMARY KEY (root, label), UNIQUE (root, agent)
    ) STRICT;
    CREATE TABLE agent_lease_numbers (one INTEGER PRIMARY KEY CHECK (one = 1), last INTEGER NOT NULL) STRICT;
    INSERT INTO agent_lease_numbers VALUES (1, 0);
    """,
    """
    CREATE TABLE work_patterns (root TEXT PRIMARY KEY, row TEXT NOT NULL, patterns TEXT NOT NULL) STRICT;
    """,
)
