"""What the rows of the journal state: what stands in the tables beside it, and whose signature counts."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from executor.core.errors import JournalError
from executor.store.journal.record import Record
from executor.store.journal.rows import CHAINED, Message
from executor.store.keys.keyring import KeyEntry, Keyring
from ir import PublicKey, Role, key_of

if TYPE_CHECKING:
    import sqlite3

    from executor.store.database import Database
    from executor.store.journal.journal import Journal
    from executor.store.journal.rows import Row


# ---- Tables whose every line a signed row of the journal says: what stands there and was never said is
# told.
#
# Such a table is changed within ``Tables.changing``: it is first held against what was said, then changed,
# and the difference is said in the same commit, by a ``record.table.changed``: ``{table: {"new": [line…],
# "gone": [line…]}}``. A line is a map of its columns without those that hold "", 0 or nothing, so that a
# column that came later changes no old line. What stood in the tables of a journal of before, the row that
# binds it says.


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


# ---- What counts where, by rows of the journal and their order: whose signatures, never by a time that a
# signer wrote, and what stands in the tables beside it.
#
# A key that was revoked in row n signs nothing behind row n, whatever moment it states; what it signed
# before stays good. In a journal of before, revocations stood in ``keys/trusted.json`` alone: the row that
# binds it (``record.journal.chained``) states them, and for the rows before it the moment still decides.


TRUSTED: Final = "record.key.trusted"
REVOKED: Final = "record.key.revoked"
REPLACED: Final = "record.key.replaced"
POLICY: Final = "record.policy.read"
KINDS: Final = (TRUSTED, REVOKED, REPLACED, CHAINED, CHANGED, POLICY)


_OFFERS: Final = ("tool_pins", "tool_classes", "servers", "mcp_rejections")  # what tools there are
_OUTSIDE: Final = "matrix://tool/mcp-"


def _is_first_look(change: Any) -> bool:
    """Whether tools of our own were entered that counted as approved before."""
    if not isinstance(change, dict) or change.get("gone"):
        return False
    lines = [one for one in change.get("new", ()) if isinstance(one, dict)]
    return all("pin" in one and not str(one.get("uri")).startswith(_OUTSIDE) for one in lines)


@dataclass(frozen=True, slots=True)
class Revocation:
    """The row that says it, and when it was; of_before: the moment decides about the rows before that."""

    seq: int
    at: str
    of_before: bool = False


@dataclass(slots=True)
class Standing:
    """What rows said so far, in order.

    tables: what stands in each of the stated tables; changed: the last row by which there are other tools, or
    one stands otherwise. policy: sha256 (hex)
    of the operator's policy as it was followed last; denied: its deny list.
    """

    revoked: dict[str, Revocation] = field(default_factory=dict)
    trusted: dict[str, KeyEntry] = field(default_factory=dict)
    tables: Lines = field(default_factory=dict)
    changed: int = 0
    policy: str = sha256(b"").hexdigest()
    denied: tuple[str, ...] = ()

    def copy(self) -> Standing:
        """The same, to go on from without changing this one."""
        tables = {name: lines.copy() for name, lines in self.tables.items()}
        return replace(self, revoked=dict(self.revoked), trusted=dict(self.trusted), tables=tables)

    def hear(self, seq: int, record: Record) -> None:
        """One more row of `KINDS`, which was signed by whoever may say it."""
        body = record.body
        if record.kind == CHAINED:
            for entry in entries_in(body.get("keys", ())):
                if entry.origin == "trusted":
                    self.trusted[entry.did] = entry
                if entry.revoked_at:
                    self.revoked[entry.did] = Revocation(seq, entry.revoked_at, of_before=True)
            heard(self.tables, body.get("tables", {}))
        elif record.kind == CHANGED:
            heard(self.tables, body)
            if any(name in _OFFERS and not _is_first_look(change) for name, change in body.items()):
                self.changed = seq
        elif record.kind == POLICY:
            denied = body.get("deny")
            self.policy = str(body.get("version"))
            self.denied = tuple(map(str, denied)) if isinstance(denied, list | tuple) else ()
        elif record.kind == TRUSTED:
            for entry in entries_in((body,)):
                self.trusted[entry.did] = entry
        elif record.kind == REVOKED:
            self.revoked.setdefault(str(body.get("did")), Revocation(seq, record.at))

    def refuses(self, did: str, seq: int, at: str) -> bool:
        """Whether a row that this key signed does not count where it stands. seq: 0: behind all rows."""
        said = self.revoked.get(did)
        if said is None:
            return False
        if not seq or seq > said.seq:
            return True
        return said.of_before and datetime.fromisoformat(at) > datetime.fromisoformat(said.at)

    def key(self, did: str) -> PublicKey | None:
        """A key of somebody else that rows say is trusted."""
        entry = self.trusted.get(did)
        return PublicKey(did, entry.role, key_of(did)) if entry else None

    def merged(self, entries: dict[str, KeyEntry]) -> dict[str, KeyEntry]:
        """What the files say of keys, with what the rows say: nothing is lost where a file is."""
        found = {**self.trusted, **entries}
        for did, said in self.revoked.items():
            if did in found and not found[did].revoked_at:
                found[did] = _revoked(found[did], said.at)
        return found

    def unlike(self, entries: Iterable[KeyEntry]) -> list[tuple[int, str]]:
        """Where files say something else than the rows: the row, or 0, and what."""
        there = {entry.did: entry for entry in entries}
        told = [
            (said.seq, f"row {said.seq} revokes the key {did}; keys/trusted.json does not")
            for did, said in self.revoked.items()
            if did not in there or not there[did].revoked_at
        ]
        told += [
            (0, f"the trusted key {did} is not in keys/trusted.json")
            for did in self.trusted
            if did not in there
        ]
        for did, entry in there.items():
            if entry.revoked_at and did not in self.revoked:
                told.append((0, f"keys/trusted.json revokes the key {did}; no row does"))
            if entry.origin == "trusted" and did not in self.trusted:
                told.append((0, f"keys/trusted.json trusts the key {did}; no row does"))
        return told


def refused(message: Message, seq: int, standing: Standing, keyring: Keyring) -> bool:
    """Whether a row does not count because its key was revoked: in a row before it; in a journal of before,
    at a moment before it. What files alone say of a journal whose rows say it is not believed to be late."""
    if message.from_ in standing.revoked:
        return standing.refuses(message.from_, seq, message.at)
    if message.previous:
        return keyring.is_revoked(message.from_)
    return keyring.revoked_by(message.from_, message.at)


def entries_in(said: Any) -> list[KeyEntry]:
    """The keys that a row states; what has another form is no key."""
    found = []
    for one in said if isinstance(said, list | tuple) else ():
        if not isinstance(one, dict) or one.get("role") not in ("user", "agent"):
            continue
        did, label, added, revoked = (
            str(one.get(name, "")) for name in ("did", "label", "added_at", "revoked_at")
        )
        role, origin = cast(Role, one["role"]), one.get("origin", "trusted")
        if origin in ("own", "retired", "trusted"):
            found.append(KeyEntry(did, role, origin, label, added, revoked))
    return found


def stated(entries: Iterable[KeyEntry]) -> list[dict[str, str]]:
    """The trusted and the revoked of these keys, as the row that binds a journal of before states them."""
    names = ("did", "role", "origin", "label", "added_at", "revoked_at")
    kept = (one for one in entries if one.origin == "trusted" or one.revoked_at)
    return [{name: str(getattr(one, name)) for name in names} for one in kept]


def _revoked(entry: KeyEntry, at: str) -> KeyEntry:
    return KeyEntry(entry.did, entry.role, entry.origin, entry.label, entry.added_at, at, entry.sealed)
