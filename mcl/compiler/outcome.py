"""What becomes of a goal: an Intent with its plan, questions, or a refusal; and what it was decided by."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

from ir import ClarifyQuestion, Intent, PlanTree
from ir.errors import CLARIFY, REFUSED
from mcl.compiler.stages.extract import Understanding
from mcl.compiler.stages.frame_draft import NO_PROMPT, PromptText
from mcl.compiler.stages.gaps import Gap
from mcl.compiler.stages.rules import Rules
from mcl.compiler.stages.score import ConfidencePart, ScoreVerdict
from mcl.core.errors import InputError

if TYPE_CHECKING:  # a compile that has no plan written pays for none of it
    from mcl.compiler.plan_writing import Attempt


# ---- Why a compile ended as it did: what its stages found, beside the limits it was held against. Nothing is
# asked or weighed again for it.


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


# ---- The three ends of a compile.


@dataclass(frozen=True)
class Compiled:
    """The goal as an Intent. `review`: sure enough to propose, not sure enough to skip reading it.

    plan: what will run, or None; `no_plan` says why. ms: how long the stages took. advice: why it should be
    read. prompt: what the model was asked with. attempts: at a plan, where a model wrote it. cached: the
    model's answers were those of an earlier compile. reasons: what it was decided by.
    """

    intent: Intent
    plan: PlanTree | None
    review: bool
    no_plan: str
    ms: float
    advice: str = ""
    prompt: PromptText = NO_PROMPT
    attempts: "tuple[Attempt, ...]" = ()
    cached: bool = False
    reasons: CompileReasons | None = field(default=None, compare=False, repr=False)

    def require(self) -> "Compiled":
        """This, as a goal that was compiled; what else becomes of a goal raises here."""
        return self


@dataclass(frozen=True)
class Clarify:
    """What must be known first. `intent` is as far as it is known (state "clarifying"); it is not in the
    journal. prompt: what the model was asked with. cached, reasons: as of Compiled."""

    intent: Intent
    questions: tuple[ClarifyQuestion, ...]
    ms: float
    prompt: PromptText = NO_PROMPT
    cached: bool = False
    reasons: CompileReasons | None = field(default=None, compare=False, repr=False)

    def require(self) -> NoReturn:
        """Raise InputError QUESTIONS_OPEN, with the questions (`data["questions"]`)."""
        asked = "; ".join(f"{one.unknown_id}: {one.prompt}" for one in self.questions)
        raise InputError(
            "QUESTIONS_OPEN",
            f"something must be known first: {asked}",
            place=self.intent.id,
            fix=f"answer them: mcl.answer({self.intent.id!r}, {{…}})",
            exit=CLARIFY,
            data={"questions": [asdict(one) for one in self.questions]},
        )


@dataclass(frozen=True)
class Refused:
    """Nothing was compiled. reason: out_of_scope, timeout, ambiguous_request, or what the skill's
    §FAILURE_MODES say; `nearest`: skill ids, best first; attempts: at a plan, where a model wrote none that
    holds. cached, reasons: as of Compiled."""

    id: str
    reason: str
    message: str
    nearest: tuple[str, ...]
    ms: float
    attempts: "tuple[Attempt, ...]" = ()
    cached: bool = False
    reasons: CompileReasons | None = field(default=None, compare=False, repr=False)

    def require(self) -> NoReturn:
        """Raise InputError GOAL_REFUSED, with the reason and the nearest skills in its `data`."""
        near = f" (the nearest: {', '.join(self.nearest)})" if self.nearest else ""
        raise InputError(
            "GOAL_REFUSED",
            self.message,
            place=self.id,
            fix=f"say it in other words, or name a skill: skill=…{near}",
            exit=REFUSED,
            data={"reason": self.reason, "nearest": list(self.nearest)},
        )


Outcome: TypeAlias = Compiled | Clarify | Refused
