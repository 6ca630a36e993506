"""Measure a checkpoint on the development splits and on our own goals; prints and writes figures as JSON.

python -m training.evaluate --data ../shared/data --out training/out [--limit 500]
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import torch

from mcl.model import form
from mcl.model.protocol import Candidate, ExtractForm, SlotForm, Span
from mcl.model.tags import best_of_each
from mcl.skills import find_skills, skill_folders
from training import corpora
from training.asking import Asker
from training.corpora import Corpus, Skill, Utterance
from training.scores import Scores

Figures = dict[str, Any]
GOALS = Path(__file__).parent / "goals.jsonl"
SURE = 0.9
SEVERAL = 4  # values that an open slot of a corpus may take


def candidate(skill: Skill) -> Candidate:
    """A corpus' skill as a candidate: name and description, no examples."""
    return Candidate(skill.name, form.plain(skill.name), skill.description, skill.verbs, ())


def best(row: Sequence[float]) -> int:
    """Index of the largest."""
    return max(range(len(row)), key=row.__getitem__)


def choose_all(
    asker: Asker, texts: Sequence[str], skills: Sequence[Skill]
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


def intents(asker: Asker, corpus: Corpus, source: str, utterances: Sequence[Utterance]) -> Figures:
    """Accuracy over a source's whole catalogue (sgd: what occurs), recall of out of scope, verbs."""
    occurring = {u.skill for u in utterances}
    keys = sorted(k for k in corpus.skills if k[0] == source and k[1] != "oos")
    if source == "sgd":
        keys = [k for k in keys if k in occurring]
    answers = choose_all(asker, [u.text for u in utterances], [corpus.skills[k] for k in keys])
    right: list[bool] = []
    sure: list[bool] = []
    verbs: list[bool] = []
    refused: list[bool] = []
    said: list[float] = []
    for utterance, (chosen, p, verb) in zip(utterances, answers, strict=True):
        if utterance.skill[1] == "oos":
            refused.append(chosen == -1)
            continue
        right.append(chosen >= 0 and keys[chosen] == utterance.skill)
        said.append(p)
        if p >= SURE:
            sure.append(right[-1])
        if utterance.verb:
            verbs.append(form.VERBS[best(verb)] == utterance.verb)
    figures: Figures = {"skills": len(keys), "n": len(right), "accuracy": _mean(right), "verb": _mean(verbs)}
    figures["sure"] = len(sure) / max(1, len(right))
    figures["right when sure"] = _mean(sure)
    figures["ECE"] = calibration_error(said, right)
    if refused:
        figures["out of scope recall"] = _mean(refused)
    return figures


def calibration_error(said: Sequence[float], right: Sequence[bool], bins: int = 10) -> float:
    """Expected calibration error: how far the stated probabilities are from the share that is right."""
    error = 0.0
    for i in range(bins):
        inside = [j for j, p in enumerate(said) if i / bins < p <= (i + 1) / bins]
        error += abs(sum(right[j] - said[j] for j in inside))
    return error / max(1, len(said))


def _mean(values: Sequence[bool]) -> float:
    return sum(values) / max(1, len(values))


def values_of(utterance: Utterance, skill: Skill) -> set[tuple[str, str]]:
    """What is to be found: (field, value), of categories those that are options."""
    options = {f"slot.{slot.name}": {v.lower() for v in slot.options} for slot in skill.slots}
    return {
        (m.field, m.value.lower())
        for m in utterance.marks
        if (m.value.lower() in options[m.field] if options.get(m.field) else m.start is not None)
    }


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


def _form(skill: Skill) -> ExtractForm:
    slots = (
        SlotForm(s.name, s.type, s.hint, s.options, s.required, 1 if s.options else SEVERAL)
        for s in skill.slots
    )
    return ExtractForm(skill.name, skill.description, tuple(slots), "", "")


def slots(asker: Asker, corpus: Corpus, utterances: Sequence[Utterance]) -> Figures:
    """Slot F1 given the skill, exact name and value: micro, macro over slots, whole frames."""
    usable = [u for u in utterances if u.skill in corpus.skills and corpus.skills[u.skill].slots]
    pairs = [(u.text, _form(corpus.skills[u.skill])) for u in usable]
    scores, alarms = Scores(), 0
    for u, spans in zip(usable, extract_all(asker, pairs), strict=True):
        got = {(s.field, s.value.lower()) for s in spans if s.field.startswith("slot.")}
        scores.add(set(values_of(u, corpus.skills[u.skill])), set(got))
        alarms += any(not s.field.startswith("slot.") for s in spans)
    total = scores.total
    return {
        "n": len(usable), "slot F1": total.f1, "precision": total.precision, "recall": total.recall,
        "macro F1": scores.macro, "exact": scores.exact / max(1, scores.frames),
        "false constraints": alarms / max(1, len(usable)),
    }  # fmt: skip


def goals(asker: Asker) -> Figures:
    """Our own goals against the shipped skills: choice, verb, fields, exact; a list of what went wrong.

    Fields are counted given the right skill; exact needs skill, verb and all fields.
    """
    rows = [json.loads(line) for line in GOALS.read_text().splitlines()]
    by_id = find_skills(skill_folders(None)).by_id
    skills = [*by_id.values()]
    shown = [Candidate(s.id, s.display, s.description, s.verbs, s.examples) for s in skills]
    names = ["none", *(s.id for s in skills)]
    forms = {
        s.id: ExtractForm(
            s.id,
            s.description,
            tuple(SlotForm(x.name, x.type, x.hint, x.options, x.required, x.most) for x in s.slots),
        )
        for s in skills
    }
    choices = asker.answers([form.choose_prompt(row["text"], shown) for row in rows])
    known = [row for row in rows if row["skill"] != "none"]
    spans = extract_all(asker, [(row["text"], forms[row["skill"]]) for row in known])
    found = {row["text"]: {(s.field, s.value) for s in part} for row, part in zip(known, spans, strict=True)}
    scores, chosen, verbs_right, exact, refused, wrong = Scores(), 0, 0, 0, [], []
    for row, (picks, verbs) in zip(rows, choices, strict=True):
        pick = names[best(picks)]
        if row["skill"] == "none":
            refused.append(pick == "none")
            wrong += [] if refused[-1] else [f"none -> {pick}: {row['text']}"]
            continue
        verb = max(by_id[row["skill"]].verbs, key=lambda v: verbs[form.VERBS.index(v)])
        want, got = {(v["field"], v["value"]) for v in row["values"]}, found[row["text"]]
        scores.add(set(want), set(got))
        chosen, verbs_right = chosen + (pick == row["skill"]), verbs_right + (verb == row["verb"])
        if pick == row["skill"] and verb == row["verb"] and want == got:
            exact += 1
        else:
            wrong.append(
                f"{row['skill']}/{row['verb']} -> {pick}/{verb}: {row['text']} | "
                f"missed {sorted(want - got)} | extra {sorted(got - want)}"
            )
    n = len(known)
    return {
        "n": n, "skill": chosen / n, "verb": verbs_right / n, "field F1": scores.total.f1, "exact": exact / n,
        "none recall": _mean(refused), "wrong": wrong,
        "F1 by field": {name: count.f1 for name, count in sorted(scores.fields.items())},
    }  # fmt: skip


def evaluate(asker: Asker, data: Path, limit: int) -> Figures:
    """All figures; at most `limit` utterances a set (0 = all), drawn with a fixed seed."""
    corpus = corpora.load(data)
    trained = {u.skill for u in corpus.train}
    sets: dict[str, list[Utterance]] = defaultdict(list)
    for utterance in corpus.dev:
        name = utterance.skill[0]
        sets[name if name != "sgd" else f"sgd {'seen' if utterance.skill in trained else 'unseen'}"].append(
            utterance
        )
    figures: Figures = {"step": asker.step, "minutes": asker.minutes, "examples": asker.examples}
    figures |= {"intent": {}, "slots": {}}
    for name, utterances in sorted(sets.items()):
        random.Random(1).shuffle(utterances)
        opening = [u for u in utterances if u.opens][: limit or None]
        if name != "restaurant8k":
            figures["intent"][name] = intents(asker, corpus, name.split()[0], opening)
        if any(u.skill in corpus.skills and corpus.skills[u.skill].slots for u in utterances):
            figures["slots"][name] = slots(asker, corpus, utterances[: limit or None])
        print(name, rounded(figures["intent"].get(name)), rounded(figures["slots"].get(name)), flush=True)
    figures["goals"] = goals(asker)
    return figures


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
    figures = rounded(evaluate(Asker(given.out), given.data, given.limit))
    (given.out / "wrong.txt").write_text("\n".join(figures["goals"].pop("wrong")))
    (given.out / "figures.json").write_text(json.dumps(figures, indent=1))
    print(json.dumps(figures["goals"], indent=1))


if __name__ == "__main__":
    main()
