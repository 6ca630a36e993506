"""Batches: goals with skills to choose among, and goals of one skill each with values to mark."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from mcl.model import form
from mcl.model.form import FIELDS
from mcl.model.heads import CHANGES, KINDS, OPTION, SLOT
from mcl.model.protocol import SlotForm
from mcl.model.text_vectors import option_text, skill_text, slot_text
from mcl.plugins.train.tuner.generator.skills import GENERAL as GENERAL_SKILL
from training.examples import (
    GENERAL,
    NONE,
    GoalExample,
    SkillCard,
    SkillKey,
    TrainingExamples,
    WishExample,
)
from training.network import MarkItems, SkillTexts
from training.pieces import Pieces

UNKNOWN = -100
"""A label that is not known: nothing is learned from it."""
CHOOSING = {"clinc": 2.0, "hwu64": 1.5, "banking77": 1.5, "snips": 0.5, "sgd": 3.0, "own": 0.5, "hands": 16.0}
MARKING = {
    "snips": 2.0,
    "hwu64": 1.5,
    "restaurant8k": 1.0,
    "sgd": 3.0,
    "own": 0.5,
    "first": 1.5,
    "hands": 13.0,
}
GOALS = 40
SHOWING_EXAMPLES, MOST_EXAMPLES = 0.25, 5
"""Share of the skills that show goals of theirs, and how many at most."""
NO_SLOTS = SkillCard(("any", NONE), ("",))


@dataclass
class ChoosingBatch:
    """Goals (pieces, the pieces that count for each wish), texts of the candidates, and what is right.

    right: index into candidates + 1, 0 none of them, UNKNOWN; verbs, kinds, changes: likewise; begins: of
    each unit.
    """

    goals: list[list[int]] = field(default_factory=list)
    places: list[list[int]] = field(default_factory=list)
    wishes: list[tuple[int, int, int]] = field(default_factory=list)  # goal, first unit, last unit
    candidates: SkillTexts = field(default_factory=SkillTexts)
    right: list[int] = field(default_factory=list)
    verbs: list[int] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    changes: list[int] = field(default_factory=list)
    begins: list[list[int]] = field(default_factory=list)


@dataclass
class MarkingBatch:
    """Wishes (goal's pieces, units [first, last)), what they are compared with, the tags and options.

    allowed: of each wish which items take words; tags: of each unit 0 none, 1 goes on, 2 + item; options:
    of each slot with options (wish, item of the slot, items of its options, right one + 1, 0 not said).
    """

    goals: list[list[int]] = field(default_factory=list)
    places: list[list[int]] = field(default_factory=list)
    items: list[MarkItems] = field(default_factory=list)
    texts: list[list[int]] = field(default_factory=list)
    tags: list[list[int]] = field(default_factory=list)
    allowed: list[list[int]] = field(default_factory=list)
    constraints: list[bool] = field(default_factory=list)
    options: list[tuple[int, int, list[int], int]] = field(default_factory=list)


class Sampler:
    """Draws batches. Everything random comes from one seed."""

    def __init__(self, examples: TrainingExamples, pieces: Pieces, seed: int, noise: float = 0.12) -> None:
        self.examples, self.pieces, self.random, self.noise = examples, pieces, random.Random(seed), noise
        self.hands = [name for name in examples.goals if "/" in name]
        self.by_skill = {name: examples.by_skill(name) for name in examples.goals if "/" not in name}
        self.singles = {
            name: {
                key: [g for g in pool if len(g.wishes) == 1 and g.opens and not g.change]
                for key, pool in examples.by_skill(name).items()
            }
            for name in examples.goals
        }
        self.wishes: dict[str, dict[SkillKey, list[tuple[GoalExample, WishExample]]]] = {}
        for name, goals in examples.goals.items():
            found: dict[SkillKey, list[tuple[GoalExample, WishExample]]] = defaultdict(list)
            for goal in goals:
                for wish in goal.wishes:
                    found[wish.skill].append((goal, wish))
            self.wishes[name] = found
        self.shelf = [key for key in examples.skills if key[0] == "shelf"]
        self.twins: dict[str, list[SkillKey]] = defaultdict(list)
        for key in examples.skills:
            if key[0] == "sgd":
                self.twins[key[1].rsplit(".", 1)[-1]].append(key)

    # ---- choosing

    def choosing(self) -> ChoosingBatch:
        """The next batch of choices."""
        r, weights = self.random, dict(CHOOSING)
        if not self.hands:
            del weights["hands"]
        source = r.choices(list(weights), list(weights.values()))[0]
        return self._of_hands() if source == "hands" else self._of_public(source)

    def _of_public(self, source: str) -> ChoosingBatch:
        r, pools = self.random, self.by_skill[source]
        keys = [key for key in pools if key in self.examples.skills]
        extra = 30
        if source == "sgd":  # the same skill of several services: one of them, so that no two are right
            keys = [
                r.choice([key for key in twins if key in pools] or [("", "")])
                for twins in self.twins.values()
            ]
            keys = [key for key in keys if key in pools]
            keys, extra = r.sample(keys, min(16, len(keys))), 0
        goals = []
        for _ in range(GOALS):
            pool = pools[r.choice(keys)]
            one = r.choice(pool)
            for _ in range(8):
                if one.opens:
                    break
                one = r.choice(pool)
            goals.append(one)
        used = list(dict.fromkeys(goal.wishes[0].skill for goal in goals))
        shown = used + [key for key in r.sample(keys, min(len(keys), extra)) if key not in used]
        if (source, NONE) in pools:
            goals += r.sample(pools[source, NONE], 4)
        if source not in ("own",) and r.random() < 0.25:
            strange = r.choice([s for s in ("own", "banking77", "snips") if s != source])
            goals += [r.choice(r.choice(list(self.by_skill[strange].values()))) for _ in range(3)]
        return self._choice(goals, shown)

    def _of_hands(self) -> ChoosingBatch:
        r = self.random
        writers = r.sample(self.hands, min(2, len(self.hands)))
        goals = [r.choice(self.examples.goals[name]) for name in writers for _ in range(GOALS // 2 - 4)]
        goals += r.sample(self.examples.goals["first"], 8)
        own = [key for name in writers for key in self.examples.skills if key[0] == name]
        shown = [*r.sample(own, min(len(own), 16)), *r.sample(self.shelf, 16)]
        used = [wish.skill for goal in goals for wish in goal.wishes if wish.skill in self.examples.skills]
        near = [other for key in used for other in self.examples.skills[key].near]
        return self._choice(goals, list(dict.fromkeys((*used, *near, *shown))))

    def _choice(self, goals: Sequence[GoalExample], shown: list[SkillKey]) -> ChoosingBatch:
        r, batch = self.random, ChoosingBatch()
        r.shuffle(shown)
        if r.random() < 0.5:
            gone = set(r.sample(shown, max(1, len(shown) // 12)))
            shown = [key for key in shown if key not in gone]
        known = [key for key in shown if key in self.examples.skills]
        place = {key: i + 1 for i, key in enumerate(known)}
        for key in known:
            card = self.examples.skills[key]
            batch.candidates.add(
                self.pieces.of_text(skill_text(key[1], r.choice(card.descriptions))),
                self._examples(key, goals),
            )
        for goal in goals:
            at = len(batch.goals)
            ids, places = self.pieces.of_units(self._noisy(goal))
            batch.goals.append(ids)
            batch.places.append(places)
            starts = {wish.first for wish in goal.wishes[1:]}
            batch.begins.append(
                [int(i in starts) for i in range(len(goal.units))]
                if goal.kind and not goal.change
                else [UNKNOWN] * len(goal.units)
            )
            batch.kinds.append(KINDS.index(goal.kind) if goal.kind else UNKNOWN)
            batch.changes.append(CHANGES.index(goal.change) if goal.change else UNKNOWN)
            for wish in goal.wishes:
                batch.wishes.append((at, wish.first, wish.last))
                batch.right.append(UNKNOWN if goal.change else place.get(wish.skill, 0))
                batch.verbs.append(form.VERBS.index(wish.verb) if wish.verb else UNKNOWN)
        return batch

    def _examples(self, key: SkillKey, but: Sequence[GoalExample]) -> list[list[int]]:
        """Goals of a skill that it may show beside its description, none of those asked about."""
        r = self.random
        if r.random() >= SHOWING_EXAMPLES:
            return []
        pool = [goal for name in self._sources(key) for goal in self.singles[name].get(key, ())]
        asked = {goal.text for goal in but}
        few = r.sample(pool, min(len(pool), r.randint(1, MOST_EXAMPLES)))
        return [self.pieces.of_text(goal.text) for goal in few if goal.text not in asked]

    def _sources(self, key: SkillKey) -> list[str]:
        if key[0] == "shelf":
            return [*self.random.sample(self.hands, min(3, len(self.hands))), "first"]
        return [key[0]] if key[0] in self.singles else []

    def _noisy(self, goal: GoalExample) -> list[str]:
        """Units of a goal, now and then with a slip of the keyboard."""
        r, units = self.random, form.spaced(goal.units)
        if r.random() > self.noise:
            return units
        for _ in range(r.randint(1, 2)):
            i = r.randrange(len(units))
            word = units[i].lstrip(" ")
            if len(word) > 3 and word.isalpha():
                j = r.randrange(1, len(word) - 1)
                slips = (
                    word[:j] + word[j + 1 :],
                    word[:j] + word[j + 1] + word[j] + word[j + 2 :],
                    word[:j] + word[j] + word[j:],
                )
                units[i] = units[i].replace(word, r.choice(slips))
        return units

    # ---- marking

    def marking(self) -> MarkingBatch:
        """The next batch of goals with values."""
        r, weights = self.random, dict(MARKING)
        if not self.hands:
            del weights["hands"]
        source = r.choices(list(weights), list(weights.values()))[0]
        wishes: list[tuple[GoalExample, WishExample]] = []
        names = r.sample(self.hands, min(2, len(self.hands))) if source == "hands" else [source]
        for name in names:
            pools = self.wishes[name]
            keys = [
                key
                for key in pools
                if key[1] == GENERAL or (key in self.examples.skills and self.examples.skills[key].slots)
            ]
            few = r.choices(
                keys,
                [len(pools[key]) ** 0.6 for key in keys],
                k=1 if name == "restaurant8k" else 7 if "/" in name else 6,
            )
            for key in dict.fromkeys(few):
                wishes += r.choices(pools[key], k=max(1, GOALS // len(names) // len(set(few))))
        return self.marked(wishes, vary=True)

    def marked(self, wishes: Sequence[tuple[GoalExample, WishExample]], vary: bool) -> MarkingBatch:
        """Wishes as a batch. vary: slips of the keyboard, slots in any order, other words for them."""
        batch = MarkingBatch()
        rows: dict[str, int] = {}
        forms: dict[SkillKey, tuple[str, tuple[SlotForm, ...]]] = {}
        for goal, wish in wishes:
            name, slots = forms.get(wish.skill) or self._form(wish.skill, vary)
            forms[wish.skill] = name, slots
            items, allowed, at = MarkItems([], [], []), [], {}
            for slot in slots:
                at[f"slot.{slot.name}"] = len(items.rows)
                allowed.append(len(items.rows)) if not slot.options else None
                items.rows.append(rows.setdefault(slot_text(name, slot), len(rows)))
                items.kinds.append(SLOT)
                items.of.append(-1)
            asked = []
            for slot in slots:
                if not slot.options:
                    continue
                places = []
                for option in slot.options:
                    places.append(len(items.rows))
                    items.rows.append(rows.setdefault(option_text(slot, option), len(rows)))
                    items.kinds.append(OPTION)
                    items.of.append(at[f"slot.{slot.name}"])
                said = {m.value.lower() for m in wish.marks if m.field == f"slot.{slot.name}"}
                right = next((i + 1 for i, option in enumerate(slot.options) if option.lower() in said), 0)
                asked.append((len(batch.goals), at[f"slot.{slot.name}"], places, right))
            tags = self._tags(goal, wish, at, set(allowed))
            if tags is None:
                continue
            ids, places_ = self.pieces.of_units(self._noisy(goal) if vary else form.spaced(goal.units))
            batch.goals.append(ids)
            batch.places.append(places_)
            batch.items.append(items)
            batch.tags.append(tags)
            batch.allowed.append(allowed)
            batch.constraints.append(goal.constraints)
            batch.options += asked
        batch.texts = [self.pieces.of_text(text) for text in rows]
        return batch

    def _form(self, key: SkillKey, vary: bool) -> tuple[str, tuple[SlotForm, ...]]:
        if key[1] == GENERAL:
            return GENERAL, GENERAL_SKILL.slots
        card = self.examples.skills.get(key, NO_SLOTS)
        slots = list(card.slots)
        if vary:
            r = self.random
            r.shuffle(slots)
            slots = [s for s in slots if len(slots) < 3 or r.random() > 0.06]
        return key[1], tuple(slots)

    def _tags(
        self, goal: GoalExample, wish: WishExample, at: dict[str, int], allowed: set[int]
    ) -> list[int] | None:
        tags = [UNKNOWN] * len(goal.units)
        tags[wish.first : wish.last] = [0] * (wish.last - wish.first)
        for mark in wish.marks:
            if mark.start is None or mark.end is None:
                continue
            if mark.field in FIELDS:
                item = -1 - FIELDS.index(mark.field)  # counted from the end: the fields come last
            elif at.get(mark.field) in allowed:
                item = at[mark.field]
            else:
                continue
            inside = [i for i, u in enumerate(goal.units) if u.start >= mark.start and u.end <= mark.end]
            if not inside:
                return None
            for i in inside:
                tags[i] = 1
            tags[inside[0]] = 2 + item if item >= 0 else item - 1000
        return tags


def tag_targets(batch: MarkingBatch, width: int, items: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Targets [B, width] and what may be answered [B, 2 + items]; items: padded, then len(FIELDS) fields."""
    target = torch.full((len(batch.goals), width), UNKNOWN)
    legal = torch.zeros(len(batch.goals), 2 + items, dtype=torch.bool)
    legal[:, :2] = True
    for i, tags in enumerate(batch.tags):
        row = [2 + items - len(FIELDS) + (-(tag + 1000) - 1) if tag <= -900 else tag for tag in tags]
        target[i, : len(row)] = torch.tensor(row[:width])
        legal[i, [2 + place for place in batch.allowed[i]]] = True
        if batch.constraints[i]:
            legal[i, 2 + items - len(FIELDS) :] = True
    return target, legal
