"""What a person answered before, for a goal in the same words: proposed openly, never over what is said now.

A recalled answer stands where an answer stands, and the Intent's references name the memory that it came
from. What would not be read today (a skill that is gone, another type) is passed over, and the question is
asked again.
"""

from collections.abc import Iterator

from ir import Reference
from mcl.compiler.stages.constraints import FIELD_OF_PATH
from mcl.compiler.stages.extract import read_answer
from mcl.compiler.stages.request import Request
from mcl.compiler.stages.rules import Rules
from mcl.core.errors import CortexError, InputError
from mcl.language.skills import Skill, Skills
from mcl.memory.learned import SKILL, VERB, Asked, answer_of, folded, is_on, recalled
from mcl.memory.memory import Memory, parse_uri
from mcl.memory.words import Memories

_MOMENTS = ("iso8601",)  # what was Friday then is another day now
_SUMMARY = 160  # characters


class Recall:
    """What was learned, as of one snapshot. `references`: what was made use of."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories
        self._on: bool | None = None
        self.references: list[Reference] = []

    def choice(self, request: Request, skills: Skills) -> Request:
        """The request with the skill and the verb that were answered for this goal before."""
        if not self._learned():
            return request
        skill, words = request.skill, folded(request.prose)
        found: dict[str, Memory] = {}
        if not skill and SKILL not in request.answers:
            memory = recalled(self._memories, Asked("", SKILL, "goal", words))
            chosen = skills.by_id.get(answer_of(memory)) if memory else None
            if memory and chosen and (not request.verb or request.verb in chosen.verbs):
                found[SKILL], skill = memory, chosen.id
        if not request.verb and VERB not in request.answers:
            memory = recalled(self._memories, Asked("", VERB, "goal", words))
            able = [skills.by_id[skill]] if skill in skills.by_id else () if skill else skills
            if memory and any(answer_of(memory) in one.verbs for one in able):
                found[VERB] = memory
        return self._with(request, found)

    def fields(self, request: Request, skill: Skill, rules: Rules) -> Request:
        """The request with what was answered for this goal before, about fields of its skill."""
        if not self._learned():
            return request
        words, found = folded(request.prose), dict[str, Memory]()
        for field in learnable(skill):
            if field in request.answers or field.removeprefix("slot.") in request.slots:
                continue
            memory = recalled(self._memories, Asked(skill.id, field, "goal", words))
            if memory is not None and _reads(request, skill, field, answer_of(memory), rules):
                found[field] = memory
        return self._with(request, found)

    def meaning(self, skill: str, field: str, value: str) -> Memory | None:
        """The memory that a slot's words were answered to mean, in its current version."""
        if not self._learned():
            return None
        lesson = recalled(self._memories, Asked(skill, field, "value", folded(value)))
        meant = current(self._memories, answer_of(lesson)) if lesson else None
        if lesson is not None and meant is not None:
            self._refer(field, lesson)
        return meant

    def _with(self, request: Request, found: dict[str, Memory]) -> Request:
        if not found:
            return request
        for field, memory in found.items():
            self._refer(field, memory)
        return request.answered(
            {**{field: answer_of(one) for field, one in found.items()}, **request.answers}
        )

    def _refer(self, field: str, memory: Memory) -> None:
        summary = " ".join(memory.text.split())[:_SUMMARY]
        self.references.append(Reference(uri=memory.uri, type=memory.type, role=field, summary=summary))

    def _learned(self) -> bool:
        if self._on is None:
            self._on = bool(self._memories.size) and is_on(self._memories)
        return self._on


def learnable(skill: Skill) -> Iterator[str]:
    """The fields of a skill whose answers are learned: all but moments, which mean another day later."""
    yield from (f"slot.{slot.name}" for slot in skill.slots if slot.type not in _MOMENTS)
    yield from (path for path, name in FIELD_OF_PATH.items() if name != "deadline")


def current(memories: Memories, uri: str) -> Memory | None:
    """The current version of the memory at an address; None where there is none, or it is none's address."""
    try:
        type_, id_, _ = parse_uri(uri)
    except CortexError:
        return None
    return memories.resolve(f"matrix://cortex/{type_}/{id_}")


def _reads(request: Request, skill: Skill, field: str, answer: str, rules: Rules) -> bool:
    try:
        read_answer(request, skill, field, answer, rules)
    except InputError:
        return False
    return True
