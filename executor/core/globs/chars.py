"""Sets of characters as sorted ranges of code points, none of which overlap or touch."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, TypeAlias

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
