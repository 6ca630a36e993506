"""A network with its optimisers and the running average of its weights: one step at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from mcl.plugins.train.tuner.network import Network, inputs
from mcl.plugins.train.tuner.rows import Batch

# ---- Muon (Keller Jordan 2024): momentum, then orthogonalisation by Newton-Schulz; for matrices.

_A, _B, _C = 3.4445, -4.7750, 2.0315
FAST_HALF = torch.cpu._is_avx512_bf16_supported()
"""Whether the processor multiplies bfloat16 faster than float32."""


def orthogonal(stack: Tensor, steps: int = 5) -> Tensor:
    """Nearest semi-orthogonal matrices, roughly, for a stack [n, rows, columns]; bfloat16 is enough."""
    x = stack.to(torch.bfloat16) if FAST_HALF else stack
    x = x.transpose(-1, -2) if stack.shape[-2] > stack.shape[-1] else x
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        square = x @ x.transpose(-1, -2)
        x = _A * x + (_B * square + _C * square @ square) @ x
    turned: Tensor = x.transpose(-1, -2) if stack.shape[-2] > stack.shape[-1] else x
    return turned.to(stack.dtype)


class Muon(torch.optim.Optimizer):
    """Muon with Nesterov momentum and decoupled weight decay; matrices of one shape go together."""

    def __init__(
        self, matrices: Iterable[Tensor], lr: float = 0.02, momentum: float = 0.95, decay: float = 0.01
    ) -> None:
        super().__init__(list(matrices), {"lr": lr, "momentum": momentum, "decay": decay})

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
