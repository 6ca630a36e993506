"""Finds lines in source text."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn, Protocol

from anyio import from_thread, to_thread

from executor.core.errors import ScopeError, ToolError
from executor.core.hashing import json_bytes
from executor.tools.fs.files import in_word, shown
from executor.tools.project.sources import globs_of, sources
from executor.tools.tool import Bench
from ir.inline_secrets import lines_without_keys

if TYPE_CHECKING:
    from regex import Pattern

_LIMIT = 200
_MAX_FILE = 4 << 20  # bytes; source is smaller
_SHOWN = 300  # characters of a line that are shown
_PROBE = 8192  # bytes looked at to tell a binary file


@dataclass(slots=True)
class _Found:
    """Matches so far, and the room that is left for them (bytes of JSON, counted generously)."""

    limit: int
    room: int
    context: int
    matches: list[dict[str, object]] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    files: int = 0
    searched: int = 0
    skipped: int = 0
    truncated: bool = False


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the matching lines in the order of paths, at most ``limit``."""
    path, glob, language = (str(args.get(name, "")) for name in ("path", "glob", "language"))
    pattern = str(args["pattern"])
    finder = matcher(
        pattern,
        regex=bool(args.get("regex")),
        word=bool(args.get("whole_word")),
        ignore_case=bool(args.get("ignore_case")),
    )
    groups = (((glob,),) if glob else ()) + ((globs_of(language),) if language else ())
    paths = await sources(path or ".", groups, bench)
    found = _Found(
        int(str(args.get("limit", _LIMIT))), bench.max_output - 8192, int(str(args.get("context", 0)))
    )
    await to_thread.run_sync(_search, paths, finder, found, bench)
    return {
        "pattern": pattern,
        "matches": found.matches,
        "paths": list(dict.fromkeys(str(match["path"]) for match in found.matches)),
        "count": len(found.matches),
        "files": found.files,
        "searched": found.searched,
        "skipped": found.skipped,
        "truncated": found.truncated,
        "text": "\n".join([*found.text, *_last(found)]),
    }


def _last(found: _Found) -> Iterator[str]:
    if found.truncated:
        yield f"… there is more: only the first {len(found.matches):,} matching lines are shown"
    elif not found.matches:
        files = "1 file" if found.searched == 1 else f"{found.searched:,} files"
        yield f"nothing found in {files}"


def _search(paths: list[str], finder: Matcher, found: _Found, bench: Bench) -> None:
    for path in paths:
        from_thread.check_cancelled()
        data = _source(path, bench)
        if data is None:
            found.skipped += 1
            continue
        found.searched += 1
        if finder.worth(data):
            _search_one(path, lines_without_keys(_decoded(data)), finder, found)
        if found.truncated:
            break


def _search_one(path: str, text: str, finder: Matcher, found: _Found) -> None:
    lines: list[str] = []
    told: dict[int, str] = {}
    first = len(found.matches)
    for number, place in finder.lines(text, path):
        lines = lines or text.split("\n")
        match: dict[str, object] = {
            "path": path,
            "line": number,
            "text": shown(lines[number - 1], place, _SHOWN),
        }
        around: dict[int, str] = {}
        if found.context:
            before = range(max(1, number - found.context), number)
            after = range(number + 1, min(len(lines), number + found.context) + 1)
            around = {one: shown(lines[one - 1], 0, _SHOWN) for one in (*before, *after)}
            match["before"] = [around[one] for one in before]
            match["after"] = [around[one] for one in after]
        size = sum(len(json_bytes(one)) for one in (match["text"], *around.values()))
        found.room -= 2 * size + (3 + len(around)) * (len(path.encode()) + 24) + 96
        if len(found.matches) == found.limit or found.room < 0:
            found.truncated = True
            break
        found.matches.append(match)
        for one, line in around.items():
            told.setdefault(one, f"{path}-{one}- {line}")
        told[number] = f"{path}:{number}: {match['text']}"
    if len(found.matches) > first:
        found.files += 1
        found.text += _told(told, found.context, separate=bool(found.text))


def _told(lines: Mapping[int, str], context: int, *, separate: bool) -> Iterator[str]:
    """The lines of one file in order; with context, a mark between lines that do not follow each other."""
    last = None if separate else -1
    for number in sorted(lines):
        if context and last != -1 and (last is None or number > last + 1):
            yield "--"
        yield lines[number]
        last = number


def _source(path: str, bench: Bench) -> bytes | None:
    try:
        data, size = bench.workspace.read(path, _MAX_FILE + 1)
    except ScopeError:  # protected, a link, unreadable, hard linked, or gone since it was listed
        return None
    return None if size > _MAX_FILE or b"\0" in data[:_PROBE] else data


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


# ---- A pattern of a search: which lines of a text it fits, without ever taking long.

_FILE_S = 2.0  # seconds a pattern may take for one file …
_ALL_S = 20.0  # … and for all
_MAX_REPEATS = 10_000  # nested counts multiply, and each repetition is memory in the end
_LINE = 20_000  # characters of a line that a regular expression is tried on
_COUNT = re.compile(r"\{(?!\})(\d*)(?:(,)(\d*))?\}", re.ASCII)
# What may match a line on its own and fail in a text, as it looks at what is not there or gives nothing back.
_UNLIKE_A_LINE = re.compile(r"\\[AZzGK]|\(\?(?:!|<!|>|\()|[*+?}]\+")


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
        return in_word(text, place) or in_word(text, place + len(self._needle))


class Expression:
    """A regular expression, each line on its own, within a time for the file and for all of them."""

    def __init__(self, pattern: str, *, word: bool, ignore_case: bool) -> None:
        flags = re.IGNORECASE if ignore_case else 0
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of what may mean something else in a Python to come
                re.compile(pattern, flags)
            plain = _within_bounds(pattern)
            plain = rf"\b(?:{plain})\b" if word else plain
            self._line = _compiled(plain, ignore_case=ignore_case)
            whole = _UNLIKE_A_LINE.search(plain) is None
            self._text = _compiled(plain, ignore_case=ignore_case, many=True) if whole else None
        except re.error as problem:
            _bad(pattern, problem.pos or 0, problem.msg)
        except (RecursionError, OverflowError, MemoryError):
            _bad(pattern, 0, "it is nested too deeply or repeats too often")
        self._left = _ALL_S

    def worth(self, data: bytes) -> bool:
        return True

    def lines(self, text: str, path: str) -> Iterator[tuple[int, int]]:
        text = text.replace("\r\n", "\n")
        started = time.monotonic()
        budget = min(_FILE_S, self._left)
        try:
            for number, line in self._candidates(text, started + budget / 4):
                if (left := started + budget - time.monotonic()) <= 0:
                    raise TimeoutError
                found = self._line.search(line[:_LINE], timeout=left)
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

    def _candidates(self, text: str, until: float) -> Iterator[tuple[int, str]]:
        """The lines that may match: all of them, or those where the whole text has a match beginning.

        A match of a line is one of the text too, so no line before the first match of the text has one.
        """
        number, place = 1, 0
        while self._text is not None and place <= len(text):
            try:
                found = self._text.search(text, place, timeout=max(0.001, until - time.monotonic()))
            except TimeoutError:  # what is quick on a line may be slow on a text: line by line from here
                break
            if found is None:
                return
            number += text.count("\n", place, found.start())
            begin = text.rfind("\n", 0, found.start()) + 1
            end = text.find("\n", found.start())
            end = len(text) if end < 0 else end
            yield number, text[begin:end]
            number, place = number + 1, end + 1
        if place <= len(text):
            yield from enumerate(text[place:].split("\n"), start=number)


def _compiled(pattern: str, *, ignore_case: bool, many: bool = False) -> Pattern[str]:
    """``many``: for a text of many lines."""
    import regex

    flags = (regex.IGNORECASE if ignore_case else 0) | (regex.MULTILINE if many else 0)
    try:
        return regex.compile(pattern, flags, cache_pattern=False)
    except regex.error as problem:
        _bad(pattern, problem.pos or 0, problem.msg)


def _within_bounds(pattern: str) -> str:
    """The pattern, where its counted repeats stay below the limit when multiplied with those around them.

    Python's own library has judged the syntax, but the one that can be stopped knows more: recursion (which
    Python refuses) and, in braces that hold no count, fuzzy matches. Such braces are literal, and marked so.
    """
    most, group, place = [1], 1, 0  # most: the largest product at each open level; group: of what just ended
    pieces: list[str] = []
    while place < len(pattern):
        char, end = pattern[place], place + 1
        count = _COUNT.match(pattern, place) if char == "{" else None
        if char == "\\":
            end, group = place + 2, 1
        elif char == "[":
            end, group = _end_of_class(pattern, place), 1
        elif char == "(":
            most.append(1)
        elif char == ")" and len(most) > 1:
            group = most.pop()
            most[-1] = max(most[-1], group)
        elif count:
            end = count.end()
            group *= max(int(count[1] or 0), int(count[3] or 0), 1)
            most[-1] = max(most[-1], group)
            if group > _MAX_REPEATS:
                _bad(pattern, place, f"it repeats more than {_MAX_REPEATS:,} times")
        elif char not in "*+?":
            group = 1
        literal = char == "{" and not count
        pieces.append("\\{" if literal else pattern[place:end])
        place = end
    return "".join(pieces)


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


def _bad(pattern: str, place: int, why: str) -> NoReturn:
    raise ToolError(
        "BAD_PATTERN",
        f"at character {place + 1} of {pattern[:80]!r}: {why}",
        place=f"pattern:{place + 1}",
        fix="repair the pattern, or leave regex away to search for it literally",
        data={"position": place + 1},
    )
