"""The encoder in torch: BERT as all-MiniLM-L6-v2 has it, with the GELU that llama.cpp computes (tanh)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load
from tokenizers import Tokenizer
from torch import nn

from mcl.model import form
from training.base import BASE_SHA256

BEGIN, END = 101, 102
MOST_PIECES = 256
_NAMES = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "o": "attention.output.dense", "n1": "attention.output.LayerNorm", "up": "intermediate.dense",
    "down": "output.dense", "n2": "output.LayerNorm",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BertShape:
    """Sizes of the network; those of all-MiniLM-L6-v2."""

    width: int = 384
    layers: int = 6
    heads: int = 12
    feed_forward: int = 1536
    vocabulary: int = 30522
    positions: int = 512


class PackedRows:
    """Where the tokens of rows stand once those that stand for nothing are left out.

    mask: [B, n]; places: [B, n], of each its place among the tokens; bias: as for Layer.
    """

    def __init__(self, mask: torch.Tensor) -> None:
        self.mask = mask
        self.places = (mask.flatten().cumsum(0) - 1).clamp(min=0).view(mask.shape)
        self.bias = outside(mask, torch.float32)


class Layer(nn.Module):
    """One layer, normalised behind each half as in BERT."""

    def __init__(self, width: int, heads: int, feed_forward: int) -> None:
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.n1, self.n2 = nn.LayerNorm(width, eps=1e-12), nn.LayerNorm(width, eps=1e-12)
        self.up, self.down = nn.Linear(width, feed_forward), nn.Linear(feed_forward, width)

    def forward(self, x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        """x: [B, n, width]; bias: [B, 1, 1, n], far below 0 where nothing stands."""
        seen = self._attention(self.q(x), self.k(x), self.v(x), bias)
        return self._rest(x, seen)

    def packed(self, x: torch.Tensor, rows: PackedRows) -> torch.Tensor:
        """x: [tokens, width], what stands in the rows and nothing else."""
        q, k, v = (part(x)[rows.places] for part in (self.q, self.k, self.v))
        return self._rest(x, self._attention(q, k, v, rows.bias)[rows.mask])

    def _attention(
        self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: torch.Tensor
    ) -> torch.Tensor:
        b, n, width = q.shape
        q, k, v = (x.view(b, n, self.heads, width // self.heads).transpose(1, 2) for x in (q, k, v))
        seen = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return seen.transpose(1, 2).reshape(b, n, width)

    def _rest(self, x: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        x = self.n1(x + self.o(seen))
        return self.n2(x + self.down(nn.functional.gelu(self.up(x), approximate="tanh")))


class Bert(nn.Module):
    """Tokens to vectors, one for each."""

    def __init__(self, shape: BertShape) -> None:
        super().__init__()
        self.word = nn.Embedding(shape.vocabulary, shape.width)
        self.pos = nn.Embedding(shape.positions, shape.width)
        self.typ = nn.Embedding(2, shape.width)
        self.norm = nn.LayerNorm(shape.width, eps=1e-12)
        self.layers = nn.ModuleList(
            Layer(shape.width, shape.heads, shape.feed_forward) for _ in range(shape.layers)
        )

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """ids, mask: [B, n] -> [B, n, width], what stands outside the mask has no meaning."""
        rows = PackedRows(mask)
        places = torch.arange(ids.shape[1]).expand_as(ids)[mask]
        x = self.norm(self.word(ids[mask]) + self.pos(places) + self.typ.weight[0])
        for layer in self.layers:
            x = layer.packed(x, rows)  # type: ignore[operator]
        return x[rows.places]


def outside(mask: torch.Tensor, kind: torch.dtype) -> torch.Tensor:
    """mask [B, n] -> what is added to attention scores, [B, 1, 1, n]."""
    return (~mask)[:, None, None, :].to(kind) * -1e4


def pretrained(package: Path) -> Bert:
    """The network with the weights of the unpacked package. Raises ValueError where they are others."""
    data = next(package.rglob("model.safetensors")).read_bytes()
    if hashlib.sha256(data).hexdigest() != BASE_SHA256:
        raise ValueError(f"{package}: these are not the weights of all-MiniLM-L6-v2")
    weights = load(data)
    network = Bert(BertShape())
    found: dict[str, torch.Tensor] = {}
    for own, theirs in (("word", "word"), ("pos", "position"), ("typ", "token_type")):
        found[f"{own}.weight"] = weights[f"embeddings.{theirs}_embeddings.weight"]
    for part in ("weight", "bias"):
        found[f"norm.{part}"] = weights[f"embeddings.LayerNorm.{part}"]
        for layer in range(6):
            for own, theirs in _NAMES.items():
                found[f"layers.{layer}.{own}.{part}"] = weights[f"encoder.layer.{layer}.{theirs}.{part}"]
    network.load_state_dict(found)
    return network


class WordPieces:
    """Texts to pieces, a unit at a time: the pieces of a text are those of its units in a row."""

    def __init__(self, package: Path) -> None:
        self._tokenizer: Tokenizer = Tokenizer.from_file(str(next(package.rglob("tokenizer.json"))))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._units: dict[str, list[int]] = {}

    def of_units(self, units: list[str]) -> tuple[list[int], list[int]]:
        """Pieces with BEGIN and END around them, and of each piece the index of its unit (-1: none)."""
        ids, places = [BEGIN], [-1]
        for place, unit in enumerate(units):
            pieces = self._pieces(unit[: form.UNIT_CHARS])
            if len(ids) + len(pieces) >= MOST_PIECES:
                break
            ids += pieces
            places += [place] * len(pieces)
        return [*ids, END], [*places, -1]

    def of_text(self, text: str) -> list[int]:
        """Pieces of a name, hint or description."""
        return self.of_units([unit.text for unit in form.words(text)])[0]

    def _pieces(self, unit: str) -> list[int]:
        known = self._units.get(unit)
        if known is None:
            known = self._units[unit] = self._tokenizer.encode(unit, add_special_tokens=False).ids
        return known
