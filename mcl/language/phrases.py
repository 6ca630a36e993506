"""Fixed phrases of skills (`phrase.N` lines): words that choose a skill, with places of slots between them.

`how many lines|rows are? in {file}`: words stand in this order from the beginning of a goal; `a|b` is either
word, `a?` may be left out, `*` is any word, `{slot}` is one word or more. Where a goal has all of them, what
stands in a place is what fills that slot; `{slot=member}` is no word, and fills a slot of a closed list with
that member.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from typing import Final, NamedTuple

PREFIX: Final = "phrase."
MOST_WORDS: Final = 60  # of a goal that are looked at: a fixed phrase is short
_ANY: Final = "*"
_EDGES: Final = " \t\n.,;:!?()[]"
_SLOT: Final = re.compile(r"\{([A-Za-z_]\w*)\}")
_SET: Final = re.compile(r"\{([A-Za-z_]\w*)=([\w.-]+)\}")
_SAID: Final = re.compile(r"(?<!\w)[\"“«`'‘][^\"”»`'’\n]+[\"”»`'’](?!\w)|\S+")
FILE_SLOT: Final = re.compile(r"^(?:files?|path|left|right|result|source|table)$")
_FILE_NAME: Final = re.compile(r"\w\.\w|/|^[\"“'`‘]")
_ENDS: Final = re.compile(r"[.,;:!?]$")


class GoalWord(NamedTuple):
    """A word of a goal, or a quote, without the marks around it. ends: whether a mark behind it ends
    something."""

    said: str
    start: int
    end: int
    ends: bool = False


class SlotWords(NamedTuple):
    """The characters of a goal that stand in the place of a slot; end exclusive."""

    slot: str
    start: int
    end: int


class _Part(NamedTuple):
    """One word of a phrase (any of `words`, which may be left out), or the place of a slot."""

    words: frozenset[str]
    slot: str = ""
    optional: bool = False


@dataclass(frozen=True)
class FixedPhrase:
    """A phrase as it is compared with goals. members: what it says of slots beside
    its places. flaw: what is wrong with it, "" where nothing is."""

    text: str
    parts: tuple[_Part, ...]
    members: tuple[tuple[str, str], ...] = ()
    flaw: str = ""

    @property
    def slots(self) -> tuple[str, ...]:
        """The slots that it has places for, in its order."""
        return tuple(part.slot for part in self.parts if part.slot)

    @property
    def weight(self) -> int:
        """How many words it has that must be said."""
        return sum(not part.slot and not part.optional for part in self.parts)


class PhraseMatch(NamedTuple):
    """A goal that has the words of a phrase. said: how many of them; from the character `start` to `end`."""

    phrase: FixedPhrase
    said: int
    places: tuple[SlotWords, ...]
    start: int = 0
    end: int = 0


class PhraseAround(NamedTuple):
    """Words that count for nothing, as runs of words: before a phrase, and between two of its words."""

    before: frozenset[tuple[str, ...]]
    between: frozenset[str]

    @classmethod
    def of(cls, before: Iterable[str], between: Iterable[str]) -> PhraseAround:
        """Of phrases in any spelling."""
        return cls(frozenset(tuple(one.casefold().split()) for one in before), frozenset(between))


@lru_cache(maxsize=4096)
def read_phrase(text: str) -> FixedPhrase:
    """A phrase as it is written in SKILL.mtx."""
    parts: list[_Part] = []
    members: list[tuple[str, str]] = []
    for word in text.split():
        if member := _SET.fullmatch(word):
            members.append((member[1], member[2]))
        elif slot := _SLOT.fullmatch(word):
            parts.append(_Part(frozenset(), slot[1]))
        else:
            bare = word.removesuffix("?")
            parts.append(_Part(frozenset(bare.casefold().split("|")), "", bare != word))
    return FixedPhrase(text, tuple(parts), tuple(members), _flaw(parts, [name for name, _ in members]))


def _flaw(parts: Sequence[_Part], members: Sequence[str]) -> str:
    slots = [*(part.slot for part in parts if part.slot), *members]
    if not any(not part.slot and not part.optional for part in parts):
        return "a phrase has a word that must be said"
    if any(one.slot and two.slot for one, two in pairwise(parts)):
        return "between two places there must be a word"
    if len(set(slots)) < len(slots):
        return "a place stands in it twice"
    if any(mark in word for part in parts for word in part.words for mark in "{}"):
        return "a place is a word by itself: {slot}"
    if any(not word for part in parts for word in part.words if not part.slot):
        return "a word is missing beside | or ?"
    return ""


def goal_words(prose: str) -> list[GoalWord]:
    """The first words of a goal; a quote is one."""
    found = []
    for match in _SAID.finditer(prose):
        text = match[0]
        bare = text.strip(_EDGES)
        if bare:
            start = match.start() + text.index(bare)
            ends = _ENDS.search(text) is not None
            found.append(GoalWord(bare.casefold(), start, start + len(bare), ends))
        if len(found) == MOST_WORDS:
            break
    return found


def find_phrase(
    words: Sequence[GoalWord],
    phrases: Iterable[str],
    around: PhraseAround,
    fits: Callable[[PhraseMatch], bool] = lambda match: True,
) -> PhraseMatch | None:
    """The phrase that the goal has most words of; None where it has none of them.

    Of two alike the one whose slots take fewer words, then the first.
    """
    starts, best = _starts(tuple(words), around), None
    first = {words[start].said for start in starts if start < len(words)}
    for text in phrases:
        begin = text.partition(" ")[0].casefold()
        if begin.isalpha() and begin not in first:
            continue  # read no further: of all phrases few begin as a goal does
        phrase = read_phrase(text)
        if phrase.flaw:
            continue
        for start in starts:
            match = _match(phrase, words, start, around.between)
            if match is not None and fits(match):
                if best is None or match.said > best.said:
                    best = match
                break
    return best


@lru_cache(maxsize=16)
def _starts(words: tuple[GoalWord, ...], around: PhraseAround) -> list[int]:
    """Where a phrase may begin: at the first word, and behind runs of words that count for nothing."""
    starts = _behind_runs(words, around)
    at = starts[-1]
    while at < len(words) and words[at].said in around.between:
        at += 1
        starts.append(at)
    return starts


def _behind_runs(words: Sequence[GoalWord], around: PhraseAround) -> list[int]:
    longest = max(map(len, around.before), default=0)
    starts, at = [0], 0
    while at < len(words):
        runs = (n for n in range(min(longest, len(words) - at), 0, -1) if _run(words, at, n) in around.before)
        many = next(runs, 0)
        if not many:
            break
        at += many
        starts.append(at)
    return starts


def _run(words: Sequence[GoalWord], at: int, many: int) -> tuple[str, ...]:
    return tuple(word.said for word in words[at : at + many])


def _match(
    phrase: FixedPhrase, words: Sequence[GoalWord], start: int, between: Collection[str]
) -> PhraseMatch | None:
    """The phrase at these words; each place takes as few of them as it can. A place for files at its end
    begins with what looks like one, if it can: "food in october in expenses.csv" is in one file."""
    ends_with_file = bool(phrase.parts) and FILE_SLOT.search(phrase.parts[-1].slot) is not None
    found = _PhraseWalk(phrase.parts, words, between, strict=True).go(0, start) if ends_with_file else None
    found = found or _PhraseWalk(phrase.parts, words, between, strict=False).go(0, start)
    if found is None:
        return None
    said, placed, end = found
    places = tuple(SlotWords(slot, words[a].start, words[b - 1].end) for slot, a, b in placed)
    return PhraseMatch(phrase, said, places, words[start].start, words[end - 1].end)


_Walked = tuple[int, tuple[tuple[str, int, int], ...], int]


class _PhraseWalk:
    """One phrase along the words of a goal. strict: whether its last place must begin with a file's name."""

    def __init__(
        self, parts: Sequence[_Part], words: Sequence[GoalWord], between: Collection[str], *, strict: bool
    ) -> None:
        self._parts, self._words, self._between, self._strict = parts, words, between, strict
        self._failed: set[tuple[int, int]] = set()

    def go(self, part: int, at: int) -> _Walked | None:
        """How many words are said from a part and a word on, the places, and behind which word it ends."""
        if part == len(self._parts):
            return 0, (), at
        if (part, at) in self._failed:
            return None
        one = self._parts[part]
        found = self._placed(part, at, one.slot) if one.slot else self._said(part, at, one)
        if found is None:
            self._failed.add((part, at))
        return found

    def _said(self, part: int, at: int, one: _Part) -> _Walked | None:
        there = at < len(self._words)
        found = None
        if there and (self._words[at].said in one.words or _ANY in one.words):
            rest = self.go(part + 1, at + 1)
            found = (rest[0] + (_ANY not in one.words), *rest[1:]) if rest is not None else None
        if found is None and one.optional:
            found = self.go(part + 1, at)
        if found is None and part and there and self._words[at].said in self._between:
            found = self.go(part, at + 1)
        return found

    def _placed(self, part: int, at: int, slot: str) -> _Walked | None:
        first, many = at, len(self._words)
        while first < many - 1 and self._words[first].said in self._between:
            first += 1
        last = part == len(self._parts) - 1
        if first >= many or (last and self._strict and not _FILE_NAME.search(self._words[first].said)):
            return None
        for end in (many,) if last else range(first + 1, many + 1):
            rest = self.go(part + 1, end)
            if rest is not None:
                return rest[0], ((slot, first, end), *rest[1]), rest[2]
        return None


Fits = Callable[[str, PhraseMatch], bool]


def best_phrases(
    prose: str,
    phrases: Mapping[str, Sequence[str]],
    around: PhraseAround,
    fits: Fits = lambda id, match: True,
) -> dict[str, PhraseMatch]:
    """Of skills by id, those of whose phrases the goal has the most words; more than one where they are
    alike. phrases: of each skill; fits: whether a skill can take what stands in the places."""
    words = goal_words(prose)
    found = {
        id: one
        for id, own in phrases.items()
        if own and (one := find_phrase(words, own, around, partial(fits, id)))
    }
    most = max((one.said for one in found.values()), default=0)
    return {id: one for id, one in found.items() if one.said == most}
