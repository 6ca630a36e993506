"""Stage 3: what the memories know that may matter, as a short text."""

from mcl.compiler.stages.classify import Classified
from mcl.compiler.stages.request import Request
from mcl.compiler.stages.rules import Rules
from mcl.memory import TYPES, Bundle, Memories
from mcl.memory.learned import bundle


def prefetch(request: Request, classified: Classified, memories: Memories, rules: Rules) -> Bundle:
    """The bundle for a verb, a goal and a skill: the same bytes for the same snapshot.

    Empty where the skill reads nothing; at most as many tokens as the skill's `budget` and the pipeline
    module allow.
    """
    skill = classified.skill
    reads = tuple(name for name in skill.reads if name in TYPES)  # others were warned of
    if not memories.size or not reads:
        return Bundle()
    tokens = min(skill.budget or rules.bundle_tokens, rules.bundle_tokens)
    near = f"{classified.verb} {request.prose}"
    return bundle(memories, near, types=reads, tags=skill.tags, tokens=tokens)
