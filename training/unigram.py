"""Texts to pieces by their scores (unigram), exactly as llama.cpp does it with the same vocabulary, and the
vocabulary and its table of characters as files.

A text stands as it would within a sentence: with a blank before it where one was. What `read_as` names is
read as something else, the longest name first; then every blank becomes BLANK, and the pieces are those whose
scores have the largest sum. What no piece spells is UNKNOWN, several in a row are one.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

BEGIN, PAD, END, UNKNOWN = 0, 1, 2, 3
"""The first pieces of every vocabulary here, as XLM-R has them; they stand for no text."""
SPECIAL = 4
BLANK = "\N{LOWER ONE EIGHTH BLOCK}"
_UNKNOWN_COST = 10.0  # below the least score


@dataclass(frozen=True)
class UnigramVocabulary:
    """pieces and their scores by id; read_as: characters (one or several) and what stands for them."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    read_as: Mapping[str, str]

    def cut(self, kept: Iterable[int]) -> UnigramVocabulary:
        """The same with fewer pieces, in the same order; the special ones stay."""
        rows = [*range(SPECIAL), *sorted(set(kept) - set(range(SPECIAL)))]
        pieces, scores = (tuple(of[i] for i in rows) for of in (self.pieces, self.scores))
        return UnigramVocabulary(pieces, scores, self.read_as)

    def read(self, text: str) -> str:
        """A text as pieces spell it."""
        names, at, found = self.read_as, 0, []
        while at < len(text):
            for size in range(min(self._longest, len(text) - at), 0, -1):
                said = names.get(text[at : at + size])
                if said is not None:
                    found.append(said)
                    at += size
                    break
            else:
                found.append(text[at])
                at += 1
        return "".join(found).replace(" ", BLANK)

    def tokens(self, text: str) -> list[int]:
        """The ids of its pieces."""
        text = self.read(text)
        places, longest, unknown = self._places, self._longest_piece, self._unknown
        # Of each place the best way there: sum of scores, where its last piece begins, which it is.
        sums = [0.0] + [float("-inf")] * len(text)
        last = [(0, UNKNOWN)] * (len(text) + 1)
        for start in range(len(text)):
            so_far, alone = sums[start], False
            for end in range(start + 1, min(len(text), start + longest) + 1):
                piece = places.get(text[start:end])
                if piece is None:
                    continue
                alone |= end == start + 1
                if so_far + self.scores[piece] > sums[end]:
                    sums[end], last[end] = so_far + self.scores[piece], (start, piece)
            if not alone and so_far + unknown > sums[start + 1]:
                sums[start + 1], last[start + 1] = so_far + unknown, (start, UNKNOWN)
        found: list[int] = []
        at = len(text)
        while at:
            at, piece = last[at]
            if not (piece == UNKNOWN and found and found[-1] == UNKNOWN):
                found.append(piece)
        return found[::-1]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {piece: place for place, piece in enumerate(self.pieces) if place >= SPECIAL}

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self.read_as), default=0)

    @cached_property
    def _longest_piece(self) -> int:
        return max(map(len, self._places))

    @cached_property
    def _unknown(self) -> float:
        return min(self.scores[SPECIAL:]) - _UNKNOWN_COST

    def save(self, path: Path) -> None:
        """Write it as JSON, whole or not at all."""
        told = {"pieces": self.pieces, "scores": self.scores, "read_as": dict(self.read_as)}
        part = path.with_suffix(".part")
        part.write_text(json.dumps(told, ensure_ascii=False, indent=0), encoding="utf-8")
        part.replace(path)

    @classmethod
    def load(cls, path: Path) -> UnigramVocabulary:
        """What `save` wrote."""
        told = json.loads(path.read_text(encoding="utf-8"))
        return cls(tuple(told["pieces"]), tuple(told["scores"]), told["read_as"])


@dataclass
class _Name:
    """How names go on behind the same bytes. said: where it begins what one that ends here is read as."""

    longer: dict[int, _Name] = field(default_factory=dict)
    said: int | None = None


def charsmap(read_as: Mapping[str, str]) -> bytes:
    """The table as llama.cpp wants it (`tokenizer.ggml.precompiled_charsmap`): the names as a double array of
    their UTF-8, then what they are read as, each with a zero behind it.

    A unit of the array: 0-7 the byte that leads to it, 8 whether a name ends here, from 10 on its base XOR
    its own place; its children stand at base XOR their byte, and at base itself what the name is read as
    (bit 31, and where that begins).
    """
    values, at = bytearray(), {}
    for said in sorted(set(read_as.values())):
        at[said] = len(values)
        values += said.encode() + b"\0"
    root = _Name()
    for name, said in sorted(read_as.items()):
        node = root
        for byte in name.encode():
            node = node.longer.setdefault(byte, _Name())
        node.said = at[said]
    units, taken, bases, first = [0] * 256, bytearray(256), set[int](), 1
    taken[0] = 1
    waiting = [(0, root)]
    while waiting:
        place, node = waiting.pop()
        ends = node.said is not None
        labels = [*([0] if ends else ()), *node.longer]
        base = first
        while base in bases or any(base ^ label < len(taken) and taken[base ^ label] for label in labels):
            base += 1
        if len(units) <= base | 0xFF:
            units += [0] * 256
            taken += bytes(256)
        bases.add(base)
        units[place] |= (base ^ place) << 10 | ends << 8
        if node.said is not None:
            units[base] = 1 << 31 | node.said
            taken[base] = 1
        for byte, child in node.longer.items():
            units[base ^ byte] = byte
            taken[base ^ byte] = 1
            waiting.append((base ^ byte, child))
        while first < len(taken) and taken[first]:
            first += 1
    if len(units) > 1 << 21:
        raise ValueError("too many names for one table")
    array = struct.pack(f"<{len(units)}I", *units)
    return struct.pack("<I", len(array)) + array + bytes(values)
