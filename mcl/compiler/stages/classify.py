"""Stage 2: which skill, and which of its verbs."""

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ir import VERBS, valid_verb
from mcl.compiler.stages.constraints import Gap
from mcl.compiler.stages.request import GoalRequest
from mcl.compiler.stages.rules import Rules
from mcl.core.errors import InputError
from mcl.language.skills import Skill, Skills
from mcl.model.protocol import Acquainted, Candidate, Choice, Model

# ---- What speaks for each skill beside a model's choice: its words, and what was learned of it by name.


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


@dataclass(frozen=True)
class Classified:
    """The chosen skill and verb. Probabilities are 1.0 for what a person fixed; `others` are the next best
    skill ids. shares: of all that were weighed, best first, "" for "none of these"; none where a person fixed
    the skill."""

    skill: Skill
    verb: str
    skill_probability: float
    verb_probability: float
    others: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    shares: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class OutOfScope:
    """No installed skill does this; `nearest` are the ids of the most likely ones. shares: as of
    Classified."""

    nearest: tuple[str, ...]
    shares: tuple[tuple[str, float], ...]


def classify(request: GoalRequest, skills: Skills, model: Model, rules: Rules) -> Classified | OutOfScope:
    """Choose a skill and verb among those installed, asking `model` for what the request does not fix.

    Where an answer fixed the skill or the verb, the model is asked as it was before, and asked anew only
    where that does not fit the answer: so what it said then suffices. Raises InputError SKILL_UNKNOWN,
    SKILL_NONE, VERB_UNKNOWN, VERB_NOT_OFFERED.
    """
    check_choice(request, skills)
    # The model was asked before this answer was given; asked the same again, its recorded answers are enough
    # and no model has to be loaded.
    first = request.asked_first()
    if first is not request and not _is_fixed(request, skills):
        found = _classify(first, skills, model, rules)
        if isinstance(found, Classified) and _fits(found, request):
            return replace(
                found,
                verb=request.verb or found.verb,
                skill_probability=1.0 if request.skill else found.skill_probability,
                verb_probability=1.0 if request.verb else found.verb_probability,
                gaps=() if request.verb else found.gaps,
            )
    return _classify(request, skills, model, rules)


def check_choice(request: GoalRequest, skills: Skills) -> None:
    """Raise what `classify` raises where the request fixes a skill or verb that there is not."""
    _offered(request, skills)


def _is_fixed(request: GoalRequest, skills: Skills) -> bool:
    """Whether nothing is left to choose."""
    skill = skills.get(request.skill) if request.skill else None
    return skill is not None and (bool(request.verb) or len(skill.verbs) == 1)


def _fits(found: Classified, request: GoalRequest) -> bool:
    return request.skill in ("", found.skill.id) and request.verb in ("", *found.skill.verbs)


def _classify(request: GoalRequest, skills: Skills, model: Model, rules: Rules) -> Classified | OutOfScope:
    offered = _offered(request, skills)
    if request.skill and (request.verb or len(offered[0].verbs) == 1):
        return Classified(offered[0], request.verb or offered[0].verbs[0], 1.0, 1.0)
    candidates: Sequence[Candidate] = [_candidate(skill, request.verb) for skill in offered]
    if request.skill:
        choice = model.choose(request.prose, candidates)
    else:
        evidence = evidence_of(request.prose, offered, candidates, skills, model, rules)
        if len(candidates) > rules.whole:
            candidates = shortlist(candidates, evidence, rules.candidates, rules.familiar_spread)
        choice = _weighed(request.prose, candidates, evidence, model, rules)
    ranked = sorted((-p, place, id) for place, (id, p) in enumerate(choice.probabilities))
    others = tuple(id for _, _, id in ranked if id and id != choice.skill_id)[: rules.nearest]
    shares = () if request.skill else tuple((id, -p) for p, _, id in ranked)
    chosen = next((skill for skill in offered if skill.id == choice.skill_id), None)
    if chosen is None:
        if not request.skill:
            return OutOfScope(others, shares)
        chosen = offered[0]
    verb, certainty = _verb(request, chosen, choice, rules)
    gaps = () if certainty >= rules.verb_certain else (_verb_gap(chosen, verb, rules),)
    skill_probability = 1.0 if request.skill else choice.skill_probability
    return Classified(chosen, verb, skill_probability, certainty, others, gaps, shares)


def _weighed(
    prose: str, candidates: Sequence[Candidate], evidence: Evidence, model: Model, rules: Rules
) -> Choice:
    """The model's choice, weighed with what else speaks for a skill: a share p becomes p * e^evidence.

    "None of these" keeps its own. Where that changes which skill is best, the model is asked for the verb of
    that one.
    """
    choice = model.choose(prose, candidates)
    factors = [evidence.factors[id] if id else 0.0 for id, _ in choice.probabilities]
    most = max(0.0, *factors)  # taken off everywhere: only differences count, and e^x has an end
    weighed = [
        p * math.exp(factor - most) for factor, (_, p) in zip(factors, choice.probabilities, strict=True)
    ]
    total = math.fsum(weighed)
    if total <= 0:
        return choice
    known = math.fsum(
        p for p, (id, _) in zip(weighed, choice.probabilities, strict=True) if id in evidence.known
    )
    power = 1 - (1 - rules.familiar_share) * known / total
    weighed = [(p / total) ** power for p in weighed]
    total = math.fsum(weighed)
    shares = tuple((id, p / total) for p, (id, _) in zip(weighed, choice.probabilities, strict=True))
    best, share = max(shares, key=lambda pair: pair[1])
    choice = replace(choice, skill_probability=share, probabilities=shares)
    if best == (choice.skill_id or ""):
        return choice
    again = next((one for one in candidates if one.skill_id == best), None)
    if again is None:
        return replace(choice, skill_id=None)
    if len(again.verbs) == 1:
        return replace(choice, skill_id=best, verb=again.verbs[0], verb_probability=1.0)
    asked = model.choose(prose, [again])
    return replace(choice, skill_id=best, verb=asked.verb, verb_probability=asked.verb_probability)


def shortlist(
    candidates: Sequence[Candidate], evidence: Evidence, most: int, spread: float = math.inf
) -> Sequence[Candidate]:
    """The `most` candidates that most speaks for, in their order; all of them where there are no more.

    A quarter of the places is for the best of those that the model was taught by name, half for the best of
    the others, as long as there are so many, and the rest for whatever is best: evidence of the two kinds
    cannot be compared well, and neither shall crowd out the other. Of those that were taught, none is shown
    that is more than `spread` behind the best of them: the model would not bring it back.
    """
    if len(candidates) <= most:
        return candidates
    factors = [evidence.factors[one.skill_id] for one in candidates]
    best = sorted(range(len(candidates)), key=lambda place: (-factors[place], place))
    known = [place for place in best if candidates[place].skill_id in evidence.known]
    others = [place for place in best if candidates[place].skill_id not in evidence.known]
    near = [place for place in known if factors[place] >= factors[known[0]] - spread]
    reserved = near[: most - most // 2 - most // 4 or 1] + others[: most // 2]
    legal = {*near, *others} - {*reserved}
    kept = reserved + [place for place in best if place in legal][: most - len(reserved)]
    return [candidates[place] for place in sorted(kept)]


def _offered(request: GoalRequest, skills: Skills) -> Sequence[Skill]:
    if request.verb and not valid_verb(request.verb):
        fix = f"one of {', '.join(VERBS)}, or x:<name>"
        raise InputError("VERB_UNKNOWN", f"there is no verb {request.verb!r}", place="verb", fix=fix)
    if request.skill:
        skill = skills.get(request.skill)
        if skill is None:
            near = difflib.get_close_matches(request.skill, skills.ids, 3, 0.5)
            fix = f"did you mean {', '.join(near)}?" if near else "mcl skill list shows them all"
            raise InputError(
                "SKILL_UNKNOWN",
                f"there is no skill {request.skill!r}",
                place="skill",
                fix=fix,
                data={"nearest": near},
            )
        if request.verb and request.verb not in skill.verbs:
            raise InputError(
                "VERB_NOT_OFFERED",
                f"the skill {skill.id} does not {request.verb}",
                place="verb",
                fix=f"its verbs: {', '.join(skill.verbs)}",
            )
        return (skill,)
    offered = [skill for skill in skills if not request.verb or request.verb in skill.verbs]
    if not offered:
        what = f"no installed skill has the verb {request.verb}" if request.verb else "no skill is installed"
        raise InputError(
            "SKILL_NONE", what, place="verb" if request.verb else "skill", fix="mcl skill list shows them all"
        )
    return offered


def _candidate(skill: Skill, verb: str) -> Candidate:
    return Candidate(
        skill.id, skill.display, skill.description, (verb,) if verb else skill.verbs, skill.examples
    )


def _verb(request: GoalRequest, skill: Skill, choice: Choice, rules: Rules) -> tuple[str, float]:
    """What was fixed, else the more certain of what the model chose and what a word of the goal says."""
    if request.verb or len(skill.verbs) == 1:
        return request.verb or skill.verbs[0], 1.0
    verb, certainty = choice.verb, choice.verb_probability
    if verb not in skill.verbs:
        verb, certainty = skill.verbs[0], 0.0
    said, sure = rules.lexicon.among(request.prose, skill.verbs)
    return (said or verb, sure) if sure > certainty else (verb, certainty)


def _verb_gap(skill: Skill, verb: str, rules: Rules) -> Gap:
    why, severity = f"it is not certain that the goal is to {verb}", rules.severities["verb.uncertain"]
    return Gap("frame.verb", "verb", severity, why, rules.verb_question, skill.verbs, verb)
