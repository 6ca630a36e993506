"""Patterns of file names: ``*``, ``?``, ``[abc]`` in a name, ``**`` for any number of folders."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache


def matches(pattern: str, path: str) -> bool:
    """Compare a pattern without ``/`` with the last name of the path, any other with the whole path."""
    if not pattern:
        return True
    if "/" not in pattern and pattern != "**":
        return fnmatchcase(path.rsplit("/", 1)[-1], pattern)
    return _fits(tuple(part for part in pattern.split("/") if part), tuple(path.split("/")))


@lru_cache(maxsize=4096)
def _fits(pattern: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    # One row per pattern component, so that many '**' cost their product and no more.
    reached = [True] + [False] * len(parts)
    for component in pattern:
        if component == "**":
            first = reached.index(True) if True in reached else len(reached)
            reached = [place >= first for place in range(len(reached))]
        else:
            reached = [False] + [
                reached[place] and fnmatchcase(parts[place], component) for place in range(len(parts))
            ]
    return reached[-1]
