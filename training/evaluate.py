"""Figures of the network alone on development goals: what it chooses, what it marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from mcl.model import form
from mcl.model.form import FIELDS
from mcl.model.heads import CHANGES, KINDS
from mcl.model.text_vectors import skill_text
from training.batches import MarkingBatch, Sampler, tag_targets
from training.examples import (
    GENERAL,
    NONE,
    GoalExample,
    SkillKey,
    TrainingExamples,
    WishExample,
)
from training.network import EncoderNetwork, SkillTexts, mean, nearest_word, within
from training.pieces import Pieces

BATCH = 50


def evaluate(
    network: EncoderNetwork, examples: TrainingExamples, pieces: Pieces, limit: int
) -> dict[str, float]:
    """Percentages by set: skill, refused, F1 of values."""
    network.eval()
    figures: dict[str, float] = {}
    with torch.no_grad():
        for name, goals in examples.dev.items():
            source = name.split()[0]
            opening = [goal for goal in goals if goal.opens][:limit]
            keys = sorted({key for key in examples.skills if key[0] == source})
            if source == "sgd":
                keys = sorted({goal.wishes[0].skill for goal in opening} & set(keys))
            if source != "restaurant8k":
                told = {key: examples.skills[key].descriptions[0] for key in keys}
                figures |= _chosen(network, name, opening, told, pieces)
            with_slots = [g for g in goals if g.wishes[0].skill in examples.skills][:limit]
            with_slots = [g for g in with_slots if examples.skills[g.wishes[0].skill].slots]
            if with_slots:
                figures["F1 " + name] = _marked(
                    network, examples, pieces, [(g, g.wishes[0]) for g in with_slots]
                )
    network.train()
    return figures


def _chosen(
    network: EncoderNetwork, name: str, goals: Sequence[GoalExample], told: Mapping[SkillKey, str],
    pieces: Pieces,
) -> dict[str, float]:  # fmt: skip
    keys = list(told)
    shown = SkillTexts()
    for key in keys:
        shown.add(pieces.of_text(skill_text(key[1], told[key])))
    skills = network.texts(shown.pieces)
    right = inside = refused = outside = lost = 0
    for at in range(0, len(goals), BATCH):
        part = goals[at : at + BATCH]
        vectors = network.texts([pieces.of_units(form.spaced(g.units))[0] for g in part])
        for goal, best in zip(part, network.choices(vectors, shown, skills).argmax(1).tolist(), strict=True):
            wanted = goal.wishes[0].skill
            if wanted[1] == NONE:
                outside, refused = outside + 1, refused + (best == 0)
            else:
                inside += 1
                right += best > 0 and keys[best - 1] == wanted
                lost += best == 0
    figures = {"skill " + name: _percent(right, inside)}
    if outside:
        figures |= {"refused " + name: _percent(refused, outside), "lost " + name: _percent(lost, inside)}
    return figures


def _percent(part: int, whole: int) -> float:
    return round(100 * part / max(1, whole), 1)


def _marked(
    network: EncoderNetwork, examples: TrainingExamples, pieces: Pieces,
    wishes: Sequence[tuple[GoalExample, WishExample]],
) -> float:  # fmt: skip
    found_all = wanted_all = both = 0
    sampler = Sampler(examples, pieces, 1)
    for at in range(0, len(wishes), BATCH):
        for goal, wish in wishes[at : at + BATCH]:
            batch = sampler.marked([(goal, wish)], vary=False)
            if not batch.goals:
                continue
            found = values(network, batch, goal, wish, sampler)
            wanted = {(m.field, m.value.lower()) for m in wish.marks}
            found_all, wanted_all, both = (
                found_all + len(found),
                wanted_all + len(wanted),
                both + len(found & wanted),
            )
    return round(200 * both / max(1, found_all + wanted_all), 1)


def values(
    network: EncoderNetwork, batch: MarkingBatch, goal: GoalExample, wish: WishExample, sampler: Sampler
) -> set[tuple[str, str]]:
    """(field, value in lower case) of one wish."""
    _, slots = sampler._form(wish.skill, vary=False)
    vectors, _ = network.encode(batch.goals)
    count = len(goal.units)
    plain, there = within(vectors, batch.places, count), torch.ones(1, count, dtype=torch.bool)
    table = network.texts(batch.texts) if batch.texts else torch.zeros(1, vectors.shape[-1])
    words, items = network.joined(plain, there, batch.items, table)
    scores = network.tags(words, items)
    _, legal = tag_targets(batch, count, items.shape[1])
    scores = scores.masked_fill(~legal[:, None], -1e4)[0]
    found: set[tuple[str, str]] = set()
    names = [f"slot.{slot.name}" for slot in slots]
    current: tuple[str, int, int] | None = None
    spans = []
    for i in range(wish.first, wish.last):
        row = scores[i].clone()
        if current is None:
            row[1] = -1e9
        best = int(row.argmax())
        if best == 1 and current:
            current = current[0], current[1], i
            continue
        if current:
            spans.append(current)
        current = None
        if best > 1:
            item = best - 2
            at = item - (items.shape[1] - len(FIELDS))
            current = (FIELDS[at] if at >= 0 else names[item], i, i)
    if current:
        spans.append(current)
    for field, first, last in spans:
        found.add((field, goal.text[goal.units[first].start : goal.units[last].end].lower()))
    for _, slot, places, _ in batch.options:
        named = nearest_word(plain, there, table[torch.tensor([[batch.items[0].rows[at] for at in places]])])
        best = int(network.options(items[:1, slot], items[:1, places], named).argmax())
        if best:
            found.add((names[slot], slots[slot].options[best - 1].lower()))
    return found


def evaluate_hands(
    network: EncoderNetwork, examples: TrainingExamples, pieces: Pieces, goals: Sequence[GoalExample],
    own: Sequence[SkillKey],
) -> dict[str, float]:  # fmt: skip
    """Figures on goals by hand: skill, verb, values and constraints, kinds, where wishes begin."""
    network.eval()
    keys = [*own, *(key for key in examples.skills if key[0] == "shelf")]
    skill = verb = kind = wishes = marks = whole = count = limits_found = limits_wanted = limits_both = 0
    found_all = wanted_all = both = starts = change = changes = 0
    sampler = Sampler(examples, pieces, 1)
    with torch.no_grad():
        shown = SkillTexts()
        for key in keys:
            shown.add(pieces.of_text(skill_text(key[1], examples.skills[key].descriptions[0])))
        cards = network.texts(shown.pieces)
        for goal in goals:
            ids, places = pieces.of_units(form.spaced(goal.units))
            vectors, mask = network.encode([ids])
            kind += KINDS[int(network.heads.kind(mean(vectors, mask)).argmax())] == goal.kind
            words = within(vectors, [places], len(goal.units))
            begins = {i for i, b in enumerate(network.heads.wish(words)[0].argmax(-1).tolist()) if b}
            if goal.change:
                change += CHANGES[int(network.heads.change(mean(vectors, mask)).argmax())] == goal.change
                changes += 1
                continue
            starts += begins == {wish.first for wish in goal.wishes[1:]}
            for wish in goal.wishes:
                count += 1
                part = torch.tensor([[p < 0 or wish.first <= p < wish.last for p in places]])
                vector = mean(vectors, part)
                best = int(network.choices(vector, shown, cards).argmax())
                wanted = wish.skill if wish.skill[1] not in (NONE, GENERAL) else None
                right = (keys[best - 1] if best else None) == wanted
                skill += right
                said = form.VERBS[int(network.heads.verb(vector).argmax())] == wish.verb or not wish.verb
                verb += said
                if goal.kind != "goal":
                    continue
                batch = sampler.marked([(goal, wish)], vary=False)
                if not batch.goals:
                    continue
                found = values(network, batch, goal, wish, sampler)
                want = {(m.field, m.value.lower()) for m in wish.marks}
                found_all, wanted_all, both = (
                    found_all + len(found),
                    wanted_all + len(want),
                    both + len(found & want),
                )
                lf, lw = ({x for x in s if not x[0].startswith("slot.")} for s in (found, want))
                limits_found, limits_wanted, limits_both = (
                    limits_found + len(lf),
                    limits_wanted + len(lw),
                    limits_both + len(lf & lw),
                )
                marks += found == want
                whole += found == want and right and said
                wishes += 1
    network.train()
    return {
        "goals": len(goals), "skill": _percent(skill, count), "verb": _percent(verb, count),
        "kind": _percent(kind, len(goals)), "change": _percent(change, changes),
        "where wishes begin": _percent(starts, len(goals) - changes),
        "F1 values": round(200 * both / max(1, found_all + wanted_all), 1),
        "F1 constraints": round(200 * limits_both / max(1, limits_found + limits_wanted), 1),
        "values exact": _percent(marks, wishes), "all right": _percent(whole, wishes),
    }  # fmt: skip
