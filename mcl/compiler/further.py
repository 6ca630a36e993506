"""Further wishes of a goal: each is compiled by itself, for its own skill, and is part of the same Intent.

One that cannot be understood by itself stays open, and is asked about.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Final

from ir import Frame, FurtherWish, SpanMark
from mcl.compiler.outcome import Compiled, Outcome
from mcl.compiler.stages.frame_draft import Extraction
from mcl.compiler.stages.request import GoalRequest
from mcl.compiler.stages.signoff import FIELD as PROMISE
from mcl.language.skills import Skill, Skills
from mcl.model.cues import TextPlace

_MOST: Final = 4  # wishes of one goal that are compiled: of a goal of a thousand clauses nobody wants a plan


def with_wishes(
    read: Extraction,
    request: GoalRequest,
    skill: Skill,
    skills: Skills,
    empty: Collection[str],
    run: Callable[[GoalRequest], Outcome],
) -> Extraction:
    """What was read in a goal, with those of its further wishes that can be done, or handed on, with it.

    skill: of the first. empty: words that say nothing by themselves, such as "them". run: compiles a goal.
    """
    for place in read.wishes if len(read.wishes) <= _MOST else ():
        words = request.prose[place.start : place.end]
        asked = replace(
            request, prose=words, skill="", verb="", slots={}, answers={}, changes=(), extensions=()
        )
        outcome = run(asked)
        if (
            isinstance(outcome, Compiled)
            and _goes_with(outcome, read.frame)
            and not any(_points(one.value, empty) for one in outcome.intent.frame.objects)
            # Where nothing here does the first either, whoever is handed the Intent does all of it.
            and (not skill.does_goals or _is_done(outcome, skills))
        ):
            read = _with(read, outcome, words, place)
    return read


def _goes_with(outcome: Compiled, frame: Frame) -> bool:
    """Whether a wish, compiled by itself, has no limit of its own."""
    found = outcome.intent.frame
    mine = (*found.constraints, *found.success_criteria, *found.preferences)
    whole = (*frame.constraints, *frame.success_criteria, *frame.preferences)
    return not found.further and outcome.intent.budget is None and all(one in whole for one in mine)


def _points(value: str, empty: Collection[str]) -> bool:
    """Whether a value only points at something that is said elsewhere."""
    return all(word in empty for word in value.casefold().split())


def _is_done(outcome: Compiled, skills: Skills) -> bool:
    """Whether a skill has a plan that does it."""
    made = outcome.intent.compile_metadata
    skill = skills.get(made.skill_id) if made else None
    plan = outcome.plan
    return skill is not None and plan is not None and not plan.grammar and not skill.takes_any


def _with(read: Extraction, outcome: Compiled, words: str, place: TextPlace) -> Extraction:
    found, made, at = outcome.intent.frame, outcome.intent.compile_metadata, len(read.frame.further)
    ref = outcome.plan.skill_ref if outcome.plan is not None and not outcome.plan.grammar else ""
    wish = FurtherWish(prose=words, verb=found.verb, objects=found.objects, skill_ref=ref)
    marks = [SpanMark(field=f"frame.further[{at}]", start=place.start, end=place.end)]
    marks += [
        SpanMark(
            field=one.field.replace("frame.", f"frame.further[{at}].", 1),
            start=one.start + place.start,
            end=one.end + place.start,
        )
        for one in (made.spans if made else ())
        if one.field.startswith("frame.objects")
    ]
    return replace(
        read,
        frame=read.frame.model_copy(update={"further": (*read.frame.further, wish)}),
        spans=(*read.spans, *marks),
        gaps=tuple(gap for gap in read.gaps if gap.field != f"{PROMISE}{words}"),
        wishes=tuple(one for one in read.wishes if one != place),
        look=read.look or outcome.review,
    )
