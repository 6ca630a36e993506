"""When and how often something is to be, for a skill that takes that itself, as a calendar does."""

import difflib
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from ir import SpanMark
from mcl.compiler.stages.frame_draft import Extraction
from mcl.compiler.stages.request import GoalRequest
from mcl.language.skills import Skill
from mcl.plugins.hooks import plugins

REPEATS: Final = "repeats"  # the input that takes the rule (RRULE of RFC 5545)
FIRST: Final = "first"  # and the one that takes its first local moment
WHEN: Final = "when"  # the one for a single moment
LISTED: Final = ("from", "to")  # beside these, between which days is listed
PLACED: Final = ("sources", "targets")  # files, and the place that each gets
_TIDY: Final = re.compile(r"[^ ,](?:.*[^ ,])?", re.DOTALL)  # words without what stood around them


def read_apart(skill: Skill, given: Collection[str]) -> frozenset[str]:
    """The inputs of a skill that no model fills: a place for each file, and for a calendar; what repeats has
    no moment beside it."""
    own = frozenset((REPEATS, FIRST, *PLACED))
    if not {REPEATS, FIRST} <= {slot.name for slot in skill.slots}:
        return own
    return own | frozenset(LISTED) | (frozenset((WHEN,)) if REPEATS in given else frozenset())


def with_repeats(request: GoalRequest, skill: Skill) -> GoalRequest:
    """The request, with how often it says something is to be in the inputs of the skill; as it is where the
    skill has none for that, or nothing is said of it."""
    if not {REPEATS, FIRST} <= {slot.name for slot in skill.slots} or REPEATS in request.slots:
        return request
    from mcl.values.recurrence import may_recur, read_recurrence, split_inside, with_time  # few goals say it

    prose, said = request.prose, None
    if request.when or may_recur(prose):
        prose = (moments_read(prose, "repeat", request.at, request.zone, "", (), None) or (prose,))[0]
    if request.when:
        said = read_recurrence(request.when, request.at, request.zone)
        if said is not None:
            prose, said = with_time(prose, said.words, request.at, request.zone) or (prose, said)
    if (said is None or not said.rule) and may_recur(prose):
        prose, said = split_inside(prose, request.at, request.zone) or (prose, None)
    if said is None or not said.rule:
        return request
    ends = f";COUNT={said.count}" if said.count else ""
    if said.until:
        until = datetime.fromisoformat(said.until).astimezone(ZoneInfo(said.zone))  # local, as the first is
        ends = f";UNTIL={until:%Y%m%dT%H%M%S}"
    slots = {**request.slots, REPEATS: f"{said.rule}{ends}", FIRST: said.start}
    return replace(request, prose=prose, when="", slots=slots)


def with_moments(request: GoalRequest, skill: Skill, verb: str) -> tuple[GoalRequest, Mapping[str, str]]:
    """The request, with what it says of moments that stand in files here in the inputs of a skill for a
    calendar: "half an hour before the dentist"; and what it tells of the moment beside that."""
    names = {slot.name for slot in skill.slots}
    if not {REPEATS, FIRST} <= names or WHEN in request.slots:
        return request, {}
    answer = request.answers.get(f"slot.{WHEN}", "")
    said = request.files.moments(request.prose, verb, request.zone)
    if answer:  # which is read beside the words of the goal alone
        said = moments_read(request.prose, verb, request.at, request.zone, answer, (), None)
    if said is None or (REPEATS in request.slots and WHEN in said[1]):
        return request, {}
    given = {name: text for name, text in said[1].items() if name in names}
    if answer and (moment := given.pop(WHEN, "")):
        request = replace(request, answers={**request.answers, f"slot.{WHEN}": moment})
    return replace(request, prose=said[0], slots={**given, **request.slots}), said[1]


def moments_read(*goal: Any) -> tuple[str, Mapping[str, str]] | None:
    """What plug-ins read of a goal for a calendar."""
    named = (plugin.load_named(plugin.moments) for plugin in plugins() if plugin.moments)
    return next((one for read in named if (one := read(*goal))), None)


def as_said(read: Extraction, without: str, said: str) -> Extraction:
    """What was read of a goal `without` the words for its moment, with its places in the goal as it was
    `said`. Words for the moment that stand together are the place of the input that they fill."""
    alike = difflib.SequenceMatcher(None, without, said, autojunk=False).get_matching_blocks()
    at = {one.a + step: one.b + step for one in alike for step in range(one.size)}
    marks = []
    for mark in read.spans:
        places = [at[one] for one in range(mark.start, mark.end) if one in at]
        if places and places[-1] - places[0] == mark.end - mark.start - 1:
            marks.append(SpanMark(field=mark.field, start=places[0], end=places[-1] + 1))
    kept = set(at.values())
    cut = [one for one in range(len(said)) if one not in kept]
    named = next((n for n, one in enumerate(read.frame.objects) if one.name in (WHEN, REPEATS)), None)
    together = bool(cut) and cut[-1] - cut[0] == len(cut) - 1
    if together and named is not None and (words := _TIDY.search(said, cut[0], cut[-1] + 1)):
        marks.append(SpanMark(field=f"frame.objects[{named}]", start=words.start(), end=words.end()))
    return replace(read, spans=tuple(sorted(marks, key=lambda one: (one.start, one.end))))
