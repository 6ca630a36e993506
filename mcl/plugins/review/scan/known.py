"""What a person dismissed, as the search needs it: each finding has a mark by which it is found again."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from mcl.plugins.review.scan.hit import Hit

Marking = Callable[[str, str, str, int], str]


@dataclass(frozen=True, slots=True)
class Known:
    """mark: gives the mark of a path, a rule, the text of the lines that it is about, and which of the places
    with this text in the file it is (from 1); None where findings need no marks. dismissed: marks."""

    mark: Marking | None = None
    dismissed: Container[str] = ()

    def of(self, hit: Hit, path: str, places: Places) -> str:
        """The mark of a hit; "" for a remark: what could not be searched cannot be dismissed."""
        if hit.remark or self.mark is None:
            return ""
        return self.mark(path, hit.rule, *places.of(hit.first, hit.last))

    def is_gone(self, mark: str) -> bool:
        """Is this the mark of what was dismissed?"""
        return bool(mark) and mark in self.dismissed


class Places:
    """The lines of a text, and where each stands."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._rows: Sequence[str] = ()
        self._where: dict[str, list[int]] = {}

    def of(self, first: int, last: int) -> tuple[str, int]:
        """Lines (from 1, both included) without the blanks around each, and which of the places in the text
        that have just these it is, from 1."""
        if not self._rows:
            self._rows = [row.strip() for row in self._text.split("\n")]
            for place, row in enumerate(self._rows):
                self._where.setdefault(row, []).append(place)
        wanted = self._rows[first - 1 : last]
        if not wanted:
            return "", 1
        nth = 0
        for begin in self._where[wanted[0]]:
            if begin >= first:
                break
            nth += len(wanted) == 1 or self._rows[begin : begin + len(wanted)] == wanted
        return "\n".join(wanted), nth
