"""One name of a path as a pattern has it: which names it fits, and which name two of them both fit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, TypeAlias

from executor.core.globs.sequence import Gapped, gapped, meet

# ---- Sets of characters as sorted ranges of code points, none of which overlap or touch.

Chars: TypeAlias = tuple[tuple[int, int], ...]  # first and last code point of each range

_LAST: Final = 0x10FFFF
# What no name of a file holds here: control characters, the slash, and halves of surrogate pairs.
_NEVER: Final = ((0, 31), (47, 47), (127, 127), (0xD800, 0xDFFF))
_NICE: Final = ((97, 122), (48, 57), (65, 90), (95, 95))  # what people write most: a-z, 0-9, A-Z, _


@lru_cache(maxsize=512)
def just(char: str) -> Chars:
    """The set of one character."""
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
        if self.chars is _STAR:
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
