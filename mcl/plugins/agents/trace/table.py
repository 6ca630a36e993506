"""What the home remembers of traces, so that nothing has to be searched for: a row says nothing by itself."""

from __future__ import annotations

from typing import Final

# record: id of the record of the line that was last signed for a root.
TABLES: Final = (
    """
    CREATE TABLE agent_trace (root TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE agent_touched (
        root TEXT NOT NULL, file TEXT NOT NULL, label TEXT NOT NULL, PRIMARY KEY (root, file, label)
    ) STRICT, WITHOUT ROWID;
    """,
)
