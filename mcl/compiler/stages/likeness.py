"""What speaks for each skill beside a model's choice: its words, and what was learned of it by name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcl.compiler.stages.rules import Rules
from mcl.language.skills import Skill, Skills
from mcl.model.protocol import Acquainted, Candidate, Model


@dataclass(frozen=True)
class Evidence:
    """By skill id. factors: logarithm of the factor that a skill's share is multiplied by (0: nothing speaks
    for or against it). known: the skills that the model was taught by name."""

    factors: Mapping[str, float]
    known: frozenset[str]


def evidence_of(
    prose: str,
    offered: Sequence[Skill],
    candidates: Sequence[Candidate],
    skills: Skills,
    model: Model,
    rules: Rules,
) -> Evidence:
    """What speaks for each offered skill, weighed by the module `verb`.

    Words: BM25 over all that it says of itself, the cosine with the most similar of its examples, whether it
    has the verb that the goal's first word says. Where the model was taught the skill by name, how clearly
    the goal is for it counts, and its words less: they are in what was learned. Of many skills that it was
    not taught, those are looked for that are akin to the goal in what was.
    """
    words = _words(prose, skills, rules)
    margins = model.margins(prose, candidates) if isinstance(model, Acquainted) else ()
    known = {skill.id: margin for skill, margin in zip(offered, margins, strict=False) if margin is not None}
    kinship: dict[str, float] = {}
    if len(offered) > rules.whole and len(known) < len(offered) and isinstance(model, Acquainted):
        others = [one for one in candidates if one.skill_id not in known]
        kinship = dict(zip((one.skill_id for one in others), model.kinship(prose, others), strict=False))
    factors = {}
    for skill in offered:
        factor = words[skill.id] + rules.kinship_weight * kinship.get(skill.id, 0.0)
        if skill.id in known:
            factor *= rules.familiar_words
            factor += rules.familiar_weight * (known[skill.id] - rules.familiar_margin)
        factors[skill.id] = factor
    return Evidence(factors, frozenset(known))


def _words(prose: str, skills: Skills, rules: Rules) -> dict[str, float]:
    verb = rules.lexicon.first_verb(prose)
    likeness = skills.likeness
    said = zip(skills, likeness.words(prose), likeness.examples(prose), strict=True)
    return {
        skill.id: rules.word_weight * words
        + (rules.verb_weight if verb in skill.verbs else 0.0)
        + rules.example_weight * example
        for skill, words, example in said
    }
