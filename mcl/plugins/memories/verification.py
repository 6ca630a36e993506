"""Checking all memories again from their bytes: the journal's signed records, their roots, the index."""

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from executor.store.home import Home
from executor.store.journal.merkle import Frontier, leaf_hash
from executor.store.journal.record import Record, is_record
from ir.errors import MclError
from ir.findings import Finding
from mcl.core.errors import MemoryStoreError
from mcl.memory.memory import Memory
from mcl.memory.proof import signed_memory
from mcl.memory.store import FORGET, NEVER_USED, PUT
from mcl.memory.words import document_in, searched_words, tokens

_MOST: Final = 1000  # findings in one report
_KIND: Final = b"record.cortex."
_COLUMNS: Final = "record, root, type, id, version, forgotten, importance, words, nth, total, until"


@dataclass(slots=True)
class MemoryReport:
    """What was checked and found. root: of all mutations (64 hex digits); memories: how many are current.
    flaws: their places are "memory 7" (the mutation's number), "journal 12" (the row's), "index 7", or
    "database"."""

    mutations: int = 0
    records: int = 0
    memories: int = 0
    root: str = NEVER_USED
    flaws: list[Finding] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.flaws

    def add(self, code: str, place: str, message: str) -> None:
        """Note a flaw; after the first thousand only their existence matters."""
        if len(self.flaws) < _MOST:
            self.flaws.append(Finding(code, message, place))


def verify_home(home: Home, progress: Callable[[int, int], None] | None = None) -> MemoryReport:
    """Check each signed record of a memory again, and that the index says where they are and what they hold.

    progress: is told how many mutations are done, and of how many. Flaws are in the report; raises HomeError
    only where the file cannot be opened.
    """
    with home.db.snapshot() as connection:
        # Damaged text is no UTF-8: as bytes it can still be read and told.
        connection.text_factory = bytes
        check = _Check(home, connection, progress)
        for part in (check.file, check.records, check.index):
            try:
                part()
            except sqlite3.DatabaseError as error:
                check.report.add("DATABASE_CORRUPT", "database", str(error))
    return check.report


class _Check:
    def __init__(
        self, home: Home, connection: sqlite3.Connection, progress: Callable[[int, int], None] | None
    ) -> None:
        self.report = MemoryReport()
        self._home, self._connection, self._progress = home, connection, progress
        self._tree = Frontier()
        self._current: dict[tuple[str, str], tuple[int, int]] = {}  # version and seq
        self._rows: dict[int, list[Any]] = {}  # what the index should say of each mutation
        self._tokens: dict[int, int] = {}  # a checksum over the words that it should hold of each

    def file(self) -> None:
        """What SQLite says about its pages and indexes."""
        for (line,) in self._connection.execute("PRAGMA integrity_check"):
            if line != b"ok":
                self.report.add("DATABASE_CORRUPT", "database", line.decode(errors="replace"))

    def records(self) -> None:
        """The records in order: each signed, each the next, each with the root of all documents up to it."""
        ((whole,),) = self._connection.execute("SELECT count(*) FROM memories NOT INDEXED")
        for row, id, wire in self._wires():
            self.report.records += 1
            seq = self.report.mutations = self.report.records
            try:
                record = signed_memory(wire, self._home.keyring.past_resolver)
            except MclError as error:
                self.report.add(error.code, f"journal {row}", f"{error.message} (the record of memory {seq})")
                record = None
            try:
                document = document_in(wire)
            except MclError:
                continue  # told above; of what follows no root will fit
            self._tree.append(leaf_hash(document))
            memory = self._memory(seq, document)
            if record is not None and memory is not None:
                self._against(record, seq, memory)
            if memory is not None:
                self._expect(memory, id)
            if self._progress is not None:
                self._progress(seq, max(whole, seq))
        self.report.root = self._tree.root().hex() if self._tree.size else NEVER_USED
        self.report.memories = sum(not row[5] and row[-1] is None for row in self._rows.values())

    def index(self) -> None:
        """What finding goes by, against what the memories make of it."""
        sql = f"SELECT seq, {_COLUMNS} FROM memories NOT INDEXED"  # noqa: S608  # fixed texts
        stored = {seq: rest for seq, *rest in self._connection.execute(sql)}
        for seq in sorted(stored.keys() - self._rows.keys()):
            if seq > self.report.records:
                self._add("RECORD_MISSING", seq, "the journal has no record of this mutation")
        wrong = {seq for seq in stored.keys() | self._rows.keys() if stored.get(seq) != self._rows.get(seq)}
        found: dict[int, int] = {}
        sums: dict[bytes, int] = {}
        # FTS5 keeps no texts, only which words each memory has, by word. A sum of checksums for each memory
        # compares them in one pass, in any order, without holding a hundred thousand lists.
        for term, seq in self._connection.execute("SELECT term, doc FROM memory_terms"):
            if (checksum := sums.get(term)) is None:
                checksum = sums[term] = _checksum(term)
            found[seq] = found.get(seq, 0) + checksum
        wrong |= {
            seq for seq in found.keys() | self._tokens.keys() if found.get(seq) != self._tokens.get(seq)
        }
        tree = self._connection.execute("SELECT size, peaks FROM memory_tree").fetchall()
        if tree != [(self._tree.size, self._tree.to_bytes())]:
            wrong.add(0)
        message = "finding goes by something else than the memories say (mcl memory verify --reindex)"
        for seq in sorted(wrong):
            self.report.add("INDEX_MISMATCH", f"index {seq}", message)

    def _wires(self) -> Iterator[tuple[int, bytes, bytes]]:
        """The rows of the journal that tell of memories, by their bytes or by their column; in order."""
        sql = "SELECT seq, id, kind, wire FROM journal NOT INDEXED ORDER BY seq"
        for row, id, kind, wire in self._connection.execute(sql):
            # By both: a row whose column was changed would else be passed over.
            if kind.startswith(_KIND) or (is_record(wire) and _KIND in bytes(wire[:48])):
                yield row, id, bytes(wire)

    def _memory(self, seq: int, document: bytes) -> Memory | None:
        try:
            memory = Memory.of_document(document, seq)
        except MemoryStoreError as error:
            self._add(error.code, seq, error.message)
            return None
        version, _ = self._current.get((memory.type, memory.id), (0, 0))
        if memory.version != version + 1:
            self._add("VERSION_GAP", seq, f"version {memory.version} follows version {version}")
        return memory

    def _against(self, record: Record, seq: int, memory: Memory) -> None:
        """Whether the signed record of a mutation says of it what its document and its place say."""
        body = record.body
        if body["size"] != seq:
            self._add("SEQUENCE", seq, f"mutation {body['size']} stands where {seq} should be")
        if body["root"] != self._tree.root():
            self._add("ROOT_MISMATCH", seq, "the root is not what the documents up to here make")
        if (body["uri"], record.kind) != (memory.uri, FORGET if memory.forgotten else PUT):
            self._add("RECORD_MISMATCH", seq, "its record says another address or kind than its document")

    def _expect(self, memory: Memory, record: bytes) -> None:
        """What the index should say of it."""
        words, seq = searched_words(memory), memory.seq
        _, before = self._current.get((memory.type, memory.id), (0, 0))
        self._current[memory.type, memory.id] = memory.version, seq
        if before in self._rows:
            self._rows[before][-1] = seq
        last: list[Any] = next(reversed(self._rows.values()), [0, 0, None])
        nth, total = last[-3] + (not memory.forgotten), last[-2] + (0 if memory.forgotten else len(words))
        name = (memory.type.encode(), memory.id.encode(), memory.version, int(memory.forgotten))
        counts = (memory.importance, len(words), nth, total, None)
        self._rows[seq] = [record, self._tree.root(), *name, *counts]
        if not memory.forgotten and (parts := tokens(memory, words)):
            self._tokens[seq] = sum(_checksum(part.encode()) for part in parts)

    def _add(self, code: str, seq: int, message: str) -> None:
        self.report.add(code, f"memory {seq}", message)


def _checksum(token: bytes) -> int:
    return int.from_bytes(sha256(token).digest()[:8], "big")
