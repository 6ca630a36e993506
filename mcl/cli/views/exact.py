"""Views of what a person signs, laid out so that nothing in them is folded or cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

from ir.characters import UNSEEN, written_out
from ir.shown import clear, pieces

MARK = "↪"  # begins a row that goes on where the one above it ended; the views themselves have none
_LEAST = 8  # columns


class Exact:
    """Lines that are cut where a column ends, or behind a line end that is written out; each row that goes on
    begins with a mark."""

    def __init__(self, *lines: Text) -> None:
        self._lines = lines

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        most = max((cell_len(line.plain) for line in self._lines), default=0)
        return Measurement(min(_LEAST, most), most).with_maximum(options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self._lines:
            for row in rows_of(line, options.max_width):
                row.no_wrap, row.overflow = True, "ignore"
                yield row


def line_of(*parts: tuple[str, str]) -> Text:
    """(view, style) pairs on one line, two blanks apart; empty ones left out. The views are those of
    ``ir.shown``, or words of ours."""
    return Text("  ").join(
        Text(written_out(view, UNSEEN, keep="").replace(MARK, "\\u21aa"), style)
        for view, style in parts
        if view
    )


def exact(*parts: tuple[str, str]) -> Exact:
    """One line of views."""
    return Exact(line_of(*parts))


def field(text: str, style: str = "") -> Exact:
    """The view of one text."""
    return exact((clear(text), style))


def rows_of(line: Text, width: int) -> Iterable[Text]:
    """The rows of a line; those behind the first begin with the mark. A blank is never the last of a row."""
    rows = line.divide(list(_cuts(line.plain, max(width, 4))))
    for place, row in enumerate(rows):
        yield Text.assemble((MARK, "dim"), row) if place else row


def cut_rows(text: str, width: int) -> Iterator[str]:
    """The same of a bare view."""
    yield from (row.plain for row in rows_of(line_of((text, "")), width))


def _cuts(plain: str, width: int) -> Iterator[int]:
    """Where a line is cut."""
    ends, at = set(), 0
    for piece in pieces(plain):
        at += len(piece)
        ends.add(at)
    used = start = 0
    for place, char in enumerate(plain):
        cells = cell_len(char)
        if place in ends or used + cells > width:
            cut = place
            if place not in ends or plain[place - 1] == " ":  # at a blank near the end, which then goes on
                blank = plain.rfind(" ", start + 1 + (place - start) * 3 // 4, place)
                cut = blank if blank > start else place
            yield cut
            start, used = cut, 1 + cell_len(plain[cut:place])
        used += cells
