"""Sequences with gaps, and whether two of them have a reading in common.

A sequence is items, one after the other, with gaps between some of them where anything may stand: a name is
one of characters (`*` is a gap), a pattern of paths one of names (`**` is a gap). An item stands for exactly
one thing (a character, a name), and which it may be does not depend on its neighbours. So
- two sequences that both have gaps meet just where their heads fit each other, and their tails do: what lies
  between is written one after the other, and each gap swallows what is the other's;
- of one with gaps and one without, each chunk goes to the first place where it fits: whatever follows then
  has the most room.
Both need steps in the order of one length times the other, and nothing is ever tried twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class Gapped(Generic[T]):
    """Items before the first gap, chunks between two gaps, and items after the last one.

    Without gaps all items are the head. `gaps`: are there any?
    """

    head: tuple[T, ...]
    chunks: tuple[tuple[T, ...], ...] = ()
    tail: tuple[T, ...] = ()
    gaps: bool = False

    @property
    def least(self) -> int:
        """How many things any reading has at least."""
        return len(self.head) + sum(map(len, self.chunks)) + len(self.tail)


def gapped(items: Iterable[T | None]) -> Gapped[T]:
    """The sequence of these items; None is a gap."""
    parts: list[list[T]] = [[]]
    for item in items:
        if item is None:
            parts.append([])
        else:
            parts[-1].append(item)
    if len(parts) == 1:
        return Gapped(tuple(parts[0]))
    chunks = tuple(tuple(part) for part in parts[1:-1] if part)
    return Gapped(tuple(parts[0]), chunks, tuple(parts[-1]), gaps=True)


Both = Callable[[T, T], W | None]  # something that two items may both be
Alone = Callable[[T], W]  # something that an item may be


def meet(
    one: Gapped[T], other: Gapped[T], both: Both[T, W], alone: Alone[T, W], filling: tuple[W, ...] = ()
) -> list[W] | None:
    """A reading that both sequences have, with few things in it; None where there is none.

    filling: is put where both have a gap, if there is such a place.
    """
    if one.gaps and other.gaps:
        return _both_open(one, other, both, alone, filling)
    if one.gaps:
        return _placed(one, other.head, both, alone)
    if other.gaps:
        return _placed(other, one.head, lambda mine, its: both(its, mine), alone)
    return _paired(one.head, other.head, both) if len(one.head) == len(other.head) else None


def _paired(one: Sequence[T], other: Sequence[T], both: Both[T, W]) -> list[W] | None:
    found = []
    for mine, its in zip(one, other, strict=False):
        if (common := both(mine, its)) is None:
            return None
        found.append(common)
    return found


def _both_open(
    one: Gapped[T], other: Gapped[T], both: Both[T, W], alone: Alone[T, W], filling: tuple[W, ...]
) -> list[W] | None:
    before = _paired(one.head, other.head, both)
    if before is None:
        return None
    behind = _paired(one.tail[::-1], other.tail[::-1], both)
    if behind is None:
        return None
    shorter = min(len(one.head), len(other.head))
    before += map(alone, (*one.head[shorter:], *other.head[shorter:]))
    shorter = min(len(one.tail), len(other.tail))
    longer = max(one.tail, other.tail, key=len)
    rest = longer[: len(longer) - shorter]
    between = [alone(item) for chunk in (*one.chunks, *other.chunks) for item in chunk]
    return [*before, *filling, *between, *map(alone, rest), *reversed(behind)]


def _placed(open_: Gapped[T], fixed: Sequence[T], both: Both[T, W], alone: Alone[T, W]) -> list[W] | None:
    """The sequence with gaps laid over one without."""
    size = len(fixed)
    if open_.least > size:
        return None
    last = size - len(open_.tail)
    before = _paired(open_.head, fixed, both)
    if before is None:
        return None
    behind = _paired(open_.tail, fixed[last:], both)
    if behind is None:
        return None
    found, here = before, len(before)
    fits = _Fits(fixed[:last], both)
    for chunk in open_.chunks:
        start = fits.first(chunk, here)
        laid = _paired(chunk, fixed[start : start + len(chunk)], both) if start >= 0 else None
        if laid is None:
            return None
        found += [*map(alone, fixed[here:start]), *laid]
        here = start + len(chunk)
    return [*found, *map(alone, fixed[here:last]), *behind]


class _Fits(Generic[T]):
    """Where chunks fit a sequence without gaps: each kind of item is held against each kind once, and what
    fits where is kept as a number, a bit a place, so that all places are tried at once."""

    def __init__(self, fixed: Sequence[T], both: Both[T, W]) -> None:
        self._fixed, self._both = fixed, both
        self._kinds = {id(item): item for item in fixed}
        self._places: dict[int, int] = {}

    def first(self, chunk: Sequence[T], here: int) -> int:
        """The first place from here on where the chunk fits; -1 where there is none."""
        room = len(self._fixed) - here - len(chunk) + 1
        starts = ((1 << room) - 1) << here if room > 0 else 0
        for offset, item in enumerate(chunk):
            if not starts:
                return -1
            starts &= self._of(item) >> offset
        return (starts & -starts).bit_length() - 1

    def _of(self, item: T) -> int:
        """The places that an item fits, a bit each."""
        if (known := self._places.get(id(item))) is None:
            fitting = {kind for kind, its in self._kinds.items() if self._both(item, its) is not None}
            known = sum(1 << place for place, its in enumerate(self._fixed) if id(its) in fitting)
            self._places[id(item)] = known
        return known
