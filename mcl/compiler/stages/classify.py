"""Stage 2: which skill, and which of its verbs."""

import difflib
import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from ir import VERBS, valid_verb
from mcl.compiler.stages.gaps import Gap
from mcl.compiler.stages.phrase_places import fits, form_of
from mcl.compiler.stages.request import GoalRequest
from mcl.compiler.stages.rules import Rules
from mcl.core.errors import InputError
from mcl.language.phrases import PhraseMatch, best_phrases
from mcl.language.skills import Skill, Skills
from mcl.model.protocol import Acquainted, Candidate, Choice, Model, takes_all

# ---- What speaks for each skill beside a model's choice: its words, and what was learned of it by name.


@dataclass(frozen=True)
class Evidence:
    """By skill id. factors: logarithm of the factor that a skill's share is multiplied by (0: nothing speaks
    for or against it). known: the skills that the model was taught by name. phrases: those of which the goal
    has a fixed phrase."""

    factors: Mapping[str, float]
    known: frozenset[str]
    phrases: frozenset[str] = frozenset()


def evidence_of(
    prose: str, candidates: Sequence[Candidate], skills: Skills, model: Model, rules: Rules
) -> Evidence:
    """What speaks for each offered skill, weighed by the module `verb`.

    A model that compares a goal with every skill has seen all that these say of themselves: beside it counts
    only, of a skill that it was taught by name, how clearly the goal is for it. Beside another count words:
    BM25 over all that a skill says of itself, the cosine with the most similar of its examples, whether it
    has the verb that the goal's first word says. Beside any a fixed phrase that the goal has.
    """
    offered = {one.skill_id for one in candidates}
    own = {skill.id: skill.phrases for skill in skills if skill.id in offered}
    forms = {
        skill.id: {slot.name: form_of(slot) for slot in skill.slots} for skill in skills if own.get(skill.id)
    }

    def can(id: str, match: PhraseMatch) -> bool:
        return fits(prose, forms[id], match)

    phrases = frozenset(best_phrases(prose, own, rules.around_phrases, can))
    if not takes_all(model):
        return Evidence(_words(prose, skills, rules), frozenset(), phrases)
    margins = model.margins(prose, candidates) if isinstance(model, Acquainted) else ()
    known = {
        one.skill_id: margin for one, margin in zip(candidates, margins, strict=False) if margin is not None
    }
    factors = dict.fromkeys((one.skill_id for one in candidates), 0.0)
    for id, margin in known.items():
        factors[id] = rules.familiar_weight * (margin - rules.familiar_margin)
    return Evidence(factors, frozenset(known), phrases)


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
    the skill. begins: where in the goal further wishes begin; skill and verb are of the first."""

    skill: Skill
    verb: str
    skill_probability: float
    verb_probability: float
    others: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()
    shares: tuple[tuple[str, float], ...] = ()
    begins: tuple[int, ...] = ()


@dataclass(frozen=True)
class OutOfScope:
    """No installed skill does this; `nearest` are the ids of the most likely ones. shares: as of Classified.
    kind: what the words are, as of Choice."""

    nearest: tuple[str, ...]
    shares: tuple[tuple[str, float], ...]
    kind: str = ""


def classify(request: GoalRequest, skills: Skills, model: Model, rules: Rules) -> Classified | OutOfScope:
    """Choose a skill and verb among those installed, asking `model` for what the request does not fix.

    Where an answer fixed the skill or the verb, the model is asked as it was before, and asked anew only
    where that does not fit the answer: so what it said then suffices. Raises InputError SKILL_UNKNOWN,
    SKILL_NONE, VERB_UNKNOWN, VERB_NOT_OFFERED.
    """
    offered_skills(request, skills)
    # The model was asked before this answer was given; asked the same again, its recorded answers are enough
    # and no model has to be loaded.
    first = request.asked_first()
    skill = skills.get(request.skill) if request.skill else None
    fixed = skill is not None and (bool(request.verb) or len(skill.verbs) == 1)
    if first is not request and not fixed:
        found = _classify(first, skills, model, rules)
        fits = isinstance(found, Classified) and request.skill in ("", found.skill.id)
        if isinstance(found, Classified) and fits and request.verb in ("", *found.skill.verbs):
            return replace(
                found,
                verb=request.verb or found.verb,
                skill_probability=1.0 if request.skill else found.skill_probability,
                verb_probability=1.0 if request.verb else found.verb_probability,
                gaps=() if request.verb else found.gaps,
            )
    return _classify(request, skills, model, rules)


def _classify(request: GoalRequest, skills: Skills, model: Model, rules: Rules) -> Classified | OutOfScope:
    offered = offered_skills(request, skills)
    if request.skill and (request.verb or len(offered[0].verbs) == 1):
        return Classified(offered[0], request.verb or offered[0].verbs[0], 1.0, 1.0)
    candidates: Sequence[Candidate] = [candidate_of(skill, request.verb) for skill in offered]
    if request.skill:
        choice = model.choose(request.prose, candidates)
    else:
        evidence = evidence_of(request.prose, candidates, skills, model, rules)
        if len(candidates) > rules.whole and not takes_all(model):
            candidates = shortlist(candidates, evidence, rules.candidates)
        choice = _weighed(request.prose, candidates, evidence, model, rules)
    ranked = sorted((-p, place, id) for place, (id, p) in enumerate(choice.probabilities))
    others = tuple(id for _, _, id in ranked if id and id != choice.skill_id)[: rules.nearest]
    shares = () if request.skill else tuple((id, -p) for p, _, id in ranked)
    chosen = next((skill for skill in offered if skill.id == choice.skill_id), None)
    if chosen is None:
        if not request.skill:
            return OutOfScope(others, shares, choice.kind)
        chosen = offered[0]
    verb, certainty = _verb(request, chosen, choice, rules)
    gaps = () if certainty >= rules.verb_certain or chosen.takes_goal else (_verb_gap(chosen, verb, rules),)
    skill_probability = 1.0 if request.skill else choice.skill_probability
    begins = choice.begins
    return Classified(chosen, verb, skill_probability, certainty, others, gaps, shares, begins)


def _weighed(
    prose: str, candidates: Sequence[Candidate], evidence: Evidence, model: Model, rules: Rules
) -> Choice:
    """The model's choice, weighed with what else speaks for a skill: a share p becomes p * e^evidence.

    "None of these" keeps its own. Where the model chose a skill of which it learned nothing by name, such
    skills keep their shares, and those of which it did share the rest. Where that changes which skill is
    best, the model is asked for the verb of that one.
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
    others = {one.skill_id for one in candidates if not one.takes_any} - evidence.known
    sure = choice.skill_probability >= 0.5  # likelier than all else together
    if evidence.known and choice.skill_id in others and sure:
        weighed = _beside(choice.probabilities, weighed, others)
        total = math.fsum(weighed)
    known = math.fsum(
        p for p, (id, _) in zip(weighed, choice.probabilities, strict=True) if id in evidence.known
    )
    power = 1 - (1 - rules.familiar_share) * known / total
    weighed = [(p / total) ** power for p in weighed]
    # A phrase of a skill counts beside all else: what the model was surer of stays chosen, less certainly.
    said = math.exp(rules.phrase_weight)
    weighed = [
        p * said if id in evidence.phrases else p
        for p, (id, _) in zip(weighed, choice.probabilities, strict=True)
    ]
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


def _beside(shares: Sequence[tuple[str, float]], weighed: Sequence[float], others: Set[str]) -> list[float]:
    """The weighed shares with `others` as they were, and all else together too."""
    among = [(p, w) for (id, p), w in zip(shares, weighed, strict=True) if id not in others]
    before, after = math.fsum(p for p, _ in among), math.fsum(w for _, w in among)
    return [
        p if id in others else w * before / after if after > 0 else p
        for (id, p), w in zip(shares, weighed, strict=True)
    ]


def shortlist(candidates: Sequence[Candidate], evidence: Evidence, most: int) -> Sequence[Candidate]:
    """The `most` candidates that most speaks for, in their order; all of them where there are no more."""

    def weight(place: int) -> tuple[bool, float]:
        id = candidates[place].skill_id
        return id not in evidence.phrases, -evidence.factors[id]

    best = sorted(range(len(candidates)), key=weight)
    return [candidates[place] for place in sorted(best[:most])]


def offered_skills(request: GoalRequest, skills: Skills) -> Sequence[Skill]:
    """The skills among which is chosen. Raises what `classify` raises where there is none."""
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


def candidate_of(skill: Skill, verb: str = "") -> Candidate:
    """A skill as it is shown to a model; verb: the only one that may be chosen."""
    return Candidate(
        skill.id,
        skill.display,
        skill.description,
        (verb,) if verb else skill.verbs,
        skill.examples,
        skill.takes_any,
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
    why, severity = f"to {verb} may not be what is meant", rules.severities["verb.uncertain"]
    said = ", ".join(rules.sayings.get(one, one) for one in skill.verbs)
    return Gap("frame.verb", "verb", severity, why, f"{rules.verb_question} {said}?", skill.verbs, verb)
