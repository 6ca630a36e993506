"""Reading memories as they were when there were `size` mutations."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from executor.database import Database
from mcl.cortex.memory import TYPES, Memory, parse_uri
from mcl.errors import CortexError

_WORD = re.compile(r"[^\W_]+")
_CURRENT = """
SELECT m.seq, m.document, m.words FROM cortex_memories m WHERE m.seq <= ?1 AND NOT m.forgotten
AND NOT EXISTS (SELECT 1 FROM cortex_memories n
                WHERE n.type = m.type AND n.id = m.id AND n.version > m.version AND n.seq <= ?1)"""
_MATCHING = _CURRENT + " AND m.seq IN (SELECT rowid FROM cortex_words WHERE cortex_words MATCH ?2)"  # noqa: S608  # constants
_STATISTICS = "SELECT count(*), avg(words) FROM (" + _CURRENT + ")"  # noqa: S608  # constants
_K1, _B = 1.2, 0.75  # BM25's usual constants


def index_words(text: str) -> list[str]:
    """The words of `text` as they are indexed and looked for: lower case, without accents."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return _WORD.findall("".join(c for c in plain if not unicodedata.combining(c)))


class Memories:
    """The current memories at a size of the log. What it answers depends on those rows alone, so it can be
    replayed."""

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
    ) -> list[Memory]:
        """Memories of these types with all these tags, best first: by BM25 against `near` where it is given
        (only those that share a word with it), else by importance and newness. Raises CortexError
        MEMORY_TYPE.
        """
        wanted = {*types, *([type] if type else [])}
        if wrong := wanted - set(TYPES):
            raise CortexError(
                "MEMORY_TYPE", f"no such type of memory: {', '.join(sorted(wrong))}", fix=", ".join(TYPES)
            )
        if not self.size or limit < 1:
            return []
        words = list(dict.fromkeys(index_words(near)))
        if near and not words:
            return []
        rows = self._rows(words)
        must = set(tags)
        scores = self._bm25(words, rows) if words else {}
        found = [Memory.of_document(document, seq) for seq, document, _ in rows]
        found = [one for one in found if (not wanted or one.type in wanted) and must <= set(one.tags)]
        found.sort(key=lambda one: (-scores.get(one.seq, 0.0), -one.importance, -one.seq))
        return found[:limit]

    def resolve(self, uri: str) -> Memory | None:
        """The memory at an address, its current version where none is named; None where there is none or it
        is forgotten.

        Raises CortexError MEMORY_ADDRESS.
        """
        type_, id_, version = parse_uri(uri)
        rows = self._database.read(
            "SELECT seq, document FROM cortex_memories WHERE type = ? AND id = ? AND seq <= ? "
            "AND (? IS NULL OR version = ?) ORDER BY version DESC LIMIT 1",
            (type_, id_, self.size, version, version),
        )
        found = Memory.of_document(rows[0][1], rows[0][0]) if rows else None
        return None if found is None or found.forgotten else found

    def _rows(self, words: Sequence[str]) -> list[tuple[int, bytes, int]]:
        if not words:
            return self._database.read(_CURRENT, (self.size,))
        query = " OR ".join(f'"{word}"' for word in words)
        return self._database.read(_MATCHING, (self.size, query))

    def _bm25(self, words: Sequence[str], rows: Sequence[tuple[int, bytes, int]]) -> dict[int, float]:
        # FTS5 finds; the scores are ours: its own count rows that came after this snapshot.
        count, mean = self._database.read(_STATISTICS, (self.size,))[0]
        texts = {
            seq: Counter(index_words(_searched(Memory.of_document(document, seq))))
            for seq, document, _ in rows
        }
        scores = dict.fromkeys(texts, 0.0)
        for word in words:
            holding = [seq for seq, counts in texts.items() if word in counts]
            weight = math.log(1 + (count - len(holding) + 0.5) / (len(holding) + 0.5))
            for seq in holding:
                times, length = texts[seq][word], texts[seq].total()
                scores[seq] += weight * times * (_K1 + 1) / (times + _K1 * (1 - _B + _B * length / mean))
        return scores


def _searched(memory: Memory) -> str:
    return " ".join((memory.text, memory.id, *memory.tags))


def searched_words(memory: Memory) -> list[str]:
    """The words by which `memory` is found: its text, id and tags."""
    return index_words(_searched(memory))
