"""BM25 over a few hundred short texts (Robertson and Zaragoza 2009), with a plain English stemmer."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

Gram: TypeAlias = str | tuple[str, str]  # a word, or two that follow one another
_K1, _B = 1.2, 0.75
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENDINGS = ("ations", "ation", "ingly", "edly", "ings", "ies", "ing", "ed", "es", "ly", "s")
_SHORTEST_STEM = 3
_EMPTY = frozenset(
    re.findall(
        "[a-z]+",
        "a an and are as at be by can do does for from has have how i in into is it me my of on or our "
        "please that the their them then they this to us was we what which will with you your",
    )
)


def stems(text: str) -> list[str]:
    """The words of `text` that carry meaning, lower case, endings cut off; identifiers are taken apart."""
    words = (word.casefold() for word in _WORD.findall(_CAMEL.sub(" ", text)))
    return [_stem(word) for word in words if word not in _EMPTY]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            word = word.removesuffix(ending)
            break
    return word.removesuffix("e") if len(word) > _SHORTEST_STEM else word


def grams(text: str) -> Counter[Gram]:
    """How often each word and each pair of neighbouring words is in `text`, in lower case."""
    words = _WORD.findall(text.casefold())
    return Counter[Gram](words) + Counter[Gram](pairwise(words))


class Bm25:
    """An index over documents, given as stems."""

    def __init__(self, documents: Sequence[Sequence[str] | Counter[str]]) -> None:
        """documents: one list of stems each, or how often each is in it; there may be none."""
        counts = [one if isinstance(one, Counter) else Counter(one) for one in documents]
        lengths = [one.total() for one in counts]
        mean = sum(lengths) / len(lengths) if lengths else 0.0
        norms = [_K1 * (1 - _B + _B * (length / mean if mean else 0.0)) for length in lengths]
        having = Counter(stem for one in counts for stem in one)
        self._total = len(documents)
        # By stem: the documents that have it, each with what it adds to their score. A query touches few.
        self._shares: dict[str, list[tuple[int, float]]] = {stem: [] for stem in having}
        for place, (one, norm) in enumerate(zip(counts, norms, strict=True)):
            for stem, count in one.items():
                rarity = math.log(1 + (self._total - having[stem] + 0.5) / (having[stem] + 0.5))
                self._shares[stem].append((place, rarity * count * (_K1 + 1) / (count + norm)))

    def scores(self, query: Sequence[str]) -> list[float]:
        """The score of each document for a query of stems, in the documents' order; 0 shares nothing."""
        scores = [0.0] * self._total
        for stem in dict.fromkeys(query):
            for place, share in self._shares.get(stem, ()):
                scores[place] += share
        return scores
