"""Reading memories as they were when there were `size` mutations."""

from collections.abc import Iterable, Sequence
from functools import cached_property

from executor.store.database import Database
from mcl.core.errors import CortexError
from mcl.memory.memory import TYPES, Memory, parse_uri
from mcl.memory.search import Search
from mcl.memory.words import index_words


class Memories:
    """The current memories at a size of the log. What it answers depends on the rows up to there alone, so it
    can be replayed."""

    def __init__(self, database: Database, size: int) -> None:
        self._database = database
        self.size = size

    def find(
        self,
        *,
        type: str = "",
        types: Sequence[str] = (),
        tags: Iterable[str] = (),
        near: str = "",
        limit: int = 10,
        offset: int = 0,
        without: Sequence[str] = (),
    ) -> list[Memory]:
        """Memories of these types with all these tags, best first: by BM25 against `near` where it is given
        (only those that share a word with it), else by importance and newness; without the first `offset`.
        without: tags of which they must have none, where `near` or `tags` are given.

        Raises CortexError MEMORY_TYPE.
        """
        wanted = sorted({*types, *([type] if type else [])})
        if wrong := set(wanted) - set(TYPES):
            raise CortexError(
                "MEMORY_TYPE", f"no such type of memory: {', '.join(sorted(wrong))}", fix=", ".join(TYPES)
            )
        if not self.size or limit < 1:
            return []
        must = tuple(dict.fromkeys(tags))
        if not near:
            return self._read(self._search.listed(wanted, must, limit, offset, without))
        words = index_words(near)
        best = self._search.best(words, wanted, must, limit + offset, without) if words else []
        return self._read(best[offset:])

    def resolve(self, uri: str) -> Memory | None:
        """The memory at an address, its current version where none is named; None where there is none or it
        is forgotten.

        Raises CortexError MEMORY_ADDRESS.
        """
        found = self.version(uri)
        return None if found is None or found.forgotten else found

    def version(self, uri: str) -> Memory | None:
        """The same, tombstones too."""
        type_, id_, version = parse_uri(uri)
        rows = self._database.read(
            "SELECT seq, document FROM cortex_memories WHERE type = ? AND id = ? AND seq <= ? "
            "AND (? IS NULL OR version = ?) ORDER BY version DESC LIMIT 1",
            (type_, id_, self.size, version, version),
        )
        return Memory.of_stored(rows[0][1], rows[0][0]) if rows else None

    def history(self, uri: str, *, newest: int = -1) -> list[Memory]:
        """All versions of a memory, tombstones too, oldest first. newest: only so many. Raises CortexError
        MEMORY_ADDRESS."""
        type_, id_, _ = parse_uri(uri)
        rows = self._database.read(
            "SELECT seq, document FROM cortex_memories WHERE type = ? AND id = ? AND seq <= ? "
            "ORDER BY version DESC LIMIT ?",
            (type_, id_, self.size, newest),
        )
        return [Memory.of_stored(document, seq) for seq, document in reversed(rows)]

    def ids(self, type: str, begin: str) -> list[str]:
        """The ids of a type that begin so, each once, also of what is forgotten, in order."""
        rows = self._database.read(
            "SELECT DISTINCT id FROM cortex_memories WHERE type = ? AND id >= ? AND id < ? AND seq <= ? "
            "ORDER BY id",
            (type, begin, f"{begin}\U0010ffff", self.size),
        )
        return [id_ for (id_,) in rows]

    def count(self) -> int:
        """How many memories are current."""
        sql = "SELECT count(*) FROM cortex_versions WHERE seq <= ?1 AND (until IS NULL OR until > ?1)"
        return int(self._database.read(sql, (self.size,))[0][0])

    @cached_property
    def _search(self) -> Search:
        return Search(self._database, self.size)

    def _read(self, seqs: Sequence[int]) -> list[Memory]:
        sql = "SELECT document FROM cortex_memories WHERE seq = ?"
        return [Memory.of_stored(self._database.read(sql, (seq,))[0][0], seq) for seq in seqs]
