"""The network: llama architecture (RMSNorm, RoPE, SwiGLU, tied embeddings), attention in both directions."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from mcl.plugins.train.tuner.rows import Batch

ALIKE, COPIED, LAST_NORM = 0.6, 0.5, 0.03


@dataclass(frozen=True)
class Shape:
    """Sizes of the network."""

    vocabulary: int
    specials: int
    width: int = 256
    layers: int = 4
    heads: int = 4
    feed_forward: int = 704
    rope_base: float = 10000.0
    epsilon: float = 1e-5

    def to_json(self) -> dict[str, float]:
        """As a plain mapping."""
        return asdict(self)


def rotation(positions: Tensor, size: int, base: float) -> tuple[Tensor, Tensor]:
    """Cosine and sine [B, 1, T, size/2] of RoPE at the positions [B, T]."""
    speed = base ** (-torch.arange(0, size, 2, dtype=torch.float32) / size)
    angle = positions[:, None, :, None].float() * speed
    return angle.cos(), angle.sin()


def turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """RoPE on half-split pairs (the export permutes the rows to llama.cpp's neighbouring pairs)."""
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


class Block(nn.Module):
    """Attention and feed-forward, each behind an RMSNorm."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.width
        self.shape = shape
        self.norm_attention = nn.Parameter(torch.ones(width))
        self.norm_forward = nn.Parameter(torch.ones(width))
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.gate, self.up = (nn.Linear(width, shape.feed_forward, bias=False) for _ in range(2))
        self.down = nn.Linear(shape.feed_forward, width, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, bias: Tensor) -> Tensor:
        """x [B, T, width]; bias [B, 1, T, T] is 0 where a token may look, -inf elsewhere."""
        shape = self.shape
        rows, time, width = x.shape
        h = functional.rms_norm(x, (width,), self.norm_attention, shape.epsilon)
        q, k, v = (
            part(h).view(rows, time, shape.heads, -1).transpose(1, 2) for part in (self.q, self.k, self.v)
        )
        mixed = functional.scaled_dot_product_attention(
            turned(q, cos, sin), turned(k, cos, sin), v, attn_mask=bias
        )
        x = x + self.o(mixed.transpose(1, 2).reshape(rows, time, width))
        h = functional.rms_norm(x, (width,), self.norm_forward, shape.epsilon)
        out: Tensor = x + self.down(functional.silu(self.gate(h)) * self.up(h))
        return out


def _begin(block: Block, width: int) -> None:
    """Mimetic initialisation (Trockman and Kolter 2023), stronger: Q = K, so that alike tokens attend to each
    other, and O = V transposed, so that what is attended to is copied. Binding names to words is learned in a
    fraction of the steps that a random start needs."""
    for layer in (block.gate, block.up):
        nn.init.normal_(layer.weight, std=width**-0.5)
    nn.init.zeros_(block.down.weight)
    nn.init.normal_(block.q.weight, std=ALIKE * width**-0.5)
    nn.init.orthogonal_(block.v.weight)
    with torch.no_grad():
        block.k.weight.copy_(block.q.weight)
        block.o.weight.copy_(COPIED * block.v.weight.T)


class Network(nn.Module):
    """Tokens to hidden states; `logits` scores labels by the tied embedding."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        # Token identity must not drown in what the blocks add, so embeddings begin at scale 1; the last norm
        # begins small instead, so that the tied logits do.
        self.norm = nn.Parameter(torch.full((shape.width,), LAST_NORM))
        nn.init.normal_(self.embedding.weight, std=1.0)
        for block in self.blocks:
            assert isinstance(block, Block)
            _begin(block, shape.width)

    def forward(self, tokens: Tensor, cos: Tensor, sin: Tensor, bias: Tensor) -> Tensor:
        """Hidden states [B, T, width] behind the last norm."""
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, cos, sin, bias)
        return functional.rms_norm(x, (self.shape.width,), self.norm, self.shape.epsilon)

    def logits(self, hidden: Tensor, batch: Batch) -> Tensor:
        """Scores [R, A] of the allowed answers, -inf where there are fewer: hidden state times label."""
        picked = hidden.reshape(-1, self.shape.width)[batch.where]
        labels = functional.embedding_bag(
            batch.label_tokens, self.embedding.weight, batch.label_offsets, mode="sum",
            per_sample_weights=batch.label_weights,
        )  # fmt: skip
        scores = (picked @ labels.T).gather(1, batch.allowed.clamp(min=0))
        return scores.masked_fill(batch.allowed < 0, float("-inf"))


def inputs(batch: Batch, shape: Shape) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Arguments of Network.forward: a body sees the header (segment 0) and itself, the header sees itself."""
    cos, sin = rotation(batch.positions, shape.width // shape.heads, shape.rope_base)
    segment = batch.segments
    seen = (segment[:, None, :] == 0) | (segment[:, None, :] == segment[:, :, None])
    bias = torch.zeros(seen.shape).masked_fill(~seen, float("-inf"))[:, None]
    return batch.tokens, cos, sin, bias
