"""How envelopes and records lie in SQLite: a row each, and the tree over them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from executor.core.errors import JournalError
from executor.store.journal.chain import FIRST, End, Message
from executor.store.journal.merkle import Frontier, leaf_hash
from executor.store.journal.record import is_record, open_record
from executor.store.lifecycle.view import intent_id
from ir import CborError, PublicKey, decode_cbor, open_envelope

_RULES: Final = (
    "CREATE TRIGGER journal_keeps BEFORE UPDATE ON journal BEGIN SELECT RAISE(ABORT, 'append-only'); END",
    "CREATE TRIGGER journal_stays BEFORE DELETE ON journal BEGIN SELECT RAISE(ABORT, 'append-only'); END",
)
# self_hash: lowercase hex; leaf: 32 bytes; intent: the ULID alone. `tree` has one row, for all leaves.
_TABLES: Final = """
    CREATE TABLE journal (
        seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, intent TEXT, at TEXT NOT NULL,
        wire BLOB NOT NULL, self_hash TEXT NOT NULL, leaf BLOB NOT NULL
    ) STRICT;
    CREATE INDEX journal_intent ON journal (intent, seq) WHERE intent IS NOT NULL;
    CREATE TABLE tree (one INTEGER PRIMARY KEY CHECK (one = 1), size INTEGER NOT NULL, peaks BLOB NOT NULL,
        root BLOB NOT NULL) STRICT;
    INSERT INTO tree VALUES (1, 0, x'', x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    CREATE TABLE heads (size INTEGER PRIMARY KEY, wire BLOB NOT NULL) STRICT;
    """
TABLES: Final = (_TABLES + "".join(f"{rule};" for rule in _RULES),)
COLUMNS: Final = "seq, id, kind, intent, at, self_hash, leaf, wire"
_INSERT: Final = f"INSERT INTO journal ({COLUMNS}) VALUES (?,?,?,?,?,?,?,?)"  # noqa: S608  # fixed texts


@dataclass(frozen=True, slots=True)
class Row:
    """One row. seq: from 1; intent: the ULID or None; self_hash: hex; leaf: 32 bytes."""

    seq: int
    id: str
    kind: str
    intent: str | None
    at: str
    self_hash: str
    leaf: bytes = field(repr=False)
    wire: bytes = field(repr=False)


def opened(wire: bytes, resolver: Callable[[str], PublicKey | None]) -> Message:
    """Read the bytes of a row and check form, key, signature and role. Raises as `ir.open_envelope`."""
    return (open_record if is_record(wire) else open_envelope)(wire, resolver)


def row_of(message: Message, seq: int) -> Row:
    """The row of a message at a place."""
    intent = intent_id(message.intent) or None
    leaf = leaf_hash(message.wire)
    return Row(seq, message.id, message.kind, intent, message.at, message.self_hash, leaf, message.wire)


def insert(connection: sqlite3.Connection, row: Row) -> None:
    """Store a row. Raises JournalError ID_REUSED, JOURNAL_DAMAGED."""
    values = (row.seq, row.id, row.kind, row.intent, row.at, row.self_hash, row.leaf, row.wire)
    try:
        connection.execute(_INSERT, values)
    except sqlite3.IntegrityError as error:
        if error.sqlite_errorname == "SQLITE_CONSTRAINT_UNIQUE":
            raise JournalError(
                "ID_REUSED",
                "an envelope with this id is in the journal",
                place=row.id,
                fix="use a fresh ULID",
            ) from error
        raise _damaged(f"row {row.seq} is there already") from error


def read_end(connection: sqlite3.Connection) -> End:
    """The end of the journal, as it is stored. Raises JournalError JOURNAL_DAMAGED, ir.CborError."""
    tree = read_tree(connection)
    if not tree.size:
        return End(tree, FIRST)
    wire = connection.execute("SELECT wire FROM journal WHERE seq = ?", (tree.size,)).fetchone()[0]
    return End(tree, leaf_hash(wire), is_chained(wire))


def is_chained(wire: bytes) -> bool:
    """Whether a row says which row stands before it; True of bytes that say nothing at all."""
    try:
        said = decode_cbor(wire)
    except CborError:
        return True
    return not isinstance(said, dict) or 12 in said


def read_tree(connection: sqlite3.Connection) -> Frontier:
    """The stored tree, held against itself and the last row. Raises JournalError JOURNAL_DAMAGED."""
    size, peaks, root, last = connection.execute(
        "SELECT size, peaks, root, (SELECT max(seq) FROM journal) FROM tree"
    ).fetchone() or (0, b"", b"", None)
    try:
        tree = Frontier.from_bytes(size, peaks)
    except ValueError as error:
        raise _damaged(str(error)) from error
    if tree.root() != root or (last or 0) != size:
        raise _damaged(f"the tree has {size} leaves, the last row is {last}, or its root does not fit")
    return tree


def refit(connection: sqlite3.Connection) -> None:
    """Number the rows anew and make leaves and tree fit them, whatever they are: a break was accepted."""
    for name in ("journal_keeps", "journal_stays"):
        connection.execute(f"DROP TRIGGER IF EXISTS {name}")
    tree = Frontier()
    rows = connection.execute("SELECT seq, wire FROM journal ORDER BY seq").fetchall()
    for seq, wire in rows:
        tree.append(leaf_hash(wire))
        connection.execute(
            "UPDATE journal SET seq = ?, leaf = ? WHERE seq = ?", (tree.size, leaf_hash(wire), seq)
        )
    for rule in _RULES:
        connection.execute(rule)
    connection.execute(
        "UPDATE tree SET size = ?, peaks = ?, root = ?", (tree.size, tree.to_bytes(), tree.root())
    )


def _damaged(message: str) -> JournalError:
    fix = "run mcl log verify; nothing is appended to a damaged journal"
    return JournalError("JOURNAL_DAMAGED", message, place="journal", fix=fix)
