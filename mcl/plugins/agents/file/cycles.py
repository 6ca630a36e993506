"""Dependencies that lead back to where they began: strongly connected components, each told once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mcl.plugins.agents.file.labels import in_order


@dataclass(frozen=True)
class Cycle:
    """Intents that all depend on one another.

    path: a shortest way round, from the smallest label back to it. members: all of them, in order.
    """

    path: tuple[str, ...]
    members: tuple[str, ...]


def cycles_of(depends: Mapping[str, Sequence[str]]) -> tuple[Cycle, ...]:
    """Every circle of dependencies, in the order of its smallest label. The same for any order of `depends`.

    depends: of each label the labels it depends on; those that are no keys lead nowhere.
    """
    found = []
    for component in _components(depends):
        members = in_order(component)
        first = members[0]
        if len(members) > 1 or first in depends[first]:
            found.append(Cycle(_round(first, frozenset(members), depends), members))
    place = {label: number for number, label in enumerate(in_order(depends))}
    return tuple(sorted(found, key=lambda cycle: place[cycle.members[0]]))


def _components(depends: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Tarjan's strongly connected components, with a stack of its own: a chain may be long.

    R. Tarjan, Depth-first search and linear graph algorithms, SIAM J. Comput. 1 (1972) 146-160.
    """
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    waiting: list[str] = []  # visited, and in no component yet
    is_waiting: set[str] = set()
    for root in depends:
        if root in index:
            continue
        index[root] = low[root] = len(index)
        waiting.append(root)
        is_waiting.add(root)
        walk = [(root, iter(depends[root]))]
        while walk:
            label, following = walk[-1]
            for other in following:
                if other not in depends:
                    continue
                if other not in index:
                    index[other] = low[other] = len(index)
                    waiting.append(other)
                    is_waiting.add(other)
                    walk.append((other, iter(depends[other])))
                    break
                if other in is_waiting:
                    low[label] = min(low[label], index[other])
            else:
                walk.pop()
                if walk:
                    low[walk[-1][0]] = min(low[walk[-1][0]], low[label])
                if low[label] == index[label]:
                    cut = _last(waiting, label)
                    component = waiting[cut:]
                    del waiting[cut:]
                    is_waiting.difference_update(component)
                    yield component


def _last(waiting: list[str], label: str) -> int:
    """Where `label` is, from the end: the components taken off are looked through once."""
    place = len(waiting) - 1
    while waiting[place] != label:
        place -= 1
    return place


def _round(first: str, members: frozenset[str], depends: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """A shortest way from `first` back to itself, the smallest labels first; breadth first."""
    came: dict[str, str] = {}
    edge = [first]
    while edge:
        further: list[str] = []
        for label in edge:
            for other in in_order(set(depends[label]) & members):
                if other == first:
                    path = [first, label]
                    while path[-1] != first:
                        path.append(came[path[-1]])
                    return tuple(reversed(path))
                if other not in came:
                    came[other] = label
                    further.append(other)
        edge = further
    raise AssertionError("a component has a way round")
