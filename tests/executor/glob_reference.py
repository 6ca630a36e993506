"""Patterns of paths by another way: an automaton over characters that is followed set by set.

It knows nothing of names and gaps, expands nothing in advance, and decides exactly whether two patterns share
a path, by looking at all pairs of sets of states that can be reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

# Parts of a pattern. A name: characters, "?", "*", ("in", signs), ("not", signs), or alternatives, a tuple of
# lists of parts. A pattern: names, with "**" for any number of folders.
Part: TypeAlias = str | tuple[str, str] | tuple[list[object], ...]
Name: TypeAlias = list[object]
State: TypeAlias = tuple[object, ...]  # what is still to come


@dataclass(frozen=True)
class Sign:
    """One character: of these, or none of these. A slash is never meant."""

    of: frozenset[str]
    other: bool = False

    def fits(self, char: str) -> bool:
        return char != "/" and (char in self.of) != self.other


class Loop:
    """Any number of characters of a name."""


class Folders:
    """Any number of names with a slash behind each."""


class Inside:
    """The rest of such a name, of which a first character was read."""


LOOP, FOLDERS, INSIDE = Loop(), Folders(), Inside()


def text_of(pattern: list[Name | str]) -> str:
    """The pattern as people write it."""
    return "/".join(one if isinstance(one, str) else "".join(map(_written, one)) for one in pattern)


def _written(part: object) -> str:
    if isinstance(part, str):
        return part
    assert isinstance(part, tuple)
    if part[0] in ("in", "not"):
        return f"[{'!' if part[0] == 'not' else ''}{part[1]}]"
    return "{" + ",".join("".join(map(_written, choice)) for choice in part) + "}"


def automaton(pattern: list[Name | str]) -> State:
    """The state before anything was read."""
    found: list[object] = []
    for place, one in enumerate(pattern):
        last = place == len(pattern) - 1
        if one == "**":
            found += [FOLDERS, Sign(frozenset(), other=True), LOOP] if last else [FOLDERS]
        else:
            found += [*map(_state, one), *([] if last else ["/"])]
    return tuple(found)


def _state(part: object) -> object:
    if part == "*":
        return LOOP
    if part == "?":
        return Sign(frozenset(), other=True)
    if isinstance(part, str):
        return Sign(frozenset(part))
    assert isinstance(part, tuple)
    if part[0] in ("in", "not"):
        return Sign(frozenset(str(part[1])), part[0] == "not")
    return tuple(tuple(map(_state, choice)) for choice in part)


def closure(state: State) -> Iterator[State]:
    """The states that are reached without reading anything."""
    if not state:
        yield state
        return
    first, rest = state[0], state[1:]
    if isinstance(first, tuple):
        for choice in first:
            yield from closure((*choice, *rest))
        return
    yield state
    if first in (LOOP, FOLDERS):
        yield from closure(rest)


def step(states: frozenset[State], char: str) -> frozenset[State]:
    """Where one character leads from here."""
    found: set[State] = set()
    for state in states:
        if not state:
            continue
        first, rest = state[0], state[1:]
        if isinstance(first, Sign) and first.fits(char):
            found.update(closure(rest))
        elif first is LOOP and char != "/":
            found.update(closure(state))
        elif first == "/" == char:
            found.update(closure(rest))
        elif first is FOLDERS and char != "/":
            found.add((INSIDE, *rest))
        elif first is INSIDE and char == "/":
            found.update(closure((FOLDERS, *rest)))
        elif first is INSIDE and char != "/":
            found.add(state)
    return frozenset(found)


def start(pattern: list[Name | str]) -> frozenset[State]:
    return frozenset(closure(automaton(pattern)))


def accepts(pattern: list[Name | str], path: str) -> bool:
    """Does the pattern fit this path, which is one in its plain spelling?"""
    states = start(pattern)
    for char in path:
        states = step(states, char)
    return () in states


def _names(at: str, char: str) -> str | None:
    """What was read of a name: "" nothing, "." and ".." themselves, "x" a name; None of no path."""
    if char == "/":
        return "" if at == "x" else None
    return at + "." if char == "." and at in ("", ".") else "x"


def common(one: list[Name | str], other: list[Name | str], alphabet: str) -> str | None:
    """A shortest path that both fit, of these characters; None where there is none."""
    begin = (start(one), start(other), "")
    seen, edge = {begin}, [(begin, "")]
    while edge:
        reached = []
        for (mine, its, at), word in edge:
            if at == "x" and () in mine and () in its:
                return word
            for char in alphabet:
                name = _names(at, char)
                following = (step(mine, char), step(its, char), name or "")
                if name is not None and following[0] and following[1] and following not in seen:
                    seen.add(following)
                    reached.append((following, word + char))
        edge = reached
    return None
