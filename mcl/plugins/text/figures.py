"""The numbers of a text, each with the words beside it: “Te 28” is 28 of te."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mcl.language.bm25 import WORD
from mcl.model.cues import TextPlace

VALUE: Final = re.compile(
    r"(?<![\w./-])(?<!\d )(?:\d{4}-\d\d-\d\d|\d{1,3}(?: \d{3})+|[vV]?\d+(?:[.,:]\d+)*)"
    r"(?![\w/-])(?! \d)(?!\.\w)"
)
_PART: Final = re.compile(r"(?:[^\n,;{}|.]|,(?=\d)|\.(?!\s+[A-ZÅÄÖ]|\s*$))+")
_ROW: Final = re.compile(r"\s*\|.*\|\s*")


@dataclass(frozen=True)
class Figure:
    """A number in a file. place: where it stands; label: the words beside it."""

    place: TextPlace
    text: str
    label: tuple[str, ...]


def kind_of(text: str) -> str:
    """What a number is: a day, a time, a version or an amount."""
    if re.match(r"\d{4}-", text):
        return "day"
    return "time" if ":" in text else "version" if text.count(".") > 1 or text[0] in "vV" else "amount"


def figures(text: str) -> Iterator[Figure]:
    """The numbers of a text with the words beside each: of its part of the line, or of its row and column."""
    at, head = 0, list[str]()
    for line in text.splitlines(keepends=True):
        cells = line.split("|") if _ROW.fullmatch(line) else []
        if not cells:
            head = []
        elif not head:
            head = cells
        start = at
        for column, part in enumerate(cells):
            number = VALUE.fullmatch(part.strip())
            if number is not None and column < len(head):
                begins = start + part.index(number[0])
                label = tuple(_small(f"{cells[1]} {head[column]}"))
                yield Figure(TextPlace(begins, begins + len(number[0])), number[0], label)
            start += len(part) + 1
        for match in () if cells else _PART.finditer(line):
            numbers = list(VALUE.finditer(match[0]))
            edges = [0, *(edge for one in numbers for edge in one.span()), len(match[0])]
            for many, one in enumerate(numbers):
                before, behind = (_small(match[0][edges[k] : edges[k + 1]]) for k in (2 * many, 2 * many + 2))
                near = (*before, *behind) if len(numbers) == 1 else (*before[-1:], *behind[:1])
                place = TextPlace(at + match.start() + one.start(), at + match.start() + one.end())
                yield Figure(place, one[0], near)
        at += len(line)


def _small(text: str) -> list[str]:
    return [one.casefold() for one in WORD.findall(text)]
