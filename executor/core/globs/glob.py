"""A pattern of paths, such as `src/auth/**`: which paths it fits, and which path two of them both fit.

`*` is any part of a name, `?` one character, `[a-z]` and `[!a-z]` one of a class, `{a,b}` alternatives, `**`
any number of folders; a trailing `/` or `/**` is everything below a folder, not the folder. Names that begin
with a dot are names like others, case counts, and a pattern without `/` is about the top folder alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, takewhile
from typing import Final

from executor.core.globs.parse import Path, parse
from executor.core.globs.segment import ANY_NAME, Segment, literal
from executor.core.globs.sequence import Gapped, meet

MAX_PATH: Final = 4096  # characters of a path
_NO_PATH: Final = re.compile("[\0-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True)
class Glob:
    """A pattern that was read. text: as it was written. paths: what its braces stand for."""

    text: str
    paths: tuple[Path, ...]

    @classmethod
    def read(cls, text: str) -> Glob:
        """Read a pattern.

        Raises:
            GlobError: INVALID_GLOB with the position, ABSOLUTE_PATH.
        """
        return cls(text, parse(text))

    def matches(self, path: str) -> bool:
        """Does the pattern fit this path? Only one in its plain spelling does: relative to the workspace,
        without `.`, `..`, empty names and control characters."""
        return (names := plain_names(path)) is not None and self.fits(names)

    def fits(self, names: tuple[str, ...]) -> bool:
        """The same of a path's names, as ``plain_names`` gives them."""
        return any(_fits(one, names) for one in self.paths)

    def meeting(self, other: Glob) -> str | None:
        """A path that both patterns fit; None where no path does."""
        for one in self.paths:
            for its in other.paths:
                if (found := shared(one, its)) is not None:
                    return found
        return None

    @cached_property
    def weight(self) -> int:
        """Characters of all that its braces stand for. Two patterns are compared in time of the order of the
        product of their weights, at worst."""
        return sum(_weight(one) for one in self.paths)

    def holds(self, folder: tuple[str, ...]) -> bool:
        """Does the pattern fit everything below the folder with these names, () being the workspace? False
        where that is not plain to see."""
        return any(_holds(one, folder) for one in self.paths)

    def touches(self, folder: tuple[str, ...]) -> bool:
        """Does the pattern fit anything below this folder?"""
        below = Gapped(tuple(map(literal, folder)), tail=(ANY_NAME,), gaps=True)
        return any(shared(one, below) is not None for one in self.paths)

    @cached_property
    def leads(self) -> frozenset[tuple[str, ...]]:
        """The names that all it fits begin with, as far as they are written out: of each alternative."""
        return frozenset(_lead(one) for one in self.paths)


def plain_names(path: str) -> tuple[str, ...] | None:
    """The names of a path in its plain spelling; None of any other text."""
    if len(path) > MAX_PATH or _NO_PATH.search(path):
        return None
    names = tuple(path.split("/"))
    return None if "" in names or "." in names or ".." in names else names


def shared(one: Path, other: Path) -> str | None:
    """A path that two patterns without braces both fit."""
    found = meet(one, other, Segment.shared, _sample)
    return None if found is None else "/".join(found)


def _fits(pattern: Path, names: tuple[str, ...]) -> bool:
    if len(names) < pattern.least or not (pattern.gaps or len(names) == pattern.least):
        return False
    return meet(pattern, Gapped(tuple(map(literal, names))), Segment.shared, _sample) is not None


def _holds(pattern: Path, folder: tuple[str, ...]) -> bool:
    """Of the form FOLDER/**, and is the folder, or one above it, FOLDER?"""
    if not pattern.gaps or pattern.chunks or pattern.tail != (ANY_NAME,):
        return False
    return _fits(Gapped(pattern.head), folder[: len(pattern.head)])


def _lead(path: Path) -> tuple[str, ...]:
    return tuple(one.text for one in takewhile(lambda one: one.text, path.head))


def _weight(path: Path) -> int:
    return sum(len(one.text) or one.chars.least + 1 for one in (*path.head, *chain(*path.chunks), *path.tail))


def _sample(one: Segment) -> str:
    return one.sample
