"""One file as it is looked at, and all of them together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

Kind = Literal["file", "folder", "diff"]
State = Literal["whole", "new", "changed", "renamed", "conflict"]

MAX_FILE: Final = 1 << 20  # bytes of one file; source that a person wrote is smaller
_AROUND = 3  # lines shown before and after one that changed
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class RemovedLines:
    """Lines that a change took away. after: the number of the line they stood behind, 0 for the top."""

    after: int
    text: tuple[str, ...]


@dataclass(frozen=True)
class FilePiece:
    """A file to be judged.

    path: relative to the workspace. text: the file as it is now, whole; its line ends are `\\n`, whatever
    they are in the file. lines: first and last line, both counted from 1, of what is to be judged; they are
    in order and apart (a whole file: one range; an empty one, or one that only lost lines: none). total: the
    number of lines. sha256: of the bytes of the file, hex. state: how it came here; `was` is the old path of
    what was renamed. removed: what a change took away.
    """

    path: str
    text: str
    lines: tuple[tuple[int, int], ...]
    total: int
    sha256: str
    state: State = "whole"
    was: str = ""
    removed: tuple[RemovedLines, ...] = ()

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """The lines of the text, without their ends; the first has the number 1."""
        return tuple(rows_of(self.text))

    @cached_property
    def judged(self) -> frozenset[int]:
        """The numbers of all lines that are to be judged."""
        return frozenset(number for first, last in self.lines for number in range(first, last + 1))

    @property
    def whole(self) -> bool:
        """Is all of the file to be judged?"""
        return self.lines == _all(self.total)

    @cached_property
    def around(self) -> tuple[tuple[int, int], ...]:
        """The ranges that a reader is shown: what is to be judged, what was taken away, and lines beside."""
        places = [*self.lines, *((one.after, one.after + 1) for one in self.removed)]
        return tuple(_joined((max(1, a - _AROUND), min(self.total, b + _AROUND)) for a, b in sorted(places)))

    def excerpt(self) -> str:
        """The lines that a reader is shown, as in `shown`."""
        return "\n".join(shown(self, self.around))


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that is not looked at. why: deleted, binary, too large, secret, link, submodule (or any other
    repository in this one), unchanged (its name or mode alone changed), conflict, generated, vendored,
    unreadable, too many."""

    path: str
    why: str


@dataclass(frozen=True)
class ReviewTarget:
    """What is looked at, in the order of paths.

    skipped: what belongs to it and is not looked at, with the reason. base: id of the commit that a
    difference was taken against, "" where there is none. truncated: there is more than is looked at.
    """

    kind: Kind
    pieces: tuple[FilePiece, ...]
    skipped: tuple[SkippedFile, ...] = ()
    base: str = ""
    truncated: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that are looked at."""
        return tuple(one.path for one in self.pieces)

    @property
    def seal(self) -> str:
        """A sha256, hex, of the names and bytes of the files and of which lines are to be judged: two looks
        have the same one where they saw the same."""
        said = [(one.path, one.sha256, one.lines) for one in self.pieces]
        return hashlib.sha256(repr(said).encode("utf-8", "surrogatepass")).hexdigest()


def piece_of(path: str, data: bytes) -> FilePiece | None:
    """A whole file, all of which is to be judged; None where it is binary."""
    if b"\0" in data:
        return None
    text = text_of(data)
    total = len(rows_of(text))
    return FilePiece(path, text, _all(total), total, hashlib.sha256(data).hexdigest())


def text_of(data: bytes) -> str:
    """The text of a file with `\\n` for its line ends, also for a lone carriage return, which ends a line for
    compilers. What is no UTF-8 is read as Latin-1."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return text.removeprefix(_BOM).replace("\r\n", "\n").replace("\r", "\n")


def rows_of(text: str) -> list[str]:
    """The lines of a text, without their ends."""
    rows = text.split("\n")
    return rows if rows[-1] else rows[:-1]


def shown(piece: FilePiece, ranges: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Lines with their numbers, for a reader: `+` marks those of a change that are to be judged, `-` those
    that it took away, `…` a gap.

        12   def total(rows):
        13 +     return sum(rows) / len(rows)
           -     return sum(rows)
    """
    wide, marked = len(str(piece.total)), not piece.whole
    gone: dict[int, tuple[str, ...]] = {one.after: one.text for one in piece.removed}
    before = 0
    for first, last in ranges:
        if first > before + 1:
            yield "…"
        for number in range(first, last + 1):
            if number == first and number - 1 in gone:
                yield from (f"{'':>{wide}} - {row}" for row in gone.pop(number - 1))
            mark = "+" if marked and number in piece.judged else " "
            yield f"{number:>{wide}} {mark} {piece.rows[number - 1]}".rstrip()
            if number in gone:
                yield from (f"{'':>{wide}} - {row}" for row in gone.pop(number))
        before = last
    if not piece.total:
        yield from (f" - {row}" for rows in gone.values() for row in rows)
    elif before < piece.total:
        yield "…"


def _all(total: int) -> tuple[tuple[int, int], ...]:
    return ((1, total),) if total else ()


def _joined(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Ranges that touch or overlap as one; those with nothing in them are left out. ranges: in order."""
    held: tuple[int, int] | None = None
    for first, last in ranges:
        if last < first:
            continue
        if held is not None and first <= held[1] + 1:
            held = held[0], max(held[1], last)
            continue
        if held is not None:
            yield held
        held = first, last
    if held is not None:
        yield held
