"""Memories are records of the journal: each mutation is one of them, with the document and the Merkle root
over all documents so far. Beside them lies an index, made in the same commit, that can be made anew."""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from executor.store.database import Database
from executor.store.home import Home
from executor.store.journal.journal import Statement
from executor.store.journal.merkle import EMPTY_ROOT, Frontier, leaf_hash
from ir import MclError
from mcl.core.errors import MemoryStoreError
from mcl.memory.memory import Memory, new_memory, parse_uri
from mcl.memory.words import DOCUMENT, Memories, document_in, searched_words, stored, tokens

NEVER_USED: Final = "0" * 64
PUT, FORGET = "record.cortex.put", "record.cortex.forget"
_RECORDS_AT_ONCE: Final = 500

# seq: which mutation it is, from 1; record: the id of its record in the journal; root: over the documents up
# to there; until: the mutation that replaced this version; nth, total: how many versions with words there are
# up to here, and how many words they have together, so that BM25's means are known at any size. memory_tree:
# the end of the tree over the documents, so that one more costs a dozen hashes and not a reading of them all.
_TABLES: Final = """
    CREATE TABLE memories (
        seq INTEGER PRIMARY KEY, record TEXT NOT NULL, root BLOB NOT NULL, type TEXT NOT NULL,
        id TEXT NOT NULL, version INTEGER NOT NULL, forgotten INTEGER NOT NULL, importance REAL NOT NULL,
        words INTEGER NOT NULL, nth INTEGER NOT NULL, total INTEGER NOT NULL, until INTEGER) STRICT;
    CREATE INDEX memories_versions ON memories (type, id, version);
    CREATE INDEX memories_roots ON memories (root);
    CREATE INDEX memories_best ON memories (importance DESC, seq DESC) WHERE forgotten = 0;
    CREATE TABLE memory_tree (one INTEGER PRIMARY KEY CHECK (one = 1), size INTEGER NOT NULL,
        peaks BLOB NOT NULL) STRICT;
    CREATE VIRTUAL TABLE memory_words USING fts5
        (words, content = '', tokenize = 'ascii', detail = 'none', columnsize = 0);
    CREATE VIRTUAL TABLE memory_terms USING fts5vocab ('memory_words', 'instance');
    """
# Versions 1 and 2 kept every document, and its tree, a second time; all that they held is in the journal.
_OLD: Final = ("cortex_memories", "cortex_versions", "cortex_indexed", "cortex_terms", "cortex_words")
STEPS: Final = ("", "", "".join(f"DROP TABLE IF EXISTS {name};" for name in _OLD) + _TABLES)

_RECORDS: Final = "SELECT id, wire FROM journal WHERE kind IN (?, ?) ORDER BY seq"


class Index:
    """Writes where memories are and which words they hold, inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._run = connection.execute
        newest = "SELECT nth, total, root FROM memories ORDER BY seq DESC LIMIT 1"
        last: tuple[int, int, bytes] | None = self._run(newest).fetchone()
        self._nth, self._total, root = last or (0, 0, EMPTY_ROOT)
        self.tree = Frontier.from_bytes(
            *self._run("SELECT size, peaks FROM memory_tree").fetchone() or (0, b"")
        )
        if self.tree.root() != root:  # somebody else's doing: a root over it would be signed for good
            raise MemoryStoreError(
                "INDEX_MISMATCH",
                "the index of the memories is not what they make of it",
                place="mcl.db",
                fix="mcl memory verify --reindex makes it anew",
            )

    def add(self, memory: Memory, record: str, document: bytes) -> bytes:
        """Index one mutation, whose number is that after the last; gives the root with it."""
        self.tree.append(leaf_hash(document))
        words, root = searched_words(memory), self.tree.root()
        if not memory.forgotten:
            self._nth, self._total = self._nth + 1, self._total + len(words)
            said = (memory.seq, " ".join(tokens(memory, words)))
            self._run("INSERT INTO memory_words (rowid, words) VALUES (?, ?)", said)
        name = (memory.type, memory.id)
        replaced = "UPDATE memories SET until = ? WHERE type = ? AND id = ? AND until IS NULL"
        self._run(replaced, (memory.seq, *name))
        row = (memory.seq, record, root, *name, memory.version, memory.forgotten, memory.importance)
        counts = (len(words), self._nth, self._total)
        self._run("INSERT INTO memories VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)", (*row, *counts))
        return root

    def close(self) -> None:
        """Keep where the next mutation goes on."""
        self._run(
            "INSERT OR REPLACE INTO memory_tree VALUES (1, ?, ?)", (self.tree.size, self.tree.to_bytes())
        )


def bring_up(database: Database) -> None:
    """Make the tables, and the index where there is none yet. Raises HomeError."""
    database.migrate("cortex", STEPS)
    if not database.read("SELECT 1 FROM memory_tree"):
        index_again(database)


def index_again(database: Database) -> None:
    """Make the index anew from the records of the journal. Raises HomeError."""
    with database.derive("cortex") as connection:
        for table in ("memories", "memory_tree"):
            connection.execute(f"DELETE FROM {table}")  # noqa: S608  # fixed texts
        connection.execute("INSERT INTO memory_words (memory_words) VALUES ('delete-all')")
        index = Index(connection)
        for record, wire in connection.execute(_RECORDS, (PUT, FORGET)):
            try:
                document = document_in(wire)
                memory = Memory.of_document(document, index.tree.size + 1)
            except MclError:
                continue  # `mcl memory verify` tells it
            index.add(memory, record, document)
        index.close()


@dataclass(frozen=True)
class Snapshot:
    """The memories at one moment: how many mutations there were and the Merkle root over them (64 hex
    digits)."""

    size: int
    root: str


class MemoryStore:
    """The memories of a home."""

    def __init__(self, home: Home) -> None:
        self.home = home
        bring_up(home.db)

    def put(self, type: str, text: str, *, edges: Sequence[tuple[str, str]] = (), **more: Any) -> Memory:
        """Remember `text`: a new memory, or the next version of the one with this type and id.

        more: what else `new_memory` takes. Saying what is already remembered changes nothing and returns it.
        An id is made from the text where none is given. Secrets (keys, tokens, passwords in addresses) are
        taken out first. Raises MemoryStoreError MEMORY_SHAPE, HomeError.
        """
        said = {"type": type, "text": text, "edges": edges, **more}
        return self.write([new_memory(said, at=self.home.clock.now())])[0]

    def forget(self, uri: str) -> Memory:
        """Put a tombstone on a memory; its earlier versions stay readable in earlier snapshots.

        Raises MemoryStoreError MEMORY_ADDRESS, MEMORY_UNKNOWN; HomeError.
        """
        type_, id_, _ = parse_uri(uri)
        with self.home.db.write():
            if self.memories().resolve(f"matrix://cortex/{type_}/{id_}") is None:
                raise unknown_memory(uri)
            return self.write([Memory(type_, id_, 1, self.home.clock.now(), forgotten=True)])[0]

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
        """The memories now, or as they were after `size` mutations. Raises MemoryStoreError
        SNAPSHOT_UNKNOWN."""
        sql = "SELECT seq, root FROM memories WHERE ?1 IS NULL OR seq = ?1 ORDER BY seq DESC LIMIT 1"
        rows = self.home.db.read(sql, (size,))
        if not rows and size:
            raise MemoryStoreError(
                "SNAPSHOT_UNKNOWN", f"there never were {size} mutations", fix="use a smaller size"
            )
        return Snapshot(rows[0][0], rows[0][1].hex()) if rows else Snapshot(0, NEVER_USED)

    def snapshot_of(self, root: str) -> Snapshot | None:
        """The snapshot with this root, or None where this home never had it."""
        if root in {"", NEVER_USED}:
            return Snapshot(0, NEVER_USED)
        rows = self.home.db.read("SELECT seq FROM memories WHERE root = ?", (bytes.fromhex(root),))
        return Snapshot(rows[0][0], root) if rows else None

    def memories(self, snapshot: Snapshot | None = None) -> Memories:
        """What is remembered in `snapshot` (default: now)."""
        return Memories(self.home.db, (snapshot or self.snapshot()).size)

    def leaves(self, size: int) -> list[bytes]:
        """The leaves of the tree over the first mutations, from their documents."""
        rows = self.home.db.read(f"{DOCUMENT} WHERE m.seq <= ? ORDER BY m.seq", (size,))
        return [leaf_hash(document_in(wire)) for _, wire in rows]

    def index_again(self) -> None:
        """Make the search index anew; what is remembered is not touched."""
        index_again(self.home.db)


class _Run:
    """One transaction's mutations."""

    def __init__(self, home: Home, connection: sqlite3.Connection) -> None:
        from executor.sandbox.redaction import Redactor  # only where something is written

        self._home, self._index, self._redactor = home, Index(connection), Redactor()
        self._told: list[Statement] = []
        self._newest: dict[tuple[str, str], Memory] = {}  # of those that are not in the journal yet

    def append(self, memory: Memory) -> Memory:
        """Write one mutation, if it is one."""
        memory = self._without_secrets(memory)
        current = self._current(memory.type, memory.id)
        if current is not None:
            # Saying the same thing again is no mutation: else each run of a skill that remembers would make a
            # new version, and another root to compile against.
            if replace(memory, version=current.version, at=current.at, seq=current.seq) == current:
                return current
            memory = replace(memory, version=current.version + 1)
        memory = replace(memory, seq=self._index.tree.size + 1)
        document, record = memory.document(), self._home.clock.new_id()
        root = self._index.add(memory, record, document)
        body = {"uri": memory.uri, "document": document, "size": memory.seq, "root": root}
        self._told.append(Statement(FORGET if memory.forgotten else PUT, body, at=memory.at, id=record))
        self._newest[memory.type, memory.id] = memory
        # An import of a hundred thousand lines is one transaction, and must not be held in memory as a whole.
        if len(self._told) >= _RECORDS_AT_ONCE:
            self.flush()
        return memory

    def flush(self) -> None:
        """Tell the journal what was written so far."""
        if self._told:
            self._index.close()
            self._home.journal.record_many(self._told)
        self._told.clear()
        self._newest.clear()

    def _current(self, type: str, id: str) -> Memory | None:
        if (told := self._newest.get((type, id))) is not None:
            return told
        newest = "WHERE m.type = ? AND m.id = ? ORDER BY m.version DESC LIMIT 1"
        found = stored(self._home.db.read, newest, (type, id))
        return found[0] if found else None

    def _without_secrets(self, memory: Memory) -> Memory:
        clean = self._redactor.text
        whole = "\n".join(memory.texts)
        if clean(whole) == whole:
            return memory
        return replace(
            memory,
            text=clean(memory.text),
            source=clean(memory.source),
            edges=tuple((relation, clean(uri)) for relation, uri in memory.edges),
            data=tuple((name, clean(text)) for name, text in memory.data),
        )


def unknown_memory(uri: str) -> MemoryStoreError:
    """The error for an address at which nothing is remembered."""
    return MemoryStoreError(
        "MEMORY_UNKNOWN", "no such memory", place=uri, fix="look for it with mcl memory find"
    )
