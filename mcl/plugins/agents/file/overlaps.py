"""Scopes that share a path: which two, by which patterns, and a path that both fit.

Patterns are compared only where the folders that they begin with are the same, or one is within the other, so
a file of a thousand intents is looked through in less time than it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from executor.core.globs import Glob
from executor.core.globs.segment import Segment

MAX_TOLD: Final = 1_000  # overlaps of one file
MAX_COMPARED: Final = 200_000_000  # characters of one pattern, braces written out, times those of the other
MAX_LOOKS: Final = 2_000_000  # at pairs that may have to be compared

_ENDING: Final = re.compile(r"[^*?\[\]{}/]*\Z")  # the characters that all a pattern fits ends with

Folders: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Overlap:
    """Two scopes, by their places (one < other), the patterns that meet, and a path that both fit."""

    one: int
    other: int
    pattern: str
    its_pattern: str
    witness: str


class TooManyError(Exception):
    """There is more to compare, or to tell, than anybody could read; what was found was given before."""


class _Part:
    """A pattern under one of the beginnings that it has: the scope it is of, how what it fits ends, and about
    how many characters it has with its braces written out.
    """

    __slots__ = ("ending", "folders", "glob", "scope", "weight")

    def __init__(self, folders: Folders, scope: int, glob: Glob) -> None:
        self.folders, self.scope, self.glob = folders, scope, glob
        found = _ENDING.search(glob.text)
        self.ending = found[0] if found else ""
        self.weight = len(glob.text) * len(glob.paths)


def overlaps_of(scopes: Sequence[tuple[Glob, ...]]) -> Iterator[Overlap]:
    """Each two scopes that share a path, once. The same for equal scopes. Raises TooManyError."""
    index: dict[Folders, list[_Part]] = {}
    met: dict[tuple[str, str], str | None] = {}
    told: set[tuple[int, int]] = set()
    looks = compared = 0
    for part in _parts(scopes):
        scope, glob, ending = part.scope, part.glob, part.ending
        for depth in range(len(part.folders) + 1):
            for its in index.get(part.folders[:depth], ()):
                looks += 1
                if looks > MAX_LOOKS or compared > MAX_COMPARED or len(told) >= MAX_TOLD:
                    raise TooManyError
                if not (ending.endswith(its.ending) or its.ending.endswith(ending)) or its.scope == scope:
                    continue
                two = (scope, its.scope) if scope < its.scope else (its.scope, scope)
                if two in told:
                    continue
                pair = (its.glob.text, glob.text)
                if pair not in met:
                    compared += its.weight * part.weight
                    met[pair] = its.glob.meeting(glob)
                if (witness := met[pair]) is not None:
                    told.add(two)
                    texts = (glob.text, its.glob.text) if scope < its.scope else pair
                    yield Overlap(*two, *texts, witness)
        index.setdefault(part.folders, []).append(part)


def _parts(scopes: Sequence[tuple[Glob, ...]]) -> list[_Part]:
    """Each pattern under the names that it begins with, the shortest first."""
    found = [
        _Part(folders, scope, glob)
        for scope, globs in enumerate(scopes)
        for glob in globs
        for folders in {_folders(path.head): None for path in glob.paths}
    ]
    return sorted(found, key=lambda part: (len(part.folders), part.folders, part.scope))


def _folders(head: Sequence[Segment]) -> Folders:
    """The names up to the first that may be several."""
    names = [segment.text for segment in head]
    return tuple(names[: names.index("")] if "" in names else names)
