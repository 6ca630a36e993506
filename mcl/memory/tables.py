"""The tables of the memories. What is remembered is in cortex_memories alone; the rest is made of it and can
be made again."""

import sqlite3
from collections.abc import Iterator
from typing import Final

from executor.store.database import Database
from mcl.memory.memory import Memory
from mcl.memory.words import searched_words, tokens

STEPS: Final = (
    """
    CREATE TABLE cortex_memories (
        seq INTEGER PRIMARY KEY, type TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL,
        forgotten INTEGER NOT NULL, words INTEGER NOT NULL, document BLOB NOT NULL, leaf BLOB NOT NULL,
        root BLOB NOT NULL, peaks BLOB NOT NULL, UNIQUE (type, id, version)) STRICT;
    CREATE INDEX cortex_roots ON cortex_memories (root);
    CREATE VIRTUAL TABLE cortex_words USING fts5 (words, content = '', tokenize = 'unicode61');
    CREATE TRIGGER cortex_never_changes BEFORE UPDATE ON cortex_memories
    BEGIN SELECT RAISE(ABORT, 'a version of a memory never changes'); END;
    CREATE TRIGGER cortex_never_deletes BEFORE DELETE ON cortex_memories
    BEGIN SELECT RAISE(ABORT, 'a version of a memory is never deleted'); END;
    """,
    # until: the seq of the mutation that replaced this version; nth, total: how many versions with words
    # there are up to here, and how many words they have together, so that BM25's means are known at any size.
    """
    DROP TABLE cortex_words;
    CREATE TABLE cortex_versions (
        seq INTEGER PRIMARY KEY, type TEXT NOT NULL, importance REAL NOT NULL, words INTEGER NOT NULL,
        nth INTEGER NOT NULL, total INTEGER NOT NULL, until INTEGER) STRICT;
    CREATE INDEX cortex_best ON cortex_versions (importance DESC, seq DESC);
    CREATE TABLE cortex_indexed (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL) STRICT;
    INSERT INTO cortex_indexed VALUES (1, 0);
    CREATE VIRTUAL TABLE cortex_words USING fts5
        (words, content = '', tokenize = 'ascii', detail = 'none', columnsize = 0);
    CREATE VIRTUAL TABLE cortex_terms USING fts5vocab ('cortex_words', 'instance');
    """,
)
_BEHIND = "SELECT (SELECT seq FROM cortex_indexed), coalesce((SELECT max(seq) FROM cortex_memories), 0)"


class Index:
    """Writes what finding needs, inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        sql = "SELECT nth, total FROM cortex_versions ORDER BY seq DESC LIMIT 1"
        last: tuple[int, int] | None = connection.execute(sql).fetchone()
        self._nth, self._total = last or (0, 0)

    def add(self, memory: Memory, words: list[str], before: int | None) -> None:
        """Index one mutation. before: the seq of the version that it replaces."""
        run = self._connection.execute
        if before is not None:
            run("UPDATE cortex_versions SET until = ? WHERE seq = ?", (memory.seq, before))
        if not memory.forgotten:
            self._nth, self._total = self._nth + 1, self._total + len(words)
            row = (memory.seq, memory.type, memory.importance, len(words), self._nth, self._total)
            run("INSERT INTO cortex_versions VALUES (?, ?, ?, ?, ?, ?, NULL)", row)
            text = " ".join(tokens(memory, words))
            run("INSERT INTO cortex_words (rowid, words) VALUES (?, ?)", (memory.seq, text))
        run("UPDATE cortex_indexed SET seq = ?", (memory.seq,))


def bring_up(database: Database) -> None:
    """Make the tables; index the memories that are not in the index yet. Raises HomeError."""
    database.migrate("cortex", STEPS)
    indexed, last = database.read(_BEHIND)[0]
    if indexed < last:
        with database.write() as connection:
            _index_from(connection, connection.execute(_BEHIND).fetchone()[0])


def index_again(database: Database) -> None:
    """Make the index anew from the memories. Raises HomeError."""
    with database.write() as connection:
        for statement in (
            "DELETE FROM cortex_versions",
            "INSERT INTO cortex_words (cortex_words) VALUES ('delete-all')",
            "INSERT OR REPLACE INTO cortex_indexed VALUES (1, 0)",
        ):
            connection.execute(statement)
        _index_from(connection, 0)


def _index_from(connection: sqlite3.Connection, seq: int) -> None:
    index = Index(connection)
    for memory, before in _with_former(connection, seq):
        index.add(memory, searched_words(memory), before)


def _with_former(connection: sqlite3.Connection, after: int) -> Iterator[tuple[Memory, int | None]]:
    """Each mutation after `after` in order, with the seq of the version before it."""
    rows = connection.execute(
        "SELECT m.seq, m.document, (SELECT n.seq FROM cortex_memories n WHERE n.type = m.type "
        "AND n.id = m.id AND n.version = m.version - 1) "
        "FROM cortex_memories m WHERE m.seq > ? ORDER BY m.seq",
        (after,),
    )
    for seq, document, before in rows:
        yield Memory.of_stored(document, seq), before
