"""Every text of a JSON value with the place where it stands, and a text as a reader would understand it:
characters that nobody sees, though a model reads them, are found, told, and written out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from executor.core.tables import table_beside
from ir.characters import INVISIBLE, Kinds, escape_of, holds, kind_of
from mcl.core.text import cut

MOST_TEXTS: Final = 4_000
MOST_CHARACTERS: Final = 100_000  # of all texts together: what a person may have to wait for is bounded

_PLAIN_KEY: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]{0,63}", re.ASCII)
_AROUND: Final = 24  # characters of context on each side of an excerpt
_EXCERPT: Final = 160


@dataclass(frozen=True, slots=True)
class PlacedText:
    """place: JSON path. key: is it the name of a property, and not a value? more: it was cut, and what
    follows in the definition is not read."""

    place: str
    text: str
    key: bool = False
    more: bool = False


@dataclass(frozen=True, slots=True)
class PlainText:
    """A text as it is read, and of each of its characters where it stands in the text as it was written."""

    text: str
    places: tuple[int, ...]


def texts(value: object, place: str = "") -> Iterator[PlacedText]:
    """All texts inside a JSON value in their order, the names of its properties too.

    The one with which MOST_TEXTS texts or MOST_CHARACTERS characters are passed is cut, and is the last.
    """
    left = MOST_CHARACTERS
    for number, one in enumerate(_all(value, place), 1):
        left -= len(one.text)
        if left < 0 or number > MOST_TEXTS:
            yield PlacedText(one.place, one.text[: max(0, left + len(one.text))], one.key, more=True)
            return
        yield one


def _all(value: object, place: str) -> Iterator[PlacedText]:
    waiting: list[tuple[str, object]] = [(place, value)]
    while waiting:
        where, one = waiting.pop()
        if isinstance(one, str):
            yield PlacedText(where, one)
        elif isinstance(one, Mapping):
            below: list[tuple[str, object]] = []
            for name, item in one.items():
                inside = f"{where}{step(str(name))}" if where else step(str(name)).removeprefix(".")
                yield PlacedText(inside, str(name), key=True)
                below.append((inside, item))
            waiting += reversed(below)
        elif isinstance(one, list | tuple):
            waiting += reversed([(f"{where}[{index}]", item) for index, item in enumerate(one)])


def step(name: str) -> str:
    """One step of a JSON path: ``.name``, or in brackets what is no plain name."""
    if _PLAIN_KEY.fullmatch(name):
        return f".{name}"
    shown = revealed(name)
    return f"[{shown if len(shown) <= _EXCERPT else shown[:_EXCERPT] + '…'!r}]"


def read(text: str, *, alike: bool) -> PlainText:
    """The text as a reader takes it: hidden characters left out, forms made plain, small letters, runs of
    blanks as one (line ends stay). alike: look-alikes of other scripts become the letters they look like."""
    table = lookalikes() if alike else {}
    said: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        plain = char if char.isascii() else unicodedata.normalize("NFKC", char) if unhidden(char) else ""
        for one in plain.lower():
            one = table.get(one, one)
            if one.isspace():
                if one in "\n\r\u2028\u2029":
                    if said and said[-1] == " ":
                        said[-1] = "\n"
                        continue
                    one = "\n"
                elif said and said[-1] in " \n":
                    continue
                else:
                    one = " "
                if said and said[-1] == "\n" == one:
                    continue
            said.append(one)
            places.append(place)
    return PlainText("".join(said), tuple(places))


def excerpt(text: str, start: int, end: int) -> str:
    """The words from start to end with a little around them, everything written out, in one line."""
    begin, stop = max(0, start - _AROUND), min(len(text), end + _AROUND)
    while begin > 0 and not text[begin - 1].isspace() and start - begin < 2 * _AROUND:
        begin -= 1
    shown = " ".join(revealed(text[begin:stop]).split())
    shown = f"{'…' if begin else ''}{shown}{'…' if stop < len(text) else ''}"
    return cut(shown, _EXCERPT)


@cache
def lookalikes() -> Mapping[str, str]:
    """For each look-alike the plain character."""
    table = table_beside(__file__, "lookalikes")["plain"]
    found: dict[str, str] = {}
    for plain, codes in table.items():
        for code in codes.split():
            char = chr(int(code, 16))
            found[char] = plain
            found.setdefault(char.lower(), plain)
    return found


# ---- Characters that nobody sees.

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
