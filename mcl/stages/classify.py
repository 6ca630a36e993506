"""Stage 2: which skill, and which of its verbs."""

import difflib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ir import valid_verb
from mcl.errors import InputError
from mcl.model.bm25 import Bm25, stems
from mcl.model.protocol import Candidate, Choice, Model
from mcl.skills import Skill, Skills
from mcl.stages.gaps import Gap
from mcl.stages.likeness import word_evidence
from mcl.stages.request import Request
from mcl.stages.rules import Rules


@dataclass(frozen=True)
class Classified:
    """The chosen skill and verb. Probabilities are 1.0 for what a person fixed; `others` are the next best
    skill ids."""

    skill: Skill
    verb: str
    skill_probability: float
    verb_probability: float
    others: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True)
class OutOfScope:
    """No installed skill does this; `nearest` are the ids of the most likely ones."""

    nearest: tuple[str, ...]
    probability: float


def classify(request: Request, skills: Skills, model: Model, rules: Rules) -> Classified | OutOfScope:
    """Choose a skill and verb among those installed, asking `model` for what the request does not fix.

    Where an answer fixed the skill or the verb, the model is asked as it was before, and asked anew only
    where that does not fit the answer: so what it said then suffices. Raises InputError SKILL_UNKNOWN,
    SKILL_NONE, VERB_UNKNOWN, VERB_NOT_OFFERED.
    """
    check_choice(request, skills)
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


def check_choice(request: Request, skills: Skills) -> None:
    """Raise what `classify` raises where the request fixes a skill or verb that there is not."""
    _offered(request, skills)


def _is_fixed(request: Request, skills: Skills) -> bool:
    """Whether nothing is left to choose."""
    skill = skills.get(request.skill) if request.skill else None
    return skill is not None and (bool(request.verb) or len(skill.verbs) == 1)


def _fits(found: Classified, request: Request) -> bool:
    return request.skill in ("", found.skill.id) and request.verb in ("", *found.skill.verbs)


def _classify(request: Request, skills: Skills, model: Model, rules: Rules) -> Classified | OutOfScope:
    offered = _offered(request, skills)
    if request.skill and (request.verb or len(offered[0].verbs) == 1):
        return Classified(offered[0], request.verb or offered[0].verbs[0], 1.0, 1.0)
    shown = shortlist(request.prose, offered, rules.candidates)
    candidates = [_candidate(skill, request.verb) for skill in shown]
    choice = model.choose(request.prose, candidates)
    if not request.skill:
        choice = _with_words(request.prose, shown, candidates, choice, model, rules)
    ranked = sorted((-p, place, id) for place, (id, p) in enumerate(choice.probabilities) if id)
    others = tuple(id for _, _, id in ranked if id != choice.skill_id)[: rules.nearest]
    chosen = next((skill for skill in shown if skill.id == choice.skill_id), None)
    if chosen is None:
        if not request.skill:
            return OutOfScope(others, choice.skill_probability)
        chosen = shown[0]
    verb, certainty = _verb(request, chosen, choice, rules)
    gaps = () if certainty >= rules.verb_certain else (_verb_gap(chosen, verb, rules),)
    skill_probability = 1.0 if request.skill else choice.skill_probability
    return Classified(chosen, verb, skill_probability, certainty, others, gaps)


def _with_words(
    prose: str,
    shown: Sequence[Skill],
    candidates: Sequence[Candidate],
    choice: Choice,
    model: Model,
    rules: Rules,
) -> Choice:
    """The model's choice, weighed with what the words alone say: a share p becomes p * e^evidence.

    "None of these" keeps its own. Where that changes which skill is best, the model is asked for the verb of
    that one.
    """
    evidence = word_evidence(prose, shown, rules)
    most = max(0.0, *evidence.values())  # taken off everywhere: only differences count, and e^x has an end
    weighed = [(id, p * math.exp(evidence.get(id, 0.0) - most)) for id, p in choice.probabilities]
    total = sum(p for _, p in weighed)
    if total <= 0:
        return choice
    shares = tuple((id, p / total) for id, p in weighed)
    best, share = max(shares, key=lambda pair: pair[1])
    if best != (choice.skill_id or ""):
        again = [candidate for candidate in candidates if candidate.skill_id == best]
        asked = model.choose(prose, again) if again else choice
        choice = replace(
            choice, skill_id=best or None, verb=asked.verb, verb_probability=asked.verb_probability
        )
    return replace(choice, skill_probability=share, probabilities=shares)


def shortlist(prose: str, skills: Sequence[Skill], most: int) -> Sequence[Skill]:
    """The `most` skills that share most with `prose`, by BM25 over all their words; all of them where there
    are no more."""
    if len(skills) <= most:
        return skills
    scores = Bm25([skill.stems for skill in skills]).scores(stems(prose))
    best = sorted(range(len(skills)), key=lambda place: (-scores[place], place))[:most]
    return [skills[place] for place in sorted(best)]


def _offered(request: Request, skills: Skills) -> Sequence[Skill]:
    if request.verb and not valid_verb(request.verb):
        raise InputError(
            "VERB_UNKNOWN", f"there is no verb {request.verb!r}", place="verb", fix="see mcl compile --help"
        )
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


def _verb(request: Request, skill: Skill, choice: Choice, rules: Rules) -> tuple[str, float]:
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
