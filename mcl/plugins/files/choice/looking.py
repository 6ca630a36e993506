"""Which of the files here words describe: by their paths, what they begin with and what stands in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from typing import Final, NamedTuple

from executor.core.tables import table_beside
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.word_forms import folded, forms, stems
from mcl.plugins.files.choice.names import NamedSets, base
from mcl.plugins.files.choice.words import SaidWord
from mcl.values.kinds import kind_of_ending

_MOST_READ: Final = 300  # files
_MOST_TEXT: Final = 20_000  # characters of one
_HEAD: Final = 200  # characters in which a file says what it is
_NO_TEXT: Final = ("pictures", "videos", "music", "archives", "programs")
_EXACT, _IN_NAME, _IN_FOLDER, _IN_HEAD, _IN_TEXT, _IN_PART = 1.1, 1.0, 0.9, 0.8, 0.65, 0.85
_WHOLE: Final = 4  # letters of a word that stands at the beginning of another
_COMPOUND: Final = 5  # letters of one that is a part of another
_SHORTEST: Final = 3  # letters of a part of a compound
_PART: Final = 0.7  # what such a part counts
_MORE: Final = 4  # letters that a form of a word has more
_TOLD: Final = 6  # files between which a person chooses


@cache
def empty_words() -> frozenset[str]:
    """Words that say nothing of a file."""
    return frozenset(table_beside(__file__, "described")["empty"].split())


class WeightedWord(NamedTuple):
    """A word that describes a file. weight: how much it counts beside the others."""

    word: SaidWord
    weight: float = 1.0


class Described(NamedTuple):
    """A file that words describe. terms: how many of them; named: how many of these by its path, headed: by
    what it begins with."""

    path: str
    score: float
    terms: int
    named: int
    headed: int


class Looking:
    """Looks for what words describe. sets: the names of what is here."""

    def __init__(self, sets: NamedSets) -> None:
        self.sets = sets

    def described(self, terms: Sequence[WeightedWord], among: Sequence[str] | None = None) -> list[Described]:
        """The files that some words describe, best first. among: the only ones that may be meant."""
        files = [one.path for one in self.sets.files[:_MOST_READ]]
        scores: dict[str, list[tuple[float, float]]] = {path: [] for path in files}
        for text, weight in self._each(terms).items():
            hits = {path: hit for path in files if (hit := self._hit(text, path))}
            rare = math.log(1 + len(files) / (1 + len(hits)))
            for path, hit in hits.items():
                scores[path].append((weight * rare * hit, hit))
        found = [
            Described(
                path,
                math.fsum(score for score, _ in said),
                len(said),
                sum(hit >= _IN_FOLDER for _, hit in said),
                sum(_IN_FOLDER > hit >= _IN_PART * _IN_HEAD for _, hit in said),
            )
            for path, said in scores.items()
            if said and (among is None or path in among)
        ]
        return sorted(found, key=lambda one: (-one.score, one.path))

    def alike(self, found: Sequence[Described], clear: float) -> list[Described]:
        """Those that may as well be meant as the best of what was found. clear: times what another describes,
        that the best is clearly meant."""
        return [one for one in found if one.score * clear > found[0].score][:_TOLD] if found else []

    @staticmethod
    def _each(terms: Sequence[WeightedWord]) -> dict[SaidWord, float]:
        found: dict[str, tuple[SaidWord, float]] = {}
        parts = (one._replace(weight=_PART * one.weight) for one in terms)
        for word, weight in [*terms, *(part for one in parts for part in _parts(one))]:
            stem = min(stems(folded(word.text), same=False), key=len)
            if stem not in found or found[stem][1] < weight:
                found[stem] = (word, weight)
        return dict(found.values())

    def _hit(self, word: SaidWord, path: str) -> float:
        """How far a file is what a word says."""
        key = (word.text, path)
        if key not in self._hits:
            self._hits[key] = self._compared(word, path)
        return self._hits[key]

    def _compared(self, word: SaidWord, path: str) -> float:
        text = folded(word.text)
        if text in folded(base(path)).split():
            return _EXACT
        said, above = _forms(text), folded(path.rpartition("/")[0])
        if any(_within(form, above) == 1 for form in said):
            return _IN_FOLDER
        if path in self.sets.of(word) or any(_within(form, folded(base(path))) == 1 for form in said):
            return _IN_NAME
        head, text = self._texts(path)
        return max(
            (max(_IN_HEAD * _within(one, head), _IN_TEXT * _within(one, text)) for one in said), default=0.0
        )

    def _texts(self, path: str) -> tuple[str, str]:
        """What a file begins with, and all that is read of it, each folded."""
        if path not in self._read:
            kind = kind_of_ending(f".{path.rpartition('.')[2]}") or ""
            text = "" if kind in _NO_TEXT else self.sets.names.text(path)[:_MOST_TEXT]
            self._read[path] = (folded(text[:_HEAD]), folded(text))
        return self._read[path]

    @cached_property
    def _hits(self) -> dict[tuple[str, str], float]:
        return {}

    @cached_property
    def _read(self) -> dict[str, tuple[str, str]]:
        return {}


def _parts(term: WeightedWord) -> Iterator[WeightedWord]:
    """The words that a compound is made of, where both are known in another language: tågbiljetten."""
    word, known = folded(term.word.text), forms().others.keys()
    for cut in range(_SHORTEST, len(word) - _SHORTEST + 1):
        first, last = word[:cut], word[cut:]
        if stems(last, same=False) & known and stems(first, same=False) & known:
            yield from (term._replace(word=term.word._replace(text=one)) for one in (first, last))
            return


@lru_cache(maxsize=2)  # each skill that a goal may be for asks anew
def looking_in(names: FileNames, text: Callable[[str], str]) -> Looking:
    """What looks in a workspace. text: how it is read: of two with the same names each has its own."""
    return Looking(NamedSets(names))


@lru_cache(maxsize=2_000)
def _forms(word: str) -> tuple[str, ...]:
    """A word in its forms, and other words for it."""
    return tuple(sorted(one for one in stems(word) if len(one) > 2 or one == word))


def _within(form: str, text: str) -> float:
    """Whether a word stands in a folded text: itself or in another form, or, less, as a part of a longer."""
    spaced = f" {text} "
    if f" {form} " in spaced:
        return 1.0
    if len(form) < _WHOLE:
        return 0.0
    at = spaced.find(f" {form}")
    while at >= 0:
        end = spaced.find(" ", at + 1)
        if end - at - 1 - len(form) <= _MORE:
            return 1.0
        at = spaced.find(f" {form}", at + 1)
    return _IN_PART if len(form) >= _COMPOUND and (f" {form}" in spaced or f"{form} " in spaced) else 0.0
