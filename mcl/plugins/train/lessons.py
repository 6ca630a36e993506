"""Examples that a model is taught with, and how well it understands them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from executor.store.home import Home
from ir import Intent
from ir.errors import MclError
from mcl.compiler.compiler import GoalOptions, Refused, compile_goal
from mcl.compiler.stages.extract import form_of
from mcl.compiler.stages.request import normalise
from mcl.core.errors import InputError, SkillError
from mcl.language.mtx.core import Core
from mcl.language.mtx.source import nearest
from mcl.language.skills import Skill, Skills, Slot
from mcl.model.form import WINDOW_UNITS, Unit, words
from mcl.model.protocol import Model

# ---- Examples that a model is taught with: lines of a file, and the example lines of the skills themselves.
#
# A line is a JSON object: {"prose": "…", "skill": "…", "verb": "…", "slots": {"name": "value"}}. `verb` and
# `slots` may be left out: then it is not taught which verb, or where the values stand. A value stands in the
# prose, word for word, or is an option of its slot; a slot that takes several has a list of them.

MOST_BYTES: Final = 16 << 20
_LONGEST: Final = 8192  # characters of a goal
_KEYS: Final = ("prose", "skill", "verb", "slots")
_TOLD: Final = 10  # errors in a message; all of them are in its data


@dataclass(frozen=True)
class Value:
    """What fills a slot: a run of the prose, or an option (then start and end are None)."""

    slot: str
    text: str
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class Lesson:
    """A goal and what it means. skill: an id, "" for no skill at all. verb: "" where it is not said. values:
    None where they are not said."""

    prose: str
    skill: str
    verb: str = ""
    values: tuple[Value, ...] | None = None


def lessons_of(skills: Sequence[Skill], examples: Path | None) -> list[Lesson]:
    """The lessons for these skills, each prose once: those of the file, then their own example lines.

    Raises InputError EXAMPLES_MISSING, EXAMPLES_INVALID with every wrong line in `data["errors"]`.
    """
    found: dict[str, Lesson] = {}
    if examples is not None:
        for lesson in read_lessons(examples, skills):
            found[" ".join(lesson.prose.split())] = lesson
    for skill in skills:
        verb = skill.verbs[0] if len(skill.verbs) == 1 else ""
        for prose in skill.examples:
            clean = normalise(prose, longest=_LONGEST)
            found.setdefault(" ".join(clean.split()), Lesson(clean, skill.id, verb))
    return list(found.values())


def read_lessons(path: Path, skills: Sequence[Skill]) -> list[Lesson]:
    """The lessons of a file. Raises as `lessons_of`."""
    try:
        data = path.read_bytes() if path.stat().st_size <= MOST_BYTES else None
    except OSError as error:
        message, fix = f"cannot be read: {error.strerror}", "name a file of JSON lines"
        raise InputError("EXAMPLES_MISSING", message, place=str(path), fix=fix) from error
    if data is None:
        message = f"more than {MOST_BYTES >> 20} MiB of examples"
        raise InputError("EXAMPLES_INVALID", message, place=str(path), fix="a few hundred lines are enough")
    known = {skill.id: skill for skill in skills}
    lessons: list[Lesson] = []
    errors: list[dict[str, Any]] = []
    said: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            lesson = _lesson(line, known)
            same = " ".join(lesson.prose.split())
            if same in said and said[same][1] != lesson.skill:
                raise ValueError(f"said in line {said[same][0]} already, for {said[same][1]}")
            said[same] = number, lesson.skill
            lessons.append(lesson)
        except ValueError as error:
            errors.append({"line": number, "message": str(error)})
    if errors:
        told = "; ".join(f"line {one['line']}: {one['message']}" for one in errors[:_TOLD])
        more = f" (and {len(errors) - _TOLD} more)" if len(errors) > _TOLD else ""
        fix = 'a line is {"prose": "…", "skill": "…", "verb": "…", "slots": {"name": "value"}}'
        raise InputError("EXAMPLES_INVALID", told + more, place=str(path), fix=fix, data={"errors": errors})
    return lessons


def _lesson(line: bytes, known: Mapping[str, Skill]) -> Lesson:
    """Raises ValueError with what is wrong with a line."""
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError("not UTF-8") from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"not JSON: {getattr(error, 'msg', 'nested too deep')}") from error
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    for key in row:
        if key not in _KEYS:
            raise ValueError(f"unknown key {key!r}; there are {', '.join(_KEYS)}")
    for key in ("prose", "skill"):
        if not isinstance(row.get(key), str) or not row[key].strip():
            raise ValueError(f"{key} must be a text")
    if row["skill"] not in known:
        hint = nearest(row["skill"], known)
        raise ValueError(
            f"no skill {row['skill']!r} among those to be taught" + (f"; {hint}" if hint else "")
        )
    skill = known[row["skill"]]
    verb = row.get("verb", "")
    if not isinstance(verb, str) or (verb and verb not in skill.verbs):
        raise ValueError(f"{verb!r} is no verb of {skill.id}: {', '.join(skill.verbs)}")
    try:
        prose = normalise(row["prose"], longest=_LONGEST)
    except MclError as error:
        raise ValueError(error.message) from error
    units = words(prose)
    if len(units) > WINDOW_UNITS:
        raise ValueError(f"more than {WINDOW_UNITS} words")
    slots = row.get("slots")
    values = None if slots is None else tuple(_values(slots, skill, prose, units))
    return Lesson(prose, skill.id, verb or (skill.verbs[0] if len(skill.verbs) == 1 else ""), values)


def _values(slots: Any, skill: Skill, prose: str, units: Sequence[Unit]) -> Iterator[Value]:
    if not isinstance(slots, dict):
        raise ValueError("slots must be an object")
    declared = {slot.name: slot for slot in skill.slots}
    taken: set[int] = set()
    for name, said in slots.items():
        slot = declared.get(name)
        if slot is None:
            hint = nearest(name, declared) or f"slots: {', '.join(declared) or 'none'}"
            raise ValueError(f"{skill.id} has no slot {name!r}; {hint}")
        texts = said if isinstance(said, list) else [said]
        if len(texts) > slot.most:
            raise ValueError(f"{name} takes at most {slot.most}")
        for text in texts:
            yield _value(slot, _text(name, text), prose, units, taken)


def _text(name: str, said: Any) -> str:
    if isinstance(said, bool):
        return "true" if said else "false"
    if isinstance(said, int | float):
        return json.dumps(said)
    if not isinstance(said, str) or not said.strip():
        raise ValueError(f"{name} must be a text, a number, true or false, or a list of them")
    return said.strip()


def _value(slot: Slot, text: str, prose: str, units: Sequence[Unit], taken: set[int]) -> Value:
    """The first place of a value in the prose that no other has; words are compared in small letters."""
    if options := form_of(slot).options:
        option = next((one for one in options if one.casefold() == text.casefold()), None)
        if option is None:
            raise ValueError(f"{text!r} is no option of {slot.name}: {', '.join(options)}")
        return Value(slot.name, option)
    wanted = [unit.text.casefold() for unit in words(text)]
    for first in range(len(units) - len(wanted) + 1):
        places = set(range(first, first + len(wanted)))
        if not places & taken and [units[place].text.casefold() for place in sorted(places)] == wanted:
            taken |= places
            start, end = units[first].start, units[first + len(wanted) - 1].end
            return Value(slot.name, prose[start:end], start, end)
    raise ValueError(f"{slot.name}: {text!r} does not stand in the prose, word for word")


# ---- How well a model understands lessons, by the whole compile; nothing is stored.

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
            lesson.prose, home=home, skills=skills, model=model, options=GoalOptions(at=_AT), store=False,
            core=core, timer=lambda: 0.0,
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
        if slot is not None and form_of(slot).options:
            option = entry.name, entry.value.casefold()
            if span is not None or entry.value not in slot.default or option in wanted:
                found.add(option)
        elif span is not None:
            found.add((entry.name, span.casefold()))
    return found
