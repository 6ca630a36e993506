"""The network, its training by steps, and questions to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from ir.results import JsonResult
from mcl.model import form
from mcl.plugins.train.tuner.rows import (
    Batch,
    RowBody,
    TokenVocabulary,
    TrainingRow,
    body_of,
    collate,
    tokens_of,
)

# ---- The network: llama architecture (RMSNorm, RoPE, SwiGLU, tied embeddings), attention in both directions.

ALIKE, COPIED, LAST_NORM = 0.6, 0.5, 0.03


@dataclass(frozen=True)
class NetworkShape(JsonResult):
    """Sizes of the network."""

    vocabulary: int
    specials: int
    width: int = 256
    layers: int = 4
    heads: int = 4
    feed_forward: int = 704
    rope_base: float = 10000.0
    epsilon: float = 1e-5


def rotation(positions: Tensor, size: int, base: float) -> tuple[Tensor, Tensor]:
    """Cosine and sine [B, 1, T, size/2] of RoPE at the positions [B, T]."""
    speed = base ** (-torch.arange(0, size, 2, dtype=torch.float32) / size)
    angle = positions[:, None, :, None].float() * speed
    return angle.cos(), angle.sin()


def turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """RoPE on half-split pairs (the export permutes the rows to llama.cpp's neighbouring pairs)."""
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


class LayerBlock(nn.Module):
    """Attention and feed-forward, each behind an RMSNorm."""

    def __init__(self, shape: NetworkShape) -> None:
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


def _begin(block: LayerBlock, width: int) -> None:
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

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.width)
        self.blocks = nn.ModuleList(LayerBlock(shape) for _ in range(shape.layers))
        # Token identity must not drown in what the blocks add, so embeddings begin at scale 1; the last norm
        # begins small instead, so that the tied logits do.
        self.norm = nn.Parameter(torch.full((shape.width,), LAST_NORM))
        nn.init.normal_(self.embedding.weight, std=1.0)
        for block in self.blocks:
            assert isinstance(block, LayerBlock)
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


def inputs(batch: Batch, shape: NetworkShape) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Arguments of Network.forward: a body sees the header (segment 0) and itself, the header sees itself."""
    cos, sin = rotation(batch.positions, shape.width // shape.heads, shape.rope_base)
    segment = batch.segments
    seen = (segment[:, None, :] == 0) | (segment[:, None, :] == segment[:, :, None])
    bias = torch.zeros(seen.shape).masked_fill(~seen, float("-inf"))[:, None]
    return batch.tokens, cos, sin, bias


# ---- A network with its optimisers and the running average of its weights: one step at a time.

# ---- Muon (Keller Jordan 2024): momentum, then orthogonalisation by Newton-Schulz; for matrices.

_A, _B, _C = 3.4445, -4.7750, 2.0315
FAST_HALF = torch.cpu._is_avx512_bf16_supported()
"""Whether the processor multiplies bfloat16 faster than float32."""


def orthogonal(stack: Tensor) -> Tensor:
    """Nearest semi-orthogonal matrices, roughly, for a stack [n, rows, columns]; bfloat16 is enough."""
    x = stack.to(torch.bfloat16) if FAST_HALF else stack
    x = x.transpose(-1, -2) if stack.shape[-2] > stack.shape[-1] else x
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(5):
        square = x @ x.transpose(-1, -2)
        x = _A * x + (_B * square + _C * square @ square) @ x
    turned: Tensor = x.transpose(-1, -2) if stack.shape[-2] > stack.shape[-1] else x
    return turned.to(stack.dtype)


class Muon(torch.optim.Optimizer):
    """Muon with Nesterov momentum and decoupled weight decay; matrices of one shape go together."""

    def __init__(self, matrices: Iterable[Tensor], lr: float) -> None:
        super().__init__(list(matrices), {"lr": lr, "momentum": 0.95, "decay": 0.01})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:
        """One update."""
        for group in self.param_groups:
            alike: dict[torch.Size, list[Tensor]] = defaultdict(list)
            for matrix in group["params"]:
                if matrix.grad is not None:
                    alike[matrix.shape].append(matrix)
            for shape, matrices in alike.items():
                updates = []
                for matrix in matrices:
                    state = self.state[matrix]
                    if "momentum" not in state:
                        state["momentum"] = torch.zeros_like(matrix)
                    assert matrix.grad is not None
                    state["momentum"].lerp_(matrix.grad, 1 - group["momentum"])
                    updates.append(matrix.grad.lerp(state["momentum"], group["momentum"]))
                scale = group["lr"] * max(1.0, shape[0] / shape[1]) ** 0.5
                for matrix, update in zip(matrices, orthogonal(torch.stack(updates)), strict=True):
                    matrix.mul_(1 - group["lr"] * group["decay"]).add_(update, alpha=-scale)


MUON_RATE, EMBEDDING_RATE, NORM_RATE = 0.01, 0.006, 0.002
AVERAGE = 0.998


def loss_of(network: Network, hidden: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Weighted cross-entropy over the allowed answers."""
    logits = network.logits(hidden, batch)
    each = functional.cross_entropy(logits, batch.answer, reduction="none", ignore_index=-1)
    return (each * batch.weight).sum() / batch.weight.sum()


class Learner:
    """Muon for matrices, AdamW for the rest, and `average`: the weights as they were of late."""

    def __init__(self, network: Network, *, longest: float = AVERAGE) -> None:
        """longest: how much of the average stays at each step, once there were enough of them."""
        self.network, self.longest, self.step = network, longest, 0
        matrices = [p for p in network.blocks.parameters() if p.ndim == 2]
        norms = [p for p in network.parameters() if p.ndim == 1]
        words = [network.embedding.weight]
        self._rest = [*norms, *words]
        self._muon = Muon(matrices, MUON_RATE)
        groups: list[dict[str, Any]] = [{"params": words}, {"params": norms}]
        self._adam = torch.optim.AdamW(groups, lr=EMBEDDING_RATE, betas=(0.9, 0.98), weight_decay=0.0)
        self.average = {k: v.clone() for k, v in network.state_dict().items()}

    def begin(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Begin with these weights."""
        self.average = {k: v.clone() for k, v in weights.items()}
        self.network.load_state_dict(self.average)

    def update(self, run: nn.Module, batch: Batch, share: float) -> float:
        """One step at `share` of the full learning rates; the loss. run: the network, or it compiled."""
        rates = (MUON_RATE, EMBEDDING_RATE, NORM_RATE)
        for group, full in zip(self._muon.param_groups + self._adam.param_groups, rates, strict=True):
            group["lr"] = full * share
        with torch.autocast("cpu", torch.bfloat16, enabled=FAST_HALF):
            hidden = run(*inputs(batch, self.network.shape))
        loss = loss_of(self.network, hidden.float(), batch)
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self._rest, 1.0)
        self._muon.step()
        self._adam.step()
        self._muon.zero_grad()
        self._adam.zero_grad()
        keep = min(self.longest, 1 - 1 / (self.step + 2))
        for name, value in self.network.state_dict().items():
            self.average[name].lerp_(value, 1 - keep)
        self.step += 1
        return loss.item()

    def state(self) -> dict[str, Any]:
        """All of it, for `load`."""
        return {
            "network": self.network.state_dict(), "average": self.average, "muon": self._muon.state_dict(),
            "adam": self._adam.state_dict(), "step": self.step,
        }  # fmt: skip

    def load(self, saved: Mapping[str, Any]) -> None:
        """Go on from a `state`."""
        self.network.load_state_dict(saved["network"])
        self._muon.load_state_dict(saved["muon"])
        self._adam.load_state_dict(saved["adam"])
        self.average, self.step = saved["average"], saved["step"]


# ---- Ask a network many questions at once: prompts with one header are packed behind it, as in training.

WIDTH = 512
ROWS = 8


class Asker:
    """A checkpoint (its averaged weights unless `average` is false) with its vocabulary."""

    def __init__(self, folder: Path, *, average: bool = True) -> None:
        saved = torch.load(folder / "checkpoint.pt", weights_only=True)
        self.shape = NetworkShape(**saved["shape"])
        self.vocabulary = TokenVocabulary(folder / "tokenizer.json")
        self.network = Network(self.shape)
        self.network.load_state_dict(saved["average" if average else "network"])
        self.network.eval()
        self.temperatures: dict[str, float] = {}  # by kind of answer; 1 where none is said
        self.step, self.minutes, self.examples = saved["step"], saved["spent"] / 60, saved["examples"]

    def answers(self, prompts: Sequence[form.Prompt]) -> list[list[list[float]]]:
        """Probabilities for each prompt: a row a read, in the order of `allowed`."""
        by_header: dict[tuple[form.Piece, ...], list[int]] = {}
        for i, prompt in enumerate(prompts):
            by_header.setdefault(prompt.header, []).append(i)
        rows: list[tuple[TrainingRow, list[int]]] = []
        for header, members in by_header.items():
            tokens = tokens_of(header, self.vocabulary)
            row, inside = TrainingRow(tokens), list[int]()
            for i in members:
                reads = [(read, None, 0.0) for read in prompts[i].reads]
                body: RowBody = body_of(prompts[i].body, reads, self.vocabulary)
                if row.bodies and not row.fits(body, WIDTH):
                    rows.append((row, inside))
                    row, inside = TrainingRow(tokens), []
                row.add(body)
                inside.append(i)
            rows.append((row, inside))
        out: list[list[list[float]]] = [[] for _ in prompts]
        rows.sort(key=lambda pair: pair[0].length)
        for start in range(0, len(rows), ROWS):
            part = rows[start : start + ROWS]
            self._ask([row for row, _ in part], [i for _, inside in part for i in inside], prompts, out)
        return out

    @torch.no_grad()
    def _ask(
        self,
        rows: list[TrainingRow],
        members: list[int],
        prompts: Sequence[form.Prompt],
        out: list[list[list[float]]],
    ) -> None:
        batch = collate(rows, max(row.length for row in rows), self.vocabulary)
        logits = self.network.logits(self.network(*inputs(batch, self.shape)), batch)
        kinds = [form.kind_of(read) for i in members for read in prompts[i].reads]
        temperatures = torch.tensor([self.temperatures.get(kind, 1.0) for kind in kinds])
        probabilities = (logits / temperatures[:, None]).softmax(-1)
        at = 0
        for i in members:
            for read in prompts[i].reads:
                out[i].append(probabilities[at, : len(read.allowed)].tolist())
                at += 1
