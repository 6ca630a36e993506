"""Teach the linear member of a model file (mcl/model/familiar.py) further skills; seconds.

Each skill against the others that are taught and against strangers, as familiar.py learns the first ones: a
support vector machine with squared hinge loss. What the member knew stays as it was, byte for byte.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from mcl.model.familiar import MAGIC, ZERO, buckets_of, key_of, packed

SOURCE = "mine"
COST = 1.5  # of the machine: how dear a goal on the wrong side is
ROUNDS = 60
NEUTRAL = -0.75
"""A margin that speaks neither for a skill nor against it (margin.familiar of grammars/core/verb.mtx)."""
APART, STRANGE = (
    5,
    90,
)  # each how manieth stranger is not learned from; percent of these that stay below NEUTRAL


def teach(
    member: bytes, goals: Sequence[tuple[str, str]], skills: Mapping[str, str], strangers: Sequence[str]
) -> bytes:
    """The member with a class for each skill, in the place of what was taught under its name before.

    member: as it lies in the file; b"" gives b"". goals: (text, skill's id). skills: descriptions by id.
    strangers: goals that are for none of them.
    """
    if not member:
        return b""
    head, rarities, rows = _parts(member)
    fresh = {key_of(id) for id in skills}
    kept = [
        place
        for place, one in enumerate(head["classes"])
        if one["source"] != SOURCE or not fresh & set(one["names"])
    ]
    places = {old: new for new, old in enumerate(kept)}
    classes = [head["classes"][place] for place in kept]
    learned = [text for place, text in enumerate(strangers) if place % APART]
    weights, scales, biases = _learned(rarities, goals, list(skills), learned)
    # A dozen examples hold few of the words that their skill will meet. So that such words speak neither way,
    # the margins are moved to where goals lie that were not learned from.
    vectors = _vectors(strangers[::APART], rarities)
    apart = torch.sparse.mm(vectors, torch.from_numpy((weights * scales[:, None]).T.copy())).numpy() + biases
    biases = biases + np.maximum(0.0, NEUTRAL - np.percentile(apart, STRANGE, axis=0))
    for place, (id, description) in enumerate(skills.items()):
        told = [key_of(description)] if key_of(description) else []
        row = {"names": [key_of(id)], "told": told, "source": SOURCE}
        classes.append(row | {"scale": float(scales[place]), "bias": float(biases[place])})
    columns = np.concatenate([rows[:, kept], (weights.T.astype(np.int16) + ZERO).astype(np.uint8)], axis=1)
    verbs = {verb: places[place] for verb, place in head["verbs"].items()}
    made: dict[str, object] = {**head, "classes": classes, "verbs": verbs}
    return packed(made, rarities.tobytes(), [np.ascontiguousarray(columns).tobytes()])


def _parts(member: bytes) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """Its JSON, the rarities of its buckets, and its rows (buckets x classes)."""
    (length,) = struct.unpack_from("<I", member, len(MAGIC))
    start = len(MAGIC) + 4
    head = json.loads(member[start : start + length])
    at, buckets = start + length, head["buckets"]
    rarities = np.frombuffer(member, np.uint8, buckets, at)
    rows = np.frombuffer(member, np.uint8, buckets * len(head["classes"]), at + buckets)
    return head, rarities, rows.reshape(buckets, -1)


def _learned(
    rarities: np.ndarray, goals: Sequence[tuple[str, str]], skills: Sequence[str], strangers: Sequence[str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whole-number weights (skills x buckets), their scales, and the biases."""
    texts = [text for text, _ in goals] + list(strangers)
    vectors = _vectors(texts, rarities)
    signs = torch.full((len(texts), len(skills)), -1.0, dtype=torch.float64)
    for row, (_, skill) in enumerate(goals):
        signs[row, skills.index(skill)] = 1.0
    # A skill has a few goals among thousands: its own count as much as a tenth of all others together.
    dear = torch.where(
        signs > 0, (0.1 * (signs < 0).sum(0) / (signs > 0).sum(0).clamp(min=1)).clamp(1, 10), 1.0
    )
    weights = torch.zeros((len(rarities), len(skills)), dtype=torch.float64, requires_grad=True)
    biases = torch.zeros(len(skills), dtype=torch.float64, requires_grad=True)
    machine = torch.optim.LBFGS([weights, biases], max_iter=ROUNDS, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        machine.zero_grad()
        short = (1 - signs * (torch.sparse.mm(vectors, weights) + biases)).clamp(min=0)
        total = 0.5 * (weights.square().sum() + biases.square().sum()) + COST * (dear * short.square()).sum()
        torch.autograd.backward(total)
        return total

    machine.step(loss)
    exact = weights.detach().numpy().T
    scales = np.maximum(np.abs(exact).max(1), 1e-9) / 127
    return np.round(exact / scales[:, None]).astype(np.int8), scales, biases.detach().numpy()


def _vectors(texts: Sequence[str], rarities: np.ndarray) -> torch.Tensor:
    """One row a text: the rarities of its features' buckets, of length 1."""
    rows = [buckets_of(text, len(rarities)) for text in texts]
    places = torch.tensor([(row, bucket) for row, found in enumerate(rows) for bucket in found]).T
    values = [rarities[np.array(found, np.int64)].astype(np.float64) for found in rows]
    scaled = np.concatenate([one / max(float(np.linalg.norm(one)), 1e-9) for one in values])
    return torch.sparse_coo_tensor(
        places, torch.from_numpy(scaled), (len(texts), len(rarities)), check_invariants=True
    ).coalesce()
