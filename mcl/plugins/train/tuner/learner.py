"""A network with its optimisers and the running average of its weights: one step at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from mcl.plugins.train.tuner.muon import FAST_HALF, Muon
from mcl.plugins.train.tuner.network import Network, inputs
from mcl.plugins.train.tuner.rows import Batch

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
