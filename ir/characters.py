"""Characters that a reader does not see, or takes for others: the one table, of every code point.

Whoever writes out, takes out or refuses such characters takes a class of kinds from here. The ranges are
those of the Unicode data, versions 14 to 17 alike (property Default_Ignorable_Code_Point among them: 4,174
code points); the general categories are those of this Python's data, whose version is ``UNICODE``: a
character that only a later version knows counts as unassigned.
"""

import json
import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal[
    "control",  # of a terminal: C0, DEL, C1; line ends and tabs are among them
    "line",  # a line end by another name
    "direction",  # turns the direction of what is read
    "joiner",  # joins its neighbours, or keeps them apart
    "variation",  # chooses among the forms of the character before it
    "tag",  # a letter, say, that nobody sees
    "filler",  # has the width of a letter, and no shape
    "ignorable",  # what else has no shape and no width
    "annotation",  # around what is said of a text in it
    "format",  # other format characters; some have a shape
    "blank",  # a blank that is not U+0020
    "surrogate",  # half a character
    "private",  # looks as each font likes
    "noncharacter",
    "unassigned",
]
Kinds: TypeAlias = frozenset[Kind]
UNICODE: Final = unicodedata.unidata_version

INVISIBLE: Final[Kinds] = frozenset(
    ("direction", "joiner", "variation", "tag", "filler", "ignorable", "annotation")
)
# What goals are cleaned of: what no script needs to be written. Goals are hashed, so this class is for good.
MEANINGLESS: Final[Kinds] = frozenset(("direction", "tag", "ignorable", "annotation"))
LINE_ENDS: Final[Kinds] = frozenset(("control", "line"))
# What drives a terminal, or is not seen as what it is.
HIDDEN: Final[Kinds] = INVISIBLE | frozenset(
    ("control", "line", "format", "surrogate", "private", "noncharacter", "unassigned")
)
UNSEEN: Final[Kinds] = HIDDEN | {"blank"}  # all of the table

# What no text for people needs: controls, but for tab, line feed and carriage return.
CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_NOT_YAML: Final = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")

_RANGES: Final[tuple[tuple[int, int, Kind], ...]] = (
    (0x00AD, 0x00AD, "ignorable"),
    (0x034F, 0x034F, "joiner"),
    (0x061C, 0x061C, "direction"),
    (0x115F, 0x1160, "filler"),
    (0x17B4, 0x17B5, "filler"),
    (0x180B, 0x180D, "variation"),
    (0x180E, 0x180E, "ignorable"),
    (0x180F, 0x180F, "variation"),
    (0x200B, 0x200B, "ignorable"),
    (0x200C, 0x200D, "joiner"),
    (0x200E, 0x200F, "direction"),
    (0x202A, 0x202E, "direction"),
    (0x2060, 0x2065, "ignorable"),
    (0x2066, 0x2069, "direction"),
    (0x206A, 0x206F, "ignorable"),
    (0x2800, 0x2800, "filler"),
    (0x3164, 0x3164, "filler"),
    (0xFE00, 0xFE0F, "variation"),
    (0xFEFF, 0xFEFF, "ignorable"),
    (0xFFA0, 0xFFA0, "filler"),
    (0xFFF0, 0xFFF8, "ignorable"),
    (0xFFF9, 0xFFFB, "annotation"),
    (0xFFFC, 0xFFFC, "filler"),
    (0x1BCA0, 0x1BCA3, "ignorable"),
    (0x1D173, 0x1D17A, "ignorable"),
    (0xE0000, 0xE00FF, "tag"),
    (0xE0100, 0xE01EF, "variation"),
    (0xE01F0, 0xE0FFF, "tag"),
)
_CATEGORIES: Final[dict[str, Kind]] = {
    "Cc": "control",
    "Zl": "line",
    "Zp": "line",
    "Cf": "format",
    "Zs": "blank",
    "Cs": "surrogate",
    "Co": "private",
    "Cn": "unassigned",
}


@lru_cache(maxsize=4096)
def kind_of(char: str) -> Kind | None:
    """The kind of a character that is not seen as what it is; None for any other, U+0020 among them."""
    code = ord(char)
    if 0x20 <= code < 0x7F:
        return None
    for first, last, kind in _RANGES:
        if first <= code <= last:
            return kind
    if code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF:
        return "noncharacter"
    return _CATEGORIES.get(unicodedata.category(char))


def escape_of(char: str) -> str:
    """A character as Python and most others write it: ``\\n``, ``\\xad``, ``\\u200b``, ``\\U000e0100``."""
    return char.encode("unicode_escape").decode()


def _in_json(char: str) -> str:
    return json.dumps(char)[1:-1]


def written_out(text: str, kinds: Kinds = HIDDEN, *, keep: str = "\n\t") -> str:
    """The text with each character of these kinds as its escape, but for those to keep."""
    return text.translate(_table(kinds, keep, escape_of))


def written_in_json(document: str, kinds: Kinds = HIDDEN, *, keep: str = "\n\t") -> str:
    """The same for a written JSON document, by the escapes of JSON: it says the same as before."""
    return document.translate(_table(kinds, keep, _in_json))


def without(text: str, kinds: Kinds, *, keep: str = "\n\t", instead: str = "") -> str:
    """The text without the characters of these kinds, or with something in the place of each."""
    return text.translate(_table(kinds, keep, lambda char: instead, instead))


def holds(text: str, kinds: Kinds, *, keep: str = "\n\t") -> bool:
    """Whether a character of these kinds stands in the text."""
    return any(kind_of(char) in kinds for char in set(text).difference(keep))


class _Table(dict[int, str | int]):
    """What `str.translate` makes of each code point; looked up when it is first met."""

    def __init__(self, kinds: Kinds, keep: str, write: Callable[[str], str]) -> None:
        super().__init__()
        self._kinds, self._keep, self._write = kinds, keep, write

    def __missing__(self, code: int) -> str | int:
        char = chr(code)
        said = self._write(char) if char not in self._keep and kind_of(char) in self._kinds else code
        if len(self) < 20_000:  # hostile texts hold more than languages do
            self[code] = said
        return said


_TABLES: Final[dict[tuple[object, ...], _Table]] = {}


def _table(kinds: Kinds, keep: str, write: Callable[[str], str], said: str | None = None) -> _Table:
    named = (kinds, keep, write if said is None else said)
    found = _TABLES.get(named)
    if found is None:
        found = _TABLES[named] = _Table(kinds, keep, write)
    return found


def yaml_of(json_text: str) -> str:
    """A text of JSON that YAML reads as the same: what YAML does not take as it is, or what its readers take
    in different ways, stands as an escape."""
    return _NOT_YAML.sub(lambda odd: f"\\u{ord(odd[0]):04x}", json_text)
