"""Which lines of some texts answer a question: by the rarity of its words, and what answers look like."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from executor.core.tables import table_beside
from mcl.compiler.stages.word_forms import folded, stems
from mcl.language.bm25 import WORD
from mcl.values.durations import in_english
from mcl.values.periods import MONTHS

_DAY: Final = re.compile(r"(?<!\d)\d{4}-(\d\d-\d\d)(?!\d)")
_SAID_DAY: Final = re.compile(r"(?<!\w)(\d\d?)(?:st|nd|rd|th|:?[ae])?\s+(?:of\s+)?([^\W\d_]{3,})")
_NEAR: Final = 2  # lines around one whose words count for it, less
_NEAR_COUNTS, _HEAD_COUNTS, _COMPOUND_COUNTS, _HEADER_COUNTS = 0.5, 0.7, 0.8, 0.7
_BESIDE_COUNTS: Final = 0.3  # what a word counts that is told beside the question
_SENTENCE: Final = re.compile(r"[^?!.\n]+(?:[.!](?!\s|$)[^?!.\n]+)*[?!.]*")
_HEADER: Final = re.compile(r"(?:from|to|subject|date|från|till|ämne|datum):", re.IGNORECASE)
_HEADERS: Final = 12  # lines at the beginning of a letter that may be of its header
_SAME_FILE: Final = 0.6  # of a file's best line, what another counts that looks like an answer of the kind
_FITS: Final = 1.35  # what a line counts more that looks like an answer of the kind asked for
_LEAST: Final = 0.3  # of what all words of the question would count
_MOST_WORDS: Final = 6  # of those: whoever tells more of it expects no more of a line
_BESIDE: Final = 0.75  # of the best line, what another must reach to be told beside it
_OTHER_COUNTS: Final = 0.9  # what another word for one counts
_LONG: Final = 6  # letters of a word in which one may be wrong
_SHORTEST: Final = 4  # letters of a word that may be a part of a longer one


@dataclass(frozen=True)
class AnswerLine:
    """A line of a file; number from 1. score: how well it answers; share: of what all words would count."""

    path: str
    number: int
    text: str
    score: float
    share: float = 0.0


@dataclass(frozen=True)
class _Kind:
    asked: re.Pattern[str]
    answer: re.Pattern[str]


@functools.cache
def _table() -> tuple[frozenset[str], tuple[_Kind, ...]]:
    table = table_beside(__file__)
    kinds = (
        _Kind(
            re.compile(rf"(?<!\w)(?:{one['asked']})(?!\w)", re.IGNORECASE),
            re.compile(one["answer"], re.IGNORECASE),
        )
        for one in table["kinds"]
    )
    return frozenset(table["empty"].split()), tuple(kinds)


def empty_words() -> frozenset[str]:
    """Words that say nothing of what is looked for."""
    return _table()[0]


def is_of_a_kind(text: str) -> bool:
    """Whether words say what kind of answer is wanted: a phone number, a day, a code."""
    return any(kind.asked.search(text) for kind in _table()[1])


def asked_for(question: str) -> list[str]:
    """The words of a question that say what is looked for, each once, in lower case; all where none does.

    Those that say what kind of answer is wanted ("phone number", "how long") are not among them.
    """
    empty, kinds = _table()
    rest = question
    for kind in kinds:
        rest = kind.asked.sub(" ", rest)
    words = list(dict.fromkeys(word.casefold() for word in WORD.findall(rest)))
    return [word for word in words if word not in empty and len(word) > 1] or words


def alike(term: str, word: str) -> float:
    """How far a word says a term: 1.0 in another form of it, less as a part of a longer word; else 0."""
    if term == word:
        return 1.0
    shared = len(_shared(term, word))
    longest, shortest = max(len(term), len(word)), min(len(term), len(word))
    if shared >= _SHORTEST - 1 and longest - shared <= min(4, shared - 1) and shortest - shared <= 2:
        return 1.0
    part, whole = sorted((term, word), key=len)
    compound = shortest >= _SHORTEST and (
        whole.startswith(part[: max(_SHORTEST, len(part) - 2)]) or whole.endswith(part)
    )
    return _COMPOUND_COUNTS if compound else 0.0


def means(term: str, word: str) -> float:
    """The same of words of a list, whatever their accents: also where a letter is wrong, and of other words
    for them."""
    one, other = folded(term), folded(word)
    slip = len(one) >= _LONG and len(other) >= _LONG and _is_slip(one, other)
    return max(alike(one, other), _meant(term, word), _OTHER_COUNTS * slip)


def _is_slip(one: str, other: str) -> bool:
    """Whether one letter is wrong, missing, too much, or in the place of the next."""
    start = len(_shared(one, other))
    a, b = one[start:], other[start:]
    turned = a[:2] == b[1::-1] and a[2:] == b[2:]
    return start > 0 and (turned or a[1:] in (b, b[1:]) or a == b[1:])


def _meant(term: str, word: str) -> float:
    """The same, also of other words for a term: insurance, of försäkring."""
    return max(alike(term, word), *(_OTHER_COUNTS * alike(one, word) for one in others(term)), 0.0)


@functools.lru_cache(maxsize=2_000)
def others(term: str) -> tuple[str, ...]:
    """Other words for a word, in both languages."""
    groups = [one.split() for one in table_beside(__file__)["same"]]
    found = (word for group in groups if any(alike(term, one) for one in group) for word in group)
    return tuple(dict.fromkeys((*found, *sorted(stems(folded(term)) - stems(folded(term), same=False)))))


def _shared(one: str, other: str) -> str:
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return one[:place]
    return min(one, other, key=len)


def answers(question: str, texts: Iterable[tuple[str, str]], most: int) -> list[AnswerLine]:
    """The lines that answer best, best first, those as good by path and place; none where none does.

    texts: paths and what stands there. Words in the path, in a letter's header and in lines beside one count
    for it too, less.
    """
    beside = _beside(question)
    terms = [*asked_for(_undated(question)), *_days(question)]
    files = [(path, text.splitlines()) for path, text in texts]
    words = [[frozenset(_words(line)) for line in lines] for _, lines in files]
    heads = [_head(path, lines) for path, lines in files]
    known = frozenset().union(*heads, *(one for lines in words for one in lines))
    said = {term: {word: share for word in known if (share := _meant(term, word))} for term in terms}
    total = 1 + sum(len(lines) for _, lines in files)
    weights = {}
    for term, forms in said.items():
        having = sum(not one.isdisjoint(forms) for lines in words for one in lines)
        weights[term] = math.log(1 + total / (1 + having)) * (_BESIDE_COUNTS if term in beside else 1)
    whole = math.fsum(sorted(weights.values())[-_MOST_WORDS:])
    kinds = [kind.answer for kind in _table()[1] if kind.asked.search(question)]
    found = []
    for (path, lines), own, head in zip(files, words, heads, strict=True):
        scores = [_score(own, place, head, said, weights) for place in range(len(lines))]
        best = max(scores, default=0.0)
        for place, (line, score) in enumerate(zip(lines, scores, strict=True)):
            if _HEADER.match(line):
                score *= _HEADER_COUNTS
            elif any(
                kind.search(line) for kind in kinds
            ):  # the line that is asked for, in a file that is meant
                score = max(score, _SAME_FILE * best) * _FITS
            if own[place] and score:
                found.append(AnswerLine(path, place + 1, line, score, score / whole))
    found.sort(key=lambda one: (-one.score, one.path, one.number))
    least = max(_LEAST * whole, _BESIDE * found[0].score) if found else 0.0
    return [one for one in found if one.score >= least][:most]


def _beside(question: str) -> frozenset[str]:
    """The words that only stand in sentences beside the one that asks."""
    parts = _SENTENCE.findall(question)
    asks = [one for one in parts if one.endswith("?")]
    own = frozenset(_words(" ".join(asks)))
    return frozenset(_words(question)) - own if asks else frozenset()


def _words(text: str) -> list[str]:
    return [*(word.casefold() for word in WORD.findall(text)), *_days(text)]


def _days(text: str) -> list[str]:
    """The days that a text names, as they stand in names of files: of “2 november” and 2026-11-02."""
    said = ((MONTHS.get(in_english(one[2])), int(one[1])) for one in _SAID_DAY.finditer(text))
    return [*(f"-{one[1]}" for one in _DAY.finditer(text)), *(f"-{m:02}-{day:02}" for m, day in said if m)]


def _undated(text: str) -> str:
    """A text without the days that it names."""
    return _SAID_DAY.sub(lambda one: " " if MONTHS.get(in_english(one[2])) else one[0], text)


def _head(path: str, lines: Sequence[str]) -> frozenset[str]:
    """What is said of a whole file: its path, and a letter's header."""
    header = [line for line in lines[:_HEADERS] if _HEADER.match(line)]
    return frozenset(_words(" ".join([path, *header])))


def _around(own: Sequence[frozenset[str]], place: int) -> Sequence[frozenset[str]]:
    return own[max(0, place - _NEAR) : place + _NEAR + 1]


def _score(
    own: Sequence[frozenset[str]],
    place: int,
    head: frozenset[str],
    said: dict[str, dict[str, float]],
    weights: dict[str, float],
) -> float:
    near = frozenset().union(*_around(own, place))
    return math.fsum(
        weights[term]
        * max(_best(own[place], forms), _HEAD_COUNTS * _best(head, forms), _NEAR_COUNTS * _best(near, forms))
        for term, forms in said.items()
    )


def _best(words: frozenset[str], forms: dict[str, float]) -> float:
    return max((forms[word] for word in words & forms.keys()), default=0.0)
