"""Measure a checkpoint on the development splits of the public corpora: the network, without the compiler.

python -m training.evaluate --data ../shared/data --out training/out [--limit 500]

Our own goals are measured in development_goals.py, the whole compile over the public corpora in
whole_compile.py.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch

from mcl.model import form
from mcl.model.protocol import Candidate, ExtractForm, SlotForm, Span
from mcl.model.tags import best_of_each
from mcl.plugins.train.tuner.network import Asker
from mcl.plugins.train.tuner.utterances import CorpusSkill, Utterance
from training import corpora
from training.answers import NONE, Figures, FoundValue, GoalAnswer, confusions, figures_of
from training.corpora import Corpus

OUT_OF_SCOPE = "oos"
SEVERAL = 4  # values that an open slot of a corpus may take


def candidate(skill: CorpusSkill) -> Candidate:
    """A corpus' skill as a candidate: name and description, no examples."""
    return Candidate(skill.name, form.plain(skill.name), skill.description, skill.verbs, ())


def best(row: Sequence[float]) -> int:
    """Index of the largest."""
    return max(range(len(row)), key=row.__getitem__)


def choose_all(
    asker: Asker, texts: Sequence[str], skills: Sequence[CorpusSkill]
) -> list[tuple[int, float, list[float]]]:
    """(index of the chosen skill or -1, probability, verb probabilities) among any number of skills.

    More than 16: rounds of 16, then the 16 best of all rounds once more.
    """
    most = form.MAX_CANDIDATES
    shown = [candidate(skill) for skill in skills]
    finals: list[list[int]] = [list(range(len(skills)))] * len(texts)
    if len(skills) > most:
        groups = [list(range(i, min(i + most, len(skills)))) for i in range(0, len(skills), most)]
        scores = [[0.0] * len(skills) for _ in texts]
        for group in groups:
            prompts = [form.choose_prompt(text, [shown[i] for i in group]) for text in texts]
            for row, answer in zip(scores, asker.answers(prompts), strict=True):
                for i, p in zip(group, answer[0][1:], strict=True):
                    row[i] = p
        order = range(len(skills))
        finals = [sorted(sorted(order, key=row.__getitem__, reverse=True)[:most]) for row in scores]
    prompts = [
        form.choose_prompt(text, [shown[i] for i in final]) for text, final in zip(texts, finals, strict=True)
    ]
    answers = zip(finals, asker.answers(prompts), strict=True)
    return [(([-1, *final])[best(picks)], max(picks), verbs) for final, (picks, verbs) in answers]


def chosen(asker: Asker, corpus: Corpus, source: str, utterances: Sequence[Utterance]) -> list[GoalAnswer]:
    """A skill for each utterance, among the source's whole catalogue (sgd: what occurs)."""
    occurring = {u.skill for u in utterances}
    keys = sorted(k for k in corpus.skills if k[0] == source and k[1] != OUT_OF_SCOPE)
    if source == "sgd":
        keys = [k for k in keys if k in occurring]
    answers = choose_all(asker, [u.text for u in utterances], [corpus.skills[k] for k in keys])
    return [
        GoalAnswer(
            text=u.text,
            wanted_skill=NONE if u.skill[1] == OUT_OF_SCOPE else u.skill[1],
            wanted_verb=u.verb,
            wanted=frozenset(),
            skill=keys[index][1] if index >= 0 else NONE,
            verb=form.VERBS[best(verbs)],
            found=frozenset(),
            confidence=p,
            skill_probability=p,
            marks=False,
        )
        for u, (index, p, verbs) in zip(utterances, answers, strict=True)
    ]


def values_of(utterance: Utterance, skill: CorpusSkill) -> frozenset[FoundValue]:
    """What is to be found, in small letters; of categories those that are options."""
    options = {f"slot.{slot.name}": {v.lower() for v in slot.options} for slot in skill.slots}
    return frozenset(
        FoundValue(m.field, m.value.lower())
        for m in utterance.marks
        if (m.value.lower() in options[m.field] if options.get(m.field) else m.start is not None)
    )


def extract_all(asker: Asker, pairs: Sequence[tuple[str, ExtractForm]]) -> list[list[Span]]:
    """Spans in the first window of each text under its form, each slot its `many` best."""
    windows = [form.windows(form.words(text))[0] for text, _ in pairs]
    prompts = [
        form.extract_prompt(text, units, shown) for (text, shown), units in zip(pairs, windows, strict=True)
    ]
    out = []
    for (text, shown), units, answer in zip(pairs, windows, asker.answers(prompts), strict=True):
        spans = [Span(*found) for found in form.found(text, units, shown, answer)]
        out.append(list(best_of_each(spans, {slot.name: slot.many for slot in shown.slots})))
    return out


def extract_form(skill: CorpusSkill) -> ExtractForm:
    """A corpus' skill as it is shown for an extraction."""
    slots = (
        SlotForm(s.name, s.type, s.hint, s.options, s.required, 1 if s.options else SEVERAL)
        for s in skill.slots
    )
    return ExtractForm(skill.name, skill.description, tuple(slots), "", "")


def marked(asker: Asker, corpus: Corpus, utterances: Sequence[Utterance]) -> list[GoalAnswer]:
    """Values of each utterance, given its skill. These sets label no constraints."""
    pairs = [(u.text, extract_form(corpus.skills[u.skill])) for u in utterances]
    return [
        GoalAnswer(
            text=u.text,
            wanted_skill=u.skill[1],
            wanted_verb="",
            wanted=values_of(u, corpus.skills[u.skill]),
            skill=u.skill[1],
            verb="",
            found=frozenset(
                FoundValue(s.field, s.value.lower()) for s in spans if s.field.startswith("slot.")
            ),
            confidence=min((s.probability for s in spans), default=1.0),
            alarms=sum(not s.field.startswith("slot.") for s in spans),
            chooses=False,
        )
        for u, spans in zip(utterances, extract_all(asker, pairs), strict=True)
    ]


def evaluate(asker: Asker, data: Path, limit: int) -> tuple[Figures, dict[str, list[GoalAnswer]]]:
    """All figures, and the answers by set; of at most `limit` utterances a set (0: all), drawn by a seed."""
    corpus = corpora.load(data)
    figures: Figures = {"step": asker.step, "minutes": asker.minutes, "examples": asker.examples}
    figures |= {"limit": limit, "intent": {}, "slots": {}, "confusions": {}}
    answers: dict[str, list[GoalAnswer]] = {}
    for name, utterances in corpora.dev_sets(corpus).items():
        answers[name] = []
        opening = [u for u in utterances if u.opens][: limit or None]
        if name != "restaurant8k":
            choices = chosen(asker, corpus, name.split()[0], opening)
            figures["intent"][name] = figures_of(choices)
            figures["confusions"][name] = confusions(choices)["skill"]
            answers[name] += choices
        usable = [u for u in utterances if u.skill in corpus.skills and corpus.skills[u.skill].slots]
        if usable:
            values = marked(asker, corpus, usable[: limit or None])
            figures["slots"][name] = figures_of(values)
            answers[name] += values
        print(name, rounded(_short(figures["intent"].get(name))), rounded(_short(figures["slots"].get(name))))
    return figures, answers


def _short(figures: Figures | None) -> Figures | None:
    return figures and {name: value for name, value in figures.items() if isinstance(value, float)}


def rounded(value: Any) -> Any:
    """Floats to four places, all the way down."""
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    return round(value, 4) if isinstance(value, float) else value


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    figures, _ = evaluate(Asker(given.out), given.data, given.limit)
    (given.out / "figures.json").write_text(json.dumps(rounded(figures), indent=1))


if __name__ == "__main__":
    main()
