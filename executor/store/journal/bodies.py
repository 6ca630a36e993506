"""What nodes gave, beside the rows that tell of it: a row names a body by its sha256, and each is kept once.

So a body can be forgotten while its row, signed and chained, stays what it is. A body is written in the
commit of its row, and believed only where its hash fits.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Final, TypeAlias

from executor.core.errors import HomeError, JournalError
from executor.store.journal.rows import Message
from ir import Envelope, MclError, PlanOutputBody, PlanStepBody
from ir.errors import REFUSED

if TYPE_CHECKING:
    from executor.store.database import Database

FORGOTTEN: Final = "record.journal.forgotten"  # signed by the person
IN_ROW: Final = 64  # bytes of a result that still stand in its row: no longer than what would name them
_COMPONENT: Final = "bodies"
_TABLES: Final = ("CREATE TABLE bodies (sha256 BLOB PRIMARY KEY, data BLOB NOT NULL) STRICT",)

Told: TypeAlias = PlanStepBody | PlanOutputBody


def set_beside(body: Told) -> tuple[Told, bytes]:
    """What a row tells of a node, and the body that lies beside it (b"" for none)."""
    data = body.result if isinstance(body, PlanStepBody) else body.chunk
    if not isinstance(data, bytes) or (isinstance(body, PlanStepBody) and len(data) <= IN_ROW) or not data:
        return body, b""
    digest = sha256(data).hexdigest()
    if isinstance(body, PlanStepBody):
        return replace(body, result=b"", sha256=digest, size=len(data)), data
    return replace(body, chunk=b"", sha256=digest, size=len(data)), data


def names_body(message: object) -> Told | None:
    """What a row tells of a node, where the body lies beside it."""
    body = message.body if isinstance(message, Envelope) else None
    return body if isinstance(body, PlanStepBody | PlanOutputBody) and body.sha256 else None


class Bodies:
    """The bodies of a home."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._ready = False

    def make_ready(self) -> None:
        """Have a table for them; before a transaction in which some are kept. Raises HomeError."""
        if not self._ready:
            self._database.migrate(_COMPONENT, _TABLES)
            self._ready = True

    def keep(self, connection: sqlite3.Connection, data: bytes) -> None:
        """Write a body, in the transaction of its row."""
        connection.execute("INSERT OR IGNORE INTO bodies VALUES (?, ?)", (sha256(data).digest(), data))

    def find(self, digest: str) -> bytes | None:
        """A body by its sha256 (hex); None where there is none, or another than was named."""
        try:
            found = self._database.read("SELECT data FROM bodies WHERE sha256 = ?", (bytes.fromhex(digest),))
        except HomeError:
            if self._is_there():
                raise
            return None
        data = bytes(found[0][0]) if found else None
        return data if data is not None and sha256(data).hexdigest() == digest else None

    def whole(self, message: Message) -> Message:
        """A message with the body that lies beside its row, where it is there."""
        told = names_body(message)
        data = self.find(told.sha256) if told is not None else None
        if told is None or data is None or not isinstance(message, Envelope):
            return message
        if isinstance(told, PlanStepBody):
            return replace(message, body=replace(told, result=data))
        return replace(message, body=replace(told, chunk=data))

    def forget(self, connection: sqlite3.Connection, digest: str) -> None:
        """Take a body away, in the transaction of the record that says so. What was freed is overwritten."""
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("DELETE FROM bodies WHERE sha256 = ?", (bytes.fromhex(digest),))

    def users(self, digest: str) -> list[str]:
        """The intents that a node gave a body to."""
        sql = "SELECT DISTINCT intent FROM journal WHERE kind = 'plan.step' AND instr(wire, ?) > 0"
        return [found for (found,) in self._database.read(sql, (digest.encode(),))]

    def settle(self) -> None:
        """After `forget`: have the log of the database hold it no longer, unless somebody reads there."""
        with suppress(HomeError):
            self._database.read("PRAGMA wal_checkpoint(TRUNCATE)")

    def _is_there(self) -> bool:
        return bool(self._database.read("SELECT 1 FROM sqlite_schema WHERE name = 'bodies'"))


# ---- What is checked of them when a journal is.


class BodyCheck:
    """Follows the rows of a journal, and tells what is wrong with the bodies beside them.

    find: gives what lies there for a digest (32 bytes).
    """

    def __init__(self, find: Callable[[bytes], bytes | None]) -> None:
        self._find = find
        self._missing: dict[str, list[int]] = {}
        self._forgotten: dict[str, int] = {}

    @classmethod
    def of(cls, connection: sqlite3.Connection) -> BodyCheck:
        """For the database that a connection sees, whether it has a table of bodies or not."""
        if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'bodies'").fetchone():
            return cls(lambda digest: None)

        def find(digest: bytes) -> bytes | None:
            found = connection.execute("SELECT data FROM bodies WHERE sha256 = ?", (digest,)).fetchone()
            return bytes(found[0]) if found else None

        return cls(find)

    def row(self, seq: int, message: Message) -> str:
        """One row; what is wrong with the body beside it, "" for nothing."""
        if not isinstance(message, Envelope):
            if message.kind == FORGOTTEN:
                self._forgotten[str(message.body.get("sha256"))] = seq
            return ""
        if (told := names_body(message)) is None:
            return ""
        data = self._find(bytes.fromhex(told.sha256))
        if data is None:
            self._missing.setdefault(told.sha256, []).append(seq)
        elif sha256(data).hexdigest() != told.sha256:
            return "what lies beside it is not what it names"
        return ""

    def forgotten(self) -> list[tuple[int, int]]:
        """Rows whose body a person had forgotten, each with the row that says so."""
        known = self._forgotten
        return [(seq, known[one]) for one, at in self._missing.items() for seq in at if one in known]

    def hear(self, connection: sqlite3.Connection, read: Callable[[bytes], Message]) -> None:
        """What was forgotten elsewhere counts for rows with the same body; asked where some is gone."""
        if not self.missing():
            return
        sql = "SELECT seq, wire FROM journal WHERE kind = ? ORDER BY seq"
        for seq, wire in connection.execute(sql, (FORGOTTEN,)).fetchall():
            with suppress(MclError):  # what does not hold is told when the whole journal is checked
                self.row(seq, read(bytes(wire)))

    def missing(self) -> list[int]:
        """Rows whose body is gone, and nobody says that it was to go."""
        return sorted(seq for one, at in self._missing.items() for seq in at if one not in self._forgotten)


def no_body(seq: int, why: str) -> JournalError:
    """The refusal to forget what cannot be forgotten."""
    fix = "mcl log lists the rows; plan.output and the ends of nodes have bodies"
    return JournalError("NO_BODY", why, place=f"journal:{seq}", fix=fix, exit=REFUSED)
