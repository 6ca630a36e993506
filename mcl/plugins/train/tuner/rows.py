"""Packing: one header, then several bodies that each see it and themselves; the header is paid once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from mcl.model.form import Label, Piece, Read
from mcl.plugins.train.tuner.vocabulary import Vocabulary

PAD_SEGMENT = -1


Labels = tuple[Label, ...]


@dataclass
class Body:
    """Tokens of a body, and its reads: (token offset, labels allowed, index of the answer or -1, weight)."""

    tokens: list[int]
    reads: list[tuple[int, Labels, int, float]]


@dataclass
class Row:
    """A header's tokens and the bodies packed behind it."""

    header: list[int]
    bodies: list[Body] = field(default_factory=list)
    length: int = 0

    def fits(self, body: Body, limit: int) -> bool:
        """Whether the body still fits into `limit` tokens."""
        return (self.length or len(self.header)) + len(body.tokens) <= limit

    def add(self, body: Body) -> None:
        """Pack the body."""
        self.length = (self.length or len(self.header)) + len(body.tokens)
        self.bodies.append(body)


@dataclass
class Batch:
    """Tensors. tokens, positions, segments [B, T]. Reads: where [R] (flat), allowed [R, A] (index of the
    label, -1 behind the last), answer [R] (index into allowed), weight [R]. Labels: tokens, weights [N],
    offsets [L].
    """

    tokens: torch.Tensor
    positions: torch.Tensor
    segments: torch.Tensor
    where: torch.Tensor
    allowed: torch.Tensor
    answer: torch.Tensor
    weight: torch.Tensor
    label_tokens: torch.Tensor
    label_weights: torch.Tensor
    label_offsets: torch.Tensor
    examples: int


def tokens_of(pieces: Sequence[Piece], vocabulary: Vocabulary) -> list[int]:
    """Ids of pieces in a row."""
    return [token for piece in pieces for token in vocabulary.ids(piece)]


def body_of(
    pieces: Sequence[Piece],
    reads: Sequence[tuple[Read, str | None, float]],
    vocabulary: Vocabulary,
) -> Body:
    """A body from pieces; reads are (read, the answer's name or None when unknown, weight)."""
    tokens: list[int] = []
    starts: list[int] = []
    for piece in pieces:
        starts.append(len(tokens))
        tokens.extend(vocabulary.ids(piece))
    return Body(
        tokens,
        [
            (starts[read.piece], read.allowed, -1 if answer is None else read.names.index(answer), weight)
            for read, answer, weight in reads
        ],
    )


def collate(rows: Sequence[Row], width: int, vocabulary: Vocabulary) -> Batch:
    """Rows as tensors, padded to `width` tokens."""
    tokens = np.zeros((len(rows), width), dtype=np.int64)
    positions = np.zeros((len(rows), width), dtype=np.int64)
    segments = np.full((len(rows), width), PAD_SEGMENT, dtype=np.int64)
    where: list[int] = []
    answers: list[int] = []
    weights: list[float] = []
    places: dict[Label, int] = {}
    sets: dict[Labels, list[int]] = {}
    allowed_sets: list[list[int]] = []
    for i, row in enumerate(rows):
        at = len(row.header)
        tokens[i, :at] = row.header
        positions[i, :at] = np.arange(at)
        segments[i, :at] = 0
        for j, body in enumerate(row.bodies):
            end = at + len(body.tokens)
            tokens[i, at:end] = body.tokens
            positions[i, at:end] = len(row.header) + np.arange(end - at)
            segments[i, at:end] = j + 1
            for offset, allowed, answer, weight in body.reads:
                where.append(i * width + at + offset)
                known = sets.get(allowed)
                if known is None:
                    known = sets[allowed] = [places.setdefault(label, len(places)) for label in allowed]
                allowed_sets.append(known)
                answers.append(answer)
                weights.append(weight)
            at = end
    table = np.full((len(where), max(map(len, allowed_sets))), -1, dtype=np.int64)
    for i, known in enumerate(allowed_sets):
        table[i, : len(known)] = known
    label_tokens: list[int] = []
    label_weights: list[float] = []
    offsets: list[int] = []
    for label in places:
        offsets.append(len(label_tokens))
        for piece in label:
            ids = vocabulary.ids(piece)
            label_tokens += ids
            label_weights += [len(ids) ** -0.5] * len(ids)
    return Batch(
        torch.from_numpy(tokens), torch.from_numpy(positions), torch.from_numpy(segments),
        torch.tensor(where), torch.from_numpy(table), torch.tensor(answers), torch.tensor(weights),
        torch.tensor(label_tokens), torch.tensor(label_weights), torch.tensor(offsets),
        sum(len(row.bodies) for row in rows),
    )  # fmt: skip
