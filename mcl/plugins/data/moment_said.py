"""The one moment that a goal for a calendar names, and the goal without its words."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from executor.core.tables import table_beside
from mcl.values.dates import read_start

_TOKEN: Final = re.compile(r"[^\s,;!?()\"“”]+")
_LONGEST: Final = 9  # words that say a moment
_QUOTED: Final = re.compile(r"[\"“][^\"”]*[\"”]")


class _Said(NamedTuple):
    """Words that name a moment. clock: whether they say a time of day."""

    start: int
    end: int
    moment: str
    clock: bool


@functools.cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(table_beside(__file__)[name], re.IGNORECASE)


def moment_said(prose: str, at: str, zone: str) -> tuple[str, str] | None:
    """The goal without the words for its moment, and the moment; None where it names none, or several."""
    found = _runs(prose, at, zone) or []
    clocks = [one for one in found if one.clock]
    days = [one for one in found if not one.clock]
    if len(clocks) == 1 and len(days) == 1:  # "on Sunday to call her at 15"
        both = f"{prose[slice(*days[0][:2])]} {prose[slice(*clocks[0][:2])]}"
        if moment := read_start(both, at, zone):
            first, last = sorted((days[0], clocks[0]))
            return _without(_without(prose, last.start, last.end), first.start, first.end), moment
    chosen = clocks or days
    if len(chosen) != 1:
        return None
    return _beside(_without(prose, chosen[0].start, chosen[0].end)), chosen[0].moment


def _runs(prose: str, at: str, zone: str) -> list[_Said] | None:
    """The longest runs of words that each name a moment; None where words of time are left beside them."""
    quoted = [match.span() for match in _QUOTED.finditer(prose)]
    other = _pattern("others").search(prose)
    ends = other.start() if other else len(prose)
    found: list[_Said] = []
    for words in _stretches(prose):
        if words[0][0] >= ends or any(start <= words[0][0] < end for start, end in quoted):
            continue
        waiting, read = [words], len(found)
        while waiting:
            part = waiting.pop()
            if (said := next(_read(prose, part, at, zone), None)) is not None:
                found.append(said)
                waiting += [
                    [one for one in part if one[1] <= said.start],
                    [one for one in part if one[0] >= said.end],
                ]
            elif read < len(found) and any(_pattern("clock").fullmatch(prose[slice(*one)]) for one in part):
                return None
    return sorted(found)


def _stretches(prose: str) -> Iterator[list[tuple[int, int]]]:
    """Words of time that stand together, one of which at least says something by itself."""
    near: list[tuple[int, int]] = []
    strong = False
    for match in (*_TOKEN.finditer(prose), None):
        text = match[0].rstrip(".:") if match else ""
        if match and (_pattern("strong").fullmatch(text) or _pattern("weak").fullmatch(text)):
            near.append((match.start(), match.start() + len(text)))
            strong = strong or _pattern("strong").fullmatch(text) is not None
            continue
        if strong:
            yield near
        near, strong = [], False


def _read(prose: str, words: list[tuple[int, int]], at: str, zone: str) -> Iterator[_Said]:
    """Runs of these that name a moment, the longest first."""
    for many in range(min(_LONGEST, len(words)), 0, -1):
        for first in range(len(words) - many + 1):
            start, end = words[first][0], words[first + many - 1][1]
            text = " ".join(prose[start:end].replace(",", " ").split())
            single = many == 1 and not text[:1].isdigit() and text[-1:] in ("e", "a")  # “the first” thing
            parts = [prose[slice(*one)] for one in words[first : first + many]]
            if single or _pattern("leads").fullmatch(parts[-1]) or _pattern("meals").match(parts[0]):
                continue
            if not any(_pattern("strong").fullmatch(one) for one in parts):
                continue
            if moment := read_start(text, at, zone):
                yield _Said(start, end, moment, _pattern("clock").fullmatch(text) is not None)


def _without(prose: str, start: int, end: int) -> str:
    """The text without a part, and without the commas that held it."""
    before, behind = prose[:start].rstrip(" ,"), prose[end:].lstrip(" ")
    comma = prose[:start].rstrip().endswith(",") and behind[:1] not in ("", ",", ".", ":", ";", "!", "?")
    gap = "" if behind[:1] in (",", ".", ":", ";", "!", "?", "") or not before else ", " if comma else " "
    return f"{before}{gap}{behind if before else behind.lstrip(' ,')}".strip()


def _beside(prose: str) -> str:
    """The same, with the place of it before the words for the calendar: "in the calendar, at the school"."""
    calendar, place = _pattern("calendar").pattern, _pattern("place").pattern
    form = rf"(?P<it>.*\S)\s+(?P<in>{calendar})[\s,]+(?P<at>{place})[.!]?"
    found = re.fullmatch(form, prose, re.IGNORECASE)
    return f"{found['it']} {found['at']} {found['in']}" if found else prose
