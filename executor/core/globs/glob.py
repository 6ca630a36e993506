"""A pattern of paths, such as `src/auth/**`: which paths it fits, and which path two of them both fit.

`*` is any part of a name, `?` one character, `[a-z]` and `[!a-z]` one of a class, `{a,b}` alternatives, `**`
any number of folders; a trailing `/` or `/**` is everything below a folder, not the folder. Names that begin
with a dot are names like others, case counts, and a pattern without `/` is about the top folder alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain, takewhile
from typing import Final, NoReturn

from executor.core.errors import GlobError
from executor.core.globs.segment import (
    ANY,
    ANY_NAME,
    Chars,
    Gapped,
    Segment,
    all_but,
    both,
    gapped,
    gather,
    just,
    literal,
    meet,
    segment,
)

# ---- How a pattern is refused: with the character where it goes wrong, and what to write instead.

EXAMPLE: Final = "src/auth/**"


def refuse(text: str, position: int, why: str, fix: str) -> NoReturn:
    """Raise INVALID_GLOB for a pattern that goes wrong at this character, counted from 0."""
    message = f"{why} (character {position + 1})"
    raise GlobError("INVALID_GLOB", message, place=text, fix=fix, position=position)


def refuse_absolute(text: str) -> NoReturn:
    """Raise ABSOLUTE_PATH."""
    raise GlobError(
        "ABSOLUTE_PATH",
        "a pattern is relative to the workspace",
        place=text,
        fix=f"write it from the workspace on, such as {EXAMPLE}",
    )


# ---- The alternatives of a pattern, written out: `a{b,c}d` stands for `abd` and `acd`.

MAX_ALTERNATIVES: Final = 32  # patterns that the braces of one stand for
MAX_WRITTEN_OUT: Final = 1024  # characters of all of these
MAX_DEPTH: Final = 8  # braces in braces


@dataclass(frozen=True, slots=True)
class Alternative:
    """A pattern without braces. text: its characters. places: where each stands in what was written."""

    text: str
    places: Sequence[int] = field(compare=False)

    def then(self, other: Alternative) -> Alternative:
        """This, and the other behind it."""
        return Alternative(self.text + other.text, (*self.places, *other.places))


def written_out(text: str) -> list[Alternative]:
    """All that a pattern stands for, in the order written. Classes stay as they are.

    Raises:
        GlobError: INVALID_GLOB.
    """
    if not any(sign in text for sign in "{}["):
        return [Alternative(text, range(len(text)))]
    return _Reading(text).until("", 0)


class _Reading:
    def __init__(self, text: str) -> None:
        self.text = text
        self.here = 0

    def until(self, ends: str, depth: int) -> list[Alternative]:
        """What stands before one of these ends, or before the end of the text where there is none."""
        found = [Alternative("", ())]
        while self.here < len(self.text) and (char := self.text[self.here]) not in ends:
            if char == "}":
                refuse(self.text, self.here, "a } closes nothing", "open it with {, or write two patterns")
            if char == "{":
                more = self._group(depth + 1)
            else:
                start = self.here
                self.here = self._class() if char == "[" else start + 1
                more = [Alternative(self.text[start : self.here], range(start, self.here))]
            found = [before.then(behind) for before in found for behind in more]
            if len(found) > MAX_ALTERNATIVES or sum(len(one.text) for one in found) > MAX_WRITTEN_OUT:
                refuse(
                    self.text,
                    self.here - 1,
                    f"its braces stand for more than {MAX_ALTERNATIVES} patterns, or for long ones",
                    "write several patterns",
                )
        return found

    def _group(self, depth: int) -> list[Alternative]:
        """The alternatives between two braces."""
        start, found, choices = self.here, list[Alternative](), 0
        if start and self.text[start - 1] == "$":
            refuse(self.text, start - 1, "it holds ${", "nothing is put in for variables here")
        if depth > MAX_DEPTH:
            refuse(self.text, start, f"its braces lie more than {MAX_DEPTH} deep", "write several patterns")
        while choices == 0 or self.text[self.here] == ",":
            self.here += 1
            found += self.until(",}", depth)
            choices += 1
            if self.here == len(self.text):
                refuse(self.text, start, "a { is not closed", "close it with }")
        self.here += 1
        if choices == 1:
            refuse(self.text, start, "braces with one alternative", "write {a,b}; ranges as {1,2,3}")
        return found

    def _class(self) -> int:
        """Where the class that begins here ends. Some read the braces and commas in it first: refused."""
        start = self.here
        begins = start + (2 if self.text[start + 1 : start + 2] in ("!", "^") else 1)
        end = self.text.find("]", begins + 1)
        inside = self.text[begins:end] if end >= 0 else "/"
        if "/" in inside:
            refuse(self.text, start, "a [ is not closed", "close it with ]; [[] is the sign itself")
        if odd := next((sign for sign in ("{", "}", ",", "[:", "[.", "[=") if sign in inside), ""):
            refuse(self.text, start, f"a class holds {odd!r}", "list the characters alone, such as [a-z0-9_]")
        return end + 1


# ---- Reading a pattern of paths: its braces written out, its names parted, each name's characters.

MAX_TEXT: Final = 512  # characters of a pattern
MAX_NAMES: Final = 64  # names in what its braces stand for

Path = Gapped[Segment]

_ABSOLUTE: Final = re.compile(r"/|\\|~|[A-Za-z]:")
_EXTENDED: Final = re.compile(r"[?*+@!]\(")
_NO_TEXT: Final = re.compile("[\0-\x1f\x7f\ud800-\udfff]")
_SPECIAL: Final = re.compile(r"[*?\[]")
_NEGATES: Final = ("!", "^")


def parse(text: str) -> tuple[Path, ...]:
    """The patterns without braces that a pattern stands for, each as names and gaps; in the order written.

    Raises:
        GlobError: INVALID_GLOB, ABSOLUTE_PATH.
    """
    _plain(text)
    return tuple(_path(one, text) for one in dict.fromkeys(written_out(text)))


def _plain(text: str) -> None:
    """What can be said of the text before it is read."""
    if not text:
        refuse(text, 0, "it is empty", f"name files or folders, such as {EXAMPLE}")
    if len(text) > MAX_TEXT:
        refuse(text, MAX_TEXT, f"it has more than {MAX_TEXT} characters", "write two patterns")
    if found := _NO_TEXT.search(text):
        refuse(text, found.start(), "it holds a control character or half of one", "leave it out")
    if _ABSOLUTE.match(text):
        refuse_absolute(text)
    if (place := text.find("\\")) >= 0:
        refuse(text, place, "it holds a backslash", "write / between folders, and [*] for the sign itself")
    if found := _EXTENDED.search(text):
        refuse(text, found.start(), "it holds an extended pattern", "write alternatives as {a,b}")


def _path(written: Alternative, text: str) -> Path:
    """Names and gaps; everything below a folder is a gap, and one name that ends it."""
    names, places = written.text.split("/"), written.places
    if written.text[:1] in ("", "/"):
        if written.text:
            refuse_absolute(text)
        refuse(text, 0, "one of its alternatives is empty", "name files or folders in each")
    if written.text[0] in "!#":
        refuse(text, places[0], f"it begins with {written.text[0]!r}", "name what is meant, not what is not")
    if len(names) > MAX_NAMES:
        refuse(text, 0, f"it has more than {MAX_NAMES} names", "name a folder further up")
    known: dict[str, Segment | None] = {}
    items: list[Segment | None] = []
    here = 0
    for name in names:
        if name in known and name != "**":  # which means another thing where braces put it together
            item = known[name]
        elif name:
            item = known[name] = _name(name, places[here : here + len(name)], text)
        elif here < len(written.text):
            refuse(text, places[here], "a name between two / is empty", "write one /")
        else:
            item = None
        if item is not None or not items or items[-1] is not None:
            items.append(item)
        here += len(name) + 1
    if items[-1] is None:  # what is below a folder is not the folder itself
        items.append(ANY_NAME)
    return gapped(items)


def _name(name: str, places: Sequence[int], text: str) -> Segment | None:
    """The pattern of one name; None for `**`."""
    if name == "**" and places[1] == places[0] + 1:  # not one that braces put together
        return None
    if name in (".", ".."):
        fix = f"write {EXAMPLE}, from the workspace on"
        refuse(text, places[0], f"{name} is no name of a file or folder", fix)
    if not _SPECIAL.search(name):
        return literal(name)
    items: list[Chars | None] = []
    sets: dict[str, Chars] = {}
    here = 0
    while here < len(name):
        char = name[here]
        if char == "*":
            if items and items[-1] is None:
                fix = "write ** for folders between two /, such as src/**/*.ts"
                refuse(text, places[here], "** stands together with something else", fix)
            items.append(None)
        elif char == "?":
            items.append(ANY)
        elif char == "[":
            end = name.index("]", here + (3 if name[here + 1] in _NEGATES else 2))
            if (inside := name[here + 1 : end]) not in sets:
                sets[inside] = _set(inside, places[here + 1 : end], text)
            items.append(sets[inside])
            here = end
        else:
            items.append(just(char))
        here += 1
    found = segment(items)
    if found.sample in ("", ".", ".."):
        refuse(text, places[0], f"no name fits {name}", "name files or folders")
    return found


def _set(signs: str, places: Sequence[int], text: str) -> Chars:
    """The characters of a class, from what stands between its brackets."""
    here = 1 if signs[0] in _NEGATES else 0
    ranges: list[tuple[int, int]] = []
    while here < len(signs):
        ends = here + 2 if signs[here + 1 : here + 2] == "-" and here + 2 < len(signs) else here
        if signs[ends] < signs[here]:
            refuse(text, places[here], "a range in a class goes backwards", "write [a-z]")
        if ends > here and signs[ends + 1 : ends + 2] == "-" and ends + 2 < len(signs):
            refuse(text, places[ends + 1], "a range in a class goes on", "write [a-z]; a - at the end is one")
        ranges.append((ord(signs[here]), ord(signs[ends])))
        here = ends + 1
    found = gather(ranges)
    return all_but(found) if signs[0] in _NEGATES else both(ANY, found)


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
    if not pattern.chunks:  # as nearly always: what fits before the gap and behind it fits
        ends = names[: len(pattern.head)] + names[len(names) - len(pattern.tail) :]
        return all(one.fits(name) for one, name in zip((*pattern.head, *pattern.tail), ends, strict=True))
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


# ---- Patterns of names alone, as searches and tables of names have them.


@lru_cache(maxsize=512)
def anywhere(text: str) -> Glob:
    """A pattern where one without `/` is about names in any folder; "" fits everything.

    Raises:
        GlobError: as ``Glob.read``.
    """
    glob = Glob.read(text or "**")
    below = (one if one.gaps else Gapped((), tail=one.head, gaps=True) for one in glob.paths)
    return glob if "/" in text else Glob(text, tuple(below))


@lru_cache(maxsize=512)
def _names_of(patterns: tuple[str, ...]) -> tuple[Segment, ...]:
    return tuple(one.head[0] if one.head else ANY_NAME for text in patterns for one in Glob.read(text).paths)


def fits_name(patterns: tuple[str, ...], name: str) -> bool:
    """Does one of these patterns of a name fit this name?"""
    return any(one.fits(name) for one in _names_of(patterns))


# ---- The files that something may change: patterns, indexed by the names that what they fit begins with.


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two patterns that one path fits. one, other: as they were written. witness: the path."""

    one: str
    other: str
    witness: str


@dataclass(frozen=True)
class Scope:
    """Patterns in the order they were given; a path is in scope where one of them fits it."""

    globs: tuple[Glob, ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Scope:
        """The scope of these patterns.

        Raises:
            GlobError: as ``Glob.read``, for the first that is none.
        """
        return cls(tuple(map(Glob.read, texts)))

    @property
    def texts(self) -> tuple[str, ...]:
        """The patterns as they were written."""
        return tuple(one.text for one in self.globs)

    def matches(self, path: str) -> bool:
        """Is the path in scope? As ``Glob.matches``: only one in its plain spelling is."""
        return self.pattern_of(path) is not None

    def pattern_of(self, path: str) -> str | None:
        """The first pattern that the path fits; None where it fits none."""
        if (names := plain_names(path)) is None:
            return None
        near = {i for end in range(len(names) + 1) for i in self._by_lead.get(names[:end], ())}
        return next((self.globs[i].text for i in sorted(near) if self.globs[i].fits(names)), None)

    def holds(self, folder: str) -> bool:
        """Is everything below this folder in scope? False where no pattern plainly says so; "" is the
        workspace."""
        names = plain_names(folder) if folder else ()
        return names is not None and any(one.holds(names) for one in self.globs)

    def touches(self, folder: str) -> bool:
        """Is anything below this folder in scope? "" is the workspace."""
        names = plain_names(folder) if folder else ()
        return names is not None and any(one.touches(names) for one in self.globs)

    def meeting(self, other: Scope) -> Meeting | None:
        """The first patterns of both, in their order, that one path fits; None where the scopes are apart."""
        return next(self.meetings(other), None)

    def meetings(self, other: Scope) -> Iterator[Meeting]:
        """All pairs of patterns of both that one path fits, in their order."""
        for mine in self.globs:
            for i in other._near(mine):
                if (witness := mine.meeting(other.globs[i])) is not None:
                    yield Meeting(mine.text, other.globs[i].text, witness)

    def _near(self, glob: Glob) -> Iterable[int]:
        """Which of these patterns may meet another: those that begin with the same name, or with any."""
        firsts = {lead[:1] for lead in glob.leads}
        if () in firsts:
            return range(len(self.globs))
        return sorted({i for first in (*firsts, ()) for i in self._by_first.get(first, ())})

    @cached_property
    def _by_lead(self) -> dict[tuple[str, ...], list[int]]:
        """Which patterns begin with which names."""
        found: dict[tuple[str, ...], list[int]] = {}
        for i, one in enumerate(self.globs):
            for lead in one.leads:
                found.setdefault(lead, []).append(i)
        return found

    @cached_property
    def _by_first(self) -> dict[tuple[str, ...], list[int]]:
        """The same by the first name alone; () are those that begin with any."""
        found: dict[tuple[str, ...], list[int]] = {}
        for lead, places in self._by_lead.items():
            found.setdefault(lead[:1], []).extend(places)
        return found
