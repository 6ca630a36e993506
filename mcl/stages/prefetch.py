"""Stage 3: what the memories know that may matter, as a short text."""

from mcl.cortex import TYPES, Bundle, Memories, bundle
from mcl.skills import Skill
from mcl.stages.request import Request
from mcl.stages.rules import Rules


def prefetch(request: Request, skill: Skill, memories: Memories, rules: Rules) -> Bundle:
    """The bundle for a goal and a skill: the same bytes for the same snapshot. Empty where the skill reads
    nothing."""
    reads = tuple(name for name in skill.reads if name in TYPES)  # others were warned of
    if not memories.size or not reads:
        return Bundle()
    return bundle(memories, request.prose, types=reads, tags=skill.tags, tokens=rules.bundle_tokens)
