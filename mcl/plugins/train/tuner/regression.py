"""What is to be added to given scores so that the right ones win: softmax regression that begins from them.

The problem is convex and what is added is held near nothing: few examples move little, and there is one
answer. L-BFGS finds it (Nocedal and Wright, Numerical Optimization, 7.4), from nothing, in the same steps
each time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]
_MEMORY = 8
_LEAST_DECREASE = 1e-4
_HALVINGS = 30


class Regression:
    """Weights for some columns of the scores: of row i that of place `right[i]` shall win."""

    def __init__(
        self,
        x: Numbers,
        scores: Numbers,
        right: Sequence[int],
        counts: Sequence[float],
        columns: Sequence[int],
        penalty: float,
    ) -> None:
        """x: [n, width]; scores: [n, k], -inf for what may not win; counts: how much each row counts;
        columns: of the scores, to which something may be added; penalty: of the square of a weight."""
        self._counts = np.asarray(counts, np.float64)
        self._middle = (self._counts @ x) / max(float(self._counts.sum()), 1e-9)
        self._x = np.concatenate([x - self._middle, np.ones((len(x), 1))], axis=1)
        self._scores, self._columns, self._penalty = np.asarray(scores, np.float64), list(columns), penalty
        self._rows, self._right = np.arange(len(x)), np.asarray(right, np.int64)
        self._at = np.zeros(self._x.shape[1] * len(self._columns))
        self._loss, self._slope = self._told(self._at)
        self._past: list[tuple[Numbers, Numbers]] = []

    def step(self) -> None:
        """Go one step; none where nothing is gained any more."""
        way = -self._turned(self._slope)
        falls = float(way @ self._slope)
        if falls > -1e-12:
            return
        much = 1.0 if self._past else min(1.0, 1 / max(float(np.abs(self._slope).sum()), 1e-9))
        for _ in range(_HALVINGS):
            there = self._at + much * way
            loss, slope = self._told(there)
            if loss <= self._loss + _LEAST_DECREASE * much * falls:
                break
            much /= 2
        else:
            return
        moved, bent = there - self._at, slope - self._slope
        if float(moved @ bent) > 1e-12:
            self._past = [*self._past[1 - _MEMORY :], (moved, bent)]
        self._at, self._loss, self._slope = there, loss, slope

    @property
    def weights(self) -> Numbers:
        """[columns, width + 1]: x, and what is added as it is."""
        found = self._at.reshape(self._x.shape[1], -1).T.copy()
        found[:, -1] -= found[:, :-1] @ self._middle
        return found

    def _told(self, at: Numbers) -> tuple[float, Numbers]:
        """Loss and slope at some weights."""
        weights = at.reshape(self._x.shape[1], -1)
        scores = self._scores.copy()
        scores[:, self._columns] += self._x @ weights
        scores -= scores.max(1, keepdims=True)
        shares = np.exp(scores)
        total = shares.sum(1, keepdims=True)
        lost = np.log(total[:, 0]) - scores[self._rows, self._right]
        shares /= total
        shares[self._rows, self._right] -= 1
        slope = self._x.T @ (shares[:, self._columns] * self._counts[:, None]) + self._penalty * weights
        return float(self._counts @ lost) + 0.5 * self._penalty * float(at @ at), slope.reshape(-1)

    def _turned(self, slope: Numbers) -> Numbers:
        """The slope by the inverse of the curvature, as far as the last steps showed it."""
        turned, shares = slope.copy(), []
        for moved, bent in reversed(self._past):
            share = float(moved @ turned) / float(moved @ bent)
            shares.append(share)
            turned -= share * bent
        if self._past:
            moved, bent = self._past[-1]
            turned *= float(moved @ bent) / float(bent @ bent)
        for (moved, bent), share in zip(self._past, reversed(shares), strict=True):
            turned += (share - float(bent @ turned) / float(moved @ bent)) * moved
        return turned


def descend(problems: Sequence[Regression], steps: int, progress: Callable[[], None]) -> None:
    """So many steps of each problem; progress is called after each."""
    for _ in range(steps):
        for one in problems:
            one.step()
        progress()
