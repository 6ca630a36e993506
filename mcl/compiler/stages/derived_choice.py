"""Stage 2, where tools that are there were made into skills: whether one of these is meant, beside what
people wrote.

What is written comes first. A derived skill is taken only where the written ones do not do what is
wanted: none fits, or the one that was chosen is less like the goal than the derived one and not sure of
itself. So written skills are chosen as if there were no derived ones, and how a stranger describes a tool
decides among tools alone. A derived skill is never certain: whoever signs is told to read.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from mcl.compiler.stages.classify import Classified, OutOfScope, candidate_of
from mcl.compiler.stages.request import GoalRequest
from mcl.compiler.stages.rules import Rules
from mcl.language.bm25 import stems
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
_SURE: Final = 0.85  # from here on a written skill is taken, unless the goal says whose tool it means
_NEVER_CERTAIN: Final = 0.9  # what a stranger says of a tool is no more than this


def with_derived(
    found: Classified | OutOfScope, request: GoalRequest, skills: Skills, model: Model, rules: Rules
) -> Classified | OutOfScope:
    """What was found among the written skills, or the derived one that is meant instead. What a person
    fixed stays."""
    offered = [one for one in skills.derived.by_id.values() if request.verb in ("", *one.verbs)]
    if request.skill or not offered or (isinstance(found, OutOfScope) and found.kind == "chat"):
        return found
    written = found.skill if isinstance(found, Classified) and not found.skill.takes_any else None
    evidence = _evidence(request.prose, offered, skills)
    said = _said(request.prose, offered, written)
    sure = isinstance(found, Classified) and found.skill_probability >= _SURE
    if written is not None and sure and not said:
        return found
    near = _near(request.prose, offered, evidence, model)
    beside = _beside(request, found, skills, model)
    shares = dict(model.choose(request.prose, [*beside, *near]).probabilities)
    own = shares.get(written.id, 0.0) if written is not None else 0.0
    if not near or (own >= max(shares[one.skill_id] for one in near) and not said):
        return found
    rest = math.fsum(shares.get(id, 0.0) for id in ("", *(one.skill_id for one in beside if one.takes_any)))
    weights = {one.skill_id: _weight(shares[one.skill_id], evidence[one.skill_id]) for one in near}
    weights |= {"": _weight(rest, 0.0), **({written.id: _weight(own, 0.0)} if written is not None else {})}
    most = max(weights.values())
    raised = {id: math.exp(weight - most) for id, weight in weights.items()}
    total = math.fsum(raised.values())
    ranked = sorted(((share / total, id) for id, share in raised.items()), key=lambda one: (-one[0], one[1]))
    share, best = ranked[0]
    if best in ("", written.id if written is not None else ""):
        return found
    others = tuple(id for _, id in ranked[1:] if id)[: rules.nearest]
    skill = next(one for one in offered if one.id == best)
    told = tuple((id, share) for share, id in ranked)
    verb = request.verb or skill.verbs[0]
    begins = found.begins if isinstance(found, Classified) else ()
    made = Classified(skill, verb, min(share, _NEVER_CERTAIN), 1.0, others, (), told)
    return replace(made, begins=begins)


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
