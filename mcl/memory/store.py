"""Writing memories: each mutation is one row, one leaf of a Merkle tree, and one record in the journal."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from executor.store.database import Database
from executor.store.home import Home
from executor.store.journal.merkle import Frontier, leaf_hash
from executor.store.journal.record import Record, seal_record
from mcl.core.errors import CortexError
from mcl.memory.memory import Memory, new_memory, parse_uri
from mcl.memory.words import Memories, searched_words, tokens

# ---- The tables of the memories. What is remembered is in cortex_memories alone; the rest is made of it
# and can be made again.

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


NEVER_USED: Final = "0" * 64
PUT, FORGET = "record.cortex.put", "record.cortex.forget"
_RECORDS_AT_ONCE = 500
_NEWEST = "SELECT seq, document FROM cortex_memories WHERE type = ? AND id = ? ORDER BY version DESC LIMIT 1"


@dataclass(frozen=True)
class Snapshot:
    """The memories at one moment: how many mutations there were and the Merkle root over them (64 hex
    digits)."""

    size: int
    root: str


class Cortex:
    """The memories of a home."""

    def __init__(self, home: Home) -> None:
        self.home = home
        bring_up(home.db)

    def put(
        self,
        type: str,
        text: str,
        *,
        id: str = "",
        tags: Sequence[str] = (),
        edges: Sequence[tuple[str, str]] = (),
        importance: float = 0.5,
        confidence: float = 1.0,
        source: str = "",
        data: Sequence[tuple[str, str]] = (),
        at: str = "",
    ) -> Memory:
        """Remember `text`: a new memory, or the next version of the one with this type and id.

        Saying what is already remembered changes nothing and returns it. An id is made from the text where
        none is given. Secrets (keys, tokens, passwords in addresses) are taken out first. Raises CortexError
        MEMORY_SHAPE, HomeError.
        """
        said = {
            **{"type": type, "text": text, "id": id, "tags": tags, "edges": edges, "data": dict(data)},
            **{"importance": importance, "confidence": confidence, "source": source, "at": at},
        }
        return self.write([new_memory(said, at=self.home.clock.now())])[0]

    def forget(self, uri: str, *, at: str = "") -> Memory:
        """Put a tombstone on a memory; its earlier versions stay readable in earlier snapshots.

        Raises CortexError MEMORY_ADDRESS, MEMORY_UNKNOWN; HomeError.
        """
        type_, id_, _ = parse_uri(uri)
        with self.home.db.write():
            if self.memories().resolve(f"matrix://cortex/{type_}/{id_}") is None:
                raise unknown_memory(uri)
            return self.write([Memory(type_, id_, 1, at or self.home.clock.now(), forgotten=True)])[0]

    def write(
        self, memories: Iterable[Memory], *, progress: Callable[[int], None] | None = None
    ) -> list[Memory]:
        """Append all of them or, where one cannot be stored, none; each as the version that it becomes.

        One that says what is already remembered is returned as it is and writes nothing (a tombstone on what
        is forgotten, too). progress: is told how many are done. Raises what `memories` raises, HomeError.
        """
        written: list[Memory] = []
        with self.home.db.write() as connection:
            run = _Run(self.home, connection)
            for memory in memories:
                written.append(run.append(memory))
                if progress is not None:
                    progress(len(written))
            run.flush()
        return written

    def snapshot(self, size: int | None = None) -> Snapshot:
        """The memories now, or as they were after `size` mutations. Raises CortexError SNAPSHOT_UNKNOWN."""
        newest = (
            "SELECT seq, root FROM cortex_memories WHERE ?1 IS NULL OR seq = ?1 ORDER BY seq DESC LIMIT 1"
            if size is None
            else "SELECT seq, root FROM cortex_memories WHERE seq = ?1"
        )
        rows = self.home.db.read(newest, (size,))
        if not rows and size:
            raise CortexError(
                "SNAPSHOT_UNKNOWN", f"there never were {size} mutations", fix="use a smaller size"
            )
        return Snapshot(rows[0][0], rows[0][1].hex()) if rows else Snapshot(0, NEVER_USED)

    def snapshot_of(self, root: str) -> Snapshot | None:
        """The snapshot with this root, or None where this home never had it."""
        if root in {"", NEVER_USED}:
            return Snapshot(0, NEVER_USED)
        rows = self.home.db.read("SELECT seq FROM cortex_memories WHERE root = ?", (bytes.fromhex(root),))
        return Snapshot(rows[0][0], root) if rows else None

    def memories(self, snapshot: Snapshot | None = None) -> Memories:
        """What is remembered in `snapshot` (default: now)."""
        return Memories(self.home.db, (snapshot or self.snapshot()).size)

    def index_again(self) -> None:
        """Make the search index anew; what is remembered is not touched."""
        index_again(self.home.db)


class _Run:
    """One transaction's mutations."""

    def __init__(self, home: Home, connection: sqlite3.Connection) -> None:
        self._home, self._connection = home, connection
        last = connection.execute(
            "SELECT seq, peaks FROM cortex_memories ORDER BY seq DESC LIMIT 1"
        ).fetchone()
        self._tree = Frontier.from_bytes(*(last or (0, b"")))
        self._index = Index(connection)
        from executor.sandbox.redaction import Redactor  # only where something is written

        self._redactor = Redactor()
        self._records: list[Record] = []
        self._signer = home.keyring.agent

    def append(self, memory: Memory) -> Memory:
        """Write one mutation, if it is one."""
        memory = self._without_secrets(memory)
        newest = self._connection.execute(_NEWEST, (memory.type, memory.id)).fetchone()
        before = None
        if newest:
            current = Memory.of_stored(newest[1], newest[0])
            if replace(memory, version=current.version, at=current.at, seq=current.seq) == current:
                return current
            memory, before = replace(memory, version=current.version + 1), current.seq
        memory = replace(memory, seq=self._tree.size + 1)
        document, words = memory.document(), searched_words(memory)
        self._tree.append(leaf := leaf_hash(document))
        root = self._tree.root()
        key = (memory.seq, memory.type, memory.id, memory.version, memory.forgotten, len(words))
        self._connection.execute(
            "INSERT INTO cortex_memories VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*key, document, leaf, root, self._tree.to_bytes()),
        )
        self._index.add(memory, words, before)
        self._record(memory, document, root)
        return memory

    def flush(self) -> None:
        """Write the journal's records of what was written so far."""
        self._home.journal.append_many(self._records)
        self._records.clear()

    def _record(self, memory: Memory, document: bytes, root: bytes) -> None:
        body = {"uri": memory.uri, "document": document, "size": memory.seq, "root": root}
        kind, fresh = FORGET if memory.forgotten else PUT, self._home.clock.new_id()
        self._records.append(seal_record(kind, body, id=fresh, at=memory.at, signer=self._signer))
        if len(self._records) >= _RECORDS_AT_ONCE:
            self.flush()

    def _without_secrets(self, memory: Memory) -> Memory:
        clean = self._redactor.text
        told = (
            memory.text,
            memory.source,
            *(uri for _, uri in memory.edges),
            *(text for _, text in memory.data),
        )
        whole = "\n".join(told)
        if clean(whole) == whole:
            return memory
        return replace(
            memory,
            text=clean(memory.text),
            source=clean(memory.source),
            edges=tuple((relation, clean(uri)) for relation, uri in memory.edges),
            data=tuple((name, clean(text)) for name, text in memory.data),
        )


def unknown_memory(uri: str) -> CortexError:
    """The error for an address at which nothing is remembered."""
    return CortexError("MEMORY_UNKNOWN", "no such memory", place=uri, fix="look for it with mcl memory find")
