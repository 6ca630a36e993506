"""The calls as a view of the journal: a table to find them by, and what is found, read from the signed rows.

The table is made of the journal, and can be made again: what is shown of a call always comes from the signed
bytes of its row.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeAlias

from executor.core.errors import JournalError
from executor.core.hashing import json_size
from executor.store.home import Home
from executor.store.journal.record import Record
from executor.store.journal.rows import COLUMNS, Row
from executor.store.journal.verification import JournalFinding
from ir.errors import MclError
from ir.results import JsonResult, called
from mcl.core.errors import McpError
from mcl.plugins.mcp.records.record import (
    FILTERS,
    KIND,
    CallRecord,
    Filters,
    bad_filter,
    call_of,
    whole_number,
    words_of,
)

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


class ActivityIndex:
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
    said = (getattr(call, one.field) for one in FILTERS.values())
    return (call.seq, call.at_ms, *said, whole_number(call.latency_ms * 1000), call.result_bytes)


# ---- Reading: every call that is given comes from a row whose signature holds.

MAX_LIMIT: Final = 1000  # records on a page
_CHUNK: Final = 200  # rows that are read at once
_COLUMNS: Final = ", ".join(f"j.{name}" for name in COLUMNS.split(", "))
_CURSOR: Final = re.compile(r"([1-9][0-9]{0,17})-([0-9a-f]{8})", re.ASCII)


@dataclass(frozen=True, slots=True)
class ActivityFlaw(JournalFinding):
    """A row that tells of a call and is not believed. code, message: why."""

    JSON: ClassVar = "row=seq code message"


Found: TypeAlias = CallRecord | ActivityFlaw


@dataclass(frozen=True, slots=True)
class ActivityPage(JsonResult):
    """Some of the calls that were asked for, newest first. next: the cursor of what is older, "" where there
    is nothing more. flaws: rows in between that do not verify; whatever they say of themselves, it is not
    shown."""

    calls: tuple[CallRecord, ...] = field(metadata=called("activity"))
    next: str
    flaws: tuple[ActivityFlaw, ...]


class Reader:
    """Reads what was kept. fresh: check every record again first, and make the index anew."""

    def __init__(self, home: Home, *, fresh: bool = False) -> None:
        self._home = home
        ActivityIndex(home).catch_up(fresh=fresh)

    def newest(self, filters: Filters, before: int = 0) -> Iterator[Found]:
        """What is asked for, newest first. before: only rows with a smaller number (0: all)."""
        place = before or self._home.journal.size() + 1
        yield from self._walk(filters, "a.seq < ?", place, "DESC")

    def oldest(self, filters: Filters) -> Iterator[Found]:
        """The same, oldest first; what is kept meanwhile comes too."""
        yield from self._walk(filters, "a.seq > ?", 0, "ASC")

    def page(
        self, filters: Filters, *, limit: int = 50, cursor: str = "", max_bytes: int = 0
    ) -> ActivityPage:
        """At most `limit` calls (1 to MAX_LIMIT), from where the cursor of another page says. max_bytes: of
        their JSON together, though one always fits; 0: any.

        Raises McpError BAD_FILTER.
        """
        if type(limit) is not int or not 1 <= limit <= MAX_LIMIT:
            raise bad_filter("limit", f"cannot be {str(limit)[:80]!a}", f"1 to {MAX_LIMIT}")
        calls, flaws, size = list[CallRecord](), list[ActivityFlaw](), 0
        for found in self.newest(filters, _place(cursor, filters)):
            if isinstance(found, ActivityFlaw):
                flaws.append(found)
                continue
            size += (json_size(found.to_json()) or 0) if max_bytes else 0
            if len(calls) == limit or (calls and size > max_bytes > 0):
                return ActivityPage(tuple(calls), f"{calls[-1].seq}-{filters.digest}", tuple(flaws))
            calls.append(found)
        return ActivityPage(tuple(calls), "", tuple(flaws))

    def find(self, name: str) -> tuple[CallRecord, Row]:
        """One call and its row. name: the number of the row, the id of the record or how it begins, or @last.

        Raises McpError RECORD_UNKNOWN, RECORD_AMBIGUOUS; what `believed` raises.
        """
        wanted = name.strip()
        if wanted == "@last":
            where, values = "kind = ? ORDER BY seq DESC LIMIT 1", list[object]([KIND])
        elif re.fullmatch(r"[1-9][0-9]{0,17}", wanted, re.ASCII):
            where, values = "kind = ? AND seq = ?", [KIND, int(wanted)]
        elif re.fullmatch(r"[0-9A-Za-z]{1,26}", wanted, re.ASCII):
            begins = wanted.upper()
            where, values = "kind = ? AND id >= ? AND id < ? LIMIT 2", [KIND, begins, begins + "\uffff"]
        else:
            raise _unknown(name)
        rows = self._home.db.read(f"SELECT {COLUMNS} FROM journal WHERE {where}", values)  # noqa: S608  # fixed
        if len(rows) > 1:
            raise McpError(
                "RECORD_AMBIGUOUS",
                f"several records begin with {name[:80]}",
                place="record",
                fix="give more characters of the id, or the number of its row",
            )
        if not rows:
            raise _unknown(name)
        row = Row(*rows[0])
        return believed(self._home, row), row

    def _walk(self, filters: Filters, side: str, place: int, order: str) -> Iterator[Found]:
        where, values = filters.where()
        # A row that was not believed may be anything, so it is always told.
        sql = f"""
            SELECT a.seq, a.flaw, {_COLUMNS} FROM activity a LEFT JOIN journal j ON j.seq = a.seq
            WHERE {side} AND (a.flaw != '' OR ({where})) ORDER BY a.seq {order} LIMIT ?"""  # noqa: S608  # fixed
        while rows := self._home.db.read(sql, (place, *values, _CHUNK)):
            for seq, flaw, *columns in rows:
                found = self._found(seq, columns, filters)
                # One that is believed now (its key is known again) counts where it fits.
                if not (flaw and isinstance(found, ActivityFlaw) and found.code == "INDEX_DIFFERS"):
                    yield found
            if len(rows) < _CHUNK:
                return
            place = rows[-1][0]

    def _found(self, seq: int, columns: list[Any], filters: Filters) -> Found:
        if columns[0] is None:
            return ActivityFlaw.of("ROW_UNKNOWN", seq, "the row of this record is not in the journal")
        found = _found(self._home, Row(*columns))
        if isinstance(found, ActivityFlaw) or filters.matches(found):
            return found
        return ActivityFlaw.of(
            "INDEX_DIFFERS", seq, "the index says something else of this row; --fresh makes it anew"
        )


# ---- New records as they come, whichever process keeps them.


def watch(home: Home, filters: Filters, wait: Callable[[], bool]) -> Iterator[Found]:
    """The records that are kept from now on, in order; rows that do not verify are flaws, whatever is asked
    for.

    wait: waits a moment, and says whether to go on. Raises HomeError.
    """
    place = home.journal.size()
    stamp: object = None
    while True:
        now = home.db.stamp("journal")
        if now != stamp:
            stamp = now
            # By size first: what is written while these are read has a later number.
            size = home.journal.size()
            while rows := home.journal.rows(after=place, kind=KIND, limit=_CHUNK):
                for row in rows:
                    place = row.seq
                    found = _found(home, row)
                    if isinstance(found, ActivityFlaw) or filters.matches(found):
                        yield found
            place = max(place, size)
        if not wait():
            return


def _found(home: Home, row: Row) -> Found:
    try:
        return believed(home, row)
    except MclError as problem:
        return ActivityFlaw.of(problem.code, row.seq, problem.message)


def _place(cursor: str, filters: Filters) -> int:
    if cursor == "":
        return 0
    found = _CURSOR.fullmatch(cursor) if isinstance(cursor, str) else None
    if found is None:
        raise bad_filter(
            "cursor", f"cannot be {str(cursor)[:80]!a}", "the next of an earlier page, as it was given"
        )
    if found[2] != filters.digest:
        raise bad_filter(
            "cursor", "belongs to a page of other filters", "the same filters as for the first page"
        )
    return int(found[1])


def _unknown(name: str) -> McpError:
    return McpError(
        "RECORD_UNKNOWN",
        f"no record of a call is called {name[:80]!a}",
        place="record",
        fix="give the number of a row as mcl activity list shows it, the id of a record, or @last",
    )
