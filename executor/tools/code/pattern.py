"""A pattern of a search: which lines of a text it fits, without ever taking long."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn, Protocol

from executor.errors import ToolError

if TYPE_CHECKING:
    from regex import Pattern

_FILE_S = 2.0  # seconds a pattern may take for one file …
_ALL_S = 20.0  # … and for all
_MAX_REPEATS = 10_000  # nested counts multiply, and each repetition is memory in the end
_LINE = 20_000  # characters of a line that a regular expression is tried on
_COUNT = re.compile(r"\{(\d*)(?:(,)(\d*))?\}", re.ASCII)


class Matcher(Protocol):
    """Finds lines."""

    def worth(self, data: bytes) -> bool:
        """May the text of these bytes hold a match? A quick look; False is certain."""

    def lines(self, text: str, path: str) -> Iterator[tuple[int, int]]:
        """Matching lines: number from 1, and where in the line (in characters, about)."""


def matcher(pattern: str, *, regex: bool, word: bool, ignore_case: bool) -> Matcher:
    """The matcher of a pattern.

    Args:
        pattern: literal text; with ``regex`` a regular expression in Python's syntax.
        word: only where no word goes on before or after.

    Raises:
        ToolError: BAD_PATTERN, with the place of the flaw.
    """
    if "\n" in pattern:
        _bad(pattern, pattern.index("\n"), "lines are searched one by one, and this one spans two")
    if regex:
        return Expression(pattern, word=word, ignore_case=ignore_case)
    return Literal(pattern, word=word, ignore_case=ignore_case)


class Literal:
    """Text as it stands."""

    def __init__(self, needle: str, *, word: bool, ignore_case: bool) -> None:
        self._needle = needle.casefold() if ignore_case else needle
        self._fold = ignore_case
        self._word = word
        self._bytes = tuple(_encodings(self._needle))

    def worth(self, data: bytes) -> bool:
        if not self._fold:
            return any(one in data for one in self._bytes)
        # Case folds within ASCII as bytes do; beyond it whole words change, and only the text tells.
        return not data.isascii() or (self._needle.isascii() and self._needle.encode() in data.lower())

    def lines(self, text: str, path: str) -> Iterator[tuple[int, int]]:
        folded = text.casefold() if self._fold else text
        number, counted, told = 1, 0, 0
        place = folded.find(self._needle)
        while place >= 0:
            number += folded.count("\n", counted, place)
            counted = place
            if number != told and not (self._word and self._within(folded, place)):
                told = number
                yield number, place - (folded.rfind("\n", 0, place) + 1)
            place = folded.find(self._needle, place + 1)

    def _within(self, text: str, place: int) -> bool:
        return _inside(text, place) or _inside(text, place + len(self._needle))


class Expression:
    """A regular expression, each line on its own, within a time for the file and for all of them."""

    def __init__(self, pattern: str, *, word: bool, ignore_case: bool) -> None:
        flags = re.IGNORECASE if ignore_case else 0
        try:
            # The syntax is Python's own: what the other library adds (recursion, fuzzy matches) has no bound.
            re.compile(pattern, flags)
            if (place := _repeats_too_often(pattern)) is not None:
                _bad(pattern, place, f"it repeats more than {_MAX_REPEATS:,} times")
            self._compiled = _compiled(rf"\b(?:{pattern})\b" if word else pattern, ignore_case=ignore_case)
        except re.error as problem:
            _bad(pattern, problem.pos or 0, problem.msg)
        except (RecursionError, OverflowError, MemoryError):
            _bad(pattern, 0, "it is nested too deeply or repeats too often")
        self._left = _ALL_S

    def worth(self, data: bytes) -> bool:
        return True

    def lines(self, text: str, path: str) -> Iterator[tuple[int, int]]:
        search, budget = self._compiled.search, min(_FILE_S, self._left)
        started = time.monotonic()
        end = started + budget
        try:
            for number, line in enumerate(text.split("\n"), start=1):
                left = end - time.monotonic()
                if left <= 0:
                    raise TimeoutError
                found = search(line.rstrip("\r")[:_LINE], timeout=left)
                if found is not None:
                    yield number, found.start()
        except TimeoutError:
            raise ToolError(
                "PATTERN_TOO_SLOW",
                f"the pattern takes more than {budget:.0f} s in {path!r}",
                place=path,
                fix="make it simpler (no repeats inside repeats), or search fewer files",
            ) from None
        finally:
            self._left -= time.monotonic() - started


def _compiled(pattern: str, *, ignore_case: bool) -> Pattern[str]:
    import regex

    try:
        return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0, cache_pattern=False)
    except regex.error as problem:
        _bad(pattern, problem.pos or 0, problem.msg)


def _repeats_too_often(pattern: str) -> int | None:
    """The place of a counted repeat that, multiplied with those around it, goes beyond the limit.

    A group's contents are repeated as often as the group: the most that any part repeats is kept a level.
    """
    most, group, place = [1], 1, 0  # most: the largest product at each open level; group: of what just ended
    while place < len(pattern):
        char = pattern[place]
        if char == "\\":
            place, group = place + 2, 1
            continue
        if char == "[":
            place, group = _end_of_class(pattern, place), 1
            continue
        if char == "(":
            most.append(1)
        elif char == ")" and len(most) > 1:
            group = most.pop()
            most[-1] = max(most[-1], group)
        elif char == "{" and (found := _COUNT.match(pattern, place)):
            group *= max(int(found[1] or 0), int(found[3] or 0), 1)
            most[-1] = max(most[-1], group)
            if group > _MAX_REPEATS:
                return place
            place = found.end()
            continue
        elif char not in "*+?":
            group = 1
        place += 1
    return None


def _end_of_class(pattern: str, place: int) -> int:
    """The place after a class such as ``[^]\\]a-z]``."""
    place += 2 if pattern[place + 1 : place + 2] == "^" else 1
    place += pattern[place : place + 1] == "]"
    while place < len(pattern) and pattern[place] != "]":
        place += 2 if pattern[place] == "\\" else 1
    return place + 1


def _encodings(text: str) -> Iterator[bytes]:
    yield text.encode()
    if not text.isascii():
        with suppress(UnicodeEncodeError):
            yield text.encode("latin-1")


def _inside(text: str, cut: int) -> bool:
    """Does a word go on across this place?"""
    if not 0 < cut < len(text):
        return False
    return all(char == "_" or char.isalnum() for char in text[cut - 1 : cut + 1])


def _bad(pattern: str, place: int, why: str) -> NoReturn:
    raise ToolError(
        "BAD_PATTERN",
        f"at character {place + 1} of {pattern[:80]!r}: {why}",
        place=f"pattern:{place + 1}",
        fix="repair the pattern, or leave regex away to search for it literally",
        data={"position": place + 1},
    )
