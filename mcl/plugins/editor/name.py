"""The name at a place: what it is called and what kind of thing it names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mcl.language.mtx.procedure_checks import slot_of
from mcl.plugins.editor.document import Span
from mcl.plugins.editor.place import Token, here, tokens

_PLACE = re.compile(r"\{\{|\{([^{}\n]*)\}")
_WORD = re.compile(r"[^\s\",\[\]]+")
_PATHS = ("SLOT_PATH", "ARGUMENT", "ITEM", "BARE")


class Name(NamedTuple):
    """A name in a text.

    kind: "slot" (`text` is the slot's name), "place" (of a prompt), "setting", "value" (`key` takes it),
    "type", "verb", "call", "argument", "reference", "section", or the terminal of a word of the language.
    """

    kind: str
    text: str
    span: Span
    key: str = ""


def name_at(lines: Sequence[str], line: int, column: int) -> Name | None:
    """The name at a place (line and column from 1), also where the place is right behind it."""
    found = tokens(lines, line)
    token = next((token for token in found if token.column <= column < token.stop), None)
    token = token or next((token for token in found if token.stop == column), None)
    if token is None:
        return None
    key = _key(found, token)
    if token.kind == "STRING":
        return _in_string(token, line, column, key)
    span = Span(line, token.column, token.stop)
    if token.kind in _PATHS and (path := slot_of(token.text)):
        return Name("slot", path[0], span)
    kinds = {"KEY": "setting", "REFERENCE": "reference", "TYPE_NAME": "type", "VERB_NAME": "verb"}
    kinds |= {"CORTEX_CALL": "call", "ARGUMENT_KEY": "argument", "_ENUM": "type"}
    if token.kind in kinds:
        return Name(kinds[token.kind], token.text, span)
    if token.kind == "NAME":
        return Name("slot", token.text, span, here(lines, line, column).around.section)
    if token.kind.startswith("S_"):
        return Name("section", token.text.removeprefix("§"), span)
    if token.kind in ("BARE", "ITEM", "ARGUMENT"):
        return _word(token, line, column, key)
    return Name(token.kind, token.text, span)


def _key(found: Sequence[Token], token: Token) -> str:
    """The key whose value a token is."""
    before = [one for one in found if one.column < token.column]
    return next((one.text for one in reversed(before) if one.kind.endswith("KEY")), "")


def _in_string(token: Token, line: int, column: int, key: str) -> Name | None:
    for match in _PLACE.finditer(token.text):
        start, stop = token.column + match.start(), token.column + match.end()
        if match[1] is not None and start <= column < stop:
            path = slot_of(match[1])
            span = Span(line, start + 1, stop - 1)
            return Name("slot", path[0], span) if path else Name("place", match[1], span)
    return _word(token, line, column, key)


def _word(token: Token, line: int, column: int, key: str) -> Name | None:
    for match in _WORD.finditer(token.text):
        start, stop = token.column + match.start(), token.column + match.end()
        if start <= column <= stop:
            return Name("value", match.group(), Span(line, start, stop), key)
    return None
