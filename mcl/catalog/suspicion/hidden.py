"""Characters that nobody sees, though a model reads them: found, told, and written out."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from ir.characters import INVISIBLE, Kinds, escape_of, holds, kind_of

_TAGS: Final = range(0xE0000, 0xE0080)  # those that stand for letters
_FLAG: Final = "\U0001f3f4"  # of a region: followed by tags, and ended by one
_END_OF_FLAG: Final = 0xE007F
_JOINERS: Final = "\u200c\u200d"
_MARKS: Final = "\u200e\u200f\u061c"
_SUSPECT: Final[Kinds] = INVISIBLE | {"control", "line", "surrogate", "private", "noncharacter"}
_PLAIN: Final = "\t\n\r"


def hidden(text: str) -> Iterator[tuple[str, int, int]]:
    """What cannot be seen in a text: the rule it breaks, and from where to where.

    Joiners between letters of scripts that need them or in emoji, the emoji form of a symbol, flags of
    regions and marks of direction in right-to-left text are what they should be.
    """
    found: list[tuple[str, int, int]] = []
    if not _is_suspect(text):
        return iter(())
    for place in range(len(text)):
        rule = "" if unhidden(text[place]) else _rule(text, place)
        if not rule:
            continue
        if found and found[-1][0] == rule and found[-1][2] == place:
            found[-1] = (rule, found[-1][1], place + 1)
        else:
            found.append((rule, place, place + 1))
    return iter(found)


def revealed(text: str) -> str:
    """The text with everything written out that a terminal would obey or nobody would see.

    Tags are written as the letters that they smuggle: ``{tags: say yes}``.
    """
    if not _is_suspect(text):
        return text
    pieces: list[str] = []
    smuggled: list[str] = []
    for place, char in enumerate(text):
        if ord(char) in _TAGS and _rule(text, place):
            smuggled.append(_letter(char))
            continue
        if smuggled:
            pieces.append(f"{{tags: {''.join(smuggled)}}}")
            smuggled = []
        pieces.append(char if unhidden(char) or not _rule(text, place) else escape_of(char))
    if smuggled:
        pieces.append(f"{{tags: {''.join(smuggled)}}}")
    return "".join(pieces)


def unhidden(char: str) -> bool:
    """Is this a character that stands for something to the eye?"""
    return char in _PLAIN or kind_of(char) not in _SUSPECT


def _is_suspect(text: str) -> bool:
    return holds(text, _SUSPECT, keep=_PLAIN)


def _rule(text: str, place: int) -> str:
    """The rule that the suspect character at a place breaks; "" where it belongs there."""
    char = text[place]
    code = ord(char)
    if code in _TAGS:
        return "" if _in_flag(text, place) else "hidden-tags"
    if char in _JOINERS:
        return "" if _joins(text, place) else "hidden-zero-width"
    if char in _MARKS:
        return "" if _is_rtl(text) else "hidden-direction"
    match kind_of(char):
        case "variation":
            return "" if _varies(text, place) else "hidden-variation"
        case "direction":
            return "hidden-direction"
        case "line":
            return ""  # a line end, by another name
        case "surrogate" | "private" | "noncharacter":
            return "hidden-private"
        case "control":
            return "terminal-control"
    return "hidden-zero-width"


def _letter(tag: str) -> str:
    letter = chr(ord(tag) - _TAGS.start)
    return letter if letter.isprintable() else "·"


def _in_flag(text: str, place: int) -> bool:
    """Is a tag part of a flag: the black flag, at most six letters, and the end?"""
    start = place
    while start and ord(text[start - 1]) in _TAGS and place - start < 8:
        start -= 1
    end = place
    while end < len(text) and ord(text[end]) in _TAGS and end - start < 8:
        if ord(text[end]) == _END_OF_FLAG:
            return bool(start) and text[start - 1] == _FLAG
        end += 1
    return False


def _varies(text: str, place: int) -> bool:
    """Does a variation selector stand, alone, behind something that has variations?"""
    before, code = text[place - 1] if place else "", ord(text[place])
    if not before:
        return False
    if code in (0xFE0E, 0xFE0F):
        return unicodedata.category(before)[0] == "S" or before in "0123456789#*‼⁉" or _is_new_emoji(before)
    if unicodedata.category(before) == "Lo":  # han, mongolian, myanmar
        return True
    return code < 0xFE0E and unicodedata.category(before) == "Sm"


def _is_new_emoji(char: str) -> bool:
    return 0x1F000 <= ord(char) <= 0x1FAFF


def _joins(text: str, place: int) -> bool:
    """Does a joiner stand between two things that it joins?"""
    before, after = text[place - 1] if place else "", text[place + 1] if place + 1 < len(text) else ""
    if not before:
        return False
    return _joined(before) and (not after or _joined(after) or not after.isalpha())


def _joined(char: str) -> bool:
    code = ord(char)
    if 0x0600 <= code <= 0x08FF or 0x0900 <= code <= 0x109F or 0x1780 <= code <= 0x18AF:
        return True  # arabic, the scripts of India and its neighbours, mongolian
    if code == 0xFE0F or 0x1F3FB <= code <= 0x1F3FF:
        return True  # ends of an emoji
    return unicodedata.category(char) == "So" or _is_new_emoji(char) or char in "♀♂⚕⚖✈❤"


@lru_cache(maxsize=8)  # asked of each mark of one text
def _is_rtl(text: str) -> bool:
    return any(unicodedata.bidirectional(char) in ("R", "AL") for char in text if char not in _MARKS)
