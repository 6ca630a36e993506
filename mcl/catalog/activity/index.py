"""A table of what the records say, to find them by. It is made of the journal, and can be made again: what is
shown of a call always comes from the signed bytes of its row."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from executor.core.errors import JournalError
from executor.store.home import Home
from executor.store.journal.record import Record
from executor.store.journal.rows import COLUMNS, Row
from ir.errors import MclError
from mcl.catalog.activity.entry import KIND
from mcl.catalog.activity.filters import words_of
from mcl.catalog.activity.record import CallRecord, call_of

# flaw: why a row was not believed when it was read; nothing else is known of it then. `activity_read`: all
# rows up to there are in the table.
STEPS: Final = (
    """
    CREATE TABLE activity (
        seq INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, server TEXT NOT NULL, tool TEXT NOT NULL,
        operation TEXT NOT NULL, sensitivity TEXT NOT NULL, status TEXT NOT NULL, code TEXT NOT NULL,
        intent TEXT NOT NULL, agent TEXT NOT NULL, client TEXT NOT NULL, latency_us INTEGER NOT NULL,
        result_bytes INTEGER NOT NULL, flaw TEXT NOT NULL) STRICT;
    CREATE TABLE activity_words (seq INTEGER PRIMARY KEY, words TEXT NOT NULL) STRICT;
    CREATE TABLE activity_read (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL) STRICT;
    INSERT INTO activity_read VALUES (1, 0);
    """,
)
_ADD: Final = "INSERT OR REPLACE INTO activity VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,'')"
_ADD_WORDS: Final = "INSERT OR REPLACE INTO activity_words VALUES (?, ?)"
_ADD_FLAW: Final = "INSERT OR REPLACE INTO activity VALUES (?,0,'','','','','','','','','',0,0,?)"
_PORTION: Final = 1000  # rows that are read before the database is written to, which others wait for
_MISSING: Final = f"""
    SELECT {COLUMNS} FROM journal j
    WHERE j.seq > ? AND j.kind = ? AND NOT EXISTS (SELECT 1 FROM activity a WHERE a.seq = j.seq)
    ORDER BY j.seq LIMIT ?"""  # noqa: S608  # fixed texts


class Index:
    """The table of a home. Its methods raise HomeError."""

    def __init__(self, home: Home) -> None:
        self._home = home
        home.db.migrate("activity", STEPS)

    def add(self, connection: sqlite3.Connection, calls: Sequence[CallRecord]) -> None:
        """Enter calls whose rows are written in the same commit."""
        connection.executemany(_ADD, [_columns(call) for call in calls])
        connection.executemany(_ADD_WORDS, [(call.seq, words_of(call)) for call in calls])

    def catch_up(self, *, fresh: bool = False) -> None:
        """Enter all rows that are missing, each after its signature was checked. fresh: all rows anew."""
        db, size = self._home.db, self._home.journal.size()
        read = int(db.read("SELECT seq FROM activity_read")[0][0])
        if fresh or read > size:  # a journal that became shorter is another one
            with db.derive("activity") as connection:
                for table in ("activity", "activity_words"):
                    connection.execute(f"DELETE FROM {table}")  # noqa: S608  # fixed texts
                connection.execute("UPDATE activity_read SET seq = 0")
            read = 0
        while rows := [Row(*found) for found in db.read(_MISSING, (read, KIND, _PORTION))]:
            read = rows[-1].seq
            self._enter(rows, read)
        if size - read > _PORTION:  # so that the same rows are not gone through again each time
            self._enter((), size)

    def _enter(self, rows: Sequence[Row], read: int) -> None:
        calls, flaws = list[CallRecord](), list[tuple[int, str]]()
        for row in rows:
            try:
                calls.append(believed(self._home, row))
            except MclError as problem:
                flaws.append((row.seq, problem.code))
        with self._home.db.derive("activity") as connection:
            self.add(connection, calls)
            connection.executemany(_ADD_FLAW, flaws)
            connection.execute("UPDATE activity_read SET seq = max(seq, ?)", (read,))


def believed(home: Home, row: Row) -> CallRecord:
    """The call that a row tells of, from its signed bytes.

    Raises what Journal.open raises; JournalError COLUMN_MISMATCH, ACTIVITY_SHAPE.
    """
    message = home.journal.open(row.wire)
    said = (message.kind, message.id, message.at, message.self_hash)
    if said != (row.kind, row.id, row.at, row.self_hash) or row.kind != KIND:
        raise JournalError(
            "COLUMN_MISMATCH",
            "the row does not say what its signed bytes say",
            place=row.id,
            fix="run mcl log verify",
        )
    assert isinstance(message, Record)
    return call_of(message.body, seq=row.seq, id=row.id, at=row.at)


def _columns(call: CallRecord) -> tuple[object, ...]:
    return (
        call.seq,
        call.at_ms,
        call.server,
        call.tool,
        call.operation,
        call.data_sensitivity,
        call.verdict,
        call.code,
        call.intent_id,
        call.agent,
        call.client,
        call.latency_us,
        call.result_bytes,
    )
