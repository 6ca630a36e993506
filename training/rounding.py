"""Matrices in few bits a weight, so that what they give for the vectors that they meet changes little.

A block of 32 weights of a row has one scale. Of some scales near that which the largest weight asks for, each
fitted to the weights once, the one is taken whose squared error is least, the error of a weight counting as
much as the square of what it is multiplied with. Nothing is random.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Numbers = np.ndarray[Any, np.dtype[np.float32]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]
BLOCK = 32
_STEPS = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.float32)
"""What the sixteen weights of IQ4_NL stand for, times the scale."""
_PLACES = np.searchsorted((_STEPS[1:] + _STEPS[:-1]) / 2, np.arange(-127, 128) - 0.25).astype(np.uint8)
"""Of each whole number from -127 on the place of the step that is nearest to it."""
_NEAR = np.linspace(0.86, 1.14, 9, dtype=np.float32)
_ROWS = 1 << 16  # blocks at once


def iq4_nl(values: Numbers, counts: Numbers) -> Bytes:
    """[rows, columns] in IQ4_NL: 18 bytes a block. counts: of each column the mean square of what it
    meets."""
    return _in_blocks(values, counts, _iq4_nl)


def q5_0(values: Numbers, counts: Numbers) -> Bytes:
    """[rows, columns] in Q5_0: 22 bytes a block."""
    return _in_blocks(values, counts, _q5_0)


def _in_blocks(values: Numbers, counts: Numbers, rounded: Any) -> Bytes:
    blocks = np.ascontiguousarray(values, np.float32).reshape(-1, BLOCK)
    weights = np.broadcast_to(np.maximum(counts, 1e-12).astype(np.float32), values.shape).reshape(-1, BLOCK)
    parts = [slice(at, at + _ROWS) for at in range(0, len(blocks), _ROWS)]
    return np.concatenate([rounded(blocks[part], weights[part]) for part in parts]).reshape(len(values), -1)


def _iq4_nl(x: Numbers, weights: Numbers) -> Bytes:
    def places_of(scaled: Numbers) -> Bytes:
        return _PLACES[np.clip(np.rint(scaled), -127, 127).astype(np.int16) + 127]

    scale = _scales(x, weights, lambda scaled: _STEPS[places_of(scaled)], float(_STEPS[0]))
    places = places_of(_divided(x, scale))
    return np.concatenate([_as_bytes(scale), places[:, :16] | places[:, 16:] << 4], 1)


def _q5_0(x: Numbers, weights: Numbers) -> Bytes:
    def nearest(scaled: Numbers) -> Numbers:
        return np.clip(np.round(scaled), -16, 15)

    scale = _scales(x, weights, nearest, -16.0)
    places = (nearest(_divided(x, scale)) + 16).astype(np.uint8)
    low, high = places & 15, np.packbits(places >> 4, axis=1, bitorder="little")
    return np.concatenate([_as_bytes(scale), high, low[:, :16] | low[:, 16:] << 4], 1)


def _scales(x: Numbers, weights: Numbers, nearest: Any, end: float) -> Numbers:
    """The best scale of each block, as it is kept (float16). end: the number that is farthest from 0."""
    largest = x[np.arange(len(x)), np.abs(x).argmax(1)]
    best, found = np.full(len(x), np.inf, np.float32), np.zeros(len(x), np.float32)
    for near in _NEAR:
        for side in (end, -end):
            steps = nearest(_divided(x, largest * near / np.float32(side)))
            met = weights * steps
            scale = (met * x).sum(1) / np.maximum((met * steps).sum(1), np.float32(1e-20))
            scale = scale.astype(np.float16).astype(np.float32)
            error = (weights * (x - nearest(_divided(x, scale)) * scale[:, None]) ** 2).sum(1)
            better = error < best
            best[better], found[better] = error[better], scale[better]
    return found


def _divided(x: Numbers, scale: Numbers) -> Numbers:
    divisor = np.where(scale == 0, np.float32(np.inf), scale).astype(np.float32)
    return np.asarray(x / divisor[:, None], np.float32)


def _as_bytes(scale: Numbers) -> Bytes:
    return scale.astype("<f2")[:, None].view(np.uint8)
