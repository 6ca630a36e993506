"""How much a goal's words speak for a skill, beside what a model makes of them. Pure counting."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from mcl.model.bm25 import Bm25, stems
from mcl.skills import Skill
from mcl.stages.rules import Rules

_WORD = re.compile(r"[^\W_]+")
_Gram: TypeAlias = str | tuple[str, str]


def word_evidence(prose: str, skills: Sequence[Skill], rules: Rules) -> dict[str, float]:
    """Logarithm of the factor that words give each skill, by skill id; 0 where nothing is shared.

    Two parts, weighed by the module `verb`: BM25 over all that a skill says of itself, and the cosine (words
    and pairs of words, weighed by rarity) with the most similar of its example sentences.
    """
    shared = Bm25([skill.stems for skill in skills]).scores(stems(prose))
    examples = {skill.id: [_grams(example) for example in skill.examples] for skill in skills}
    known = [grams for of_skill in examples.values() for grams in of_skill]
    having = Counter(gram for grams in known for gram in grams)

    def weighed(grams: Counter[_Gram]) -> dict[_Gram, float]:
        rarity = ((gram, math.log(1 + len(known) / (1 + having[gram]))) for gram in grams)
        return {gram: grams[gram] * weight for gram, weight in rarity}

    said = weighed(_grams(prose))
    return {
        skill.id: rules.word_weight * score
        + rules.example_weight
        * max((_cosine(said, weighed(grams)) for grams in examples[skill.id]), default=0.0)
        for skill, score in zip(skills, shared, strict=True)
    }


def _grams(text: str) -> Counter[_Gram]:
    words = _WORD.findall(text.casefold())
    return Counter[_Gram](words) + Counter[_Gram](pairwise(words))


def _cosine(one: Mapping[_Gram, float], other: Mapping[_Gram, float]) -> float:
    product = math.fsum(weight * other.get(gram, 0.0) for gram, weight in one.items())
    return product / (_length(one) * _length(other)) if product else 0.0


def _length(vector: Mapping[_Gram, float]) -> float:
    return math.sqrt(math.fsum(weight * weight for weight in vector.values()))
