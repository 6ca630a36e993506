"""Teach an encoder (form enc@1) a user's skills: its reading stays, to its scores something is added.

For each skill that is taught it is learned, from the vectors of its examples, what is to be added where this
skill is asked about: to its score beside the others', to its verbs, to its slots at each word, to the options
of its slots (mcl.model.heads.Taught). Where it is not asked about, all is as it was.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mcl.compiler.stages.extract import form_of
from mcl.core.errors import ModelError
from mcl.language.skills import Skill, Skills
from mcl.model import form
from mcl.model.encoder import EncoderModel, GoalMarks, GoalVectors
from mcl.model.form import FORM
from mcl.model.heads import (
    OPTIONS,
    PICK,
    TAG,
    VERB,
    Taught,
    Vectors,
    packed_heads,
    probabilities,
    unit_length,
)
from mcl.model.loader import load_model
from mcl.model.protocol import Candidate, ExtractForm, Model, SlotForm
from mcl.plugins.train.lessons import Lesson, Value, lessons_of
from mcl.plugins.train.tuner import development, handwritten
from mcl.plugins.train.tuner.regression import Numbers, Regression, descend
from mcl.plugins.train.tuner.rewriting import rewrite
from mcl.plugins.train.tuner.utterances import Utterance

PENALTY = {"pick": 0.03, "verb": 0.03, "tag": 0.01, "option": 0.03}
"""How dear it is to add something; the less, the more a single example moves."""
OTHER_VALUES = 3
"""Goals that each example is told in again with values of other ones."""
REHEARSED = {"shipped": 200, "general": 120, "nobody": 100}
"""Goals that were known already, by whose they are."""
REHEARSAL = 1.0
"""What they count, all together, beside the lessons."""
GOALS_KEPT = 2_000
"""Goals whose vectors are kept: they are asked about in several trainings, and by several models."""
MOST_OFFERED = 64
"""Skills that are looked at beside those that are taught."""
KNOWN_EVERY = 2  # of the goals that must not be forgotten
SURE = 0.5  # of a limit that the model sees in an example
TAKEN = 0.5  # share with which a goal that is nobody's goes to a taught skill already: not rehearsed


@dataclass(frozen=True)
class _Told:
    """A lesson as it is learned from, in its own words or with other values; counts: how much."""

    lesson: Lesson
    counts: float


class Teacher:
    """Teaches one model. What it has read it keeps: one teacher for several trainings."""

    def __init__(self, base: Path) -> None:
        """Raises ModelError: what loading raises; MODEL_FORM for a model that does not encode."""
        model = load_model(base, home_path=None)
        if not isinstance(model, EncoderModel):
            message = f"only a model of the form {FORM} can be taught"
            raise ModelError("MODEL_FORM", message, place=str(base), fix="mcl model use bundled")
        self._base, self._model = base, model
        model.goals_kept = GOALS_KEPT
        self._taught = dict(model.heads.taught)
        self._rehearsed: dict[int, list[Utterance]] = {}

    def teach(
        self,
        target: Path,
        *,
        skills: Sequence[Skill],
        shelf: Skills,
        lessons: Sequence[Lesson],
        steps: int,
        seed: int,
        said: Mapping[str, str],
        progress: Callable[[], None],
    ) -> None:
        """Write `target`: the model, taught these lessons. The same arguments give the same bytes on the same
        kind of processor.

        shelf: the skills that are offered beside each other. said: texts under keys of the file. progress:
        called after each step.
        """
        ids = [skill.id for skill in skills]
        others = {id: taught for id, taught in self._taught.items() if id not in ids}
        self._model.heads.taught = others
        by_skill = {id: [one for one in lessons if one.skill == id] for id in ids}
        told = {
            skill.id: list(_told(by_skill[skill.id], random.Random(f"{seed} {skill.id}"))) for skill in skills
        }
        problems: dict[str, dict[str, tuple[tuple[str, ...], Regression]]] = {
            skill.id: {} for skill in skills
        }
        picks = self._picks(skills, shelf, told, seed)
        for skill in skills:
            problems[skill.id] = dict(self._of_skill(skill, told[skill.id]))
        descend([picks, *(one for of in problems.values() for _, one in of.values())], steps, progress)
        made = dict(others)
        for place, skill in enumerate(skills):
            parts = {
                part: (labels, _narrow(one.weights)) for part, (labels, one) in problems[skill.id].items()
            }
            made[skill.id] = Taught({PICK: ((PICK,), _narrow(picks.weights[place : place + 1])), **parts})
        heads = packed_heads(self._model.heads.tensors, self._model.told, dict(sorted(made.items())))
        rewrite(self._base, target, said=said, heads=heads)

    def lend(self, taught: Model) -> None:
        """What was read here need not be read again by a model that was taught here, or by the base."""
        if isinstance(taught, EncoderModel):
            taught.share(self._model)

    # ---- which skill

    def _picks(
        self, skills: Sequence[Skill], shelf: Skills, told: Mapping[str, Sequence[_Told]], seed: int
    ) -> Regression:
        """Each lesson for its skill and no other; each rehearsed goal for whose it was."""
        ids = [skill.id for skill in skills]
        beside = [skill for skill in shelf if skill.id not in ids][:MOST_OFFERED]
        offered = [_candidate(shelf.by_id.get(one.id, one)) for one in skills] + [
            _candidate(one) for one in beside
        ]
        places = {one.skill_id: place for place, one in enumerate(offered, 1)}
        lessons = [one for id in ids for one in told[id]]
        x, scores, right, counts = [], [], [], []
        for one in lessons:
            wish = self._wish(one.lesson.prose)
            x.append(unit_length(wish))
            scores.append(self._scores(wish, [_but(card, one.lesson.prose) for card in offered]))
            place = places[one.lesson.skill]
            right.append(0 if offered[place - 1].takes_any else place)
            counts.append(one.counts)
        own = len(x)
        for known in self._rehearsal(seed):
            wish = self._wish(known.text)
            its = self._scores(wish, offered)
            place = places.get(known.skill[1], 0)
            if known.skill[1] in ids:
                continue
            if place == 0 or offered[place - 1].takes_any or known.verb not in offered[place - 1].verbs:
                place = 0
                if probabilities(its.astype(np.float32))[1 : 1 + len(ids)].sum() > TAKEN:
                    continue  # nobody's but for lack of such a skill
            x.append(unit_length(wish))
            scores.append(its)
            right.append(place)
        counts += [REHEARSAL * sum(counts) / max(1, len(x) - own)] * (len(x) - own)
        columns = range(1, 1 + len(ids))
        return Regression(_wide(x), _wide(scores), right, counts, columns, PENALTY["pick"])

    def _scores(self, wish: Vectors, offered: Sequence[Candidate]) -> Numbers:
        """As a choice weighs them; what takes any goal takes what is for none of the others."""
        scores = self._model.choices(wish, offered).astype(np.float64) / self._model.temperatures["pick"]
        for place, one in enumerate(offered, 1):
            if one.takes_any:
                scores[place] = -np.inf
        return scores

    def _rehearsal(self, seed: int) -> list[Utterance]:
        """Goals written by hand for the shipped skills, and for nobody; the same ones each time."""
        if seed not in self._rehearsed:
            by_whose: dict[str, list[Utterance]] = defaultdict(list)
            for goal in handwritten.load():
                whose = {"general": "general", "none": "nobody"}.get(goal.skill[1], "shipped")
                by_whose[whose].append(goal)
            chance = random.Random(seed)
            self._rehearsed[seed] = [
                goal
                for whose, number in REHEARSED.items()
                for goal in chance.sample(by_whose[whose], min(number, len(by_whose[whose])))
            ]
        return self._rehearsed[seed]

    # ---- what is said of it

    def _of_skill(
        self, skill: Skill, told: Sequence[_Told]
    ) -> Iterator[tuple[str, tuple[tuple[str, ...], Regression]]]:
        """What is to be learned of one skill beside when it is meant: part, labels, problem."""
        verbs = tuple(verb for verb in form.VERBS if verb in skill.verbs)
        of_verbs = [one for one in told if one.lesson.verb in verbs]
        if len(verbs) > 1 and of_verbs:
            yield VERB, (verbs, self._verbs(skill, verbs, of_verbs))
        marked = [one for one in told if one.lesson.values is not None]
        if not marked or not skill.slots:
            return
        shown = _form(skill)
        seen = [(one, [*self._model.marks(self._goal(one.lesson.prose), shown)]) for one in marked]
        labels = ("none", "in", *(f"slot.{slot.name}" for slot in shown.slots if not slot.options))
        if len(labels) > 2:
            yield TAG, (labels, self._tags(seen, len(labels)))
        for slot in shown.slots:
            if slot.options:
                options = ("", *slot.options)
                yield OPTIONS + slot.name, (options, self._options(slot.name, options, seen))

    def _verbs(self, skill: Skill, verbs: Sequence[str], told: Sequence[_Told]) -> Regression:
        columns = [form.VERBS.index(verb) for verb in verbs]
        wishes = [self._wish(one.lesson.prose) for one in told]
        scores = _wide([self._model.verbs(wish, skill.id)[columns] for wish in wishes])
        return Regression(
            _wide([unit_length(wish) for wish in wishes]),
            scores / self._model.temperatures["verb"],
            [verbs.index(one.lesson.verb) for one in told],
            [one.counts for one in told],
            range(len(verbs)),
            PENALTY["verb"],
        )

    def _tags(self, seen: Sequence[tuple[_Told, list[GoalMarks]]], learned: int) -> Regression:
        """Each word for the slot that it begins, or as going on, or as of none. Limits that the model sees in
        a lesson count as marked, where no value stands."""
        x, scores, right, counts = [], [], [], []
        for one, windows in seen:
            for marks in windows:
                its = marks.tags.astype(np.float64) / self._model.temperatures["tag"]
                x.append(marks.seen)
                scores.append(its)
                right += _tags_of(one.lesson, marks, its)
                counts += [one.counts] * len(marks.units)
        return Regression(
            _wide(np.concatenate(x)),
            _wide(np.concatenate(scores)),
            right,
            counts,
            range(learned),
            PENALTY["tag"],
        )

    def _options(
        self, slot: str, options: Sequence[str], seen: Sequence[tuple[_Told, list[GoalMarks]]]
    ) -> Regression:
        right, x, scores = [], [], []
        for one, windows in seen:
            said = [value.text for value in one.lesson.values or () if value.slot == slot]
            right.append(options.index(said[0]) if said else 0)
            x.append(unit_length(self._goal(one.lesson.prose).mean()))
            scores.append(windows[0].options[slot])
        counts = [one.counts for one, _ in seen]
        its = _wide(scores) / self._model.temperatures["option"]
        return Regression(_wide(x), its, right, counts, range(len(options)), PENALTY["option"])

    def _wish(self, prose: str) -> Vectors:
        return self._model.wish(self._goal(prose))

    def _goal(self, prose: str) -> GoalVectors:
        return self._model.goal(prose)


def known(shipped: Skills) -> list[Lesson]:
    """What must not be forgotten: the examples of the shipped skills, and every second goal that is kept for
    measuring, with its values."""
    lessons = lessons_of(list(shipped), None)
    for goal in development.load()[::KNOWN_EVERY]:
        values = tuple(
            Value(mark.field.removeprefix("slot."), mark.value, mark.start, mark.end)
            for mark in goal.marks
            if mark.field.startswith("slot.")
        )
        nobodys = goal.skill == handwritten.NOBODY
        id = "" if nobodys else goal.skill[1]
        lessons.append(Lesson(goal.text, id, goal.verb, None if nobodys else values))
    return lessons


def _told(lessons: Sequence[Lesson], chance: random.Random) -> Iterator[_Told]:
    """Each lesson in its own words, and again with values of the others in the same slots."""
    values: dict[str, list[str]] = defaultdict(list)
    for lesson in lessons:
        for value in lesson.values or ():
            if value.start is not None and value.text not in values[value.slot]:
                values[value.slot].append(value.text)
    for lesson in lessons:
        told = {lesson.prose: lesson}
        for _ in range(OTHER_VALUES):
            other = _with_others(lesson, values, chance)
            told.setdefault(other.prose, other)
        for one in told.values():
            yield _Told(one, 1 / len(told))


def _with_others(lesson: Lesson, values: Mapping[str, Sequence[str]], chance: random.Random) -> Lesson:
    prose, made = "", []
    placed = sorted(
        (v.start, v.end, v) for v in lesson.values or () if v.start is not None and v.end is not None
    )
    at = 0
    for start, end, value in placed:
        text = chance.choice(values[value.slot])
        prose += lesson.prose[at:start]
        made.append(Value(value.slot, text, len(prose), len(prose) + len(text)))
        prose, at = prose + text, end
    if not placed:
        return lesson
    others = [value for value in lesson.values or () if value.start is None]
    return replace(lesson, prose=prose + lesson.prose[at:], values=(*made, *others))


def _tags_of(lesson: Lesson, marks: GoalMarks, scores: Numbers) -> list[int]:
    """The right label of each word, as a place in `marks.labels`."""
    right = [0] * len(marks.units)
    spans = [
        (f"slot.{one.slot}", one.start, one.end)
        for one in lesson.values or ()
        if one.start is not None and one.end is not None
    ]
    slots = tuple(SlotForm(one[5:], "string", "") for one in marks.labels if one.startswith("slot."))
    shares = probabilities(scores.astype(np.float32)).tolist()
    for found in form.found(lesson.prose, marks.units, ExtractForm("", "", slots), shares):
        if found.field in form.FIELDS and found.probability >= SURE and found.start is not None:
            end = found.end or found.start
            if all(end <= begins or ends <= found.start for _, begins, ends in spans):
                spans.append((found.field, found.start, end))
    for label, start, end in spans:
        inside = [i for i, unit in enumerate(marks.units) if unit.start >= start and unit.end <= end]
        for i in inside:
            right[i] = marks.labels.index(label) if i == inside[0] else 1
    return right


def _form(skill: Skill) -> ExtractForm:
    return ExtractForm(skill.id, skill.description, tuple(map(form_of, skill.slots)))


def _candidate(skill: Skill) -> Candidate:
    return Candidate(skill.id, skill.display, skill.description, skill.verbs, skill.examples, skill.takes_any)


def _but(card: Candidate, prose: str) -> Candidate:
    """The card without the line that is asked about: it would be too easy."""
    same = " ".join(prose.split())
    if not any(" ".join(one.split()) == same for one in card.examples):
        return card
    return replace(card, examples=tuple(one for one in card.examples if " ".join(one.split()) != same))


def _wide(rows: Sequence[Vectors | Numbers] | Vectors | Numbers) -> Numbers:
    return np.asarray(rows, np.float64)


def _narrow(weights: Numbers) -> Vectors:
    return weights.astype(np.float16).astype(np.float32)
