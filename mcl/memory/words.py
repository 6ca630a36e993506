"""The words by which memories are found, and how they stand in the full-text index."""

import heapq
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

from executor.core.errors import JournalError
from executor.core.words import unaccented
from executor.store.database import Database
from executor.store.journal.record import stored_body
from mcl.core.errors import MemoryStoreError
from mcl.language.bm25 import WORD, bound, rarity, share
from mcl.memory.memory import TYPES, Memory, parse_uri

Read: TypeAlias = Callable[[str, Sequence[object]], list[tuple[Any, ...]]]

_PLAIN = re.compile(r"[a-z0-9]+")
# Signs that no word holds and that FTS5's tokenizer "ascii" takes for letters, as all beyond ASCII.
_TIMES, _TAG, _TYPE = "×", "÷", "¤"
_MOST_TIMES = 9
_LONGEST = 128  # characters of a word; FTS5 cuts what is much longer
# A memory by its number and the record of the journal that tells it: the document is nowhere else.
MANY: Final = "WHERE m.seq IN (SELECT value FROM json_each(?))"
DOCUMENT: Final = "SELECT m.seq, j.wire FROM memories m JOIN journal j ON j.id = m.record"


def document_in(wire: bytes) -> bytes:
    """The document of a memory, in its record. Raises JournalError RECORD_SHAPE."""
    document = stored_body(wire).get("document")
    if type(document) is not bytes:
        raise JournalError("RECORD_SHAPE", "this record is not that of a memory")
    return document


def index_words(text: str) -> list[str]:
    """The words of `text` as they are indexed and looked for: lower case, without accents."""
    return [word[:_LONGEST] for word in WORD.findall(unaccented(text.casefold()).casefold())]


def searched_words(memory: Memory) -> list[str]:
    """The words by which `memory` is found: its text, id and tags."""
    return index_words(" ".join((memory.text, memory.id, *memory.tags)))


def tokens(memory: Memory, words: list[str]) -> list[str]:
    """What the index holds of a memory: each word once, beside it how often where that is more than once,
    its tags and its type."""
    counts = Counter(words)
    more = [f"{word}{_TIMES}{min(count, _MOST_TIMES)}" for word, count in counts.items() if count > 1]
    return [*counts, *more, *(tag_token(tag) for tag in memory.tags), type_token(memory.type)]


def counted(words: list[str], word: str) -> int:
    """How often `word` counts among `words`."""
    return min(words.count(word), _MOST_TIMES)


def repeated_tokens(word: str) -> list[tuple[int, str]]:
    """The tokens of memories that say a word several times, each with how often."""
    return [(count, f"{word}{_TIMES}{count}") for count in range(2, _MOST_TIMES + 1)]


def type_token(type: str) -> str:
    """A type as one token."""
    return _TYPE + type.lower()


def tag_token(tag: str) -> str:
    """A tag as one token: what a tokenizer would part it at is written as its number."""
    return _TAG + "".join(c if _PLAIN.fullmatch(c) else f"{_TAG}{ord(c):x}{_TAG}" for c in tag)


def stored(read: Read, where: str, values: Sequence[object]) -> list[Memory]:
    """Memories as the journal has them. where: which, in which order."""
    return [Memory.of_stored(document_in(wire), seq) for seq, wire in read(f"{DOCUMENT} {where}", values)]


# ---- The best memories for some words, by BM25, as of any size of the log.

_MOST_WORDS: Final = 64  # of a goal: its rarest
_MOST_HOLDERS: Final = 2_000  # memories that are looked at for all words together, once enough are found
_MOST_READ: Final = 64  # memories, beside those asked for, that are read for the words that are left
_FROM: Final = "FROM memory_words f JOIN memories v ON v.seq = f.rowid WHERE f.memory_words MATCH ?"
_NOW: Final = "v.seq <= ? AND (v.until IS NULL OR v.until > ?)"


class Search:
    """Finds memories at one size of the log."""

    def __init__(self, database: Database, size: int) -> None:
        self._read = database.read
        self._size = size
        self._holding: dict[str, int] = {}
        self._means: tuple[int, float] | None = None

    def best(
        self,
        words: Sequence[str],
        types: Sequence[str],
        tags: Iterable[str],
        limit: int,
        without: Sequence[str] = (),
    ) -> list[int]:
        """The seqs of the `limit` best memories that hold one of `words`, best first; equal ones by
        importance and newness.

        types, tags, without: only of one of these types, with all of these tags and none of those.
        """
        known = {word: number for word in dict.fromkeys(words) if (number := self._count(word))}
        rare = sorted(known, key=lambda word: (known[word], word))[:_MOST_WORDS]
        number, _ = self._statistics()
        weights = [rarity(number, known[word]) for word in rare]
        left = [bound(sum(weights[place:])) for place in range(len(rare))]  # more than they can add
        only = _Only.of(types, tags, without)
        scores: dict[int, float] = {}
        found: dict[int, tuple[int, float]] = {}  # length in words, and importance
        place, looked = 0, 0
        while place < len(rare):
            looked += min(known[rare[place]], _MOST_HOLDERS)
            # Rare words first. Once enough is found, a common word is not looked up: what it can add cannot
            # change who is best, or it would be read from too many rows.
            if len(scores) >= limit and (looked > _MOST_HOLDERS or left[place] < _least(scores, limit)):
                break
            self._score(rare[place], weights[place], only, scores, found)
            place += 1

        def rank(seq: int) -> tuple[float, float, int]:
            return -scores[seq], -found[seq][1], -seq

        more = left[place] if place < len(rare) else 0.0
        least = _least(scores, limit) if len(scores) > limit else 0.0
        chosen = sorted((seq for seq, score in scores.items() if score + more >= least), key=rank)
        if place < len(rare):
            chosen = chosen[: limit + _MOST_READ]
            self._add(scores, {seq: found[seq][0] for seq in chosen}, rare[place:], weights[place:])
            chosen.sort(key=rank)
        return chosen[:limit]

    def listed(
        self,
        types: Sequence[str],
        tags: Iterable[str],
        limit: int,
        offset: int = 0,
        without: Sequence[str] = (),
    ) -> list[int]:
        """The seqs of current memories by importance and newness. without: counts only beside tags."""
        page = " ORDER BY v.importance DESC, v.seq DESC LIMIT ? OFFSET ?"
        values = (self._size, self._size, limit, offset)
        if tags := tuple(tags):
            sql = f"SELECT v.seq {_FROM} AND {_NOW}{page}"
            return [seq for (seq,) in self._read(sql, (_Only.of(types, tags, without).match(""), *values))]
        # `+`: the best are few, so the index by importance is gone through, and never that by type.
        where = f" AND +v.type IN ({', '.join('?' * len(types))})" if types else ""
        sql = f"SELECT v.seq FROM memories v WHERE v.forgotten = 0 AND {_NOW}{where}{page}"  # noqa: S608  # fixed texts
        return [seq for (seq,) in self._read(sql, (*values[:2], *types, *values[2:]))]

    def _count(self, word: str) -> int:
        """How many versions up to this size hold a word."""
        if word not in self._holding:
            sql = "SELECT count(*) FROM memory_words WHERE memory_words MATCH ? AND rowid <= ?"
            self._holding[word] = self._read(sql, (_quoted(word), self._size))[0][0]
        return self._holding[word]

    def _statistics(self) -> tuple[int, float]:
        """How many versions there are up to this size, and their mean length in words."""
        if self._means is None:
            sql = "SELECT nth, total FROM memories WHERE seq <= ? ORDER BY seq DESC LIMIT 1"
            number, total = (self._read(sql, (self._size,)) or [(0, 0)])[0]
            self._means = number, (total / number if total else 1.0)
        return self._means

    def _score(
        self,
        word: str,
        weight: float,
        only: "_Only",
        scores: dict[int, float],
        found: dict[int, tuple[int, float]],
    ) -> None:
        """Add to `scores` and `found` what a word counts for the newest current memories that hold it."""
        sql = f"SELECT v.seq, v.words, v.importance {_FROM} AND {_NOW} ORDER BY f.rowid DESC LIMIT ?"
        rows = self._read(sql, (only.match(_quoted(word)), self._size, self._size, _MOST_HOLDERS))
        often = self._repeating(word, rows[-1][0]) if rows else {}
        _, mean = self._statistics()
        gains: dict[tuple[int, int], float] = {}
        for seq, length, importance in rows:
            times = often.get(seq, 1)
            if (gain := gains.get((times, length))) is None:
                gain = gains[times, length] = share(weight, times, length / mean)
            scores[seq] = scores.get(seq, 0.0) + gain
            found[seq] = length, importance

    def _repeating(self, word: str, oldest: int) -> dict[int, int]:
        """How often versions from `oldest` on that hold a word several times do so."""
        sql = "SELECT rowid FROM memory_words WHERE memory_words MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?"
        tokens, often = repeated_tokens(word), dict[int, int]()
        any_of = " OR ".join(_quoted(token) for _, token in tokens)
        # Most words stand once in each memory: one question for all counts spares eight.
        if self._read(sql, (any_of, oldest, self._size, 1)):
            for times, token in tokens:
                found = self._read(sql, (_quoted(token), oldest, self._size, -1))
                often.update((seq, times) for (seq,) in found)
        return often

    def _add(
        self,
        scores: dict[int, float],
        lengths: dict[int, int],
        words: Sequence[str],
        weights: Sequence[float],
    ) -> None:
        """Add to the scores of some memories what further words in them count."""
        _, mean = self._statistics()
        for memory in stored(self._read, MANY, (json.dumps(list(lengths)),)):
            seq, said = memory.seq, searched_words(memory)
            for word, weight in zip(words, weights, strict=True):
                if times := counted(said, word):
                    scores[seq] += share(weight, times, lengths[seq] / mean)


def _least(scores: dict[int, float], limit: int) -> float:
    return heapq.nlargest(limit, scores.values())[-1]


@dataclass(frozen=True)
class _Only:
    """What FTS5 is asked for beside the words: all of the tags and one of the types; and what must not be."""

    wanted: str
    unwanted: str

    @classmethod
    def of(cls, types: Sequence[str], tags: Iterable[str], without: Sequence[str]) -> "_Only":
        parts = [_quoted(tag_token(tag)) for tag in tags]
        parts += [f"({' OR '.join(_quoted(type_token(type)) for type in types)})"] if types else []
        return cls(" AND ".join(parts), " OR ".join(_quoted(tag_token(tag)) for tag in without))

    def match(self, words: str) -> str:
        """The query for memories that hold `words`."""
        whole = " AND ".join(part for part in (words, self.wanted) if part)
        return f"({whole}) NOT ({self.unwanted})" if self.unwanted else whole


def _quoted(token: str) -> str:
    return f'"{token}"'


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

        Raises MemoryStoreError MEMORY_TYPE.
        """
        wanted = sorted({*types, *([type] if type else [])})
        if wrong := set(wanted) - set(TYPES):
            raise MemoryStoreError(
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

        Raises MemoryStoreError MEMORY_ADDRESS.
        """
        found = self.version(uri)
        return None if found is None or found.forgotten else found

    def version(self, uri: str) -> Memory | None:
        """The same, tombstones too."""
        type_, id_, version = parse_uri(uri)
        where = """WHERE m.type = ? AND m.id = ? AND m.seq <= ? AND (? IS NULL OR m.version = ?)
            ORDER BY m.version DESC LIMIT 1"""
        found = stored(self._database.read, where, (type_, id_, self.size, version, version))
        return found[0] if found else None

    def history(self, uri: str, *, newest: int = -1) -> list[Memory]:
        """All versions of a memory, tombstones too, oldest first. newest: only so many. Raises
        MemoryStoreError MEMORY_ADDRESS."""
        type_, id_, _ = parse_uri(uri)
        where = "WHERE m.type = ? AND m.id = ? AND m.seq <= ? ORDER BY m.version DESC LIMIT ?"
        return stored(self._database.read, where, (type_, id_, self.size, newest))[::-1]

    def ids(self, type: str, begin: str) -> list[str]:
        """The ids of a type that begin so, each once, also of what is forgotten, in order."""
        rows = self._database.read(
            "SELECT DISTINCT id FROM memories WHERE type = ? AND id >= ? AND id < ? AND seq <= ? ORDER BY id",
            (type, begin, f"{begin}\U0010ffff", self.size),
        )
        return [id_ for (id_,) in rows]

    def count(self) -> int:
        sql = """SELECT count(*) FROM memories
            WHERE forgotten = 0 AND seq <= ?1 AND (until IS NULL OR until > ?1)"""
        return int(self._database.read(sql, (self.size,))[0][0])

    @cached_property
    def _search(self) -> Search:
        return Search(self._database, self.size)

    def _read(self, seqs: Sequence[int]) -> list[Memory]:
        found = {memory.seq: memory for memory in stored(self._database.read, MANY, (json.dumps(seqs),))}
        return [found[seq] for seq in seqs if seq in found]
