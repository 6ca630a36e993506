"""A correction of a goal, by slot or in words: the Intent and the plan as they follow from it, made anew."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from executor.store.home import Home
from executor.store.lifecycle.view import View
from ir import Budget, ClarifyQuestion, Frame, Intent, IntentDraftBody, PlanTree
from ir.errors import CLARIFY, MclError
from mcl.compiler.corrected_plan import corrected_plan, rewritten_plan
from mcl.compiler.outcome import Clarify, Compiled, Outcome
from mcl.compiler.stages.request import GoalChange, normalise, without_secret
from mcl.core.errors import InputError
from mcl.language.skills import Skills

if TYPE_CHECKING:
    from mcl.model import Model

_FIELDS: Final = ("unknowns", "references", "budget", "deadline", "expires_at")
_LONGEST: Final = 4000  # characters of the words of one correction


@dataclass(frozen=True)
class CorrectedGoal:
    """What a correction of the goal makes of an Intent and its plan. review: why it should be read with care,
    "" where it need not. unsure, left_over: whether that is for how surely it was read, and the word that
    belongs to nothing, as far as they were not so before it."""

    intent: Intent
    plan: PlanTree
    review: str = ""
    unsure: bool = False
    left_over: str = ""


def goal_changes(view: View) -> tuple[GoalChange, ...]:
    """What was said of a goal since it was compiled, in that order. Raises InputError CORRECTION_UNREAD."""
    bodies: Iterable[Any] = (one.body for one in view.corrections)
    return tuple(GoalChange.from_data(body.goal) for body in bodies if body.goal)


def goal_change(words: str, fields: Mapping[str, str]) -> GoalChange:
    """What a person said, as clean as a goal. Raises InputError GOAL_EMPTY, GOAL_TOO_LONG, GOAL_BINARY,
    SECRET_INLINE."""

    def clean(text: str, place: str) -> str:
        try:
            return without_secret(normalise(text, longest=_LONGEST)) if text.strip() else ""
        except InputError as error:
            message = error.message.replace("the goal", "the correction")
            raise InputError(error.code, message, place=place, fix=error.fix) from error

    texts = {field: clean(text, field) for field, text in fields.items()}
    return GoalChange(clean(words, "correction"), texts)


def corrected_goal(
    home: Home,
    view: View,
    change: GoalChange,
    *,
    skills: Skills,
    model: "Path | Model | None" = None,
    ai: bool = True,
    again: bool = False,
) -> CorrectedGoal:
    """The documents that count, with what this correction makes otherwise of them.

    The goal is compiled with and without it, as of the moment and the memories of its first compile; what
    differs between the two is what it says. again: for a replay, which asks nothing about promises.

    Raises InputError NOT_COMPILED, QUESTIONS_OPEN (`data["questions"]`), CORRECTION_UNCLEAR,
    CORRECTION_CONFLICT, GOAL_REFUSED, SKILL_CHANGED, and what `compile_corrected` raises.
    """
    intent, plan = view.intent, view.plan
    draft: IntentDraftBody | None = view.draft
    if intent is None or plan is None or draft is None or intent.compile_metadata is None:
        raise InputError(
            "NOT_COMPILED",
            "this goal was not compiled from words, so there is nothing to compile again",
            place="correction",
            fix="correct its fields instead: --set budget.max_calls=5",
        )
    asked = model_of(home, intent, model, ai=ai)
    earlier = goal_changes(view)

    def outcome(changes: Sequence[GoalChange]) -> Outcome:
        from mcl.compiler.recompilation import compile_corrected  # heavy, and a field is corrected without
        from mcl.usecases.compile import tools_of

        return compile_corrected(
            intent, draft, changes, answers=view.answers, home=home, skills=skills, model=asked,
            tools=tools_of(home), again=again,
        )  # fmt: skip

    before, after = outcome(earlier), outcome((*earlier, change))
    was, now = _understood(before), _understood(after)
    if open_ := _questions(before, after, again=again):
        raise _asked(open_, intent.id, change)
    if _meaning(was) == _meaning(now):
        skill = skills.get(intent.compile_metadata.skill_id)
        names = ", ".join(f"slot.{slot.name}" for slot in skill.slots) if skill is not None else ""
        raise InputError(
            "CORRECTION_UNCLEAR",
            "nothing that this goal says becomes another by it",
            place="correction",
            fix=f"say it by slot, with --set: {names}" if names else "state the goal again",
        )
    words = change.words
    made = merged_intent(intent, was, now)
    made = made.model_copy(update={"prose": f"{intent.prose}\n{words}"}) if words else made
    if plan.grammar and isinstance(before, Compiled) and isinstance(after, Compiled):
        if before.plan is None or after.plan is None:
            raise InputError("NO_PLAN", after.no_plan or before.no_plan, place="plan", fix="mcl compile GOAL")
        new = rewritten_plan(intent, made, before.plan, after.plan, plan)
    else:
        new = corrected_plan(home, intent, made, plan, skills)
    over, unsure = _left_over(after), _unsure(after) and not _unsure(before)
    review = after.advice if isinstance(after, Compiled) and after.review else ""
    return CorrectedGoal(made, new, review, unsure, over if over != _left_over(before) else "")


def _unsure(outcome: Outcome) -> bool:
    reasons = outcome.reasons
    return reasons is not None and bool(reasons.parts) and reasons.decided_on < reasons.read_below


def _left_over(outcome: Outcome) -> str:
    """The word that belongs to nothing, where the goal is to be read with care for it."""
    look = isinstance(outcome, Compiled) and outcome.review
    over = outcome.reasons.left_over if outcome.reasons is not None else None
    return over[0] if look and over is not None else ""


def merged_intent(current: Intent, was: Intent, now: Intent) -> Intent:
    """`current`, where `was` became `now`: what differs between the two is other there too.

    Raises InputError CORRECTION_CONFLICT where a field was corrected by itself and differs between the two.
    """
    frame = {
        name: _merged(f"frame.{name}", current.frame, was.frame, now.frame) for name in Frame.model_fields
    }
    fields = {name: _merged(name, current, was, now) for name in _FIELDS}
    return current.model_copy(update={**fields, "frame": current.frame.model_copy(update=frame)})


def _merged(place: str, *documents: Any) -> Any:
    name = place.rpartition(".")[2]
    has, was, now = (getattr(one, name) for one in documents)
    if was == now or has == now:
        return has
    if has == was:
        return now
    if isinstance(has, tuple):
        return _merged_list(place, has, was, now)
    if name == "budget":
        blank = Budget()
        parts = [one or blank for one in (has, was, now)]
        return Budget(**{field: _merged(f"budget.{field}", *parts) for field in Budget.model_fields})
    raise _conflict(place)


def _merged_list(
    place: str, has: tuple[Any, ...], was: tuple[Any, ...], now: tuple[Any, ...]
) -> tuple[Any, ...]:
    gone, new = [one for one in was if one not in now], [one for one in now if one not in was]
    if any(one not in has for one in gone):
        raise _conflict(place)
    at = min((has.index(one) for one in gone), default=len(has))
    left = [one for one in has[:at] if one not in gone]
    return (*left, *(one for one in new if one not in has), *(one for one in has[at:] if one not in gone))


def _conflict(place: str) -> InputError:
    return InputError(
        "CORRECTION_CONFLICT",
        "this was corrected by itself, and the goal is to say something else of it too",
        place=place,
        fix=f"correct it there: --set {place}=…, or take that correction back first",
    )


def model_of(home: Home, intent: Intent | None, model: "Path | Model | None", *, ai: bool) -> "Model":
    """The model that was given, else that of the first compile, else the one in use."""
    from mcl.usecases.compile import open_model
    from mcl.usecases.models import Models

    made = intent.compile_metadata if intent is not None else None
    if model is None and ai and made is not None:
        try:
            found = Models(home).with_digest(made.model_digest)
        except MclError:
            found = None
        if found is not None:
            return found
    return open_model(home, model, ai=ai)


def _understood(outcome: Outcome) -> Intent:
    """The Intent of a compile, asked about or not. Raises InputError GOAL_REFUSED."""
    return outcome.intent if isinstance(outcome, Clarify) else outcome.require().intent


def _meaning(intent: Intent) -> tuple[Any, ...]:
    return intent.frame, *(getattr(intent, name) for name in _FIELDS)


def _questions(before: Outcome, after: Outcome, *, again: bool) -> tuple[ClarifyQuestion, ...]:
    """What the correction leaves open that was not open before it."""
    if not isinstance(after, Clarify) or again:
        return ()
    known = {one.field for one in before.questions} if isinstance(before, Clarify) else set()
    return tuple(one for one in after.questions if one.field not in known)


def _asked(questions: Sequence[ClarifyQuestion], id: str, change: GoalChange) -> InputError:
    asked = "; ".join(f"{one.field}: {one.prompt}" for one in questions)
    return InputError(
        "QUESTIONS_OPEN",
        f"something must be known first: {asked}",
        place=id,
        fix="give the same correction with the answers: "
        + " ".join(f'--answer "{one.field}=…"' for one in questions),
        exit=CLARIFY,
        data={"questions": [asdict(one) for one in questions]},
    )
