"""Checking all memories again from their bytes: rows, leaves, roots, the journal's records, the index."""

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from executor.store.home import Home
from executor.store.journal.merkle import Frontier, leaf_hash
from executor.store.journal.record import Record, is_record
from ir.errors import MclError
from mcl.core.errors import CortexError
from mcl.memory.memory import Memory
from mcl.memory.proof import signed_memory
from mcl.memory.store import FORGET, PUT
from mcl.memory.words import searched_words, tokens

_MOST: Final = 1000  # findings in one report
_KIND: Final = b"record.cortex."


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something that does not hold. place: "memory 7" (the mutation's number), "journal 12" (the row's),
    "index 7", or "database"."""

    code: str
    place: str
    message: str


@dataclass(slots=True)
class CortexReport:
    """What was checked and found. root: of all mutations (64 hex digits); memories: how many are current."""

    mutations: int = 0
    records: int = 0
    memories: int = 0
    root: str = "0" * 64
    flaws: list[Flaw] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.flaws

    def add(self, code: str, place: str, message: str) -> None:
        """Note a flaw; after the first thousand only their existence matters."""
        if len(self.flaws) < _MOST:
            self.flaws.append(Flaw(code, place, message))


def verify_home(home: Home, progress: Callable[[int, int], None] | None = None) -> CortexReport:
    """Check each mutation again, and that the journal's signed records, replayed, give the same memories.

    progress: is told how many mutations are done, and of how many. Flaws are in the report; raises HomeError
    only where the file cannot be opened.
    """
    with home.db.snapshot() as connection:
        connection.text_factory = bytes
        check = _Check(home, connection, progress)
        for part in (check.file, check.memories, check.index):
            try:
                part()
            except sqlite3.DatabaseError as error:
                check.report.add("DATABASE_CORRUPT", "database", str(error))
    return check.report


class _Check:
    def __init__(
        self, home: Home, connection: sqlite3.Connection, progress: Callable[[int, int], None] | None
    ) -> None:
        self.report = CortexReport()
        self._home, self._connection, self._progress = home, connection, progress
        self._current: dict[tuple[str, str], tuple[int, int]] = {}  # version and seq
        self._rows: dict[int, list[Any]] = {}  # what cortex_versions should hold
        self._tokens: dict[int, int] = {}  # a checksum over what the index should hold of each

    def file(self) -> None:
        """What SQLite says about its pages and indexes."""
        for (line,) in self._connection.execute("PRAGMA integrity_check"):
            if line != b"ok":
                self.report.add("DATABASE_CORRUPT", "database", line.decode(errors="replace"))

    def memories(self) -> None:
        """Rows and records side by side, in order."""
        rows = self._connection.execute(
            "SELECT seq, type, id, version, forgotten, words, document, leaf, root, peaks "
            "FROM cortex_memories NOT INDEXED ORDER BY seq"
        )
        ((whole,),) = self._connection.execute("SELECT count(*) FROM cortex_memories NOT INDEXED")
        records, tree = self._records(), Frontier()
        for place, (seq, *columns, document, leaf, root, peaks) in enumerate(rows, 1):
            if seq != place:
                self._add("SEQUENCE", place, f"mutation {seq} stands where {place} should be")
            tree.append(leaf_hash(bytes(document)))
            for code, name, stored, true in (
                ("LEAF_MISMATCH", "leaf", leaf, leaf_hash(bytes(document))),
                ("ROOT_MISMATCH", "root", root, tree.root()),
                ("ROOT_MISMATCH", "peaks", peaks, tree.to_bytes()),
            ):
                if stored != true:
                    self._add(code, seq, f"the {name} is not what the documents up to here make")
            memory = self._read(seq, document, columns)
            self._against(next(records, None), seq, memory, document, tree.root())
            self.report.mutations += 1
            if self._progress is not None:
                self._progress(self.report.mutations, whole)
        self.report.root = tree.root().hex() if tree.size else "0" * 64
        self.report.memories = sum(1 for row in self._rows.values() if row[-1] is None)
        for row, _ in records:
            self.report.add("MEMORY_MISSING", f"journal {row}", "this mutation is not among the memories")

    def index(self) -> None:
        """What finding goes by, against what the memories make of it."""
        sql = "SELECT seq, type, importance, words, nth, total, until FROM cortex_versions NOT INDEXED"
        stored = {seq: rest for seq, *rest in self._connection.execute(sql)}
        for seq in sorted(stored.keys() | self._rows.keys()):
            if stored.get(seq) != self._rows.get(seq):
                self._index_flaw(seq)
        found: dict[int, int] = {}
        sums: dict[bytes, int] = {}
        for term, seq in self._connection.execute("SELECT term, doc FROM cortex_terms"):
            if (checksum := sums.get(term)) is None:
                checksum = sums[term] = _checksum(term)
            found[seq] = found.get(seq, 0) + checksum
        for seq in sorted(found.keys() | self._tokens.keys()):
            if found.get(seq) != self._tokens.get(seq):
                self._index_flaw(seq)
        last = self._connection.execute("SELECT seq FROM cortex_indexed").fetchall()
        if last != [(self.report.mutations,)]:
            self._index_flaw(0)

    def _read(self, seq: int, document: bytes, columns: list[Any]) -> Memory | None:
        """The memory of a row whose columns agree with it; it is noted for the index."""
        try:
            memory = Memory.of_document(bytes(document), seq)
        except CortexError as error:
            self._add(error.code, seq, error.message)
            return None
        words = searched_words(memory)
        true = (memory.type.encode(), memory.id.encode(), memory.version, int(memory.forgotten), len(words))
        for name, stored, said in zip(
            ("type", "id", "version", "forgotten", "words"), columns, true, strict=True
        ):
            if stored != said:
                self._add("COLUMN_MISMATCH", seq, f"column {name} says {stored!r}, the document {said!r}")
        version, before = self._current.get((memory.type, memory.id), (0, 0))
        if memory.version != version + 1:
            self._add("VERSION_GAP", seq, f"version {memory.version} follows version {version}")
        self._current[memory.type, memory.id] = memory.version, seq
        self._expect(memory, words, before)
        return memory

    def _expect(self, memory: Memory, words: list[str], before: int) -> None:
        if before in self._rows:
            self._rows[before][-1] = memory.seq
        if not memory.forgotten:
            last: list[Any] = next(reversed(self._rows.values()), [0, 0, None])
            nth, total = last[-3:-1]
            said = [memory.type.encode(), memory.importance, len(words), nth + 1, total + len(words), None]
            self._rows[memory.seq] = said
            if parts := tokens(memory, words):
                self._tokens[memory.seq] = sum(_checksum(part.encode()) for part in parts)

    def _against(
        self,
        found: tuple[int, Record | MclError] | None,
        seq: int,
        memory: Memory | None,
        document: bytes,
        root: bytes,
    ) -> None:
        """Whether the signed record of a mutation says the same."""
        if found is None:
            self._add("RECORD_MISSING", seq, "the journal has no record of this mutation")
            return
        row, record = found
        if isinstance(record, MclError):
            self.report.add(record.code, f"journal {row}", f"{record.message} (the record of memory {seq})")
            return
        kind = FORGET if memory is not None and memory.forgotten else PUT
        said = {"document": document, "size": seq, "root": root}
        said |= {"uri": memory.uri} if memory is not None else {}
        wrong = [name for name, true in said.items() if record.body[name] != true]
        wrong += ["kind"] if memory is not None and record.kind != kind else []
        if wrong:
            parts = ", ".join(wrong)
            self._add("RECORD_MISMATCH", seq, f"row {row} of the journal says another {parts}")

    def _records(self) -> Iterator[tuple[int, Record | MclError]]:
        """The journal's records of memories in order, each checked, or what is wrong with it."""
        sql = "SELECT seq, kind, wire FROM journal NOT INDEXED ORDER BY seq"
        for row, kind, wire in self._connection.execute(sql):
            if not (kind.startswith(_KIND) or (is_record(wire) and _KIND in bytes(wire[:48]))):
                continue
            self.report.records += 1
            try:
                yield row, signed_memory(bytes(wire), self._home.keyring.past_resolver)
            except MclError as error:
                yield row, error

    def _add(self, code: str, seq: int, message: str) -> None:
        self.report.add(code, f"memory {seq}", message)

    def _index_flaw(self, seq: int) -> None:
        message = "finding goes by something else than the memories say (mcl memory verify --reindex)"
        self.report.add("INDEX_MISMATCH", f"index {seq}", message)


def _checksum(token: bytes) -> int:
    return int.from_bytes(sha256(token).digest()[:8], "big")
