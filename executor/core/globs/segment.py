"""One name of a path as a pattern has it: which names it fits, and which name two of them both fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Generic, TypeAlias, TypeVar

# ---- Sequences with gaps, and whether two of them have a reading in common.
# A sequence is items, one after the other, with gaps between some of them where anything may stand: a name is
# one of characters (`*` is a gap), a pattern of paths one of names (`**` is a gap). An item stands for just
# one thing (a character, a name), and which it may be does not depend on its neighbours. So
# - two sequences that both have gaps meet just where their heads fit each other, and their tails do: what
#   lies between is written one after the other, and each gap swallows what is the other's;
# - of one with gaps and one without, each chunk goes to the first place where it fits: whatever follows then
#   has the most room.
# Both take steps in the order of one length times the other, and nothing is ever tried twice.

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


# ---- Sets of characters, and patterns of one name.

# ---- Sets of characters as sorted ranges of code points, none of which overlap or touch.

Chars: TypeAlias = tuple[tuple[int, int], ...]  # first and last code point of each range

_LAST: Final = 0x10FFFF
# What no name of a file holds here: control characters, the slash, and halves of surrogate pairs.
_NEVER: Final = ((0, 31), (47, 47), (127, 127), (0xD800, 0xDFFF))
_NICE: Final = ((97, 122), (48, 57), (65, 90), (95, 95))  # what people write most: a-z, 0-9, A-Z, _


@lru_cache(maxsize=512)
def just(char: str) -> Chars:
    return ((ord(char), ord(char)),)


def gather(ranges: Iterable[tuple[int, int]]) -> Chars:
    """The set of these ranges, whatever their order; those that overlap or touch become one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return tuple(found)


def all_but(chars: Chars) -> Chars:
    """Every character of a name that is not among these."""
    found, start = [], 0
    for first, last in gather((*chars, *_NEVER)):
        if first > start:
            found.append((start, first - 1))
        start = last + 1
    return (*found, (start, _LAST)) if start <= _LAST else tuple(found)


ANY: Final = all_but(())


def both(one: Chars, other: Chars) -> Chars:
    """The characters that are in both sets."""
    if not one or one is other or other is ANY:
        return one
    if not other or one is ANY:
        return other
    if one[-1][1] < other[0][0] or other[-1][1] < one[0][0]:
        return ()
    found, i, j = [], 0, 0
    while i < len(one) and j < len(other):
        first, last = max(one[i][0], other[j][0]), min(one[i][1], other[j][1])
        if first <= last:
            found.append((first, last))
        if one[i][1] < other[j][1]:
            i += 1
        else:
            j += 1
    return tuple(found)


def pick(chars: Chars) -> str:
    """One character of a set that is not empty, a usual one where there is one."""
    if chars[0][0] == chars[-1][1]:
        return chr(chars[0][0])
    return chr((both(chars, _NICE) or chars)[0][0])


_NO_NAMES: Final = ("", ".", "..")
_NO_DOT: Final = all_but(just("."))


@dataclass(frozen=True, slots=True)
class Segment:
    """A name's pattern.

    text: the only name it fits, "" where there are several. Of these, ``chars`` are sets of characters with
    gaps (`*`) between them, and all begin with ``front`` and end with ``back``.
    """

    chars: Gapped[Chars]
    text: str = ""
    front: str = ""
    back: str = ""

    def fits(self, name: str) -> bool:
        """Does the pattern fit this name? It must hold no slash and no control character."""
        if self.text or name in _NO_NAMES:
            return self.text == name != ""
        if not (name.startswith(self.front) and name.endswith(self.back) and len(name) >= self.chars.least):
            return False
        plain = len(self.front) + len(self.back) == self.chars.least  # and one gap between, such as *.py
        if self.chars is _STAR or (plain and self.chars.gaps and not self.chars.chunks):
            return True
        return meet(self.chars, gapped(map(just, name)), _char, pick) is not None

    @property
    def sample(self) -> str:
        """A name that the pattern fits; "" where there is none."""
        return self.text or self.shared(ANY_NAME) or ""

    def shared(self, other: Segment) -> str | None:
        """A name that both patterns fit; None where there is none. `.` and `..` are no names."""
        if self.text:
            return self.text if other.fits(self.text) else None
        if other.text:
            return other.text if self.fits(other.text) else None
        if not (_begin_alike(self.front, other.front) and _end_alike(self.back, other.back)):
            return None
        found = _word(self.chars, other.chars)
        if found is None or (found not in _NO_NAMES and found[0] != "."):
            return found
        if self.chars.gaps and other.chars.gaps:  # rather a name with no dot before it
            filled = _word(self.chars, other.chars, "a")
            return filled if filled and (found in _NO_NAMES or filled[0] != ".") else found
        return self._undotted(other) if found in _NO_NAMES else found

    def _undotted(self, other: Segment) -> str | None:
        """The same where one of them has a length, of one or two characters, and not all may be dots."""
        fixed, loose = (other, self) if self.chars.gaps else (self, other)
        head = fixed.chars.head
        for place, chars in enumerate(head):
            if not (left := both(chars, _NO_DOT)):
                continue
            changed = replace(fixed.chars, head=(*head[:place], left, *head[place + 1 :]))
            if (found := _word(changed, loose.chars)) is not None:
                return found
        return None


def segment(items: list[Chars | None]) -> Segment:
    """The pattern of these sets of characters; None is a gap."""
    singles = [chr(item[0][0]) if item and item[0][0] == item[-1][1] else "" for item in items]
    if all(singles):
        return literal("".join(singles))
    if items == [None]:
        return ANY_NAME
    front, back = singles.index(""), singles[::-1].index("")
    return Segment(gapped(items), "", "".join(singles[:front]), "".join(singles[len(singles) - back :]))


def literal(name: str) -> Segment:
    """The pattern that fits just this name."""
    return Segment(_NOTHING, name)


def _begin_alike(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _end_alike(one: str, other: str) -> bool:
    return one.endswith(other) or other.endswith(one)


def _char(one: Chars, other: Chars) -> str | None:
    found = both(one, other)
    return pick(found) if found else None


def _word(one: Gapped[Chars], other: Gapped[Chars], filling: str = "") -> str | None:
    found = meet(one, other, _char, pick, tuple(filling))
    return None if found is None else "".join(found)


_NOTHING: Final[Gapped[Chars]] = Gapped(())
_STAR: Final[Gapped[Chars]] = Gapped((), gaps=True)
ANY_NAME: Final = Segment(_STAR)
