"""Stage 2, where tools that are there were made into skills: whether one of these is meant, beside what
people wrote.

What is written comes first. A derived skill is taken only where the written ones do not do what is
wanted: none fits, or the one that was chosen is less like the goal than the derived one and not sure of
itself. So written skills are chosen as if there were no derived ones, and how a stranger describes a tool
decides among tools alone. A derived skill is never certain: whoever signs is told to read.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from mcl.compiler.stages.classify import Classified, OutOfScope, candidate_of
from mcl.compiler.stages.request import GoalRequest
from mcl.compiler.stages.rules import Rules
from mcl.language.bm25 import stems
from mcl.language.phrases import best_phrases
from mcl.language.skills import Skill, Skills
from mcl.model.protocol import Candidate, Model, takes_all

# What words count beside the likeness of vectors, in the exponent of a share: BM25 over what a tool says,
# and that the goal says whose it is. By sentences about tools of 26 servers (benchmarks/derived): without
# them 61 of 100 are found, with them 73.
_WORDS: Final = 0.4
_NAMED: Final = 4.0
_SHARPNESS: Final = 0.6  # of the shares of what is left: words and vectors say some things twice
_NEAR: Final = 8  # of them that are compared with the written skills
_READ: Final = 1_000  # whose texts a model reads at most, those that words speak for most
_SURE: Final = 0.75  # from here on a written skill is sure of itself
_FAR: Final = 0.1  # and is asked about where its share is so small a part of a tool's, by vectors alone
_ASKED: Final = 0.4  # how certain a tool is that is asked about beside it
_NEVER_CERTAIN: Final = 0.9  # what a stranger says of a tool is no more than this


def with_derived(
    found: Classified | OutOfScope, request: GoalRequest, skills: Skills, model: Model, rules: Rules
) -> Classified | OutOfScope:
    """What was found among the written skills, or the derived one that is meant instead. What a person
    fixed stays, and so does what a fixed phrase chose."""
    offered = [one for one in skills.derived.by_id.values() if request.verb in ("", *one.verbs)]
    chosen = found if isinstance(found, Classified) else None
    written = chosen.skill if chosen is not None and not chosen.skill.takes_any else None
    phrased = written is not None and best_phrases(
        request.prose, {written.id: written.phrases}, rules.around_phrases
    )
    if request.skill or not offered or phrased or (isinstance(found, OutOfScope) and found.kind == "chat"):
        return found
    evidence = _evidence(request.prose, offered, skills)
    near = _near(request.prose, offered, evidence, model)
    beside = _beside(request, found, skills, model)
    shares = dict(model.choose(request.prose, [*beside, *near]).probabilities)
    own = shares.get(written.id, 0.0) if written is not None else 0.0
    said = _said(request.prose, offered, written)
    sure = chosen is not None and written is not None and chosen.skill_probability >= _SURE and not said
    least = 0.0 if written is None or said else _FAR if sure else 1.0
    if not near or (least and own >= least * max(shares[one.skill_id] for one in near)):
        return found
    ranked = _ranked(shares, near, evidence, beside, written)
    share, best = ranked[0]
    if best in ("", written.id if written is not None else ""):
        return found
    others = [id for _, id in ranked[1:] if id]
    if written is not None and written.id not in others[: rules.nearest]:
        others.insert(0, written.id)
    return Classified(
        next(one for one in offered if one.id == best),
        request.verb or skills.derived.by_id[best].verbs[0],
        min(share, _ASKED if sure else _NEVER_CERTAIN),
        1.0,
        tuple(others[: rules.nearest]),
        shares=tuple((id, share) for share, id in ranked),
        begins=chosen.begins if chosen is not None else (),
    )


def _ranked(
    shares: Mapping[str, float],
    near: Sequence[Candidate],
    evidence: Mapping[str, float],
    beside: Sequence[Candidate],
    written: Skill | None,
) -> list[tuple[float, str]]:
    """The near ones, the written one and "" (none of all), each with its share, the likeliest first."""
    rest = math.fsum(shares.get(id, 0.0) for id in ("", *(one.skill_id for one in beside if one.takes_any)))
    weights = {one.skill_id: _weight(shares[one.skill_id], evidence[one.skill_id]) for one in near}
    weights[""] = _weight(rest, 0.0)
    if written is not None:
        weights[written.id] = _weight(shares.get(written.id, 0.0), 0.0)
    most = max(weights.values())
    raised = {id: math.exp(weight - most) for id, weight in weights.items()}
    total = math.fsum(raised.values())
    return sorted(((share / total, id) for id, share in raised.items()), key=lambda one: (-one[0], one[1]))


def _evidence(prose: str, offered: Sequence[Skill], skills: Skills) -> dict[str, float]:
    """What words say for each: those that it says of itself, and the name of whose it is."""
    query = stems(prose)
    scores = dict(zip(skills.derived.by_id, skills.derived.words.scores(query), strict=True))
    heard = set(query)
    return {one.id: _WORDS * scores[one.id] + _NAMED * (_owner(one) <= heard) for one in offered}


def _owner(skill: Skill) -> set[str]:
    return set(stems(skill.id.partition(".")[0])) or {""}


def _said(prose: str, offered: Sequence[Skill], written: Skill | None) -> bool:
    """Whether the goal says whose tool it means, and the written skill says no such word of itself."""
    heard = set(stems(prose))
    known = set(written.stems) if written is not None else set()
    return any(_owner(one) <= heard and not _owner(one) <= known for one in offered)


def _near(
    prose: str, offered: Sequence[Skill], evidence: dict[str, float], model: Model
) -> Sequence[Candidate]:
    """Those that vectors and words together speak for most."""
    ranked = sorted(offered, key=lambda one: -evidence[one.id])  # stable: of equals the first
    if not takes_all(model):
        return [candidate_of(one) for one in ranked[:_NEAR] if evidence[one.id] > 0]
    read = ranked[:_READ] if len(ranked) > _READ else offered
    shares = dict(model.choose(prose, [candidate_of(one) for one in read]).probabilities)
    best = sorted(read, key=lambda one: -(math.log(shares[one.id] + 1e-12) + evidence[one.id]))
    return [candidate_of(one) for one in best[:_NEAR]]


def _beside(
    request: GoalRequest, found: Classified | OutOfScope, skills: Skills, model: Model
) -> Sequence[Candidate]:
    """The written skills that the near ones are compared with."""
    if takes_all(model):
        return [candidate_of(one, request.verb) for one in skills if request.verb in ("", *one.verbs)]
    return [candidate_of(found.skill, request.verb)] if isinstance(found, Classified) else []


def _weight(share: float, evidence: float) -> float:
    return _SHARPNESS * (math.log(share + 1e-12) + evidence)
