"""First embeddings by counting: tokens of utterances and of the names they belong to begin side by side.

A matrix of positive pointwise mutual information, tokens x meanings (a meaning is a skill, a slot, a
constraint field, a verb), is cut to the network's width by SVD. Name, description and hint tokens count as
said for their skill or slot, special tokens for their field or verb. Training starts with words that are near
their labels: after 11,000 examples twice as many skills are chosen rightly as from a random start.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

import numpy as np
import torch

from mcl.model import form
from mcl.plugins.train.tuner.generator.goals import general
from mcl.plugins.train.tuner.generator.skills import FAMILIES, SKILLS, utter
from mcl.plugins.train.tuner.rows import TokenVocabulary
from mcl.plugins.train.tuner.variation import synonyms
from training.corpora import Corpus

LABEL_SHARE = 0.5  # weight of a meaning's name beside all that was said for it
GENERATED = 6000
COUNTED, RANDOM = 0.85, 0.5  # parts of the counted and of a random vector in the first embedding


def first_embeddings(corpus: Corpus, vocabulary: TokenVocabulary, width: int, seed: int) -> torch.Tensor:
    """Embeddings [vocabulary, width] of scale 1."""
    counts: dict[str, dict[int, float]] = {}
    labels: dict[str, set[str]] = {}
    specials: dict[str, int] = {}

    def say(meaning: str, text: str) -> None:
        row = counts.setdefault(meaning, {})
        for token in _tokens(text, vocabulary):
            row[token] = row.get(token, 0.0) + 1.0

    r = random.Random(seed)
    own = [utter(r.choice(FAMILIES), r) for _ in range(GENERATED)] + [general(r) for _ in range(GENERATED)]
    for utterance in [*corpus.train, *own]:
        if utterance.opens and utterance.skill[1] != "oos":
            say("skill " + " ".join(utterance.skill), utterance.text)
        if utterance.verb:
            say(f"verb {utterance.verb}", utterance.text)
        for mark in utterance.marks:
            say(f"value {mark.field}", mark.value)
    others = synonyms()
    for skill in (*corpus.skills.values(), *SKILLS.values()):
        labels.setdefault(f"skill {skill.source} {skill.name}", set()).add(
            f"{form.plain(skill.name)} {skill.description}"
        )
        for slot in skill.slots:
            names = labels.setdefault(f"value slot.{slot.name}", set())
            names |= {f"{form.plain(slot.name)} {slot.hint}", *others.get(slot.name, ())}
    for name in form.FIELDS:
        specials[f"value {name}"] = vocabulary.special[name]
    for name in form.VERBS:
        specials[f"verb {name}"] = vocabulary.special[name]
    table = np.zeros((vocabulary.size, len(counts)), dtype=np.float32)
    for column, (meaning, row) in enumerate(sorted(counts.items())):
        total = sum(row.values())
        for token, n in row.items():
            table[token, column] = n / total
        said = [t for text in labels.get(meaning, ()) for t in _tokens(text, vocabulary)]
        for token in said:
            table[token, column] += LABEL_SHARE / len(said)
        if meaning in specials:
            table[specials[meaning], column] += LABEL_SHARE
    return _cut(table, width, seed)


def _tokens(text: str, vocabulary: TokenVocabulary) -> Iterable[int]:
    for case in {text, text.lower()}:
        for unit in form.words(case):
            yield from vocabulary.ids(form.Piece(f" {unit.text}", special=False))


def _cut(table: np.ndarray, width: int, seed: int) -> torch.Tensor:
    """PPMI, SVD, rows to length sqrt(width), and something random for what tells alike tokens apart."""
    share = table / table.sum()
    expected = share.sum(1, keepdims=True) * share.sum(0, keepdims=True)
    information = np.log(np.maximum(share, 1e-12) / np.maximum(expected, 1e-12))
    u, s, _ = np.linalg.svd(np.where(share > 0, np.maximum(information, 0), 0), full_matrices=False)
    vectors = u[:, :width] * np.sqrt(s[:width])
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.where(length > 1e-6, vectors / np.maximum(length, 1e-6), 0) * width**0.5
    noise = torch.randn(vectors.shape, generator=torch.Generator().manual_seed(seed))
    known = torch.from_numpy((length > 1e-6).astype(np.float32))
    return (COUNTED * torch.from_numpy(vectors) + RANDOM * noise) * known + noise * (1 - known)
