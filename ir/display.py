"""What a person signs, as it is shown: the one canonical view of a text, for every screen.

Two different texts never look the same, nor do two spellings of one letter. Written out are: what is not
seen, line ends, blanks at an end and runs of blanks (``\\s{200}``), marks that stand on no letter, and what
Unicode calls another way to write something else. A backslash is doubled. Nothing is folded or cut, and no
view holds a line end. Letters of two scripts that look alike are not told apart.
"""

import json
import re
from typing import Final
from unicodedata import category, is_normalized

from ir.characters import UNSEEN, escape_of, kind_of, written_out

_PLAIN: Final = re.compile(r"[^\s\"'=\\]+")
_BLANKS: Final = re.compile(r" {2,}|\A | \Z")
_MOST_MARKS: Final = 4  # on one letter; more would lie over the lines around it


def clear(text: str) -> str:
    """The view without quotes, for a field that has a place of its own: ``a\\s{3}b``.

    It neither begins nor ends with a blank and has no two in a row, so two of them may part views.
    """
    return _seen(text.replace("\\", "\\\\"))


def bounded(text: str) -> str:
    """The view in double quotes, for a place that words of ours stand around."""
    return f'"{clear(text).replace(chr(34), chr(92) + chr(34))}"'


def quoted(text: str) -> str:
    """`bounded`, but a plain word without quotes: ``notes.md``."""
    return text if _PLAIN.fullmatch(text) and clear(text) == text else bounded(text)


def beginning(text: str, most: int) -> str:
    """`quoted`, of at most so many characters of the text; what is cut is told behind the quotes."""
    return quoted(text) if len(text) <= most else f"{bounded(text[:most])}… ({len(text):,} characters)"


def of_value(value: object, most: int = 0) -> str:
    """The view of a JSON value: of a text `quoted`, else as JSON has it. most: characters; 0 for all."""
    if isinstance(value, str):
        return beginning(value, most or len(value))
    line = clear_json(json.dumps(value, ensure_ascii=False, default=str))
    return line if not 0 < most < len(line) else f"{bounded(line[:most])}… ({len(line):,} characters)"


def lines_of(text: str) -> list[str]:
    """The view of a text with lines, where a bar of ours stands before each: a view a line."""
    return [clear(line) for line in text.split("\n")]


def clear_json(line: str) -> str:
    """The view of a line of written JSON, in which backslashes are doubled and line ends written already."""
    body = line.lstrip(" ")
    return line[: len(line) - len(body)] + _seen(body)


def pieces(view: str) -> list[str]:
    """A view in pieces, each up to a line end that is written out in it; together they are the view."""
    found, start, at = [], 0, view.find("\\")
    while at >= 0:
        at += 2
        if view[at - 1 : at] == "n" and at < len(view):
            found.append(view[start:at])
            start = at
        at = view.find("\\", at)
    return [*found, view[start:]]


def _seen(text: str) -> str:
    spelt = text if text.isascii() else _spelt(text)
    return written_out(_BLANKS.sub(_counted, spelt), UNSEEN, keep="")


def _counted(blanks: re.Match[str]) -> str:
    return r"\x20" if len(blanks[0]) == 1 else f"\\s{{{len(blanks[0])}}}"


def _spelt(text: str) -> str:
    """The text with each character written out that is joined to what stands before it, or stands for
    another: what is left is one way, the only one, to write what is seen."""
    said: list[str] = []
    letter = ""  # the last letter with its marks
    for char in text:
        if kind_of(char):
            said.append(char)
            letter = ""
        elif (category(char)[0] == "M" and not 0 < len(letter) <= _MOST_MARKS) or not is_normalized(
            "NFC", letter + char
        ):
            said.append(escape_of(char))
            letter = ""
        else:
            said.append(char)
            kind = category(char)[0]
            letter = letter + char if kind == "M" else char if kind in "LN" else ""
    return "".join(said)
