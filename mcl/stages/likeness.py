"""How much a goal's words speak for a skill, beside what a model makes of them. Pure counting."""

import math
from collections import Counter
from collections.abc import Sequence

from mcl.model.bm25 import Bm25, Gram, grams, stems
from mcl.skills import Skill
from mcl.stages.rules import Rules


def word_evidence(prose: str, skills: Sequence[Skill], rules: Rules) -> dict[str, float]:
    """Logarithm of the factor that words give each skill, by skill id; 0 where nothing is shared.

    Three parts, weighed by the module `verb`: BM25 over all that a skill says of itself, the cosine (words
    and pairs of words, weighed by rarity) with the most similar of its example sentences, and whether it has
    the verb that the goal's first word says.
    """
    shared = Bm25([skill.stems for skill in skills]).scores(stems(prose))
    examples = [example for skill in skills for example in skill.example_grams]
    having = Counter(gram for example in examples for gram in example)
    rarity = {gram: math.log(1 + len(examples) / (1 + count)) for gram, count in having.items()}
    unheard = math.log(1 + len(examples))
    said = {gram: count * rarity.get(gram, unheard) for gram, count in grams(prose).items()}
    length = math.sqrt(math.fsum(weight * weight for weight in said.values()))

    def cosine(example: Counter[Gram]) -> float:
        product = math.fsum(said[gram] * example[gram] * rarity[gram] for gram in said if gram in example)
        if not product:
            return 0.0
        own = math.fsum((count * rarity[gram]) ** 2 for gram, count in example.items())
        return product / (length * math.sqrt(own))

    verb = rules.lexicon.first_verb(prose)
    return {
        skill.id: rules.word_weight * score
        + (rules.verb_weight if verb in skill.verbs else 0.0)
        + rules.example_weight * max(map(cosine, skill.example_grams), default=0.0)
        for skill, score in zip(skills, shared, strict=True)
    }
