"""Stage 3: what the memories know that may matter, as a short text."""

from mcl.cortex import Bundle, Memories, bundle
from mcl.skills import Skill
from mcl.stages.request import Request
from mcl.stages.rules import Rules


def prefetch(request: Request, skill: Skill, memories: Memories, rules: Rules) -> Bundle:
    """The bundle for a goal and a skill: the same bytes for the same snapshot. Empty where the skill reads
    nothing."""
    if not memories.size or not skill.reads:
        return Bundle()
    return bundle(memories, request.prose, types=skill.reads, tags=skill.tags, tokens=rules.bundle_tokens)
