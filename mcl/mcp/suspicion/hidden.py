"""Characters that nobody sees, though a model reads them: found, told, and written out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

_TAGS: Final = range(0xE0000, 0xE0080)
_FLAG: Final = "\U0001f3f4"  # of a region: followed by tags, and ended by one
_END_OF_FLAG: Final = 0xE007F
_VARIATIONS: Final = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0), range(0x180B, 0x180E))
_JOINERS: Final = "\u200c\u200d"
_MARKS: Final = "\u200e\u200f\u061c"
# Letters and symbols that have no shape of their own.
_BLANK: Final = frozenset("\u00ad\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\ufffc")
_DIRECTIONS: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
# Quick: nothing of all this is in a text of plain characters.
_SUSPECT: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\uffff\U0001d173-\U0001d17a\U000e0000-\U0010ffff]"
)


def hidden(text: str) -> Iterator[tuple[str, int, int]]:
    """What cannot be seen in a text: the rule it breaks, and from where to where.

    Joiners between letters of scripts that need them or in emoji, the emoji form of a symbol, flags of
    regions and marks of direction in right-to-left text are what they should be.
    """
    found: list[tuple[str, int, int]] = []
    for match in _SUSPECT.finditer(text):
        place = match.start()
        rule = _rule(text, place)
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
    if not _SUSPECT.search(text):
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
        pieces.append(_escaped(char) if _SUSPECT.match(char) and _rule(text, place) else char)
    if smuggled:
        pieces.append(f"{{tags: {''.join(smuggled)}}}")
    return "".join(pieces)


def unhidden(char: str) -> bool:
    """Is this a character that stands for something to the eye?"""
    return not _SUSPECT.match(char)


def _rule(text: str, place: int) -> str:
    """The rule that the suspect character at a place breaks; "" where it belongs there."""
    char = text[place]
    code = ord(char)
    if code in _TAGS:
        return "" if _in_flag(text, place) else "hidden-tags"
    if any(code in one for one in _VARIATIONS):
        return "" if _varies(text, place) else "hidden-variation"
    if char in _JOINERS:
        return "" if _joins(text, place) else "hidden-zero-width"
    if char in _MARKS:
        return "" if _is_rtl(text) else "hidden-direction"
    if _DIRECTIONS.match(char):
        return "hidden-direction"
    if char in "\u2028\u2029":
        return ""  # a line end, by another name
    kind = unicodedata.category(char)
    if kind == "Co" or kind == "Cs":
        return "hidden-private"
    if kind == "Cc":
        return "terminal-control"
    if kind == "Cf" or char in _BLANK:
        return "hidden-zero-width"
    return "hidden-private" if _is_noncharacter(code) else ""


def _escaped(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode()


def _letter(tag: str) -> str:
    letter = chr(ord(tag) - _TAGS.start)
    return letter if letter.isprintable() else "·"


def _is_noncharacter(code: int) -> bool:
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF


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
