"""The one word search: BM25 (Robertson and Zaragoza 2009) with a plain English stemmer.

Skills, tools and memories are all found by it. It is written here and not taken from a library because what
a goal is compiled to depends on its numbers, which must stay as they are for old intents to be replayed (a
model is trained on them too), and because bm25s, with numpy below it, takes half a second to
import: longer than a compile.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Generic, TypeAlias, TypeVar

Gram: TypeAlias = str | tuple[str, str]  # a word, or two that follow one another
_K1, _B = 1.2, 0.75
WORD = re.compile(r"[^\W_]+")
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
    words = (word.casefold() for word in WORD.findall(_CAMEL.sub(" ", text)))
    return [_stem(word) for word in words if word not in _EMPTY]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            word = word.removesuffix(ending)
            break
    return word.removesuffix("e") if len(word) > _SHORTEST_STEM else word


def grams(text: str) -> Counter[Gram]:
    """How often each word and each pair of neighbouring words is in `text`, in lower case."""
    words = WORD.findall(text.casefold())
    return Counter[Gram](words) + Counter[Gram](pairwise(words))


def rarity(documents: int, having: int) -> float:
    """What a word counts that so many of the documents have."""
    return math.log(1 + (documents - having + 0.5) / (having + 0.5))


def share(rarity: float, times: int, length: float) -> float:
    """What a word adds to the score of a document that says it so many times; never more than `bound`.

    length: of the document, in mean lengths.
    """
    return rarity * times * (_K1 + 1) / (times + _K1 * (1 - _B + _B * length))


def bound(rarity: float) -> float:
    """What a word can add at most, to a document that says it for ever."""
    return rarity * (_K1 + 1)


class Bm25:
    """An index over documents, given as stems."""

    def __init__(self, documents: Sequence[Sequence[str] | Counter[str]]) -> None:
        """documents: one list of stems each, or how often each is in it; there may be none."""
        counts = [one if isinstance(one, Counter) else Counter(one) for one in documents]
        lengths = [one.total() for one in counts]
        mean = sum(lengths) / len(lengths) if lengths else 0.0
        having = Counter(stem for one in counts for stem in one)
        self._total = len(documents)
        # By stem: the documents that have it, each with what it adds to their score. A query touches few.
        self._shares: dict[str, list[tuple[int, float]]] = {stem: [] for stem in having}
        rarities = {stem: rarity(self._total, count) for stem, count in having.items()}
        for place, (one, length) in enumerate(zip(counts, lengths, strict=True)):
            for stem, count in one.items():
                self._shares[stem].append((place, share(rarities[stem], count, length / mean)))

    def scores(self, query: Sequence[str]) -> list[float]:
        """The score of each document for a query of stems, in the documents' order; 0 shares nothing."""
        scores = [0.0] * self._total
        # Each word once, in the order of the query: a set's order changes with the process, and with it the
        # last bits of a sum.
        for stem in dict.fromkeys(query):
            for place, share in self._shares.get(stem, ()):
                scores[place] += share
        return scores

    def bound(self, query: Sequence[str]) -> float:
        """More than any document can score for a query of stems; one that no document has counts as missing
        from all of them."""
        having = (len(self._shares.get(stem, ())) for stem in dict.fromkeys(query))
        return math.fsum(bound(rarity(self._total, count)) for count in having)


Feature = TypeVar("Feature")


class Examples(Generic[Feature]):
    """A few hundred example sentences by their features, which count the more the fewer have them."""

    def __init__(self, examples: Sequence[Mapping[Feature, float]]) -> None:
        """examples: of each how much of each feature is in it."""
        having = Counter(feature for one in examples for feature in one)
        self._many = len(examples)
        self._unheard = math.log(1 + self._many)
        self._rarity = {one: math.log(1 + self._many / (1 + count)) for one, count in having.items()}
        self._shares: dict[Feature, list[tuple[int, float]]] = {feature: [] for feature in having}
        for place, one in enumerate(examples):
            weights, length = self._weighed(one)
            for feature, weight in weights.items():
                self._shares[feature].append((place, weight / length))

    def products(self, said: Mapping[Feature, float]) -> tuple[list[float], float]:
        """Of each example its cosine with what is said, times a length; and that length."""
        weights, length = self._weighed(said)
        products = [0.0] * self._many
        for feature, weight in weights.items():
            for place, share in self._shares.get(feature, ()):
                products[place] += weight * share
        return products, length

    def _weighed(self, said: Mapping[Feature, float]) -> tuple[dict[Feature, float], float]:
        weights = {one: count * self._rarity.get(one, self._unheard) for one, count in said.items()}
        return weights, math.sqrt(math.fsum(weight * weight for weight in weights.values()))


# ---- Which of a few hundred skills a goal's words are like, from counts that are made once a catalogue.


class Likeness:
    """An index over what skills say of themselves: all their words, and each of their example sentences."""

    def __init__(self, skills: Iterable[tuple[Counter[str], tuple[Counter[Gram], ...]]]) -> None:
        """skills: of each how often each stem is in what it says, and the grams of its examples."""
        said = list(skills)
        self._words = Bm25([words for words, _ in said])
        examples = [(place, one) for place, (_, ones) in enumerate(said) for one in ones]
        self._skills = len(said)
        self._of = [place for place, _ in examples]
        self._examples = Examples([one for _, one in examples])

    def words(self, prose: str) -> list[float]:
        """BM25 of each skill over all that it says of itself; 0 shares nothing."""
        return self._words.scores(stems(prose))

    def examples(self, prose: str) -> list[float]:
        """Of each skill the cosine (words and pairs of words, weighed by rarity) with the most similar of its
        examples, 0 to 1."""
        best = [0.0] * self._skills
        products, length = self._examples.products(grams(prose))
        for place, product in zip(self._of, products, strict=True):
            if product > best[place] * length:
                best[place] = product / length
        return best
