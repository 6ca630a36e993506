"""Writing memories: each mutation is one row, one leaf of a Merkle tree, and one record in the journal."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from executor.home import Home
from executor.journal.merkle import Frontier, inclusion_path, leaf_hash, verify_inclusion
from mcl.cortex.memory import Memory, checked, parse_uri
from mcl.cortex.view import Memories, searched_words
from mcl.errors import CortexError

NEVER_USED: Final = "0" * 64
_STEPS = [
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
    """
]


@dataclass(frozen=True)
class Snapshot:
    """The memories at one moment: how many mutations there were and the Merkle root over them (64 hex
    digits)."""

    size: int
    root: str


@dataclass(frozen=True)
class Proof:
    """That `document` is the mutation at `index` of the tree with this snapshot."""

    snapshot: Snapshot
    index: int
    document: bytes
    path: tuple[bytes, ...]

    def holds(self) -> bool:
        """Whether it is so."""
        leaf, root = leaf_hash(self.document), bytes.fromhex(self.snapshot.root)
        return verify_inclusion(leaf, self.index, self.snapshot.size, self.path, root)


class Cortex:
    """The memories of a home."""

    def __init__(self, home: Home) -> None:
        self._home = home
        home.db.migrate("cortex", _STEPS)

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
        at: str = "",
    ) -> Memory:
        """Remember `text`: a new memory, or the next version of the one with this type and id.

        Saying what is already remembered changes nothing and returns it. An id is made from the text where
        none is given. Raises CortexError MEMORY_SHAPE, HomeError.
        """
        name = id or sha256(f"{type}\x1f{text}".encode()).hexdigest()[:16]
        said = Memory(
            type, name, 1, at or self._home.clock.now(), text, tuple(dict.fromkeys(tags)), tuple(edges),
            float(importance), float(confidence), source,
        )  # fmt: skip
        return self._append(checked(said))

    def forget(self, uri: str, *, at: str = "") -> Memory:
        """Put a tombstone on a memory; its earlier versions stay readable in earlier snapshots.

        Raises CortexError MEMORY_ADDRESS, MEMORY_UNKNOWN; HomeError.
        """
        type_, id_, _ = parse_uri(uri)
        if self.memories().resolve(f"matrix://cortex/{type_}/{id_}") is None:
            raise CortexError(
                "MEMORY_UNKNOWN", "no such memory", place=uri, fix="look for it with mcl cortex find"
            )
        return self._append(Memory(type_, id_, 1, at or self._home.clock.now(), forgotten=True))

    def snapshot(self, size: int | None = None) -> Snapshot:
        """The memories now, or as they were after `size` mutations. Raises CortexError SNAPSHOT_UNKNOWN."""
        newest = (
            "SELECT seq, root FROM cortex_memories WHERE ?1 IS NULL OR seq = ?1 ORDER BY seq DESC LIMIT 1"
        )
        rows = self._home.db.read(newest, (size,))
        if not rows and size:
            raise CortexError(
                "SNAPSHOT_UNKNOWN", f"there never were {size} mutations", fix="use a smaller size"
            )
        return Snapshot(rows[0][0], rows[0][1].hex()) if rows else Snapshot(0, NEVER_USED)

    def snapshot_of(self, root: str) -> Snapshot | None:
        """The snapshot with this root, or None where this home never had it."""
        if root in {"", NEVER_USED}:
            return Snapshot(0, NEVER_USED)
        rows = self._home.db.read("SELECT seq FROM cortex_memories WHERE root = ?", (bytes.fromhex(root),))
        return Snapshot(rows[0][0], root) if rows else None

    def memories(self, snapshot: Snapshot | None = None) -> Memories:
        """What is remembered in `snapshot` (default: now)."""
        return Memories(self._home.db, (snapshot or self.snapshot()).size)

    def prove(self, uri: str, snapshot: Snapshot | None = None) -> Proof:
        """That a version of a memory is in `snapshot` (default: now). Raises CortexError MEMORY_UNKNOWN,
        MEMORY_ADDRESS."""
        whole = snapshot or self.snapshot()
        memory = self.memories(whole).resolve(uri)
        if memory is None:
            raise CortexError(
                "MEMORY_UNKNOWN", "no such memory", place=uri, fix="look for it with mcl cortex find"
            )
        leaves = [row[0] for row in self._home.db.read(_LEAVES, (whole.size,))]
        return Proof(whole, memory.seq - 1, memory.document(), inclusion_path(leaves, memory.seq - 1))

    def verify(self) -> list[int]:
        """The places (seq) whose stored document, leaf or root is not what the rows before it make; empty:
        all is well."""
        tree, wrong = Frontier(), []
        rows = self._home.db.read("SELECT seq, document, leaf, root FROM cortex_memories ORDER BY seq")
        for place, (seq, document, leaf, root) in enumerate(rows, 1):
            tree.append(leaf_hash(document))
            if seq != place or leaf_hash(document) != leaf or tree.root() != root:
                wrong.append(seq)
        return wrong

    def _append(self, memory: Memory) -> Memory:
        with self._home.db.write() as connection:
            last = connection.execute(
                "SELECT seq, peaks FROM cortex_memories ORDER BY seq DESC LIMIT 1"
            ).fetchone()
            size, peaks = last or (0, b"")
            newest = connection.execute(
                _NEWEST,
                (memory.type, memory.id),
            ).fetchone()
            if newest:
                current = Memory.of_document(newest[1], newest[0])
                if replace(memory, version=current.version, at=current.at, seq=current.seq) == current:
                    return current
                memory = replace(memory, version=current.version + 1)
            memory = replace(memory, seq=size + 1)
            document, words = memory.document(), searched_words(memory)
            tree = Frontier.from_bytes(size, peaks)
            tree.append(leaf := leaf_hash(document))
            key = (memory.type, memory.id, memory.version)
            connection.execute(
                "INSERT INTO cortex_memories VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    memory.seq,
                    *key,
                    memory.forgotten,
                    len(words),
                    document,
                    leaf,
                    tree.root(),
                    tree.to_bytes(),
                ),
            )
            connection.execute(
                "INSERT INTO cortex_words (rowid, words) VALUES (?, ?)", (memory.seq, " ".join(words))
            )
            self._home.journal.record(
                "record.cortex.forget" if memory.forgotten else "record.cortex.put",
                {"uri": memory.uri, "document": document, "size": memory.seq, "root": tree.root()},
                intent=None,
                at=memory.at,
                id=self._home.clock.new_id(),
            )
        return memory


_NEWEST = "SELECT seq, document FROM cortex_memories WHERE type = ? AND id = ? ORDER BY version DESC LIMIT 1"
_LEAVES = "SELECT leaf FROM cortex_memories WHERE seq <= ? ORDER BY seq"
