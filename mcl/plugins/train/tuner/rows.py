"""Rows of training: one header, then several bodies; and the goals of which they are made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

from mcl.model import form
from mcl.model.form import Label, Piece, Read
from mcl.model.protocol import Candidate
from mcl.plugins.train.tuner.utterances import Utterance
from mcl.plugins.train.tuner.variation import Variant, Variation

# ---- The byte-level BPE of the bundled model; llama.cpp reads it as model `gpt2`, pre-tokenizer `qwen2`.

QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def bare(vocabulary: dict[str, int] | None = None, merges: list[tuple[str, str]] | None = None) -> Tokenizer:
    """The tokenizer with these pieces and merges; without any, ready to learn them."""
    tokenizer = Tokenizer(models.BPE(vocabulary, merges) if vocabulary else models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(QWEN2), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


class TokenVocabulary:
    """Pieces to ids: text through the BPE (remembered), special tokens behind it, as in form.SPECIALS."""

    def __init__(self, path: Path) -> None:
        self.tokenizer: Tokenizer = Tokenizer.from_file(str(path))
        self.base: int = self.tokenizer.get_vocab_size()
        self.special = {name: self.base + i for i, name in enumerate(form.SPECIALS)}
        self.size = self.base + len(form.SPECIALS)
        self.merges: list[tuple[str, str]] = [
            tuple(m) for m in json.loads(path.read_text())["model"]["merges"]
        ]
        self._known: dict[str, tuple[int, ...]] = {}

    def ids(self, piece: form.Piece) -> tuple[int, ...]:
        """Token ids of a piece."""
        if piece.special:
            return (self.special[piece.text],)
        known = self._known.get(piece.text)
        if known is None:
            known = tuple(self.tokenizer.encode(piece.text).ids)
            if len(self._known) < 400_000:
                self._known[piece.text] = known
        return known


# ---- Packing: one header, then several bodies that each see it and themselves; the header is paid once.

PAD_SEGMENT = -1


Labels = tuple[Label, ...]


@dataclass
class RowBody:
    """Tokens of a body, and its reads: (token offset, labels allowed, index of the answer or -1, weight)."""

    tokens: list[int]
    reads: list[tuple[int, Labels, int, float]]


@dataclass
class TrainingRow:
    """A header's tokens and the bodies packed behind it."""

    header: list[int]
    bodies: list[RowBody] = field(default_factory=list)
    length: int = 0

    def fits(self, body: RowBody, limit: int) -> bool:
        """Whether the body still fits into `limit` tokens."""
        return (self.length or len(self.header)) + len(body.tokens) <= limit

    def add(self, body: RowBody) -> None:
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


def tokens_of(pieces: Sequence[Piece], vocabulary: TokenVocabulary) -> list[int]:
    """Ids of pieces in a row."""
    return [token for piece in pieces for token in vocabulary.ids(piece)]


def body_of(
    pieces: Sequence[Piece],
    reads: Sequence[tuple[Read, str | None, float]],
    vocabulary: TokenVocabulary,
) -> RowBody:
    """A body from pieces; reads are (read, the answer's name or None when unknown, weight)."""
    tokens: list[int] = []
    starts: list[int] = []
    for piece in pieces:
        starts.append(len(tokens))
        tokens.extend(vocabulary.ids(piece))
    return RowBody(
        tokens,
        [
            (starts[read.piece], read.allowed, -1 if answer is None else read.names.index(answer), weight)
            for read, answer, weight in reads
        ],
    )


def collate(rows: Sequence[TrainingRow], width: int, vocabulary: TokenVocabulary) -> Batch:
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


# ---- One goal of a row: its pieces with the right answers, for a choice or for an extraction.

TAG_WEIGHT, PICK_WEIGHT, OPTION_WEIGHT = 0.3, 1.01, 1.0
VERB_WEIGHT, THEIR_VERB_WEIGHT = 0.6, 0.2
"""Of a goal of our own domain, and of another set's utterance, whose verb is nearly always find or modify."""


def tags_of(
    utterance: Utterance, units: Sequence[form.Unit], variant: Variant
) -> tuple[list[str], dict[int, str]] | None:
    """Tags of the units and options of the slots that have some, or None where labels cannot be told so."""
    tags = ["none"] * len(units)
    options: dict[int, str] = {}
    place = {field: i for i, field in enumerate(variant.original) if field}
    first_option = [0]
    for slot in variant.shown.slots:
        first_option.append(first_option[-1] + len(slot.options))
    for mark in utterance.marks:
        at = place.get(mark.field)
        if at is not None and variant.shown.slots[at].options:
            values = [v.lower() for v in variant.shown.slots[at].options]
            wanted = {"true": "yes", "false": "no"}.get(mark.value.lower(), "") if "yes" in values else ""
            wanted = wanted or mark.value.lower()
            if wanted in values:
                options[at] = f"e{first_option[at] + values.index(wanted)}"
            continue
        if mark.start is None or (at is None and mark.field not in form.FIELDS):
            continue
        inside = [
            i for i, unit in enumerate(units) if mark.start <= unit.start and unit.end <= (mark.end or 0)
        ]
        if not inside or units[inside[0]].start != mark.start or units[inside[-1]].end != mark.end:
            return None
        for i in inside:
            tags[i] = "in"
        tags[inside[0]] = mark.field if at is None else f"s{at}"
    return tags, options


def extract_body(
    utterance: Utterance, variant: Variant, vocabulary: TokenVocabulary, variation: Variation | None
) -> RowBody | None:
    """The body of one utterance under a form, with answers."""
    units = form.windows(form.words(utterance.text))[0]
    told = tags_of(utterance, units, variant)
    if told is None or not units:
        return None
    tags, options = told
    prompt = form.extract_prompt(utterance.text, units, variant.shown)
    pieces = list(prompt.body)
    if variation is not None:
        pieces = variation.noisy(pieces, tags)
    asked = [i for i, slot in enumerate(variant.shown.slots) if slot.options]
    answers = [*tags, *(options.get(i, "none") for i in asked)]
    weights = [TAG_WEIGHT] * len(tags) + [OPTION_WEIGHT] * len(asked)
    return body_of(
        pieces,
        list(zip(prompt.reads, answers, weights, strict=True)),
        vocabulary,
    )


def choose_body(
    text: str,
    answer: str,
    verb: str,
    candidates: Sequence[Candidate],
    vocabulary: TokenVocabulary,
    variation: Variation | None,
    verb_weight: float = VERB_WEIGHT,
) -> RowBody:
    """The body of one choice, with answers (verb "" = unknown)."""
    prompt = form.choose_prompt(text, candidates)
    pieces = list(prompt.body)
    if variation is not None:
        pieces = variation.noisy(pieces, ["none"] * len(pieces))
    pick, verbs = prompt.reads
    reads = [
        (pick, answer, PICK_WEIGHT),
        (verbs, verb or None, verb_weight if verb else 0.0),
    ]
    return body_of(pieces, reads, vocabulary)
