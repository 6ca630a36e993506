"""The public corpora of ../shared/data as skills and utterances; the development splits are written here."""

from __future__ import annotations

import gzip
import itertools
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mcl.model.protocol import SlotForm
from mcl.plugins.train.tuner.utterances import CorpusSkill, LabelMark, Utterance

SPLIT_SEED = 20261121


DEV_SHARE = {"snips": 0.08, "hwu64": 0.10, "banking77": 0.10, "restaurant8k": 0.10}
"""Share of the train file kept for development (shuffled with SPLIT_SEED); clinc and sgd bring their own."""


NAMES = ("snips", "hwu64", "clinc", "banking77", "restaurant8k", "sgd")


OPEN_TEXTS = ("nl2bash", "taskbench")


_HERE = Path(__file__).parent


@dataclass
class Corpus:
    """Skills by (source, name), utterances for training and for development."""

    skills: dict[tuple[str, str], CorpusSkill] = field(default_factory=dict)
    train: list[Utterance] = field(default_factory=list)
    dev: list[Utterance] = field(default_factory=list)


def _lines(path: Path) -> Iterator[dict[str, object]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def verbs() -> dict[tuple[str, str], str]:
    """Verb of each skill of the corpora, "" for small talk (verbs.tsv)."""
    rows = [line.split("\t") for line in (_HERE / "verbs.tsv").read_text().splitlines() if line[:1] != "#"]
    return {(source, name): "" if verb == "-" else verb for source, name, verb in rows}


def _skill(row: dict[str, object], verb: str) -> CorpusSkill:
    slots = row["slots"]
    assert isinstance(slots, list)
    return CorpusSkill(
        source=str(row["source"]),
        name=str(row["skill"]),
        description=str(row["description"]),
        slots=tuple(
            SlotForm(name=s["name"], type="string", hint=s["description"], options=tuple(s["values"]))
            for s in slots
        ),
        verbs=(verb,) if verb else (),
    )


def _utterance(row: dict[str, object], verb: str) -> Utterance | None:
    slots = row["slots"]
    assert isinstance(slots, list)
    marks = tuple(LabelMark(f"slot.{s['name']}", s["value"], s["start"], s["end"]) for s in slots)
    spans = sorted((m.start, m.end) for m in marks if m.start is not None and m.end is not None)
    if any(b[0] < a[1] for a, b in itertools.pairwise(spans)):
        return None  # overlapping labels cannot be told as tags
    return Utterance(
        str(row["text"]), (str(row["source"]), str(row["skill"])), marks, verb, bool(row.get("opens", True))
    )


def load(data: Path) -> Corpus:
    """Read all labelled corpora. `data` is the folder with the *.jsonl.gz files."""
    corpus = Corpus()
    verb_of = verbs()
    for name in NAMES:
        for row in _lines(data / f"{name}.skills.jsonl.gz"):
            key = (name, str(row["skill"]))
            if key not in corpus.skills:
                corpus.skills[key] = _skill(row, verb_of.get(key, ""))
        rows = [
            _utterance(r, verb_of.get((name, str(r["skill"])), ""))
            for r in _lines(data / f"{name}.train.jsonl.gz")
        ]
        kept = [u for u in rows if u is not None]
        if name in DEV_SHARE:
            random.Random(SPLIT_SEED).shuffle(kept)
            cut = int(len(kept) * DEV_SHARE[name])
            corpus.dev += kept[:cut]
            kept = kept[cut:]
        else:
            found = (
                _utterance(r, verb_of.get((name, str(r["skill"])), ""))
                for r in _lines(data / f"{name}.dev.jsonl.gz")
            )
            corpus.dev += [u for u in found if u is not None]
        corpus.train += kept
    return corpus


def dev_sets(corpus: Corpus) -> dict[str, list[Utterance]]:
    """Development utterances by set, in an order that a fixed seed draws; those for services of sgd that were
    trained on ("sgd seen") apart from the others ("sgd unseen")."""
    trained = {u.skill for u in corpus.train}
    sets: dict[str, list[Utterance]] = {}
    for u in corpus.dev:
        seen = f" {'seen' if u.skill in trained else 'unseen'}" if u.skill[0] == "sgd" else ""
        sets.setdefault(u.skill[0] + seen, []).append(u)
    for utterances in sets.values():
        random.Random(1).shuffle(utterances)
    return dict(sorted(sets.items()))


def open_texts(data: Path) -> list[str]:
    """Requests without labels (nl2bash, taskbench), without repetitions."""
    texts = (str(row["text"]).strip() for name in OPEN_TEXTS for row in _lines(data / f"{name}.jsonl.gz"))
    return list(dict.fromkeys(text for text in texts if 8 < len(text) < 240))
