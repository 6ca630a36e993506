"""Why a compile ended as it did: what its stages found, beside the limits it was held against.

Nothing is asked or weighed again for it; `mcl compile --why` shows it, and `.reasons` of an outcome has it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mcl.compiler.stages.constraints import Gap
from mcl.compiler.stages.extract import Understanding
from mcl.compiler.stages.rules import Rules
from mcl.compiler.stages.score import ConfidencePart, ScoreVerdict


class WordReading(NamedTuple):
    """What was read as one field. words: of the goal ("" where nothing in it says this). source: "goal",
    "given" (beforehand, or by an answer) or "default". probability: of words of the goal, else None."""

    field: str
    words: str
    value: str
    source: str
    probability: float | None


@dataclass(frozen=True)
class CompileReasons:
    """Of one compile.

    skills: all that were weighed with their shares, best first ("" is "none of these"); none where the skill
    was given. readings: what was read, in the order of the Frame. left_over: the word that most likely says
    something and was read as nothing, and how likely it says nothing. parts: what was held against the limits
    is their product; confidence: what the intent says, which is less where a word was left over. open: what
    is still open, with its severity and why. outcome: compiled, review, clarify or refused.
    """

    rules: Rules = field(repr=False)
    outcome: str
    skills: tuple[tuple[str, float], ...] = ()
    skill: str = ""
    verb: str = ""
    verb_share: float = 0.0
    readings: tuple[WordReading, ...] = ()
    left_over: tuple[str, float] | None = None
    parts: tuple[ConfidencePart, ...] = ()
    confidence: float = 0.0
    open: tuple[Gap, ...] = ()

    @classmethod
    def of(cls, goal: Understanding, verdict: ScoreVerdict, rules: Rules) -> "CompileReasons":
        """Those of a goal that came as far as a verdict."""
        classified, over = goal.classified, goal.extraction.over
        return cls(
            rules,
            verdict.outcome,
            classified.shares,
            classified.skill.id,
            classified.verb,
            classified.verb_probability,
            tuple(_readings(goal)),
            (over.value, over.probability) if over is not None else None,
            verdict.parts,
            verdict.confidence,
            verdict.gaps,
        )

    @property
    def asked_below(self) -> float:
        """The least confidence with which nobody is asked (module `confidence`)."""
        return self.rules.least("clarify")

    @property
    def read_below(self) -> float:
        """The least confidence with which a compile need not be read with care (module `confidence`)."""
        return self.rules.least("clarify", "review")

    @property
    def verb_below(self) -> float:
        """The least probability of a verb with which it is not asked about (module `verb`)."""
        return self.rules.verb_certain

    @property
    def decided_on(self) -> float:
        """The product of the parts: the limits are held against it, before a word left over takes from it."""
        return math.prod(math.pow(part.share, part.weight) for part in self.parts)

    @property
    def blocked(self) -> bool:
        """Whether something is open that is asked about however sure all else is."""
        return any(gap.severity == "blocking" for gap in self.open)

    def document(self) -> dict[str, Any]:
        """This as JSON values."""
        return {
            "outcome": self.outcome,
            "skills": [{"skill": id or None, "share": share} for id, share in self.skills],
            "skill": self.skill,
            "verb": {"verb": self.verb, "share": self.verb_share, "asked_below": self.verb_below},
            "readings": [one._asdict() for one in self.readings],
            "left_over": {"word": self.left_over[0], "says_nothing": self.left_over[1]}
            if self.left_over
            else None,
            "parts": [one._asdict() for one in self.parts],
            "confidence": self.confidence,
            "asked_below": self.asked_below,
            "read_below": self.read_below,
            "open": [{"field": gap.field, "severity": gap.severity, "why": gap.why} for gap in self.open],
        }


def _readings(goal: Understanding) -> Iterator[WordReading]:
    extraction, request = goal.extraction, goal.request
    places = {mark.field: request.prose[mark.start : mark.end] for mark in extraction.spans}
    given = {f"slot.{name}" for name in request.slots} | set(request.answers)
    for place, entry in enumerate(extraction.frame.objects):
        path, name = f"frame.objects[{place}]", f"slot.{entry.name}"
        share = extraction.certainty.get(path)
        unread = "given" if name in given else "default"
        yield WordReading(name, places.get(path, ""), entry.value, unread if share is None else "goal", share)
    for path, (kind, words) in extraction.said.items():
        yield WordReading(
            kind, words, "", "goal" if path in places else "given", extraction.certainty.get(path)
        )
