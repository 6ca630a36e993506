"""Teach the linear member of a model file (mcl/model/skill_classifier.py) further skills; seconds.

Each skill against the others that are taught and against strangers, as training/skill_classifier.py learns
the first ones: a support vector machine with squared hinge loss. What the member knew stays as it was,
byte for byte.
"""

from __future__ import annotations

import json
import os
import random
import struct
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from mcl.language.skills import Skill, Skills
from mcl.model import form
from mcl.model.protocol import Candidate, ExtractForm, SlotForm
from mcl.model.skill_classifier import MAGIC, ZERO, buckets_of, key_of, packed
from mcl.plugins.train.lessons import Lesson, Value, lessons_of
from mcl.plugins.train.tuner import development, handwritten
from mcl.plugins.train.tuner.generator.goals import general
from mcl.plugins.train.tuner.generator.skills import FAMILIES, skill_of, utter
from mcl.plugins.train.tuner.network import Asker, Learner, Network
from mcl.plugins.train.tuner.rows import (
    Batch,
    TokenVocabulary,
    TrainingRow,
    choose_body,
    collate,
    extract_body,
    tokens_of,
)
from mcl.plugins.train.tuner.utterances import CorpusSkill, LabelMark, Utterance
from mcl.plugins.train.tuner.variation import Variant, Variation
from mcl.plugins.train.tuner.weights import rewrite, tensors, unpack

SOURCE = "mine"
COST = 1.5  # of the machine: how dear a goal on the wrong side is
ROUNDS = 60
NEUTRAL = -0.75
"""A margin that speaks neither for a skill nor against it (margin.familiar of grammars/core/verb.mtx)."""
APART, STRANGE = (
    5,
    90,
)  # each how manieth stranger is not learned from; percent of these that stay below NEUTRAL


def teach(
    member: bytes, goals: Sequence[tuple[str, str]], skills: Mapping[str, str], strangers: Sequence[str]
) -> bytes:
    """The member with a class for each skill, in the place of what was taught under its name before.

    member: as it lies in the file; b"" gives b"". goals: (text, skill's id). skills: descriptions by id.
    strangers: goals that are for none of them.
    """
    if not member:
        return b""
    head, rarities, rows = _parts(member)
    fresh = {key_of(id) for id in skills}
    kept = [
        place
        for place, one in enumerate(head["classes"])
        if one["source"] != SOURCE or not fresh & set(one["names"])
    ]
    places = {old: new for new, old in enumerate(kept)}
    classes = [head["classes"][place] for place in kept]
    learned = [text for place, text in enumerate(strangers) if place % APART]
    weights, scales, biases = _learned(rarities, goals, list(skills), learned)
    # A dozen examples hold few of the words that their skill will meet. So that such words speak neither way,
    # the margins are moved to where goals lie that were not learned from.
    vectors = _vectors(strangers[::APART], rarities)
    apart = torch.sparse.mm(vectors, torch.from_numpy((weights * scales[:, None]).T.copy())).numpy() + biases
    biases = biases + np.maximum(0.0, NEUTRAL - np.percentile(apart, STRANGE, axis=0))
    for place, (id, description) in enumerate(skills.items()):
        told = [key_of(description)] if key_of(description) else []
        row = {"names": [key_of(id)], "told": told, "source": SOURCE}
        classes.append(row | {"scale": float(scales[place]), "bias": float(biases[place])})
    columns = np.concatenate([rows[:, kept], (weights.T.astype(np.int16) + ZERO).astype(np.uint8)], axis=1)
    verbs = {verb: places[place] for verb, place in head["verbs"].items()}
    made: dict[str, object] = {**head, "classes": classes, "verbs": verbs}
    return packed(made, rarities.tobytes(), [np.ascontiguousarray(columns).tobytes()])


def _parts(member: bytes) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """Its JSON, the rarities of its buckets, and its rows (buckets x classes)."""
    (length,) = struct.unpack_from("<I", member, len(MAGIC))
    start = len(MAGIC) + 4
    head = json.loads(member[start : start + length])
    at, buckets = start + length, head["buckets"]
    rarities = np.frombuffer(member, np.uint8, buckets, at)
    rows = np.frombuffer(member, np.uint8, buckets * len(head["classes"]), at + buckets)
    return head, rarities, rows.reshape(buckets, -1)


def _learned(
    rarities: np.ndarray, goals: Sequence[tuple[str, str]], skills: Sequence[str], strangers: Sequence[str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whole-number weights (skills x buckets), their scales, and the biases."""
    texts = [text for text, _ in goals] + list(strangers)
    vectors = _vectors(texts, rarities)
    signs = torch.full((len(texts), len(skills)), -1.0, dtype=torch.float64)
    for row, (_, skill) in enumerate(goals):
        signs[row, skills.index(skill)] = 1.0
    # A skill has a few goals among thousands: its own count as much as a tenth of all others together.
    dear = torch.where(
        signs > 0, (0.1 * (signs < 0).sum(0) / (signs > 0).sum(0).clamp(min=1)).clamp(1, 10), 1.0
    )
    weights = torch.zeros((len(rarities), len(skills)), dtype=torch.float64, requires_grad=True)
    biases = torch.zeros(len(skills), dtype=torch.float64, requires_grad=True)
    machine = torch.optim.LBFGS([weights, biases], max_iter=ROUNDS, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        machine.zero_grad()
        short = (1 - signs * (torch.sparse.mm(vectors, weights) + biases)).clamp(min=0)
        total = 0.5 * (weights.square().sum() + biases.square().sum()) + COST * (dear * short.square()).sum()
        torch.autograd.backward(total)
        return total

    machine.step(loss)
    exact = weights.detach().numpy().T
    scales = np.maximum(np.abs(exact).max(1), 1e-9) / 127
    return np.round(exact / scales[:, None]).astype(np.int8), scales, biases.detach().numpy()


def _vectors(texts: Sequence[str], rarities: np.ndarray) -> torch.Tensor:
    """One row a text: the rarities of its features' buckets, of length 1."""
    rows = [buckets_of(text, len(rarities)) for text in texts]
    places = torch.tensor([(row, bucket) for row, found in enumerate(rows) for bucket in found]).T
    values = [rarities[np.array(found, np.int64)].astype(np.float64) for found in rows]
    scaled = np.concatenate([one / max(float(np.linalg.norm(one)), 1e-9) for one in values])
    return torch.sparse_coo_tensor(
        places, torch.from_numpy(scaled), (len(texts), len(rarities)), check_invariants=True
    ).coalesce()


# ---- The training itself.

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


MINE = "mine"
PACE = 1.0  # share of the full learning rates
WARM_UP = 8  # steps
LONGEST = 0.9  # of the running average
CHOICE_TOKENS, CHOICE_ROWS, CHOICE_BODIES = 1200, 2, 14
VALUE_TOKENS, VALUE_ROWS = 288, 6
CHOICES = 0.45  # of the batches
NEW, NOBODYS = 0.6, 0.12  # goals of the user's skills; goals of choices that are for no offered skill
OFFERED = (16, 16, 16, 8, 5)  # candidates: as many as a compile shows, and fewer
STRANGERS = 1200
KNOWN_EVERY = 2  # of the goals that must not be forgotten
SURE = 0.5  # of a limit that the model sees in an example
Key = tuple[str, str]


@dataclass
class Course:
    """What is taught. skills: the user's; shelf: all that may be offered beside each other. marked: the
    lessons as utterances, with the limits that the model itself sees in them."""

    skills: Sequence[Skill]
    shelf: Skills
    lessons: Sequence[Lesson]
    marked: list[Utterance] = field(default_factory=list)


class Drawing:
    """Draws batches of new and of old goals. Everything random comes from one seed."""

    def __init__(self, course: Course, known: TokenVocabulary, seed: int) -> None:
        self.random, self.known, self.course = random.Random(seed), known, course
        self.forms: dict[Key, CorpusSkill] = {(MINE, one.id): _skill(one) for one in course.skills}
        self.said: dict[str, list[Utterance]] = defaultdict(list)  # by id, of the skills that can be offered
        self.nobodys: list[str] = []
        self.old: dict[Key, list[Utterance]] = defaultdict(list)
        goals = handwritten.load()
        for goal in goals:
            self.old[goal.skill].append(goal)
            if goal.skill == handwritten.NOBODY:
                self.nobodys.append(goal.text)
            elif (MINE, goal.skill[1]) not in self.forms and _takes(course.shelf, goal):
                self.said[goal.skill[1]].append(goal)
        self.old_skills = {key: one for key, one in handwritten.skills().items() if key in self.old}
        self.old_ids = sorted(self.said)
        for goal in course.marked:
            self.said[goal.skill[1]].append(goal)
        self.new_ids = sorted({goal.skill[1] for goal in course.marked})
        self.labelled = [
            goal
            for goal, lesson in zip(course.marked, course.lessons, strict=True)
            if lesson.values is not None and self.forms[MINE, goal.skill[1]].slots
        ]
        skills = [*self.forms.values(), *self.old_skills.values()]
        self.variation = Variation([*course.marked, *goals], skills, self.random)

    def batch(self) -> Batch:
        """The next one."""
        if self.random.random() < CHOICES or not (self.labelled or self.old_skills):
            rows = [self._choice() for _ in range(CHOICE_ROWS)]
            return collate(rows, CHOICE_TOKENS, self.known)
        return collate([self._values() for _ in range(VALUE_ROWS)], VALUE_TOKENS, self.known)

    def _choice(self) -> TrainingRow:
        """Goals for some of the skills that are installed, shown as a compile shows them."""
        r, shelf = self.random, self.course.shelf
        number = min(r.choice(OFFERED), len(shelf))
        first = [r.choice(self.new_ids)] if r.random() < NEW or not self.old_ids else [r.choice(self.old_ids)]
        near = r.sample(self.new_ids, min(len(self.new_ids), r.randint(0, 3)))
        others = r.sample(shelf.ids, len(shelf))
        ids = list(dict.fromkeys([*first, *near, *others]))[:number]
        r.shuffle(ids)
        examples = r.random() < 0.7
        offered = [_candidate(shelf.by_id[id], examples=examples) for id in ids]
        row = TrainingRow(tokens_of(form.choose_header(offered), self.known))
        while len(row.header) > CHOICE_TOKENS * 0.8 and len(ids) > 2:
            del ids[-1], offered[-1]
            row = TrainingRow(tokens_of(form.choose_header(offered), self.known))
        for _ in range(CHOICE_BODIES):
            text, answer, verb = self._goal(ids)
            body = choose_body(text, answer, verb, offered, self.known, self.variation)
            if row.fits(body, CHOICE_TOKENS):
                row.add(body)
        return row

    def _goal(self, ids: Sequence[str]) -> tuple[str, str, str]:
        """(text, answer, verb): a goal for one of the offered skills, or for none of them."""
        r = self.random
        if r.random() < NOBODYS or not any(self.said[id] for id in ids):
            strangers = [id for id in self.new_ids if id not in ids]
            if "general" in ids or not strangers or r.random() < 0.5:
                return r.choice(self.nobodys), "none", ""
            goal = r.choice(self.said[r.choice(strangers)])
            return goal.text, "none", goal.verb
        new = [id for id in ids if id in self.new_ids]
        old = [id for id in ids if id in self.old_ids]
        id = r.choice(new) if new and (not old or r.random() < NEW) else r.choice(old)
        goal = r.choice(self.said[id])
        varied = self.variation.written(goal) if id in self.old_ids else self._varied(goal)
        return varied.text, f"c{ids.index(id)}", varied.verb

    def _varied(self, goal: Utterance) -> Utterance:
        """A user's goal with other values; there are few, so that each is to be met in many places."""
        for _ in range(self.random.choice((1, 2, 4))):
            goal = self.variation.utterance(goal)
        return goal

    def _values(self) -> TrainingRow:
        """Goals of one skill whose values are marked."""
        r = self.random
        while True:
            new = bool(self.labelled) and r.random() < NEW
            key = r.choice(self.labelled).skill if new else self._old_key()
            variant = self._variant(key) if new else self.variation.shown(self._old_skill(key))
            row = TrainingRow(tokens_of(form.extract_header(variant.shown), self.known))
            mine = [goal for goal in self.labelled if goal.skill == key] if new else []
            for _ in range(12):
                goal = self._varied(r.choice(mine)) if new else self._old_goal(key)
                body = extract_body(goal, variant, self.known, self.variation)
                if body is not None and row.fits(body, VALUE_TOKENS):
                    row.add(body)
            if row.bodies:
                return row

    def _old_key(self) -> Key:
        r = self.random
        if r.random() < 0.2:
            return "own", r.choice(FAMILIES).name
        return r.choice(list(self.old_skills))

    def _old_skill(self, key: Key) -> CorpusSkill:
        if key in self.old_skills:
            return self.old_skills[key]
        return skill_of(next(f for f in FAMILIES if f.name == key[1]))

    def _old_goal(self, key: Key) -> Utterance:
        if key[1] == "general" and self.random.random() < 0.3:
            return general(self.random)
        if key in self.old:
            return self.variation.written(self.random.choice(self.old[key]))
        return utter(next(family for family in FAMILIES if family.name == key[1]), self.random)

    def _variant(self, key: Key) -> Variant:
        """A user's skill as it is, mostly; now and then in another order, or without hints."""
        skill = self.forms[key]
        if self.random.random() < 0.4:
            return self.variation.shown(skill)
        shown = ExtractForm(skill.name, skill.description, skill.slots[: form.MAX_SLOTS])
        return Variant(shown, tuple(f"slot.{slot.name}" for slot in shown.slots))


def _takes(shelf: Skills, goal: Utterance) -> bool:
    """Whether the skill that a goal was written for is here and has its verb (`general` once had all)."""
    skill = shelf.by_id.get(goal.skill[1])
    return skill is not None and goal.verb in (skill.verbs or form.VERBS)


def _skill(skill: Skill) -> CorpusSkill:
    slots = tuple(SlotForm(s.name, s.type, s.hint, s.options, s.required, s.most) for s in skill.slots)
    return CorpusSkill(MINE, skill.id, skill.description, slots, skill.verbs)


def _candidate(skill: Skill, *, examples: bool) -> Candidate:
    shown = skill.examples if examples else ()
    return Candidate(skill.id, skill.display, skill.description, skill.verbs, shown)


def _marks(values: Sequence[Value]) -> tuple[LabelMark, ...]:
    return tuple(LabelMark(f"slot.{one.slot}", one.text, one.start, one.end) for one in values)


def marked(course: Course, asker: Asker) -> list[Utterance]:
    """The lessons as utterances. Limits that the model sees in them count as marked, where no value
    stands."""
    forms = {one.id: _skill(one) for one in course.skills}
    prompts, cut = [], []
    for lesson in course.lessons:
        skill = forms[lesson.skill]
        shown = ExtractForm(skill.name, skill.description, skill.slots[: form.MAX_SLOTS])
        units = form.windows(form.words(lesson.prose))[0]
        cut.append((units, shown))
        prompts.append(form.extract_prompt(lesson.prose, units, shown))
    goals = []
    for lesson, (units, shown), answer in zip(course.lessons, cut, asker.answers(prompts), strict=True):
        marks = list(_marks(lesson.values or ()))
        for one in form.found(lesson.prose, units, shown, answer):
            free = all(m.start is None or one.end <= m.start or (m.end or 0) <= one.start for m in marks)  # type: ignore[operator]  # a limit is a span
            if one.field in form.FIELDS and one.probability >= SURE and free:
                marks.append(LabelMark(one.field, one.value, one.start, one.end))
        goals.append(Utterance(lesson.prose, (MINE, lesson.skill), tuple(marks), lesson.verb))
    return goals


def tune(
    base: Path,
    target: Path,
    *,
    skills: Sequence[Skill],
    shelf: Skills,
    lessons: Sequence[Lesson],
    steps: int,
    seed: int,
    threads: int,
    said: dict[str, str],
    folder: Path,
    progress: Callable[[], None],
) -> None:
    """Write `target`: the model at `base`, taught these lessons. The same arguments give the same bytes on
    the same kind of processor with the same torch.

    shelf: the skills that are offered beside each other. said: texts under keys of the file. folder: for what
    is needed meanwhile. progress: called after each step.
    """
    torch.manual_seed(seed)
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    found = unpack(base, folder)
    asker = Asker(folder)
    course = Course(skills, shelf, lessons)
    course = replace(course, marked=marked(course, asker))
    drawing = Drawing(course, asker.vocabulary, seed)
    learner = Learner(Network(found.shape), longest=LONGEST)
    learner.begin(found.weights)
    for step in range(steps):
        share = min(1.0, (step + 1) / WARM_UP) * (1 - step / steps)
        learner.update(learner.network, drawing.batch(), PACE * share)
        progress()
    strangers = drawing.nobodys + [goal.text for id in drawing.old_ids for goal in drawing.said[id]]
    drawing.random.shuffle(strangers)
    tail = teach(
        found.tail,
        [(one.prose, one.skill) for one in lessons],
        {one.id: one.description for one in skills},
        strangers[:STRANGERS],
    )
    rewrite(base, target, tensors(learner.average, found.shape), said=said, tail=tail)


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
