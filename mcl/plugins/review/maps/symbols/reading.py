"""One text, read: Python by its syntax tree, other languages by tables of lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from mcl.plugins.review.maps.maps import Symbol
from mcl.plugins.review.maps.symbols.python import read_python
from mcl.plugins.review.maps.symbols.shown import MOST_NAME, Shown
from mcl.plugins.review.maps.symbols.tables import read_lines, tables

MOST_SYMBOLS: Final = 200  # of a file
MOST_IMPORTS: Final = 1000
MOST_TEXT: Final = 1 << 20  # characters that are looked through for symbols
_HEAD: Final = 2000  # characters in which a text says that a program wrote it
_HEAD_LINES: Final = 6
_LONG_TEXT, _LONG_LINE = 2000, 300  # characters of a text, and of its lines on the average
_GENERATED: Final = re.compile(
    r"@generated\b|\b(?:auto-?generated|generated (?:by|from|file|code|automatically)|automatically generated"
    r"|machine[- ]generated)\b",
    re.IGNORECASE,
)
_COMMENT: Final = re.compile(r"\s*(?:#|//|/\*|\*|--|;|<!--|%|\"\"\"|\.\.)")


def read_text(text: str, language: str) -> Shown:
    """Read one text; never raises on what stands in it.

    Args:
        text: the whole of it; of more than 1 MiB no symbols are looked for.
        language: its name, as in executor/tools/project/languages.toml.
    """
    found: Shown | None = None
    if len(text) <= MOST_TEXT:
        if language == "python":
            found = read_python(text)
        if found is None and (table := tables().get(language)) is not None:
            found = read_lines(text, table)
    found = found or Shown()
    marks = tuple(sorted({*found.marks, *_general(text)}))
    symbols = tuple(sorted(_printable(found.symbols), key=lambda one: one.line))
    imports = tuple(
        dict.fromkeys(one for one in found.imports if one.isprintable() and len(one) <= MOST_NAME)
    )
    return Shown(
        symbols[:MOST_SYMBOLS],
        imports[:MOST_IMPORTS],
        marks,
        found.provides,
        found.read,
        cut=len(symbols) > MOST_SYMBOLS or len(text) > MOST_TEXT,
    )


def _general(text: str) -> Iterator[str]:
    if text.startswith("#!"):
        yield "shebang"
    head = text[:_HEAD].split("\n")[:_HEAD_LINES]
    if len(text) > _LONG_TEXT and len(text) > _LONG_LINE * (text.count("\n") + 1):
        yield "long lines"
    if any(_COMMENT.match(line) and _GENERATED.search(line[:400]) for line in head):
        yield "generated"


def _printable(symbols: Iterable[Symbol]) -> Iterator[Symbol]:
    return (one for one in symbols if one.name.isprintable() and 0 < len(one.name) <= MOST_NAME)
