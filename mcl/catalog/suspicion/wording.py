"""Rules about words: what a text says to the model that reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from mcl.catalog.suspicion.finding import Mark, rules
from mcl.catalog.suspicion.texts import Read, Text, excerpt, read

_LEAST: Final = 4  # characters of a text that can say anything
_BLANKS: Final = re.compile(r"[ \t\v\f\x1c-\x1f]+")
_LINES: Final = re.compile(r" ?[\n\r][\n\r ]*")


def marks(one: Text) -> Iterator[Mark]:
    """Each rule that one of its patterns fits, once a text."""
    for rule, start, end in _found(one.text):
        yield Mark(rule, one.place, excerpt(one.text, start, end))


@lru_cache(maxsize=2048)  # "type", "string", "path": most texts of schemas stand in all of them
def _found(text: str) -> tuple[tuple[str, int, int], ...]:
    if len(text) < _LEAST:
        return ()
    quick = _quick(text) if text.isascii() else None
    ways: list[Read] = []
    found: list[tuple[str, int, int]] = []
    for rule in rules().values():
        if quick is not None and not any(pattern.search(quick) for pattern in rule.patterns):
            continue
        if rule.patterns and not ways:
            ways = [read(text, alike=alike) for alike in ((False,) if quick is not None else (False, True))]
        hit = next((hit for pattern in rule.patterns for way in ways if (hit := _place(pattern, way))), None)
        if hit is not None:
            found.append((rule.id, *hit))
    return tuple(found)


def _quick(text: str) -> str:
    """A plain text as `read` gives it, without the places."""
    return _LINES.sub("\n", _BLANKS.sub(" ", text.lower()))


def _place(pattern: re.Pattern[str], way: Read) -> tuple[int, int] | None:
    """Where a pattern fits, as places of the text as it was written."""
    hit = pattern.search(way.text)
    if hit is None or hit.start() == hit.end():
        return None
    return way.places[hit.start()], way.places[hit.end() - 1] + 1
