"""A temperature for each kind of answer, fitted on development goals; how well each kind is calibrated then.

python -m training.calibrate --data ../shared/data [--model FILE]

Three groups count alike, whatever their size: goals by hand of writers kept apart, public utterances for
skills that were trained on, and for skills that were not. Needs no torch.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mcl.model import form
from mcl.model.encoder import EncoderModel
from mcl.model.heads import KINDS
from mcl.model.loader import load_model
from mcl.model.protocol import Candidate, ExtractForm, SlotForm
from mcl.plugins.train.tuner.generator.skills import GENERAL as GENERAL_SKILL
from mcl.plugins.train.tuner.utterances import CorpusSkill, LabelMark
from training import corpora, written
from training.answers import calibration_error

TEMPERATURES = tuple(round(0.5 + 0.05 * i, 2) for i in range(51))
VERB_WEIGHTS = tuple(0.5 * i for i in range(17))
NUMBER, OTHERS = 250, 40
"""Goals of a public group; skills that are shown beside the right one."""
GENERAL = "general"
Row = tuple[NDArray[np.float32], int]
"""Scores, place of the right one."""
Rows = dict[str, list[Row]]


class RawAnswers:
    """All that a model says of one goal, as scores that no temperature has touched: what calibration fits."""

    def __init__(self, model: EncoderModel, prose: str) -> None:
        self._model, self._goal = model, model.goal(prose)
        heads = model.heads
        self.units = self._goal.units
        self.begins = heads.begins(self._goal.words)
        later = np.flatnonzero(self.begins[1:, 1] > self.begins[1:, 0]) + 1
        self._wish = self._goal.mean(0, int(later[0])) if len(later) else self._goal.mean()
        self.kinds, self.verbs = heads.kinds(self._goal.mean()), heads.verbs(self._wish)
        self.verb_margins = model.verb_margins(prose)

    def choices(self, candidates: Sequence[Candidate]) -> NDArray[np.float32]:
        """Of none of these, then of each."""
        return self._model.choices(self._wish, candidates)

    def marked(self, form: ExtractForm) -> tuple[NDArray[np.float32], list[NDArray[np.float32]]]:
        """Of the tags of each word, and of the options of each slot that has some."""
        slots, items = self._model._form(form)
        return self._model._marked(self._goal.words, slots, items)[1:]


def groups(model: EncoderModel, data: Path, seed: int = 11) -> dict[str, Rows]:
    """What the model says beside what is right, by group and kind of answer."""
    return {"by hand": by_hand(model), **public(model, data, seed)}


def by_hand(model: EncoderModel, part: str = "development") -> Rows:
    """Of goals of writers kept apart."""
    rows: Rows = defaultdict(list)
    for writer in written.writers(parts=(part,)):
        skills = {
            name: told.skill for name, told in {**written.shelf(), **writer.skills}.items() if name != GENERAL
        }
        shown = [_candidate(skill) for skill in skills.values()]
        for goal in writer.goals:
            if goal.change:
                continue
            told = RawAnswers(model, goal.text)
            rows["kind"].append((told.kinds, KINDS.index(goal.kind)))
            begins = {wish.start for wish in goal.wishes[1:]}
            if goal.kind == "goal":
                rows["wish"] += [
                    (row, int(u.start in begins))
                    for u, row in zip(told.units[1:], told.begins[1:], strict=True)
                ]
            wish = goal.wishes[0] if goal.wishes else None
            name = wish.skill if wish else ""
            rows["pick"].append((told.choices(shown), 1 + list(skills).index(name) if name in skills else 0))
            if wish is not None:
                said = told.verbs + model.verb_weight * told.verb_margins
                rows["verb"].append((said, form.VERBS.index(wish.verb)))
                until = goal.wishes[1].start if len(goal.wishes) > 1 else len(goal.text)
                skill = skills.get(name, GENERAL_SKILL)
                _marked(rows, told, skill, wish.marks, until, limits=True)
    return rows


def public(model: EncoderModel, data: Path, seed: int) -> dict[str, Rows]:
    """Of public utterances: skills that were trained on, skills that were not."""
    corpus, r = corpora.load(data), random.Random(seed)
    trained = {one.skill for one in corpus.train}
    usable = [one for one in corpus.dev if one.opens and one.skill[1] != "oos"]
    found: dict[str, Rows] = {}
    for title, seen in (("trained on", True), ("not trained on", False)):
        rows: Rows = defaultdict(list)
        part = [one for one in usable if (one.skill in trained) is seen]
        for one in r.sample(part, min(NUMBER, len(part))):
            others = [
                key
                for key in corpus.skills
                if key[0] == one.skill[0]
                and key != one.skill
                and key[1].rsplit(".", 1)[-1] != one.skill[1].rsplit(".", 1)[-1]
            ]
            keys = r.sample(others, min(OTHERS, len(others)))
            there = r.random() > 0.1
            if there:
                keys.insert(r.randint(0, len(keys)), one.skill)
            told = RawAnswers(model, one.text)
            shown = [_candidate(corpus.skills[key]) for key in keys]
            if shown:
                rows["pick"].append((told.choices(shown), keys.index(one.skill) + 1 if there else 0))
            _marked(rows, told, corpus.skills[one.skill], one.marks, len(one.text), limits=False)
        found[title] = rows
    return found


def best_verb_weight(model: EncoderModel, part: str = "development") -> float:
    """How much what was learned of the verbs by name counts beside the head: of VERB_WEIGHTS that with which
    the right verbs of goals by hand are likeliest, at its best temperature."""
    said: list[tuple[RawAnswers, int]] = []
    for writer in written.writers(parts=(part,)):
        said += [
            (RawAnswers(model, goal.text), form.VERBS.index(goal.wishes[0].verb))
            for goal in writer.goals
            if goal.wishes and not goal.change
        ]

    def least(weight: float) -> float:
        rows = [(told.verbs + weight * told.verb_margins, right) for told, right in said]
        return min(loss(rows, temperature) for temperature in TEMPERATURES)

    return min(VERB_WEIGHTS, key=least)


def _candidate(skill: CorpusSkill) -> Candidate:
    return Candidate(skill.name, form.plain(skill.name), skill.description, skill.verbs)


def _marked(
    rows: Rows, told: RawAnswers, skill: CorpusSkill, marks: Sequence[LabelMark], until: int, *, limits: bool
) -> None:
    """Add the tags of the words of a goal, and its options."""
    if not skill.slots:
        return
    tags, asked = told.marked(ExtractForm(skill.name, skill.description, skill.slots))
    names = ["none", "in", *(f"slot.{s.name}" for s in skill.slots if not s.options), *form.FIELDS]
    right = _tags(told.units, marks, names)
    width = len(names) if limits else len(names) - len(form.FIELDS)
    rows["tag"] += [
        (row[:width], tag)
        for unit, row, tag in zip(told.units, tags, right, strict=True)
        if unit.start < until and tag < width
    ]
    for slot, row in zip((s for s in skill.slots if s.options), asked, strict=True):
        rows["option"].append((row, _option(slot, marks)))


def _tags(units: Sequence[form.Unit], marks: Sequence[LabelMark], names: Sequence[str]) -> list[int]:
    tags = [0] * len(units)
    for mark in marks:
        if mark.start is None or mark.end is None or mark.field not in names:
            continue
        inside = [i for i, u in enumerate(units) if u.start >= mark.start and u.end <= mark.end]
        for place, i in enumerate(inside):
            tags[i] = 1 if place else names.index(mark.field)
    return tags


def _option(slot: SlotForm, marks: Sequence[LabelMark]) -> int:
    said = {mark.value.lower() for mark in marks if mark.field == f"slot.{slot.name}"}
    return next((i for i, option in enumerate(slot.options, 1) if option.lower() in said), 0)


def softmax(scores: NDArray[np.float32], temperature: float) -> NDArray[np.float64]:
    """Shares of scores that are divided by a temperature."""
    x = scores.astype(np.float64) / temperature
    shares: NDArray[np.float64] = np.exp(x - x.max())
    shares /= shares.sum()
    return shares


def loss(rows: Sequence[Row], temperature: float) -> float:
    """Mean negative log-likelihood of the right answers."""
    return float(np.mean([-np.log(max(softmax(row, temperature)[right], 1e-12)) for row, right in rows]))


def best_temperatures(found: Mapping[str, Rows]) -> dict[str, float]:
    """For each kind of answer that of TEMPERATURES with the least mean of the groups' losses."""
    kinds = {kind for rows in found.values() for kind in rows}
    return {
        kind: min(
            TEMPERATURES, key=lambda t: sum(loss(rows[kind], t) for rows in found.values() if rows.get(kind))
        )
        for kind in sorted(kinds)
    }


def errors(
    found: Mapping[str, Rows], temperatures: Mapping[str, float]
) -> Iterator[tuple[str, str, int, float, float]]:
    """(group, kind, number, share of right answers, calibration error) of what is answered."""
    for group, rows in found.items():
        for kind, some in sorted(rows.items()):
            said = []
            for row, right in some:
                shares = softmax(row, temperatures[kind])
                said.append((float(shares.max()), int(shares.argmax()) == right))
            share = sum(ok for _, ok in said) / len(said)
            yield group, kind, len(some), share, calibration_error(said)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, help="a GGUF (default: the bundled one)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = load_model(given.model, home_path=Path(folder))
        assert isinstance(model, EncoderModel)
        model.verb_weight = best_verb_weight(model)
        found = groups(model, given.data)
    temperatures = best_temperatures(found)
    for group, kind, number, right, error in errors(found, temperatures):
        print(f"{group:16} {kind:8} {number:6} right {100 * right:5.1f} %  ECE {100 * error:4.1f} %")
    print(json.dumps({"temperatures": temperatures, "verb_weight": model.verb_weight}))


if __name__ == "__main__":
    main()
