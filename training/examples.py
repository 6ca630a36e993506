"""What the encoder learns from: goals of all sources in one shape, and the skills they are for."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mcl.model import form
from mcl.model.protocol import SlotForm
from mcl.plugins.train.tuner import handwritten
from mcl.plugins.train.tuner.generator.goals import general
from mcl.plugins.train.tuner.generator.skills import FAMILIES, skill_of, utter
from mcl.plugins.train.tuner.utterances import CorpusSkill, LabelMark, Utterance
from training import corpora, written

NONE, GENERAL = "", "general"
"""Skills of what is no goal for anything here, and of a goal that no skill takes."""
_AGAIN = re.compile(r"(?i)(every|each|daily|weekly|monthly|hourly|yearly|once a|twice a|once per)\b")

SkillKey = tuple[str, str]
"""Source and name."""


@dataclass(frozen=True, slots=True)
class SkillCard:
    """A skill as it may show itself: ways to describe it, slots, verbs, those it is taken for."""

    key: SkillKey
    descriptions: tuple[str, ...]
    slots: tuple[SlotForm, ...] = ()
    verbs: tuple[str, ...] = ()
    near: tuple[SkillKey, ...] = ()


@dataclass(frozen=True, slots=True)
class WishExample:
    """One wish of a goal: skill (source and name; name NONE or GENERAL), verb, units [first, last), marks."""

    skill: SkillKey
    verb: str
    first: int
    last: int
    marks: tuple[LabelMark, ...]


@dataclass(frozen=True, slots=True)
class GoalExample:
    """A goal in units, what it wants, and what kind of saying it is (one of heads.KINDS, "" unknown).

    constraints: whether its limits are marked, too; opens: whether it states what is wanted by itself;
    change: what a correction does (one of heads.CHANGES), "" what is none.
    """

    text: str
    units: tuple[form.Unit, ...]
    wishes: tuple[WishExample, ...]
    kind: str
    constraints: bool
    opens: bool = True
    language: str = "en"
    change: str = ""


@dataclass
class TrainingExamples:
    """Goals by source, skills by key, and the shelf of each source."""

    skills: dict[SkillKey, SkillCard] = field(default_factory=dict)
    goals: dict[str, list[GoalExample]] = field(default_factory=lambda: defaultdict(list))
    dev: dict[str, list[GoalExample]] = field(default_factory=dict)

    def by_skill(self, source: str) -> dict[SkillKey, list[GoalExample]]:
        """Goals of a source by the skill of their first wish."""
        found: dict[SkillKey, list[GoalExample]] = defaultdict(list)
        for goal in self.goals[source]:
            found[goal.wishes[0].skill].append(goal)
        return found


def load(data: Path, seed: int = 7) -> TrainingExamples:
    """All sources: public corpora, the first hand, many hands, the generator."""
    examples = TrainingExamples()
    _public(examples, data)
    _shelf(examples)
    _first_hand(examples)
    for one in written.writers(parts=("train",)):
        examples.goals[f"{one.part}/{one.name}"] = _many_hands(examples, (one,))
    _generated(examples, random.Random(seed))
    return examples


def of_writer(
    examples: TrainingExamples, writer: written.GoalWriter
) -> tuple[list[GoalExample], list[SkillKey]]:
    """Goals of one writer and its own skills, which join `examples.skills`."""
    return _many_hands(examples, (writer,)), [
        (f"{writer.part}/{writer.name}", name) for name in writer.skills
    ]


def _public(examples: TrainingExamples, data: Path) -> None:
    corpus = corpora.load(data)
    for key, skill in corpus.skills.items():
        examples.skills[key] = SkillCard(key, (skill.description,), skill.slots, skill.verbs)
    for one in corpus.train:
        examples.goals[one.skill[0]].append(_of_public(one))
    examples.dev |= {name: [_of_public(u) for u in rows] for name, rows in corpora.dev_sets(corpus).items()}
    for text in corpora.open_texts(data):
        examples.goals["open"].append(_goal(text, ("open", GENERAL), "", (), kind="", constraints=False))


def _of_public(one: Utterance) -> GoalExample:
    skill = one.skill if one.skill[1] != "oos" else (one.skill[0], NONE)
    return _goal(one.text, skill, one.verb, one.marks, kind="", constraints=False, opens=one.opens)


def _shelf(examples: TrainingExamples) -> None:
    for name, told in written.shelf().items():
        others = handwritten.descriptions().get(name, ())
        examples.skills["shelf", name] = _card(("shelf", name), told.skill, (*told.also, *others))


def _card(key: SkillKey, skill: CorpusSkill, also: Sequence[str], near: Sequence[SkillKey] = ()) -> SkillCard:
    descriptions = tuple(dict.fromkeys((skill.description, *also)))
    return SkillCard(key, descriptions, skill.slots, skill.verbs, tuple(near))


def _first_hand(examples: TrainingExamples) -> None:
    for one in handwritten.load():
        name = one.skill[1]
        skill = ("shelf", NONE if one.skill == handwritten.NOBODY else name)
        marks = tuple(
            LabelMark("recurrence", m.value, m.start, m.end)
            if m.field == "rule" and _AGAIN.match(m.value)
            else m
            for m in one.marks
        )
        kind = "" if name == "none" else "goal"
        examples.goals["first"].append(_goal(one.text, skill, one.verb, marks, kind=kind, constraints=True))


def _many_hands(examples: TrainingExamples, writers: Iterable[written.GoalWriter]) -> list[GoalExample]:
    found: list[GoalExample] = []
    for writer in writers:
        source = f"{writer.part}/{writer.name}"

        def key(name: str, writer: written.GoalWriter = writer, source: str = source) -> SkillKey:
            return (source if name in writer.skills else "shelf", name)

        for name, told in writer.skills.items():
            near = tuple(key(other) for other in told.near if other != name)
            examples.skills[source, name] = _card((source, name), told.skill, told.also, near)
        for goal in writer.goals:
            if goal.before:
                found.append(_by_hand(goal.before, source, key))
            found.append(_by_hand(goal, source, key))
    return found


def _by_hand(goal: written.WrittenGoal, source: str, key: Callable[[str], SkillKey]) -> GoalExample:
    units = tuple(form.words(goal.text))
    starts = [next(i for i, u in enumerate(units) if u.start >= wish.start) for wish in goal.wishes]
    ends = [*starts[1:], len(units)] if starts else []
    wishes = tuple(
        WishExample(key(wish.skill), wish.verb, first, last, wish.marks)
        for wish, first, last in zip(goal.wishes, starts, ends, strict=True)
    )
    kind = goal.kind
    if not wishes or goal.change == "new":  # another goal than the last, of a skill that nobody wrote down
        wishes = (WishExample((source, NONE), "", 0, len(units), ()),)
        kind = "goal" if goal.change else kind
    return GoalExample(
        goal.text,
        units,
        wishes,
        kind,
        True,
        opens=not goal.change,
        language=goal.language,
        change=goal.change,
    )


def _generated(examples: TrainingExamples, r: random.Random, count: int = 6000) -> None:
    for family in FAMILIES:
        skill = skill_of(family)
        examples.skills["own", skill.name] = _card(("own", skill.name), skill, family.descriptions)
    for _ in range(count):
        one = utter(r.choice(FAMILIES), r) if r.random() < 0.7 else general(r)
        examples.goals["own"].append(
            _goal(one.text, one.skill, one.verb, one.marks, kind="goal", constraints=True)
        )


def _goal(
    text: str, skill: SkillKey, verb: str, marks: Sequence[LabelMark], *, kind: str, constraints: bool,
    opens: bool = True,
) -> GoalExample:  # fmt: skip
    units = tuple(form.words(text))
    wish = WishExample(skill, verb, 0, len(units), tuple(marks))
    return GoalExample(text, units, (wish,), kind, constraints, opens)
