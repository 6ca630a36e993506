"""The lines of a piece that one question is about, and how they are shown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ir.characters import LINE_ENDS, Kinds, without
from mcl.plugins.review.target import Piece, shown
from mcl.plugins.review.target.piece import Removed

MOST_LINES = 240  # shown in one question, whatever a model can hold: more are read badly
OVERLAP = 6  # lines that are shown again, for what stands before
_LONGEST_LINE = 400  # characters shown of a line; a minified file has one of a million
_MOST_GONE = 40
_ODD: Kinds = LINE_ENDS | {"surrogate"}
_BESIDE = 3  # lines shown beside those that are to be judged


@dataclass(frozen=True)
class Window:
    """A run of a piece. ranges: first and last line, from 1, of what is shown. judged: the lines of it that
    findings may be about; no line is in two windows of a piece."""

    ranges: tuple[tuple[int, int], ...]
    judged: tuple[int, ...]

    def halves(self) -> "tuple[Window, ...]":
        """The same lines in two; one that judges a single line is whole."""
        if len(self.judged) < 2:
            return (self,)
        middle = len(self.judged) // 2
        return self._of(self.judged[:middle]), self._of(self.judged[middle:])

    def narrow(self) -> "Window":
        """The same without any line beside those that are judged."""
        return replace(self, ranges=tuple(_runs(self.judged)))

    def _of(self, judged: tuple[int, ...]) -> "Window":
        """What is shown here around some of the lines."""
        first, last = judged[0] - OVERLAP, judged[-1] + _BESIDE
        near = [(max(a, first), min(b, last)) for a, b in self.ranges]
        return Window(tuple((a, b) for a, b in near if a <= b), judged)


def windows(piece: Piece) -> list[Window]:
    """A piece as windows of at most MOST_LINES judged lines each, in order; none where nothing is judged.

    Of a piece that only lost lines, those beside them are judged.
    """
    judged = sorted(piece.judged) or _beside(piece)
    parts = [tuple(judged[at : at + MOST_LINES]) for at in range(0, len(judged), MOST_LINES)]
    whole = Window(tuple(piece.around), tuple(judged))
    return [whole if len(parts) == 1 else whole._of(part) for part in parts]


def readable(piece: Piece) -> Piece:
    """The piece as a model sees it: control characters replaced, long lines cut, and of what a change took
    away in one place the first lines only."""
    removed = tuple(Removed(one.after, _gone(one.text)) for one in piece.removed)
    return replace(piece, text="".join(f"{_line(row)}\n" for row in piece.rows), removed=removed)


def numbered(piece: Piece, window: Window) -> str:
    """The lines of a window with their numbers, those of a change marked."""
    return "\n".join(shown(piece, window.ranges))


def _line(row: str) -> str:
    row = without(row, _ODD, instead="�")
    return row if len(row) <= _LONGEST_LINE else f"{row[:_LONGEST_LINE]} … ({len(row):,} characters)"


def _gone(rows: Sequence[str]) -> tuple[str, ...]:
    more = len(rows) - _MOST_GONE
    kept = tuple(map(_line, rows[:_MOST_GONE]))
    return (*kept, f"… ({more:,} more lines)") if more > 0 else kept


def _beside(piece: Piece) -> list[int]:
    near = {number for one in piece.removed for number in (one.after, one.after + 1)}
    return sorted(number for number in near if 1 <= number <= piece.total)


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    first = last = numbers[0]
    for number in numbers[1:]:
        if number != last + 1:
            yield first, last
            first = number
        last = number
    yield first, last
