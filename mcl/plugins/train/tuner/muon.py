"""Muon (Keller Jordan 2024): momentum, then orthogonalisation by Newton-Schulz; for matrices."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import torch
from torch import Tensor

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
