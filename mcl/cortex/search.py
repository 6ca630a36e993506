"""The best memories for some words, by BM25, as of any size of the log.

FTS5 says which memories hold a word; the score is ours, because FTS5's own counts rows that came after the
snapshot. Counted are all versions up to it, replaced ones too. Words are taken from rare to common, and no
more memories are looked at once no word that is left could bring a better one in (MaxScore, Turtle and Flood
1995): the result is that of scoring all of them.
"""

import heapq
import math
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from executor.database import Database
from mcl.cortex.memory import Memory
from mcl.cortex.words import counted, repeated_tokens, searched_words, tag_token

_K1: Final = 1.2
_B: Final = 0.75
_MOST_WORDS: Final = 64  # of a goal: its rarest
_FEW: Final = 400  # memories that are read whole sooner than all that hold a common word are looked up
_JOIN: Final = "FROM cortex_words f JOIN cortex_versions v ON v.seq = f.rowid WHERE f.cortex_words MATCH ?"
_NOW: Final = "v.seq <= ? AND (v.until IS NULL OR v.until > ?)"


class _Found(NamedTuple):
    """A memory that holds one of the words: its length in words and its importance (0 to 1)."""

    words: int
    importance: float


class Search:
    """Finds memories at one size of the log."""

    def __init__(self, database: Database, size: int) -> None:
        self._read = database.read
        self._size = size
        self._holding: dict[str, int] = {}
        self._means: tuple[int, float] | None = None

    def best(self, words: Sequence[str], types: Sequence[str], tags: Iterable[str], limit: int) -> list[int]:
        """The seqs of the `limit` best memories that hold one of `words`, best first; equal ones by
        importance and newness.

        types, tags: only of one of these types and with all of these tags.
        """
        known = {word: number for word in dict.fromkeys(words) if (number := self._count(word))}
        rare = sorted(known, key=lambda word: (known[word], word))[:_MOST_WORDS]
        weights = [self._weight(known[word]) for word in rare]
        left = [sum(weights[place:]) * (_K1 + 1) for place in range(len(rare) + 1)]  # more than they can add
        scores: dict[int, float] = {}
        found: dict[int, _Found] = {}
        where, values = _limits(types, tags)
        place = 0
        for place, word in enumerate(rare):  # where it stopped counts below
            if len(scores) >= limit and left[place] < self._least(scores, limit):
                break
            for seq, length, importance, times in self._holders(word, where, values):
                found.setdefault(seq, _Found(length, importance))
                scores[seq] = scores.get(seq, 0.0) + weights[place] * self._share(times, length)
        else:
            place = len(rare)
        if place < len(rare):
            scores = self._rest(scores, found, rare, weights, left, place, limit, (where, values))
        order = heapq.nsmallest(limit, scores, key=lambda seq: (-scores[seq], -found[seq].importance, -seq))
        return list(order)

    def listed(self, types: Sequence[str], tags: Iterable[str], limit: int, offset: int = 0) -> list[int]:
        """The seqs of current memories by importance and newness."""
        tokens = [tag_token(tag) for tag in tags]
        where = _types(types)
        moment = (self._size, self._size)
        page = " ORDER BY v.importance DESC, v.seq DESC LIMIT ? OFFSET ?"
        if tokens:
            sql = f"SELECT v.seq {_JOIN} AND {_NOW}{where}{page}"  # fixed texts
            return [seq for (seq,) in self._read(sql, (_all(tokens), *moment, *types, limit, offset))]
        sql = f"SELECT v.seq FROM cortex_versions v WHERE {_NOW}{where}{page}"  # noqa: S608  # fixed texts
        return [seq for (seq,) in self._read(sql, (*moment, *types, limit, offset))]

    def _count(self, word: str) -> int:
        """How many versions up to this size hold a word."""
        if word not in self._holding:
            sql = "SELECT count(*) FROM cortex_words WHERE cortex_words MATCH ? AND rowid <= ?"
            self._holding[word] = self._read(sql, (_quoted(word), self._size))[0][0]
        return self._holding[word]

    def _weight(self, holding: int) -> float:
        number, _ = self._statistics()
        return math.log(1 + (number - holding + 0.5) / (holding + 0.5))

    def _share(self, times: int, length: int) -> float:
        _, mean = self._statistics()
        return times * (_K1 + 1) / (times + _K1 * (1 - _B + _B * length / mean))

    def _statistics(self) -> tuple[int, float]:
        if self._means is None:
            sql = "SELECT nth, total FROM cortex_versions WHERE seq <= ? ORDER BY seq DESC LIMIT 1"
            number, total = (self._read(sql, (self._size,)) or [(0, 0)])[0]
            self._means = number, (total / number if total else 1.0)
        return self._means

    def _holders(
        self, word: str, where: str, values: tuple[tuple[str, ...], tuple[str, ...]]
    ) -> list[tuple[int, int, float, int]]:
        """seq, length, importance and how often, for each current memory that holds a word."""
        tags, types = values
        sql = f"SELECT v.seq, v.words, v.importance {_JOIN} AND {_NOW}{where}"  # fixed texts
        rows = self._read(sql, (_all([word, *tags]), self._size, self._size, *types))
        repeated = "SELECT rowid FROM cortex_words WHERE cortex_words MATCH ?"
        if not self._read(f"{repeated} LIMIT 1", (_any([token for _, token in repeated_tokens(word)]),)):
            return [(seq, length, importance, 1) for seq, length, importance in rows]
        often = {
            seq: times
            for times, token in repeated_tokens(word)
            for (seq,) in self._read(repeated, (_quoted(token),))
        }
        return [(seq, length, importance, often.get(seq, 1)) for seq, length, importance in rows]

    def _rest(
        self,
        scores: dict[int, float],
        found: dict[int, _Found],
        words: Sequence[str],
        weights: Sequence[float],
        left: Sequence[float],
        place: int,
        limit: int,
        limits: tuple[str, tuple[tuple[str, ...], tuple[str, ...]]],
    ) -> dict[int, float]:
        """The scores with what the words from `place` on add, less memories that cannot be among the best."""
        for at in range(place, len(words)):
            least = self._least(scores, limit)
            scores = {seq: score for seq, score in scores.items() if score + left[at] >= least}
            if len(scores) <= _FEW:
                said = self._words_of(scores)
                for later in range(at, len(words)):
                    for seq in scores:
                        if times := counted(said[seq], words[later]):
                            scores[seq] += weights[later] * self._share(times, found[seq].words)
                return scores
            for seq, length, _, times in self._holders(words[at], *limits):
                if seq in scores:
                    scores[seq] += weights[at] * self._share(times, length)
        return scores

    def _words_of(self, seqs: Iterable[int]) -> dict[int, list[str]]:
        sql = "SELECT document FROM cortex_memories WHERE seq = ?"
        return {
            seq: searched_words(Memory.of_stored(self._read(sql, (seq,))[0][0], seq)) for seq in list(seqs)
        }

    @staticmethod
    def _least(scores: dict[int, float], limit: int) -> float:
        return heapq.nlargest(limit, scores.values())[-1]


def _limits(types: Sequence[str], tags: Iterable[str]) -> tuple[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    return _types(types), (tuple(tag_token(tag) for tag in tags), tuple(types))


def _types(types: Sequence[str]) -> str:
    return f" AND v.type IN ({', '.join('?' * len(types))})" if types else ""


def _quoted(token: str) -> str:
    return f'"{token}"'


def _all(tokens: Sequence[str]) -> str:
    return " AND ".join(map(_quoted, tokens))


def _any(tokens: Sequence[str]) -> str:
    return " OR ".join(map(_quoted, tokens))
