"""Which lines of a file differ from what it was: a bounded shortest edit after Myers (1986)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

# ---- One change of one file, as whoever saw it tells of it.

Author: TypeAlias = Literal["agent", "person"]
Ranges: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that is not what it was.

    label: of the intent that covers it (INT-001), "" where none does. intent_id: its ULID or "". tool: what
    changed it, as its host or mcl calls it. file: relative to the governed folder, with `/`. before, after:
    sha256 (hex) of the content, None where there is no file. lines: ranges of the new file that differ, first
    and last line from 1. author: who changed it. agent: the name of the agent, "" of a person. recovered: the
    process that made the call was killed, nobody saw the change itself, and `after` is what was found later.
    """

    label: str
    intent_id: str
    tool: str
    file: str
    before: str | None
    after: str | None
    lines: Ranges = ()
    author: Author = "agent"
    agent: str = ""
    recovered: bool = False


MOST_RANGES: Final = 64  # what lies closest together is told as one range beyond that
_MOST_LINES: Final = 20_000  # of both contents, without what is the same at their ends; else one range
_MOST_EDITS: Final = 256  # lines taken out and put in; a rewritten file is one range


def changed_lines(before: bytes, after: bytes) -> Ranges:
    """The ranges of lines of ``after`` that differ, first and last line from 1, in order.

    Where lines were only taken out, the line that now stands there counts (the last, where it was the end).
    An empty ``after`` has no lines. The work is bounded: of contents that differ too much one range is told.
    """
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    if old == new or not new:
        return ()
    start = _same(old, new)
    end = _same(old[start:][::-1], new[start:][::-1])
    one, other = old[start : len(old) - end], new[start : len(new) - end]
    found = _differing(one, other)
    return _joined(
        [
            (min(start + first + 1, len(new)), min(start + max(last, first + 1), len(new)))
            for first, last in found
        ]
    )


def _same(one: list[bytes], other: list[bytes]) -> int:
    """How many lines at the beginning are the same."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _differing(old: list[bytes], new: list[bytes]) -> list[tuple[int, int]]:
    """Ranges [first, last) of ``new`` that differ; an empty one where lines are gone."""
    if not old or not new or len(old) + len(new) > _MOST_LINES:
        return [(0, len(new))]
    path = _path(old, new)
    if path is None:
        return [(0, len(new))]
    found: list[tuple[int, int]] = []
    for place, grows in path:  # every edit is at a place of the new file, and takes one line there or none
        last = place + grows
        if found and place <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((place, last))
    return found


def _path(old: list[bytes], new: list[bytes]) -> list[tuple[int, int]] | None:
    """The edits of a shortest edit, in order: place in ``new``, and 1 for a line put in, 0 for one taken out.
    None where there are more than _MOST_EDITS."""
    furthest, levels = {1: 0}, list[dict[int, int]]()
    for edits in range(_MOST_EDITS + 1):
        levels.append(dict(furthest))
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (
                diagonal != edits and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1)
            )
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            y = x - diagonal
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(old) and y >= len(new):
                return _walked_back(levels, len(old), len(new))
    return None


def _walked_back(levels: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for edits in range(len(levels) - 1, 0, -1):
        furthest, diagonal = levels[edits], x - y
        down = diagonal == -edits or (
            diagonal != edits and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1)
        )
        came = diagonal + 1 if down else diagonal - 1
        x = furthest[came]
        y = x - came
        found.append((y, 1 if down else 0))
    return found[::-1]


def _joined(ranges: list[tuple[int, int]]) -> Ranges:
    """The same in order, without overlaps and neighbours, at most MOST_RANGES."""
    found: list[tuple[int, int]] = []
    for first, last in ranges:
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    if len(found) > MOST_RANGES:
        gaps = sorted(range(1, len(found)), key=lambda at: found[at][0] - found[at - 1][1], reverse=True)
        kept = set(gaps[: MOST_RANGES - 1])
        joined = [found[0]]
        for place in range(1, len(found)):
            if place in kept:
                joined.append(found[place])
            else:
                joined[-1] = (joined[-1][0], found[place][1])
        found = joined
    return tuple(found)
