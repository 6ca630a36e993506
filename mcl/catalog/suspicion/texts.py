"""Every text of a JSON value with the place where it stands, and a text as a reader would understand it."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from mcl.catalog.suspicion.hidden import revealed, unhidden

MOST_TEXTS: Final = 4_000
MOST_CHARACTERS: Final = 100_000  # of all texts together: what a person may have to wait for is bounded

_PLAIN_KEY: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]{0,63}", re.ASCII)
_AROUND: Final = 24  # characters of context on each side of an excerpt
_EXCERPT: Final = 160


@dataclass(frozen=True, slots=True)
class Text:
    """place: JSON path. key: is it the name of a property, and not a value? more: it was cut, and what
    follows in the definition is not read."""

    place: str
    text: str
    key: bool = False
    more: bool = False


@dataclass(frozen=True, slots=True)
class Read:
    """A text as it is read, and of each of its characters where it stands in the text as it was written."""

    text: str
    places: tuple[int, ...]


def texts(value: object, place: str = "") -> Iterator[Text]:
    """All texts inside a JSON value in their order, the names of its properties too.

    The one with which MOST_TEXTS texts or MOST_CHARACTERS characters are passed is cut, and is the last.
    """
    left = MOST_CHARACTERS
    for number, one in enumerate(_all(value, place), 1):
        left -= len(one.text)
        if left < 0 or number > MOST_TEXTS:
            yield Text(one.place, one.text[: max(0, left + len(one.text))], one.key, more=True)
            return
        yield one


def _all(value: object, place: str) -> Iterator[Text]:
    waiting: list[tuple[str, object]] = [(place, value)]
    while waiting:
        where, one = waiting.pop()
        if isinstance(one, str):
            yield Text(where, one)
        elif isinstance(one, Mapping):
            below: list[tuple[str, object]] = []
            for name, item in one.items():
                inside = f"{where}{step(str(name))}" if where else step(str(name)).removeprefix(".")
                yield Text(inside, str(name), key=True)
                below.append((inside, item))
            waiting += reversed(below)
        elif isinstance(one, list | tuple):
            waiting += reversed([(f"{where}[{index}]", item) for index, item in enumerate(one)])


def step(name: str) -> str:
    """One step of a JSON path: ``.name``, or in brackets what is no plain name."""
    if _PLAIN_KEY.fullmatch(name):
        return f".{name}"
    shown = revealed(name)
    return f"[{shown if len(shown) <= _EXCERPT else shown[:_EXCERPT] + '…'!r}]"


def read(text: str, *, alike: bool) -> Read:
    """The text as a reader takes it: hidden characters left out, forms made plain, small letters, runs of
    blanks as one (line ends stay). alike: look-alikes of other scripts become the letters they look like."""
    table = lookalikes() if alike else {}
    said: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        plain = char if char.isascii() else unicodedata.normalize("NFKC", char) if unhidden(char) else ""
        for one in plain.lower():
            one = table.get(one, one)
            if one.isspace():
                if one in "\n\r\u2028\u2029":
                    if said and said[-1] == " ":
                        said[-1] = "\n"
                        continue
                    one = "\n"
                elif said and said[-1] in " \n":
                    continue
                else:
                    one = " "
                if said and said[-1] == "\n" == one:
                    continue
            said.append(one)
            places.append(place)
    return Read("".join(said), tuple(places))


def excerpt(text: str, start: int, end: int) -> str:
    """The words from start to end with a little around them, everything written out, in one line."""
    begin, stop = max(0, start - _AROUND), min(len(text), end + _AROUND)
    while begin > 0 and not text[begin - 1].isspace() and start - begin < 2 * _AROUND:
        begin -= 1
    shown = " ".join(revealed(text[begin:stop]).split())
    shown = f"{'…' if begin else ''}{shown}{'…' if stop < len(text) else ''}"
    return shown if len(shown) <= _EXCERPT else f"{shown[: _EXCERPT - 1]}…"


@cache
def lookalikes() -> Mapping[str, str]:
    """For each look-alike the plain character."""
    place = Path(__file__).parent / "lookalikes.toml"
    table = tomllib.loads(place.read_text(encoding="utf-8"))["plain"]
    found: dict[str, str] = {}
    for plain, codes in table.items():
        for code in codes.split():
            char = chr(int(code, 16))
            found[char] = plain
            found.setdefault(char.lower(), plain)
    return found
