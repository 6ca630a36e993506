"""Which of a few hundred skills a goal's words are like, from counts that are made once a catalogue."""

import math
from collections import Counter
from collections.abc import Iterable

from mcl.language.bm25 import Bm25, Gram, grams, stems


class Likeness:
    """An index over what skills say of themselves: all their words, and each of their example sentences."""

    def __init__(self, skills: Iterable[tuple[Counter[str], tuple[Counter[Gram], ...]]]) -> None:
        """skills: of each how often each stem is in what it says, and the grams of its examples."""
        said = list(skills)
        self._words = Bm25([words for words, _ in said])
        examples = [(place, one) for place, (_, ones) in enumerate(said) for one in ones]
        having = Counter(gram for _, one in examples for gram in one)
        self._skills = len(said)
        self._of = [place for place, _ in examples]
        self._unheard = math.log(1 + len(examples))
        self._rarity = {gram: math.log(1 + len(examples) / (1 + count)) for gram, count in having.items()}
        self._shares: dict[Gram, list[tuple[int, float]]] = {gram: [] for gram in having}
        for place, (_, one) in enumerate(examples):
            weights = {gram: count * self._rarity[gram] for gram, count in one.items()}
            length = math.sqrt(math.fsum(weight * weight for weight in weights.values()))
            for gram, weight in weights.items():
                self._shares[gram].append((place, weight / length))

    def words(self, prose: str) -> list[float]:
        """BM25 of each skill over all that it says of itself; 0 shares nothing."""
        return self._words.scores(stems(prose))

    def examples(self, prose: str) -> list[float]:
        """Of each skill the cosine (words and pairs of words, weighed by rarity) with the most similar of its
        examples, 0 to 1."""
        best = [0.0] * self._skills
        if not self._of:
            return best
        said = {gram: count * self._rarity.get(gram, self._unheard) for gram, count in grams(prose).items()}
        length = math.sqrt(math.fsum(weight * weight for weight in said.values()))
        products = [0.0] * len(self._of)
        for gram, weight in said.items():
            for place, share in self._shares.get(gram, ()):
                products[place] += weight * share
        for place, product in zip(self._of, products, strict=True):
            if product > best[place] * length:
                best[place] = product / length
        return best
