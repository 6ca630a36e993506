"""Measure a checkpoint on the development splits and on our own goals; prints and writes figures as JSON.

python -m training.evaluate --data ../shared/data --out /path [--limit 500]
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

Figures = dict[str, Any]
GOALS = Path(__file__).parent / "goals.jsonl"


def candidate(skill: Skill) -> Candidate:
    """A corpus' skill as a candidate: name and description, no examples."""
    return Candidate(skill.name, form.plain(skill.name), skill.description, skill.verbs, ())


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
        finals = [
            sorted(sorted(range(len(skills)), key=row.__getitem__, reverse=True)[:most]) for row in scores
        ]
    prompts = [
        form.choose_prompt(text, [shown[i] for i in final]) for text, final in zip(texts, finals, strict=True)
    ]
    out = []
    for final, (picks, verbs) in zip(finals, asker.answers(prompts), strict=True):
        best = max(range(len(picks)), key=picks.__getitem__)
        out.append((final[best - 1] if best else -1, picks[best], verbs))
    return out


def intents(asker: Asker, corpus: Corpus, source: str, utterances: Sequence[Utterance]) -> Figures:
    """Accuracy over the whole catalogue of a source, recall of out of scope, verbs."""
    keys = (
        sorted({u.skill for u in utterances if u.skill[1] != "oos"})
        if source == "sgd"
        else sorted(k for k in corpus.skills if k[0] == source and k[1] != "oos")
    )
    answers = choose_all(asker, [u.text for u in utterances], [corpus.skills[k] for k in keys])
    right = scope = outside = refused = verbs = verbs_right = sure = sure_right = 0
    for utterance, (chosen, p, verb) in zip(utterances, answers, strict=True):
        if utterance.skill[1] == "oos":
            outside += 1
            refused += chosen == -1
            continue
        good = chosen >= 0 and keys[chosen] == utterance.skill
        scope += 1
        right += good
        sure += p >= 0.9
        sure_right += good and p >= 0.9
        if utterance.verb:
            verbs += 1
            verbs_right += form.VERBS[max(range(len(verb)), key=verb.__getitem__)] == utterance.verb
    figures: Figures = {
        "skills": len(keys),
        "n": scope,
        "accuracy": right / max(1, scope),
        "verb": verbs_right / max(1, verbs),
    }
    figures["right when p >= 0.9"] = sure_right / max(1, sure)
    if outside:
        figures["out of scope recall"] = refused / outside
    return figures


def values_of(utterance: Utterance, skill: Skill) -> set[tuple[str, str]]:
    """What is to be found: (field, value), of categories those that are options."""
    options = {f"slot.{slot.name}": {v.lower() for v in slot.options} for slot in skill.slots}
    return {
        (m.field, m.value.lower())
        for m in utterance.marks
        if (options.get(m.field) and m.value.lower() in options[m.field])
        or (not options.get(m.field) and m.start is not None)
    }


def extract_all(asker: Asker, pairs: Sequence[tuple[str, ExtractForm]]) -> list[list[Span]]:
    """Spans in the first window of each text under its form, each slot its `many` best."""
    windows = [form.windows(form.words(text))[0] for text, _ in pairs]
    prompts = [
        form.extract_prompt(text, units, shown) for (text, shown), units in zip(pairs, windows, strict=True)
    ]
    return [
        list(
            best_of_each(
                [Span(*f) for f in form.found(text, units, shown, answer)],
                {s.name: s.many for s in shown.slots},
            )
        )
        for (text, shown), units, answer in zip(pairs, windows, asker.answers(prompts), strict=True)
    ]


def f1(counts: Sequence[int]) -> float:
    """F1 of (right, found, wanted)."""
    right, found, wanted = counts
    return 2 * right / max(1, found + wanted)


def slots(asker: Asker, corpus: Corpus, utterances: Sequence[Utterance]) -> Figures:
    """Slot F1 given the skill, exact name and value: micro, macro over slots, whole frames."""
    usable = [u for u in utterances if corpus.skills[u.skill].slots]
    pairs = []
    for u in usable:
        skill = corpus.skills[u.skill]
        many = tuple(
            SlotForm(s.name, s.type, s.hint, s.options, s.required, 4 if not s.options else 1)
            for s in skill.slots
        )
        pairs.append((u.text, ExtractForm(skill.name, skill.description, many, "", "")))
    total, by_slot, exact, alarms = [0, 0, 0], defaultdict(lambda: [0, 0, 0]), 0, 0
    for u, spans in zip(usable, extract_all(asker, pairs), strict=True):
        want = values_of(u, corpus.skills[u.skill])
        got = {(s.field, s.value.lower()) for s in spans if s.field.startswith("slot.")}
        alarms += any(not s.field.startswith("slot.") for s in spans)
        exact += want == got
        for counts, pick in ((total, None), *((by_slot[f], f) for f in {f for f, _ in want | got})):
            counts[0] += sum(1 for f, _ in want & got if pick in (None, f))
            counts[1] += sum(1 for f, _ in got if pick in (None, f))
            counts[2] += sum(1 for f, _ in want if pick in (None, f))
    return {"n": len(usable), "slot F1": f1(total), "precision": total[0] / max(1, total[1]), "recall": total[0] / max(1, total[2]),
            "macro F1": sum(map(f1, by_slot.values())) / max(1, len(by_slot)), "exact": exact / max(1, len(usable)),
            "false constraints": alarms / max(1, len(usable))}  # fmt: skip


def goals(asker: Asker) -> Figures:
    """Our own goals against the shipped skills: choice, verb, fields, exact; a list of what went wrong."""
    skills = [find_skills(skill_folders(None)).by_id[name] for name in ("files", "general", "repo")]
    rows = [json.loads(line) for line in GOALS.read_text().splitlines()]
    shown = [Candidate(s.id, s.display, s.description, s.verbs, s.examples) for s in skills]
    choices = asker.answers([form.choose_prompt(row["text"], shown) for row in rows])
    names = ["none", *(s.id for s in skills)]
    known = [row for row in rows if row["skill"] != "none"]
    by_id = {s.id: s for s in skills}
    pairs = [(row["text"], ExtractForm(row["skill"], by_id[row["skill"]].description,
              tuple(SlotForm(s.name, s.type, s.hint, s.options, s.required, s.most) for s in by_id[row["skill"]].slots), "", "")) for row in known]  # fmt: skip
    found = {row["text"]: spans for row, spans in zip(known, extract_all(asker, pairs), strict=True)}
    chosen = verb_right = exact = refused = 0
    total, by_field, wrong = [0, 0, 0], defaultdict(lambda: [0, 0, 0]), []
    for row, (picks, verbs) in zip(rows, choices, strict=True):
        pick = names[max(range(len(picks)), key=picks.__getitem__)]
        if row["skill"] == "none":
            refused += pick == "none"
            if pick != "none":
                wrong.append(f"none -> {pick}: {row['text']}")
            continue
        allowed = by_id[row["skill"]].verbs
        verb = max(allowed, key=lambda v: verbs[form.VERBS.index(v)])
        want = {(v["field"], v["value"]) for v in row["values"]}
        got = {(s.field, s.value) for s in found[row["text"]]}
        chosen += pick == row["skill"]
        verb_right += verb == row["verb"]
        whole = pick == row["skill"] and verb == row["verb"] and want == got
        exact += whole
        if not whole:
            wrong.append(
                f"{row['skill']}/{row['verb']} -> {pick}/{verb}: {row['text']} | missed {sorted(want - got)} | extra {sorted(got - want)}"
            )
        for counts, only in ((total, None), *((by_field[f], f) for f in {f for f, _ in want | got})):
            counts[0] += sum(1 for f, _ in want & got if only in (None, f))
            counts[1] += sum(1 for f, _ in got if only in (None, f))
            counts[2] += sum(1 for f, _ in want if only in (None, f))
    n = len(known)
    return {"n": n, "skill": chosen / n, "verb": verb_right / n, "field F1": f1(total), "exact": exact / n,
            "none recall": refused / max(1, len(rows) - n), "F1 by field": {k: round(f1(v), 3) for k, v in sorted(by_field.items())},
            "wrong": wrong}  # fmt: skip


def evaluate(asker: Asker, data: Path, limit: int) -> Figures:
    """All figures; at most `limit` utterances a set (0 = all), drawn with a fixed seed."""
    corpus = corpora.load(data)
    trained = {u.skill for u in corpus.train}
    sets: dict[str, list[Utterance]] = defaultdict(list)
    for utterance in corpus.dev:
        source = utterance.skill[0]
        sets[
            f"sgd {'seen' if utterance.skill in trained else 'unseen'}" if source == "sgd" else source
        ].append(utterance)
    figures: Figures = {
        "step": asker.step,
        "minutes": round(asker.minutes, 1),
        "examples": asker.examples,
        "intent": {},
        "slots": {},
    }
    for name, utterances in sorted(sets.items()):
        random.Random(1).shuffle(utterances)
        opening = [u for u in utterances if u.opens][: limit or None]
        if name != "restaurant8k":
            figures["intent"][name] = intents(asker, corpus, name.split()[0], opening)
        if any(u.skill in corpus.skills and corpus.skills[u.skill].slots for u in utterances):
            figures["slots"][name] = slots(asker, corpus, utterances[: limit or None])
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
    wrong = figures["goals"].pop("wrong")
    (given.out / "figures.json").write_text(json.dumps(figures, indent=1))
    (given.out / "wrong.txt").write_text("\n".join(wrong))
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
