"""Numbers as people read them, in columns that stand under each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from unicodedata import combining, east_asian_width

_DIGITS = 6  # significant ones of a fraction
_WIDE = 40  # cells of a terminal that a text takes at most


def shown(value: object) -> str:
    """A number with its thousands marked and about six significant digits; None is ``-``."""
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    if not isinstance(value, float):
        return str(value)
    size = abs(value)
    if size >= 1e15 or 0 < size < 1e-4:
        return f"{value:.{_DIGITS - 1}e}"
    decimals = max(0, min(_DIGITS, _DIGITS - len(str(int(size))))) if size >= 1 else _DIGITS
    plain = f"{value:,.{max(2, decimals)}f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def aligned(rows: Sequence[Sequence[str]], *, left: Collection[int] = (0,)) -> Iterator[str]:
    """The rows as lines; columns in ``left`` stand left, the others right."""
    cut = [[_cut(cell) for cell in row] for row in rows]
    widths = [max(_width(row[place]) for row in cut) for place in range(len(cut[0]))]
    for row in cut:
        cells = []
        for place, (cell, width) in enumerate(zip(row, widths, strict=True)):
            room = " " * (width - _width(cell))
            cells.append(cell + room if place in left else room + cell)
        yield "  ".join(cells).rstrip()


def _cut(text: str) -> str:
    if len(text) <= _WIDE * 2:
        return text
    return text[: _WIDE * 2 - 1] + "…"


def _width(text: str) -> int:
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)
