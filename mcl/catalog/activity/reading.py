"""Reading the activity of a home: every call that is given comes from a row whose signature holds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from executor.core.errors import JournalError
from executor.core.hashing import json_size
from executor.store.home import Home
from executor.store.journal.rows import COLUMNS, Row
from ir.errors import MclError
from mcl.catalog.activity.entry import KIND
from mcl.catalog.activity.filters import Filters, Index, bad_filter, believed
from mcl.catalog.activity.record import CallRecord
from mcl.core.errors import McpError

MAX_LIMIT: Final = 1000  # records on a page
_CHUNK: Final = 200  # rows that are read at once
_COLUMNS: Final = ", ".join(f"j.{name}" for name in COLUMNS.split(", "))
_CURSOR: Final = re.compile(r"([1-9][0-9]{0,17})-([0-9a-f]{8})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Flaw:
    """A row that tells of a call and is not believed. code, message: why."""

    seq: int
    code: str
    message: str

    def to_json(self) -> dict[str, object]:
        """The flaw as a JSON object."""
        return {"row": self.seq, "code": self.code, "message": self.message}


Found: TypeAlias = CallRecord | Flaw


@dataclass(frozen=True, slots=True)
class ActivityPage:
    """Some of the calls that were asked for, newest first. next: the cursor of what is older, "" where there
    is nothing more. flaws: rows in between that do not verify; whatever they say of themselves, it is not
    shown."""

    calls: tuple[CallRecord, ...]
    flaws: tuple[Flaw, ...]
    next: str

    def to_json(self) -> dict[str, object]:
        """The page as a JSON object."""
        calls = [call.to_json() for call in self.calls]
        return {"activity": calls, "next": self.next, "flaws": [flaw.to_json() for flaw in self.flaws]}


class Reader:
    """Reads what was kept. fresh: check every record again first, and make the index anew."""

    def __init__(self, home: Home, *, fresh: bool = False) -> None:
        self._home = home
        Index(home).catch_up(fresh=fresh)

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
        calls, flaws, size = list[CallRecord](), list[Flaw](), 0
        for found in self.newest(filters, _place(cursor, filters)):
            if isinstance(found, Flaw):
                flaws.append(found)
                continue
            size += (json_size(found.to_json()) or 0) if max_bytes else 0
            if len(calls) == limit or (calls and size > max_bytes > 0):
                return ActivityPage(tuple(calls), tuple(flaws), f"{calls[-1].seq}-{filters.digest}")
            calls.append(found)
        return ActivityPage(tuple(calls), tuple(flaws), "")

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
                if not (flaw and isinstance(found, Flaw) and found.code == "INDEX_DIFFERS"):
                    yield found
            if len(rows) < _CHUNK:
                return
            place = rows[-1][0]

    def _found(self, seq: int, columns: list[Any], filters: Filters) -> Found:
        try:
            if columns[0] is None:
                raise JournalError("ROW_UNKNOWN", "the row of this record is not in the journal")
            call = believed(self._home, Row(*columns))
        except MclError as problem:
            return Flaw(seq, problem.code, problem.message)
        if filters.matches(call):
            return call
        return Flaw(seq, "INDEX_DIFFERS", "the index says something else of this row; --fresh makes it anew")


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
