"""The characters of a line, as the one who reads it sees them."""

import re
import unicodedata
from html import unescape
from typing import Final

from ir.characters import INVISIBLE, Kinds, without

_NOT_SEEN: Final[Kinds] = INVISIBLE | {"control"}
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
    return _BLANK.sub(" ", without(line, _NOT_SEEN))


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
