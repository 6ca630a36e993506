"""Train the linear member (mcl/model/skill_classifier.py) and put it behind the tensors of a GGUF.

python -m training.skill_classifier --data ../shared/data --into mcl/model/data/mcl-encoder.gguf --out FOLDER

One support vector machine a source, each skill against everything else of that source and against strangers:
goals that are surely for none of its skills. It learns from hashed n-grams and from the vectors that this
GGUF makes of the goals (kept in FOLDER; ten minutes for 80,000). Needs scipy and gguf.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

from mcl.language.skills import find_skills, skill_folders
from mcl.model.form import plain
from mcl.model.heads import SIZE_KEY as HEADS_SIZE_KEY
from mcl.model.heads import Vectors
from mcl.model.skill_classifier import RARITY_UNIT, SIZE_KEY, ZERO, buckets_of, key_of, packed
from mcl.plugins.train.tuner import handwritten
from mcl.plugins.train.tuner.utterances import Utterance
from training import corpora, written
from training.goal_vectors import GoalVectorFiles

BUCKETS = 1 << 14
COST = 1.5  # of the machine: how dear a goal on the wrong side is
OUTSIDE = 2.0  # how much more a goal counts that its own source says is out of scope
SHARE = 1.5  # how much the vector of a goal counts beside its n-grams
STEPS = 80  # of L-BFGS
MOST = {"sgd": 8000}  # goals of a source, where not all
SEED = 20261121
SOURCES = ("clinc", "banking77", "hwu64", "snips", "sgd")
NOBODYS = ("banking77", "sgd", "own")
"""Sources whose skills take nothing of what nobody takes (clinc and hwu64 have skills for small talk)."""
SHOWN = 3  # times that a shipped skill's own examples count
AGAINST = 3.0  # what a goal counts that a shipped skill says not to be for it
HARDER = {"own": 0.2}
"""What is taken off the margins of a source: its skills are few, and much that people want is for none."""
STRANGERS = {
    "clinc": {"own": 700, "open": 700, "hands": 1000},
    "banking77": {"own": 700, "open": 700, "hands": 1000, "snips": 600, "hwu64": 900, "sgd": 500},
    "hwu64": {"own": 700, "open": 700, "hands": 600, "banking77": 600},
    "snips": {"own": 700, "open": 700, "hands": 600, "banking77": 500},
    "sgd": {"own": 700, "open": 700, "hands": 600, "banking77": 500},
    "own": {"hands": 6000, "banking77": 400, "snips": 400, "clinc": 600, "hwu64": 600, "sgd": 300},
}
"""How many goals of which others are strangers to a source."""


@dataclass
class GoalSource:
    """Goals and their skills' names ("" for strangers), and what each counts.

    against: goals that are surely not for one skill, of which nothing more is known.
    """

    name: str
    texts: list[str]
    skills: list[str]
    weights: list[float]
    against: list[tuple[str, str]] = field(default_factory=list)

    @property
    def every_text(self) -> list[str]:
        """Its goals, and those against behind them."""
        return [*self.texts, *(text for text, _ in self.against)]


@dataclass
class Learned:
    """One machine: for each skill its weights and its direction as whole numbers, their scales, and its
    bias."""

    skills: list[str]
    weights: np.ndarray  # skills x buckets, -127 … 127
    scales: np.ndarray
    directions: np.ndarray  # skills x width, -127 … 127
    stretches: np.ndarray
    biases: np.ndarray

    def margins(self, hashed: sp.csr_matrix, vectors: Vectors) -> np.ndarray:
        """goals x skills."""
        alike = vectors @ self.directions.T.astype(np.float32) * self.stretches
        return np.asarray(hashed @ self.weights.T * self.scales + alike + self.biases)


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


def sources(data: Path) -> dict[str, GoalSource]:
    """What each machine learns from."""
    r = random.Random(SEED)
    corpus, goals, hands = corpora.load(data), handwritten.load(), list(written.of_one_wish(("train",)))
    said: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for one in corpus.train:
        if one.opens and one.skill[0] in SOURCES:
            said[one.skill[0]].append((one.text, "" if one.skill[1] == "oos" else merged(one)))
    said["own"] = [
        (one.text, one.skill[1] if one.skill[1] != "general" else "")
        for one in goals
        if one.skill != handwritten.NOBODY
    ]
    said["own"] += [(text, skill) for text, skill, _ in hands if skill]
    against: list[tuple[str, str]] = []
    for shipped_skill in find_skills(skill_folders(None)):
        if not shipped_skill.takes_any:
            said["own"] += [(text, shipped_skill.id) for text in shipped_skill.examples] * SHOWN
            against += [(text, shipped_skill.id) for text in shipped_skill.not_for]
    said["open"] = [(text, "") for text in corpora.open_texts(data)]
    said["hands"] = [(text, "") for text, skill, _ in hands if not skill]
    nobodys = [one.text for one in goals if one.skill == handwritten.NOBODY]
    for rows in said.values():
        r.shuffle(rows)
    found = {}
    for name, strangers in STRANGERS.items():
        texts = [text for text, _ in said[name][: MOST.get(name)]]
        skills = [skill for _, skill in said[name][: len(texts)]]
        weights = [1.0 if skill else OUTSIDE for skill in skills]
        others = [
            text
            for other, most in strangers.items()
            for text, skill in said[other][:most]
            if skill or other in ("open", "own", "hands")
        ]
        others += nobodys if name in NOBODYS else []
        found[name] = GoalSource(
            name,
            texts + others,
            skills + [""] * len(others),
            weights + [1.0] * len(others),
            against if name == "own" else [],
        )
    verbal = [(one.text, one.verb) for one in goals if one.verb]
    verbal += [(text, verb) for text, _, verb in hands if verb]
    found["verbs"] = GoalSource("verbs", [t for t, _ in verbal], [v for _, v in verbal], [1.0] * len(verbal))
    return found


def learn(
    source: GoalSource, hashed: Hashed, vectors: Vectors, *, cost: float = COST, share: float = SHARE
) -> Learned:
    """Train one machine. vectors: of the source's goals and those against, of length one."""
    skills = sorted(set(source.skills) - {""})
    grams = hashed.vectors(source.every_text).astype(np.float32)
    dense = np.hstack([vectors * share, np.ones((len(vectors), 1))]).astype(np.float32)
    known = [*source.skills, *[""] * len(source.against)]
    sides = np.array([[1.0 if one == skill else -1.0 for skill in skills] for one in known], np.float32)
    costs = cost * np.repeat(np.array(source.weights, np.float32)[:, None], len(skills), 1)
    alone = [[AGAINST * (one == skill) for skill in skills] for _, one in source.against]
    costs = np.vstack([costs, cost * np.array(alone, np.float32).reshape(-1, len(skills))])
    exact = _separated(grams, dense, sides, costs)
    weights, scales = _bytes(exact[:BUCKETS].T)
    directions, stretches = _bytes(exact[BUCKETS:-1].T * share)
    return Learned(skills, weights, scales, directions, stretches, exact[-1])


def _separated(grams: sp.csr_matrix, dense: Vectors, sides: Vectors, costs: Vectors) -> np.ndarray:
    """Support vector machines (squared hinge) for all classes at once: [features, classes].

    grams, dense: features of each goal; sides: [goals, classes], 1 or -1; costs: [goals, classes]. By L-BFGS,
    since all classes then share each product of matrices; liblinear takes them one by one, ten times as long.
    """
    turned = sp.csr_matrix(grams.T)
    shape = grams.shape[1] + dense.shape[1], sides.shape[1]

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        all_ = flat.reshape(shape).astype(np.float32)
        said = grams @ all_[: grams.shape[1]] + dense @ all_[grams.shape[1] :]
        short = np.maximum(1 - sides * said, 0)
        pull = costs * short
        total = 0.5 * float(np.vdot(all_, all_)) + float(np.vdot(pull, short))
        pull *= -2 * sides
        slope = all_ + np.concatenate([turned @ pull, dense.T @ pull])
        return total, slope.ravel().astype(np.float64)

    start = np.zeros(shape[0] * shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS, "maxcor": 8})
    return np.asarray(found.x.reshape(shape))


def _bytes(exact: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows as whole numbers from -127 to 127, and what each row is to be multiplied by."""
    scales = np.maximum(np.abs(exact).max(1), 1e-9) / 127
    return np.round(exact / scales[:, None]).astype(np.int8), scales


def named(data: Path) -> dict[tuple[str, str], tuple[set[str], set[str]]]:
    """Keys of the names and of the descriptions of each skill, by (source, name as learned)."""
    found: dict[tuple[str, str], tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for (source, name), skill in corpora.load(data).skills.items():
        names, told = found[source, plain(name) if source == "sgd" else name]
        names.add(key_of(name))
        told.add(key_of(skill.description))
    other = handwritten.descriptions()
    for name, one in written.shelf().items():
        names, told = found["own", one.ships[""] or name]
        names.add(key_of(name))
        told.update(map(key_of, (one.skill.description, *one.also, *other.get(name, ()))))
    for shown in find_skills(skill_folders(None)):
        names, told = found["own", shown.id]
        names.add(key_of(shown.id))
        told.add(key_of(shown.description))
    return found


def train(data: Path, gguf: Path, out: Path) -> bytes:
    """All machines as one member of a model file. gguf: the model; out: where vectors are kept."""
    started = time.monotonic()
    known, keys = sources(data), named(data)
    read = GoalVectorFiles(gguf, out)
    read.read(text for one in known.values() for text in one.every_text)
    hashed = Hashed(dict.fromkeys(text for one in known.values() for text in one.every_text))
    learned: list[tuple[str, Learned]] = []
    for source in known.values():
        learned.append((source.name, learn(source, hashed, read.of(source.every_text))))
        took = f"{time.monotonic() - started:.0f} s"
        print(
            f"{source.name}: {len(source.texts)} goals, {len(learned[-1][1].skills)} classes, {took}",
            flush=True,
        )
    return as_member(learned, keys, hashed)


def as_member(
    learned: Sequence[tuple[str, Learned]],
    keys: Mapping[tuple[str, str], tuple[set[str], set[str]]],
    hashed: Hashed,
) -> bytes:
    """Machines by their source's name as they lie in a file."""
    classes: list[dict[str, Any]] = []
    verbs: dict[str, int] = {}
    for source, one in learned:
        for place, skill in enumerate(one.skills):
            names, told = keys.get((source, skill), (set(), set()))
            if source == "verbs":
                verbs[skill] = len(classes)
            classes.append({
                "names": sorted(names), "told": sorted(told), "source": source,
                "scale": float(one.scales[place]), "stretch": float(one.stretches[place]),
                "bias": float(one.biases[place]) - HARDER.get(source, 0.0),
            })  # fmt: skip
    weights = np.concatenate([one.weights for _, one in learned])
    rows = (weights.T.astype(np.int16) + ZERO).astype(np.uint8)
    directions = np.concatenate([one.directions for _, one in learned])
    head = {"buckets": BUCKETS, "width": directions.shape[1], "classes": classes, "verbs": verbs}
    return packed(head, hashed.rarities, [rows.tobytes()], [directions.tobytes()])


def put_into(path: Path, member: bytes) -> None:
    """Write a GGUF again with this member behind its heads, and its sum beside it."""
    heads = _heads(path)
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
        file.write(heads + member)
    made.replace(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_name(f"{path.name}.sha256").write_text(f"{digest}  {path.name}\n")


def _heads(path: Path) -> bytes:
    """What lies between the tensors of a GGUF and its linear member."""
    fields = gguf.GGUFReader(str(path)).fields
    heads, old = (int(fields[key].contents()) if key in fields else 0 for key in (HEADS_SIZE_KEY, SIZE_KEY))
    data = path.read_bytes()
    return data[len(data) - old - heads : len(data) - old]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with the corpora (*.jsonl.gz)")
    parser.add_argument("--into", type=Path, required=True, help="the GGUF that it becomes a part of")
    parser.add_argument("--out", type=Path, required=True, help="folder where vectors of goals are kept")
    given = parser.parse_args()
    member = train(given.data, given.into, given.out)
    put_into(given.into, member)
    print(f"{given.into}: {given.into.stat().st_size:,} bytes, {len(member):,} of them the linear member")


if __name__ == "__main__":
    main()
