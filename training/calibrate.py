"""One temperature for all answers, fitted on development utterances, folded into the last norm at export."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path

from mcl.model import form
from mcl.model.protocol import ExtractForm
from training import corpora
from training.asking import Asker
from training.corpora import Utterance
from training.evaluate import candidate
from training.sampling import tags_of
from training.variation import Variant

TEMPERATURES = tuple(0.5 + 0.05 * i for i in range(23))
Row = tuple[Sequence[float], int]  # probabilities, index of the right answer


def _rows(asker: Asker, data: Path, number: int, seed: int) -> list[Row]:
    """Choices among 8 skills of a set and tags under the skill's form, with the right answers."""
    corpus, r = corpora.load(data), random.Random(seed)
    sample: list[Utterance] = r.sample([u for u in corpus.dev if u.opens and u.skill[1] != "oos"], number)
    prompts: list[form.Prompt] = []
    right: list[list[int]] = []
    for u in sample:
        others = [k for k in corpus.skills if k[0] == u.skill[0] and k != u.skill and k[1] != "oos"]
        keys = r.sample(others, min(7, len(others)))
        if r.random() < 0.8 or not others:
            keys.insert(r.randint(0, len(keys)), u.skill)
        prompts.append(form.choose_prompt(u.text, [candidate(corpus.skills[k]) for k in keys]))
        verb = form.VERBS.index(u.verb) if u.verb else -1
        right.append([keys.index(u.skill) + 1 if u.skill in keys else 0, verb])
        skill = corpus.skills[u.skill]
        shown = Variant(_extract_form(skill), tuple(f"slot.{slot.name}" for slot in skill.slots))
        units = form.windows(form.words(u.text))[0]
        told = tags_of(u, units, shown) if skill.slots else None
        if told is not None:
            prompt = form.extract_prompt(u.text, units, shown.shown)
            prompts.append(prompt)
            asked = [i for i, slot in enumerate(shown.shown.slots) if slot.options]
            answers = [*told[0], *(told[1].get(i, "none") for i in asked)]
            right.append([read.names.index(a) for read, a in zip(prompt.reads, answers, strict=True)])
    return [
        (row, index)
        for rows, indexes in zip(asker.answers(prompts), right, strict=True)
        for row, index in zip(rows, indexes, strict=True)
        if index >= 0
    ]


def _extract_form(skill: corpora.Skill) -> ExtractForm:
    return ExtractForm(skill.name, skill.description, skill.slots, "", "")


def loss(rows: Sequence[Row], temperature: float) -> float:
    """Mean negative log-likelihood of the right answers when all scores are divided by `temperature`."""
    total = 0.0
    for row, index in rows:
        scaled = [max(p, 1e-12) ** (1 / temperature) for p in row]
        total -= math.log(max(scaled[index] / sum(scaled), 1e-12))
    return total / len(rows)


def fit(asker: Asker, data: Path, number: int = 600, seed: int = 11) -> float:
    """The temperature with the least loss; the network's last norm is divided by it."""
    rows = _rows(asker, data, number, seed)
    best = min(TEMPERATURES, key=lambda t: loss(rows, t))
    asker.network.norm.data.div_(best)
    return best
