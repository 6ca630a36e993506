"""How well a model understands lessons, by the whole compile; nothing is stored."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from executor.store.home import Home
from ir import Intent
from mcl.compiler.compiler import Refused, compile_goal
from mcl.core.errors import InputError, SkillError
from mcl.language.mtx.core import Core
from mcl.language.skills import Skill, Skills
from mcl.model.protocol import Model
from mcl.plugins.train.lessons import Lesson

_AT: Final = "2026-11-21T10:00:00Z"  # one moment for all, so that dates are read alike
Found = tuple[str, str]


@dataclass(frozen=True)
class Figures:
    """Counts over lessons. whole: skill, verb and values all right, as far as the lesson says them. told,
    wanted, right: values."""

    lessons: int = 0
    skills: int = 0
    verbs: int = 0
    whole: int = 0
    told: int = 0
    wanted: int = 0
    right: int = 0

    @property
    def f1(self) -> float:
        """Of the values; 1.0 where there are none."""
        return 2 * self.right / (self.told + self.wanted) if self.told + self.wanted else 1.0

    def __add__(self, other: Figures) -> Figures:
        mine, its = vars(self), vars(other)
        return Figures(**{name: mine[name] + its[name] for name in mine})

    def said(self) -> str:
        """In a line."""
        values = f", values F1 {self.f1:.2f}" if self.wanted else ""
        return f"{self.whole} of {self.lessons} right (skill {self.skills}, verb {self.verbs}{values})"


def measure(
    lessons: Sequence[Lesson],
    *,
    home: Home,
    skills: Skills,
    model: Model,
    core: Core,
    progress: Callable[[], None] = lambda: None,
) -> Figures:
    """Compile each lesson among `skills`, which do not know the lessons' own words meanwhile."""
    hidden = without(skills, {lesson.prose for lesson in lessons})
    total = Figures()
    for lesson in lessons:
        total += _figures(lesson, home, hidden, model, core)
        progress()
    return total


def without(skills: Skills, proses: Collection[str]) -> Skills:
    """The skills without these example lines."""
    same = {" ".join(prose.split()) for prose in proses}

    def less(skill: Skill) -> Skill:
        settings = {
            key: value
            for key, value in skill.head.settings.items()
            if not (key.startswith("example.") and " ".join(value.split()) in same)
        }
        if len(settings) == len(skill.head.settings):
            return skill
        return replace(skill, head=replace(skill.head, values={**skill.head.values, "settings": settings}))

    return replace(skills, by_id={id: less(skill) for id, skill in skills.by_id.items()})


def _figures(lesson: Lesson, home: Home, skills: Skills, model: Model, core: Core) -> Figures:
    verb_asked, wanted = bool(lesson.verb), _wanted(lesson)
    try:
        outcome = compile_goal(
            lesson.prose, home=home, skills=skills, model=model, at=_AT, store=False, core=core,
            timer=lambda: 0.0,
        )  # fmt: skip
    except (InputError, SkillError):  # a plan that cannot be made: not what is measured, and not right
        return Figures(lessons=1, wanted=len(wanted or ()))
    if isinstance(outcome, Refused):
        nobodys = int(not lesson.skill)
        return Figures(1, nobodys, nobodys, nobodys, 0, len(wanted or ()), 0)
    intent = outcome.intent
    chosen = intent.compile_metadata.skill_id if intent.compile_metadata else ""
    skill = skills.by_id.get(chosen)
    named = bool(lesson.skill) and chosen == lesson.skill
    said = not verb_asked or intent.frame.verb == lesson.verb
    told = _told(intent, skill, wanted) if named and wanted is not None else set()
    equal = wanted is None or told == wanted
    right = len(told & wanted) if wanted is not None else 0
    counted = len(told), len(wanted or ()), right
    return Figures(1, int(named), int(named and said), int(named and said and equal), *counted)


def _wanted(lesson: Lesson) -> set[Found] | None:
    if lesson.values is None:
        return None
    return {(one.slot, one.text.casefold()) for one in lesson.values}


def _told(intent: Intent, skill: Skill | None, wanted: set[Found]) -> set[Found]:
    """What an Intent says of each slot, in the goal's own words; what a default filled is not said,
    unless it is wanted."""
    marks = intent.compile_metadata.spans if intent.compile_metadata else ()
    spans = {mark.field: intent.prose[mark.start : mark.end] for mark in marks}
    slots = {slot.name: slot for slot in skill.slots} if skill else {}
    found: set[Found] = set()
    for place, entry in enumerate(intent.frame.objects):
        slot = slots.get(entry.name)
        span = spans.get(f"frame.objects[{place}]")
        if slot is not None and slot.options:
            option = entry.name, entry.value.casefold()
            if span is not None or entry.value not in slot.default or option in wanted:
                found.add(option)
        elif span is not None:
            found.add((entry.name, span.casefold()))
    return found
