"""Tables whose every line a signed row of the journal says: what stands there and was never said is told.

Such a table is changed within ``Tables.changing``: it is first held against what was said, then changed, and
the difference is said in the same commit, by a ``record.table.changed``: ``{table: {"new": [line…], "gone":
[line…]}}``. A line is a map of its columns without those that hold "", 0 or nothing, so that a column that
came later changes no old line. What stood in the tables of a journal of before, the row that binds it says.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from executor.core.errors import JournalError

if TYPE_CHECKING:
    import sqlite3

    from executor.store.database import Database
    from executor.store.journal.journal import Journal
    from executor.store.journal.rows import Row

CHANGED: Final = "record.table.changed"
TABLES_RESTORED: Final = "record.table.restored"
CODE: Final = "TABLE_CHANGED"
COMPONENT: Final = "stated"
STATED: Final = (
    *("grants", "grants_hosts", "grants_roots", "grants_calls"),
    *("tool_pins", "tool_classes", "approvals_used", "agents"),
    *("servers", "mcp_rejections"),  # of rooms above: nothing but their names is known here
)
_NAMED: Final = ("name", "uri", "class", "host", "root", "gate", "id")  # what tells a line to a person
_MOST: Final = 20  # differences that are told

Line: TypeAlias = tuple[tuple[str, Any], ...]
Lines: TypeAlias = dict[str, Counter[Line]]
Read: TypeAlias = Callable[[str, Sequence[object]], list[tuple[Any, ...]]]


class Tables:
    """The stated tables of a home (`STATED`), as far as they are there."""

    def __init__(self, journal: Journal, database: Database) -> None:
        self._journal, self._database = journal, database
        self._held: tuple[int, int] | None = None  # the stamp at which they were what was said
        self._changed_by = 0  # the thread that is changing them

    def read(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of one query, once the tables hold. Raises as ``hold``."""
        self.hold()
        return self._database.read(sql, parameters)

    def hold(self) -> None:
        """That the tables are what the rows say.

        Raises JournalError TABLE_CHANGED, with the differences in data; HomeError.
        """
        if self._changed_by == threading.get_ident():
            return
        stamp = self._database.stamp(COMPONENT)
        if stamp == self._held:
            return
        if self.differences():
            # Perhaps somebody wrote between one look and the other: once more, while nobody can.
            with nullcontext() if self._database.read_only else self._database.write():
                stamp = self._database.stamp(COMPONENT)
                self._require()
        self._held = stamp

    def differences(self) -> list[str]:
        """What the tables have otherwise than the rows say; nothing of a journal of before."""
        return unlike(self._journal.standing().tables, self.lines()) if self._journal.chained else []

    def lines(self) -> Lines:
        """What the tables hold now."""
        return lines_of(self._database.read)

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """A transaction in which they may be changed; what was is said in it. Within another it is part of
        that one. Never await inside.

        Raises JournalError TABLE_CHANGED, KeyringError where the agent's key is sealed, HomeError.
        """
        if self._changed_by == threading.get_ident():
            with self._database.write(COMPONENT) as connection:
                yield connection
            return
        with self._journal.beginning(COMPONENT) as connection:
            self._require()
            before = self.lines()
            self._changed_by = threading.get_ident()
            try:
                yield connection
            finally:
                self._changed_by = 0
            if change := _difference(before, self.lines()):
                self._journal.record(CHANGED, change)

    def restore(self) -> Row:
        """Make the tables what the rows say; signed by the person, and shown ever after.

        Raises JournalError TABLES_HOLD where they are; KeyringError where the user's key is sealed.
        """
        with self._journal.beginning(COMPONENT) as connection:
            found = self.differences()
            if not found:
                raise JournalError(
                    "TABLES_HOLD", "the tables are what the journal says", place="mcl.db", fix="nothing to do"
                )
            said = self._journal.standing().tables
            for name in self.lines():
                _write(connection, name, said.get(name, Counter()))
            return self._journal.record(TABLES_RESTORED, {"differences": found})

    def _require(self) -> None:
        if found := self.differences():
            raise JournalError(
                CODE,
                f"a table is not what the journal says: {found[0]}",
                place="mcl.db",
                fix="see mcl log verify; mcl log restore-tables makes them what was signed",
                data={"differences": found},
            )


def heard(lines: Lines, body: Any) -> None:
    """What a row says of tables, put to what rows said before; what has another form says nothing."""
    for name, change in body.items() if isinstance(body, dict) else ():
        if isinstance(change, dict):
            known = lines.setdefault(name, Counter())
            for line in _lines_in(change.get("gone")):
                known[line] -= 1
                if known[line] < 1:
                    del known[line]
            known.update(_lines_in(change.get("new")))


def stated_now(lines: Lines) -> dict[str, Any]:
    """All that the tables hold, as a row says it."""
    return _difference({}, lines)


def unlike(said: Lines, found: Lines) -> list[str]:
    """Where tables hold something else than rows say, in words. A table that is not there holds nothing."""
    told = []
    for name in sorted(said.keys() | found.keys()):
        there, should = found.get(name, Counter()), said.get(name, Counter())
        told += [f"{name} has {_told(line)}, which no row says" for line in there - should]
        told += [f"{name} lacks {_told(line)}, which a row says" for line in should - there]
    return told[:_MOST]


def lines_of(read: Read) -> Lines:
    """What the tables hold; those that are not there are left out."""
    found: Lines = {}
    for name in STATED:
        columns = [column for _, column, *_ in read(f"PRAGMA table_info({name})", ())]
        if columns:
            rows = read(f"SELECT {', '.join(columns)} FROM {name}", ())  # noqa: S608  # names of ours
            found[name] = Counter(_line(zip(columns, row, strict=True)) for row in rows)
    return found


def _line(values: Iterable[tuple[str, Any]]) -> Line:
    return tuple(sorted((column, value) for column, value in values if value not in ("", 0, None)))


def _lines_in(said: Any) -> list[Line]:
    return [_line(one.items()) for one in said or () if isinstance(one, dict)]


def _difference(before: Lines, after: Lines) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    for name in sorted(before.keys() | after.keys()):
        was, now = before.get(name, Counter()), after.get(name, Counter())
        change = {
            what: [dict(line) for line in sorted(lines.elements(), key=repr)]
            for what, lines in (("gone", was - now), ("new", now - was))
            if lines
        }
        if change:
            changes[name] = change
    return changes


def _write(connection: sqlite3.Connection, name: str, lines: Counter[Line]) -> None:
    columns = [(column, kind) for _, column, kind, *_ in connection.execute(f"PRAGMA table_info({name})")]
    marks = ", ".join("?" * len(columns))
    connection.execute(f"DELETE FROM {name}")  # noqa: S608  # a name of ours
    for line in lines.elements():
        held = dict(line)
        row = [held.get(column, 0 if kind == "INTEGER" else "") for column, kind in columns]
        connection.execute(f"INSERT INTO {name} VALUES ({marks})", row)  # noqa: S608  # a name of ours


def _told(line: Line) -> str:
    held = dict(line)
    return ", ".join(f"{name} {held[name]}" for name in _NAMED if name in held) or "a line"
