"""Texts that are JSON, or hold some, with places in them for values that are not known yet.

What fills such a place is written into the text, and whoever reads it as JSON takes the value's own quotes,
commas and braces for those of the text. So no place may stand there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_PLACE: Final = "\x00"  # stands for a place; no text of JSON holds it
# An object with a first name, and a list with a first text, object or list: no prose begins so.
_OPENING: Final = re.compile(r'\{[\s\x00]*(?:"(?:[^"\\]|\\.)*"|\x00)[\s\x00]*:|\[[\s\x00]*["\[{]', re.DOTALL)
_CLOSING: Final = {"{": "}", "[": "]"}


def place_in_json(pieces: Iterable[str | None]) -> bool:
    """Whether a place stands in JSON. pieces: of a text, in order; None for each place in it.

    JSON is an object with a name in it, a list that begins with a text, an object or a list, wherever they
    stand in the text; and a text that is a list as a whole.
    """
    text = "".join(_PLACE if piece is None else piece.replace(_PLACE, " ") for piece in pieces)
    if _PLACE not in text:
        return False
    whole = text.strip()
    if whole.startswith("[") and whole.endswith("]") and _end(whole, 0) == len(whole):
        return True
    position = 0
    while opening := _OPENING.search(text, position):
        end = _end(text, opening.start())
        if _PLACE in text[opening.start() : end]:
            return True
        position = end
    return False


def _end(text: str, start: int) -> int:
    """Where the object or list ends that begins here; the end of the text where it is not closed."""
    open_ones: list[str] = []
    quoted, position = False, start
    while position < len(text):
        char = text[position]
        position += 1
        if quoted:
            if char == "\\":
                position += 1
            quoted = char != '"'
        elif char == '"':
            quoted = True
        elif char in _CLOSING:
            open_ones.append(_CLOSING[char])
        elif open_ones and char == open_ones[-1]:
            open_ones.pop()
            if not open_ones:
                return position
    return len(text)
