"""The characters of a line, as the one who reads it sees them."""

import re
import unicodedata
from html import unescape
from typing import Final

# What is not seen: controls but for the tab, soft hyphens, joiners, marks of direction, fillers, variation
# selectors, byte order marks, tags.
_INVISIBLE: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_BLANK: Final = re.compile(r"[^\S\t]")
# Brackets, colons and dashes that the compatibility form leaves as they are.
_ALIKE: Final = str.maketrans(
    {
        **dict.fromkeys("【〔〖〚⟦❲「『⁅", "["),
        **dict.fromkeys("】〕〗〛⟧❳」』⁆", "]"),
        **dict.fromkeys("∶꞉ːː", ":"),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict.fromkeys("∕⁄", "/"),
    }
)


def visible(line: str) -> str:
    """`line` without what is not seen, and with plain blanks."""
    return _BLANK.sub(" ", _INVISIBLE.sub("", line))


def folded(line: str) -> str:
    """A visible line in plain characters: full-width and other forms of a letter are that letter, marks on
    letters are gone, entities of HTML are what they stand for.

    Marks go first: putting long runs of them in order takes quadratic time.
    """
    if "&" in line:
        line = visible(unescape(line))
    if line.isascii():
        return line
    letters = "".join(letter for letter in line if unicodedata.category(letter)[0] != "M")
    return _BLANK.sub(" ", unicodedata.normalize("NFKC", letters.translate(_ALIKE)))
