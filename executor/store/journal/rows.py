"""How envelopes and records lie in SQLite: a row each, and the tree over them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Final, TypeAlias

from executor.core.clock import Clock
from executor.core.errors import JournalError, KeyringError
from executor.store.journal.merkle import Frontier, leaf_hash
from executor.store.journal.record import Record, is_record, open_record, seal_record
from executor.store.keys.keyring import KeyPair, Keyring
from executor.store.lifecycle.view import intent_id
from ir import CborError, Envelope, PublicKey, decode_cbor, open_envelope
from ir.envelope import with_signature, without_signature

# ---- The chain: each row says under its signature which row stands before it.

Message: TypeAlias = Envelope | Record
Maker: TypeAlias = Callable[[bytes], Message]  # given the hash of the row before it

FIRST: Final = bytes(32)  # what row 1 says stands before it
CHAINED: Final = "record.journal.chained"
BOUND: Final = "record.journal.bound"
BREAK_ACCEPTED: Final = "record.journal.break_accepted"  # signed by the person, as the next is
RESTORED: Final = "record.journal.restored"
_PREVIOUS: Final = b"\x0c\x58\x20"  # key 12, then 32 bytes


@dataclass(slots=True)
class End:
    """The end of a journal, to be written on from: its tree, and the leaf of its last row.

    chained: whether what follows is chained; False only in a journal of before, until it is bound.
    """

    tree: Frontier = field(default_factory=Frontier)
    leaf: bytes = FIRST
    chained: bool = True

    def copy(self) -> End:
        """The same, to be written on from without changing this one."""
        return End(Frontier(self.tree.size, self.tree.peaks), self.leaf, self.chained)

    def add(self, leaf: bytes) -> None:
        self.tree.append(leaf)
        self.leaf = leaf


def placed(message: Message, previous: bytes, keyring: Keyring) -> Message:
    """The same said at its place, where our own keys said it and can be used; else as it is."""
    if message.previous == previous:
        return message
    for pair in (keyring.agent, keyring.user):
        if pair.did == message.from_:
            try:
                return _signed_at(message, previous, pair)
            except KeyringError:
                return message
    return message


def _signed_at(message: Message, previous: bytes, pair: KeyPair) -> Message:
    was = without_signature(message.wire, previous=bool(message.previous))
    if message.previous:
        signed = was[: -len(previous)] + previous
    else:
        signed = bytes((was[0] + 1,)) + was[1:] + _PREVIOUS + previous
    signature = pair.signing_key.sign(signed).signature
    return replace(
        message,
        signature=signature,
        self_hash=sha256(signed).hexdigest(),
        wire=with_signature(signed, signature, previous=True),
        previous=previous,
    )


def bound(seq: int, leaf: bytes, keyring: Keyring, clock: Clock) -> Record:
    """The record that stands behind row `seq`, which is not chained. Raises KeyringError."""
    body = {"row": seq, "leaf": leaf}
    at, id = clock.now(), clock.new_id()
    return seal_record(BOUND, body, id=id, at=at, signer=keyring.agent, previous=leaf)


def begun(end: End, keyring: Keyring, clock: Clock, more: Mapping[str, Any]) -> Record | None:
    """The record that binds all rows of a journal of before; None where the agent's key is sealed. more: what
    stood beside the journal and is a matter of rows from now on."""
    body = {"size": end.tree.size, "root": end.tree.root(), **more}
    at, id = clock.now(), clock.new_id()
    try:
        return seal_record(CHAINED, body, id=id, at=at, signer=keyring.agent, previous=end.leaf)
    except KeyringError:
        return None


class Links:
    """Follows a chain row by row, in order, and tells what does not hold."""

    def __init__(self, seq: int = 0, leaf: bytes = FIRST, *, chained: bool = False) -> None:
        self.seq, self.leaf, self.chained = seq, leaf, chained
        self._loose = 0  # a row that has yet to be bound
        self._unread = False  # whether the last row could not be read, which is told of itself

    def next(
        self, message: Message | None, leaf: bytes, tree: Frontier | None = None
    ) -> list[tuple[int, str]]:
        """One more row: row and words of each flaw. message: None where it cannot be read. tree: of all rows
        before it, where that is known."""
        flaws: list[tuple[int, str]] = []
        loose, before = self._loose, self.leaf
        self.seq, self.leaf, self._loose = self.seq + 1, leaf, 0
        unread, self._unread = self._unread, message is None
        if message is None:
            return [(loose, _UNBOUND)] if loose else []
        if loose and not (
            isinstance(message, Record)
            and message.kind == BOUND
            and (message.body.get("row"), message.body.get("leaf")) == (loose, before)
        ):
            flaws.append((loose, _UNBOUND))
        if message.previous:
            if message.previous != before and not unread:
                flaws.append((self.seq, "the row before it is not the one that it was signed behind"))
            elif not (self.chained or unread) and self.seq > 1 and not _binds(message, self.seq - 1, tree):
                flaws.append((self.seq, "the rows before it are chained by nothing"))
            self.chained = True
        elif self.chained:
            self._loose = self.seq
        return flaws

    def end(self) -> list[tuple[int, str]]:
        """What is still missing where the journal ends."""
        return [(self._loose, _UNBOUND)] if self._loose else []


_UNBOUND: Final = "it does not say which row is before it, and no record of this home binds it"


def _binds(message: Message, size: int, tree: Frontier | None) -> bool:
    if not isinstance(message, Record):
        return False
    if message.kind == BOUND and size == 1:  # what others said is the first row of all
        return bool(message.body.get("row") == 1)
    if message.kind != CHAINED or message.body.get("size") != size:
        return False
    return tree is None or message.body.get("root") == tree.root()


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
