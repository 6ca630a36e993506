"""A temperature for each kind of answer, fitted on development goals and written into the GGUF at export.

Three groups count alike, whatever their size: public utterances for skills that were trained on, for skills
that were not, and our own goals. A model is too sure of what it never saw; one group alone would hide that.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from mcl.model import form
from mcl.model.protocol import Candidate, ExtractForm
from mcl.plugins.train.tuner import development
from mcl.plugins.train.tuner.network import Asker
from mcl.plugins.train.tuner.rows import tags_of
from mcl.plugins.train.tuner.utterances import CorpusSkill, Utterance
from mcl.plugins.train.tuner.variation import Variant
from training import corpora
from training.corpora import Corpus
from training.evaluate import OUT_OF_SCOPE, candidate, extract_form
from training.stock import alike

TEMPERATURES = tuple(0.5 + 0.05 * i for i in range(31))
NUMBER = 300  # goals of a group
OTHERS = 12  # skills beside the right one
MISSING = 0.2  # how often the right skill is not offered
Row = tuple[Sequence[float], int]  # probabilities, index of the right answer
Rows = Mapping[str, Sequence[Row]]  # by kind of answer
Question = tuple[form.Prompt, list[int]]  # with the right answers, -1 where it is not known


def groups(asker: Asker, data: Path, seed: int) -> list[Rows]:
    """What the network says, as it is, beside the right answers: of the three groups."""
    corpus, r = corpora.load(data), random.Random(seed)
    trained = {u.skill for u in corpus.train}
    usable = [u for u in corpus.dev if u.opens and u.skill[1] != OUT_OF_SCOPE]
    asker.temperatures = {}
    found = []
    for seen in (True, False):
        part = [u for u in usable if (u.skill in trained) is seen]
        some = r.sample(part, min(NUMBER, len(part)))
        found.append(_answered(asker, [q for u in some for q in _public(u, corpus, r)]))
    return [*found, _answered(asker, _own())]


def _answered(asker: Asker, questions: Sequence[Question]) -> Rows:
    rows: dict[str, list[Row]] = defaultdict(list)
    answers = asker.answers([prompt for prompt, _ in questions])
    for (prompt, right), given in zip(questions, answers, strict=True):
        for read, index, row in zip(prompt.reads, right, given, strict=True):
            if index >= 0:
                rows[form.kind_of(read)].append((row, index))
    return rows


def _public(u: Utterance, corpus: Corpus, r: random.Random) -> list[Question]:
    """A choice among skills of the same set, none of them as good as the right one, and an extraction."""
    others = [
        k
        for k in corpus.skills
        if k[0] == u.skill[0] and k != u.skill and k[1] != OUT_OF_SCOPE and not alike(k, u.skill)
    ]
    keys = r.sample(others, min(OTHERS, len(others)))
    if r.random() >= MISSING or not others:
        keys.insert(r.randint(0, len(keys)), u.skill)
    shown = [candidate(corpus.skills[key]) for key in keys]
    pick = keys.index(u.skill) + 1 if u.skill in keys else 0
    choice = form.choose_prompt(u.text, shown), [pick, _verb(u)]
    return [choice, *_extraction(u, corpus.skills[u.skill])]


def _own() -> list[Question]:
    """Our own goals: a choice among the shipped skills, and an extraction."""
    skills, known = list(development.shipped()), development.skills()
    shown = [Candidate(s.id, s.display, s.description, s.verbs, s.examples) for s in skills]
    names = [development.NOBODY[1], *(skill.id for skill in skills)]
    questions: list[Question] = []
    for goal in development.load():
        pick = names.index(goal.skill[1])
        questions.append((form.choose_prompt(goal.text, shown), [pick, _verb(goal)]))
        questions += _extraction(goal, known[goal.skill]) if goal.skill in known else []
    return questions


def _verb(u: Utterance) -> int:
    return form.VERBS.index(u.verb) if u.verb else -1


def _extraction(u: Utterance, skill: CorpusSkill) -> list[Question]:
    """The tags of the words under the skill's form, where labels can be told so."""
    variant = Variant(extract_form(skill), tuple(f"slot.{slot.name}" for slot in skill.slots))
    shown: ExtractForm = variant.shown
    units = form.windows(form.words(u.text))[0]
    told = tags_of(u, units, variant) if skill.slots else None
    if told is None:
        return []
    prompt = form.extract_prompt(u.text, units, shown)
    asked = [i for i, slot in enumerate(shown.slots) if slot.options]
    answers = [*told[0], *(told[1].get(i, "none") for i in asked)]
    return [(prompt, [read.names.index(a) for read, a in zip(prompt.reads, answers, strict=True)])]


def loss(rows: Sequence[Row], temperature: float) -> float:
    """Mean negative log-likelihood of the right answers when all scores are divided by `temperature`."""
    total = 0.0
    for row, index in rows:
        scaled = [max(p, 1e-12) ** (1 / temperature) for p in row]
        total -= math.log(max(scaled[index] / sum(scaled), 1e-12))
    return total / len(rows)


def best_temperatures(found: Sequence[Rows]) -> dict[str, float]:
    """For each kind of answer that of TEMPERATURES with the least mean of the groups' losses."""
    fitted = {}
    for kind in form.KINDS:
        parts = [rows[kind] for rows in found if rows.get(kind)]
        if parts:
            fitted[kind] = min(TEMPERATURES, key=lambda t: sum(loss(part, t) for part in parts))
    return {kind: round(temperature, 2) for kind, temperature in fitted.items()}


def fit(asker: Asker, data: Path, seed: int = 11) -> dict[str, float]:
    """Temperatures by kind; `asker` answers with them from now on, and its export carries them."""
    asker.temperatures = best_temperatures(groups(asker, data, seed))
    return asker.temperatures


def told(fitted: Mapping[str, float]) -> str:
    """In words, for the card."""
    each = ", ".join(f"{kind} {temperature:.2f}" for kind, temperature in fitted.items())
    return (
        f"temperatures of answers ({each}), fitted on {NUMBER} development utterances of skills that were "
        f"trained on, {NUMBER} of skills that were not, and our own goals, all three counting alike"
    )
