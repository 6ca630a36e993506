"""What else there is: a name can only look like one that is known."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from executor.tools.names import OURSELVES
from mcl.catalog.suspicion.texts import read

_BETWEEN: Final = re.compile(r"[-_./ ]")
# What looks alike in plain letters too.
_PLAIN_ALIKE: Final = (("0", "o"), ("1", "l"), ("i", "l"), ("5", "s"), ("rn", "m"), ("vv", "w"), ("cl", "d"))


@dataclass(frozen=True)
class Neighbours:
    """The tools that there are.

    tools: of each server of others its tools' names. own: those of mcl's tools (fs/read).
    """

    tools: Mapping[str, Iterable[str]] = field(default_factory=dict)
    own: Iterable[str] = ()

    @cached_property
    def all(self) -> tuple[tuple[str, str], ...]:
        """Server and tool, in order; mcl is ourselves."""
        own = [(OURSELVES, tool) for tool in self.own]
        return tuple(
            sorted({*own, *((server, tool) for server, tools in self.tools.items() for tool in tools)})
        )

    def spelled(self, name: str) -> tuple[tuple[str, str], ...]:
        """Those whose names differ at most in capitals and in what stands between words."""
        return self._by_spelling.get(spelled(name), ())

    def looking(self, name: str) -> tuple[tuple[str, str], ...]:
        """Those whose names look the same."""
        return self._by_look.get(looks(name), ())

    def near(self, name: str) -> tuple[tuple[str, str], ...]:
        """Those that one change makes the same: a letter more, less, other, or two that changed places."""
        found = {one for shorter in _shorter(name.lower()) for one in self._by_shorter.get(shorter, ())}
        return tuple(sorted(one for one in found if one_apart(name.lower(), one[1].lower())))

    def named(self, said: str) -> tuple[str, ...]:
        """The servers that have a tool of this name, in small letters."""
        return self._by_name.get(said, ())

    @cached_property
    def servers(self) -> frozenset[str]:
        """The servers of others."""
        return frozenset(self.tools)

    @cached_property
    def _by_name(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = defaultdict(tuple)
        for server, tool in self.all:
            found[tool.lower()] += (server,)
        return dict(found)

    @cached_property
    def _by_spelling(self) -> dict[str, tuple[tuple[str, str], ...]]:
        return self._index(lambda tool: {spelled(tool)})

    @cached_property
    def _by_look(self) -> dict[str, tuple[tuple[str, str], ...]]:
        return self._index(lambda tool: {looks(tool)})

    @cached_property
    def _by_shorter(self) -> dict[str, tuple[tuple[str, str], ...]]:
        return self._index(lambda tool: _shorter(tool.lower()))

    def _index(self, keys: Callable[[str], Iterable[str]]) -> dict[str, tuple[tuple[str, str], ...]]:
        found: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for one in self.all:
            for key in keys(one[1]):
                found[key].append(one)
        return {key: tuple(ones) for key, ones in found.items()}


def spelled(name: str) -> str:
    """A name without what two authors write differently: capitals, and what stands between words."""
    return _BETWEEN.sub("", name).lower()


def looks(name: str) -> str:
    """A name as it looks."""
    text = name.lower()
    if not name.isascii():
        text = unicodedata.normalize("NFKD", read(name, alike=True).text)
        text = "".join(char for char in text if not unicodedata.combining(char))
    text = _BETWEEN.sub("", text)
    for alike, plain in _PLAIN_ALIKE:
        text = text.replace(alike, plain)
    return text


def one_apart(one: str, two: str) -> bool:
    """Does one change make a name the other?"""
    if len(one) > len(two):
        one, two = two, one
    if len(two) - len(one) > 1 or one == two:
        return False
    at = next((place for place, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), len(one))
    if len(one) < len(two):
        return one[at:] == two[at + 1 :]
    swapped = one[at : at + 2] == two[at : at + 2][::-1]
    return one[at + 1 :] == two[at + 1 :] or (swapped and one[at + 2 :] == two[at + 2 :])


def _shorter(name: str) -> set[str]:
    """A name and what is left of it without one letter: names one change apart share one of these."""
    return {name, *(name[:place] + name[place + 1 :] for place in range(len(name)))}
