"""Train the linear member (mcl/model/skill_classifier.py) and put it behind the tensors of a GGUF.

python -m training.skill_classifier --data ../shared/data --into mcl/model/data/mcl-tags.gguf   (two minutes)

One support vector machine a source, each skill against everything else of that source and against strangers:
goals that are surely for none of its skills. Needs scikit-learn.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import scipy.sparse as sp
from sklearn.svm import LinearSVC

from mcl.language.skills import find_skills, skill_folders
from mcl.model.form import plain
from mcl.model.skill_classifier import RARITY_UNIT, SIZE_KEY, ZERO, buckets_of, key_of, packed
from mcl.plugins.train.tuner import handwritten
from mcl.plugins.train.tuner.utterances import Utterance
from training import corpora

BUCKETS = 1 << 14
COST = 1.5  # of the machine: how dear a goal on the wrong side is
OUTSIDE = 2.0  # how much more a goal counts that its own source says is out of scope
MOST = 8000  # goals of a source
TYPICAL = 150  # goals of a source, from which it is counted what margins are usual
SEED = 20261121
SOURCES = ("clinc", "banking77", "hwu64", "snips", "sgd")
NOBODYS = ("banking77", "sgd", "own")
"""Sources whose skills take nothing of what nobody takes (clinc and hwu64 have skills for small talk)."""
GENERAL = {
    **dict.fromkeys(("build", "acquire", "modify", "deliver"), "general"),
    "schedule": "schedule-reminder", "delegate": "delegate-task", "negotiate": "delegate-task",
}  # fmt: skip
"""Shipped skills of goals that were written for a general skill of all verbs, by verb."""
SHOWN = 3  # times that a shipped skill's own examples count
HARDER = {"own": 0.2}
"""What is taken off the margins of a source: its skills are few, and much that people want is for none."""
STRANGERS = {
    "clinc": {"own": 1000, "open": 700},
    "banking77": {"own": 1000, "open": 700, "snips": 600, "hwu64": 900, "sgd": 500},
    "hwu64": {"own": 1000, "open": 700, "banking77": 600},
    "snips": {"own": 1000, "open": 700, "banking77": 500},
    "sgd": {"own": 1000, "open": 700, "banking77": 500},
    "own": {"banking77": 400, "snips": 400, "clinc": 600, "hwu64": 600, "sgd": 300},
}
"""How many goals of which others are strangers to a source."""


@dataclass
class GoalSource:
    """Goals and their skills' names ("" for strangers), what is known of the skills."""

    name: str
    texts: list[str]
    skills: list[str]
    weights: list[float]


@dataclass
class Learned:
    """One machine: for each skill its weights as whole numbers, their scale, and its bias."""

    skills: list[str]
    weights: np.ndarray  # skills x buckets, -127 … 127
    scales: np.ndarray
    biases: np.ndarray

    def margins(self, vectors: sp.csr_matrix) -> np.ndarray:
        """goals x skills."""
        return np.asarray(vectors @ self.weights.T * self.scales + self.biases)


class Hashed:
    """Texts as vectors: the rarities of their features' buckets, of length 1."""

    def __init__(self, texts: Iterable[str]) -> None:
        """texts: what rarity is counted in."""
        rows = [buckets_of(text, BUCKETS) for text in texts]
        having = Counter(bucket for row in rows for bucket in row)
        raw = (math.log((1 + len(rows)) / (1 + having[bucket])) + 1 for bucket in range(BUCKETS))
        self.rarities = bytes(min(255, round(RARITY_UNIT * one)) for one in raw)

    def vectors(self, texts: Sequence[str]) -> sp.csr_matrix:
        """One row a text."""
        rows = [buckets_of(text, BUCKETS) for text in texts]
        rarity = np.frombuffer(self.rarities, np.uint8).astype(np.float64)
        ends = np.cumsum([0, *map(len, rows)])
        places = np.concatenate([np.array(row, np.int64) for row in rows])
        found = sp.csr_matrix((rarity[places], places, ends), shape=(len(rows), BUCKETS))
        lengths = np.sqrt(np.asarray(found.multiply(found).sum(1)).ravel())
        return sp.csr_matrix(sp.diags(1 / np.maximum(lengths, 1e-9)) @ found)


def merged(utterance: Utterance) -> str:
    """The name under which a skill is learned: the same skill of several services is one."""
    source, name = utterance.skill
    return plain(name) if source == "sgd" else name


def shipped(goal: Utterance) -> str:
    """The shipped skill that a written goal is for; "" for what the shipped general one does not do."""
    return goal.skill[1] if goal.skill != ("own", "general") else GENERAL.get(goal.verb, "")


def sources(data: Path) -> dict[str, GoalSource]:
    """What each machine learns from."""
    r = random.Random(SEED)
    corpus, goals = corpora.load(data), handwritten.load()
    said: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for one in corpus.train:
        if one.opens and one.skill[0] in SOURCES:
            said[one.skill[0]].append((one.text, "" if one.skill[1] == "oos" else merged(one)))
    said["own"] = [(one.text, shipped(one)) for one in goals if one.skill != handwritten.NOBODY]
    for one in find_skills(skill_folders(None)):
        said["own"] += [(text, one.id) for text in one.examples] * SHOWN
    said["open"] = [(text, "") for text in corpora.open_texts(data)]
    nobodys = [one.text for one in goals if one.skill == handwritten.NOBODY]
    for rows in said.values():
        r.shuffle(rows)
    found = {}
    for name, strangers in STRANGERS.items():
        texts = [text for text, _ in said[name][: MOST if name == "sgd" else None]]
        skills = [skill for _, skill in said[name][: len(texts)]]
        weights = [1.0 if skill else OUTSIDE for skill in skills]
        others = [
            text
            for other, most in strangers.items()
            for text, skill in said[other][:most]
            if skill or other in ("open", "own")
        ]
        others += nobodys if name in NOBODYS else []
        found[name] = GoalSource(
            name, texts + others, skills + [""] * len(others), weights + [1.0] * len(others)
        )
    verbal = [(one.text, one.verb) for one in goals if one.verb]
    found["verbs"] = GoalSource("verbs", [t for t, _ in verbal], [v for _, v in verbal], [1.0] * len(verbal))
    return found


def learn(source: GoalSource, hashed: Hashed, rows: Sequence[int] | None = None) -> Learned:
    """Train one machine. rows: on these goals alone."""
    rows = range(len(source.texts)) if rows is None else rows
    vectors = hashed.vectors([source.texts[row] for row in rows])
    machine = LinearSVC(C=COST, dual=True, random_state=0, tol=1e-3, max_iter=2000)
    machine.fit(vectors, [source.skills[row] for row in rows], [source.weights[row] for row in rows])
    kept = [place for place, name in enumerate(machine.classes_) if name]
    exact = machine.coef_[kept]
    scales = np.abs(exact).max(1) / 127
    weights = np.round(exact / scales[:, None]).astype(np.int8)
    return Learned(
        [str(machine.classes_[place]) for place in kept], weights, scales, machine.intercept_[kept]
    )


def named(data: Path) -> dict[tuple[str, str], tuple[set[str], set[str]]]:
    """Keys of the names and of the descriptions of each skill, by (source, name as learned)."""
    found: dict[tuple[str, str], tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for (source, name), skill in corpora.load(data).skills.items():
        names, told = found[source, plain(name) if source == "sgd" else name]
        names.add(key_of(name))
        told.add(key_of(skill.description))
    other = handwritten.descriptions()
    for skill in find_skills(skill_folders(None)):
        names, told = found["own", skill.id]
        names.add(key_of(skill.id))
        told.update(map(key_of, (skill.description, *other.get(skill.id, ()))))
    return found


def train(data: Path) -> bytes:
    """All machines as one member of a model file."""
    started = time.monotonic()
    known, keys = sources(data), named(data)
    hashed = Hashed(dict.fromkeys(text for one in known.values() for text in one.texts))
    classes: list[dict[str, Any]] = []
    columns: list[np.ndarray] = []
    verbs: dict[str, int] = {}
    for source in known.values():
        learned = learn(source, hashed)
        for place, skill in enumerate(learned.skills):
            names, told = keys[source.name, skill] if source.name != "verbs" else (set(), set())
            if source.name == "verbs":
                verbs[skill] = len(classes)
            row = {"names": sorted(names), "told": sorted(told), "source": source.name}
            row |= {
                "scale": float(learned.scales[place]),
                "bias": float(learned.biases[place]) - HARDER.get(source.name, 0.0),
            }
            classes.append(row)
        columns.append(learned.weights)
        took = f"{time.monotonic() - started:.0f} s"
        print(f"{source.name}: {len(source.texts)} goals, {len(learned.skills)} classes, {took}", flush=True)
    rows = (np.concatenate(columns).T.astype(np.int16) + ZERO).astype(np.uint8)
    margins = _all_margins(known, hashed, columns, classes)
    for place, row in enumerate(classes):
        row |= {"mean": float(margins[:, place].mean()), "spread": float(margins[:, place].std())}
    head: dict[str, object] = {"buckets": BUCKETS, "classes": classes, "verbs": verbs}
    return packed(head, hashed.rarities, [rows.tobytes()])


def _all_margins(
    known: dict[str, GoalSource], hashed: Hashed, columns: list[np.ndarray], classes: list[dict[str, Any]]
) -> np.ndarray:
    """Margins of some goals of all sources for all classes."""
    texts = [text for source in known.values() for text in source.texts[:TYPICAL]]
    scales, biases = ([row[name] for row in classes] for name in ("scale", "bias"))
    return np.asarray(hashed.vectors(texts) @ np.concatenate(columns).T * scales + biases)


def put_into(path: Path, member: bytes) -> None:
    """Write a GGUF again with this member behind its tensors, and its sum beside it."""
    reader = gguf.GGUFReader(str(path))
    made = path.with_name(f"{path.name}.new")
    writer = gguf.GGUFWriter(str(made), str(reader.fields["general.architecture"].contents()))
    for one in reader.fields.values():
        if one.name not in ("general.architecture", SIZE_KEY) and not one.name.startswith("GGUF."):
            kind = one.types[0]
            inner = one.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
            writer.add_key_value(one.name, one.contents(), kind, sub_type=inner)
    writer.add_uint64(SIZE_KEY, len(member))
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, tensor.data, raw_shape=tensor.data.shape, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with made.open("ab") as file:
        file.write(member)
    made.replace(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_name(f"{path.name}.sha256").write_text(f"{digest}  {path.name}\n")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the corpora (*.jsonl.gz)")
    parser.add_argument("--into", type=Path, required=True, help="the GGUF that it becomes a part of")
    given = parser.parse_args()
    member = train(given.data)
    put_into(given.into, member)
    print(f"{given.into}: {given.into.stat().st_size:,} bytes, {len(member):,} of them the linear member")


if __name__ == "__main__":
    main()
