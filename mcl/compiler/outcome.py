"""What becomes of a goal: an Intent with its plan, questions, or a refusal."""

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from ir import ClarifyQuestion, Intent, PlanTree
from ir.errors import CLARIFY, REFUSED
from mcl.compiler.reasons import CompileReasons
from mcl.compiler.stages.extract import NO_PROMPT, PromptText
from mcl.core.errors import InputError

if TYPE_CHECKING:  # a compile that has no plan written pays for none of it
    from mcl.compiler.plan_writing import Attempt


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
