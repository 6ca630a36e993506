"""Whether a file of intents may be used: every rule over every entry, cycles, overlaps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from executor.core.globs import Glob
from executor.core.globs.segment import Segment
from mcl.core.yaml import FileFlaw, FlawReport, report_of, shown
from mcl.plugins.agents.file.document import IntentEntry, IntentFile
from mcl.plugins.agents.file.rules import RULES, Patterns, RuleContext, in_order

# ---- Scopes that share a path: which two, by which patterns, and a path that both fit.

MAX_TOLD: Final = 1_000  # overlaps of one file
MAX_COMPARED: Final = 200_000_000  # characters of one pattern, braces written out, times those of the other
MAX_LOOKS: Final = 2_000_000  # at pairs that may have to be compared

_ENDING: Final = re.compile(r"[^*?\[\]{}/]*\Z")  # the characters that all a pattern fits ends with

Folders: TypeAlias = tuple[str, ...]


@dataclass(frozen=True)
class Overlap:
    """Two scopes, by their places (one < other), the patterns that meet, and a path that both fit."""

    one: int
    other: int
    pattern: str
    its_pattern: str
    witness: str


class TooManyError(Exception):
    """There is more to compare, or to tell, than anybody could read; what was found was given before."""


class _Part:
    """A pattern under one of the beginnings that it has: the scope it is of, how what it fits ends, and about
    how many characters it has with its braces written out.
    """

    __slots__ = ("ending", "folders", "glob", "scope", "weight")

    def __init__(self, folders: Folders, scope: int, glob: Glob) -> None:
        self.folders, self.scope, self.glob = folders, scope, glob
        found = _ENDING.search(glob.text)
        self.ending = found[0] if found else ""
        self.weight = len(glob.text) * len(glob.paths)


def overlaps_of(scopes: Sequence[tuple[Glob, ...]]) -> Iterator[Overlap]:
    """Each two scopes that share a path, once. The same for equal scopes. Raises TooManyError."""
    index: dict[Folders, list[_Part]] = {}
    met: dict[tuple[str, str], str | None] = {}
    told: set[tuple[int, int]] = set()
    looks = compared = 0
    for part in _parts(scopes):
        scope, glob, ending = part.scope, part.glob, part.ending
        for depth in range(len(part.folders) + 1):
            for its in index.get(part.folders[:depth], ()):
                looks += 1
                if looks > MAX_LOOKS or compared > MAX_COMPARED or len(told) >= MAX_TOLD:
                    raise TooManyError
                if not (ending.endswith(its.ending) or its.ending.endswith(ending)) or its.scope == scope:
                    continue
                two = (scope, its.scope) if scope < its.scope else (its.scope, scope)
                if two in told:
                    continue
                pair = (its.glob.text, glob.text)
                if pair not in met:
                    compared += its.weight * part.weight
                    met[pair] = its.glob.meeting(glob)
                if (witness := met[pair]) is not None:
                    told.add(two)
                    texts = (glob.text, its.glob.text) if scope < its.scope else pair
                    yield Overlap(*two, *texts, witness)
        index.setdefault(part.folders, []).append(part)


def _parts(scopes: Sequence[tuple[Glob, ...]]) -> list[_Part]:
    """Each pattern under the names that it begins with, the shortest first."""
    found = [
        _Part(folders, scope, glob)
        for scope, globs in enumerate(scopes)
        for glob in globs
        for folders in {_folders(path.head): None for path in glob.paths}
    ]
    return sorted(found, key=lambda part: (len(part.folders), part.folders, part.scope))


def _folders(head: Sequence[Segment]) -> Folders:
    """The names up to the first that may be several."""
    names = [segment.text for segment in head]
    return tuple(names[: names.index("")] if "" in names else names)


# ---- Dependencies that lead back to where they began: strongly connected components, each told once.


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


SOFT_LIMIT: Final = 1_000  # intents in a file
_SHOWN: Final = 12  # labels of a cycle in its message


def validate(document: IntentFile) -> FlawReport:
    """All that is wrong or doubtful in a file, in its order; of one that could not be read, why."""
    if not document.whole:
        return report_of(document.findings)
    return report_of((*document.findings, *_found(document)))


def _found(document: IntentFile) -> Iterator[FileFlaw]:
    by_label: dict[str, IntentEntry] = {}
    for entry in document.entries:
        by_label.setdefault(entry.label, entry)
    patterns = Patterns()
    around = RuleContext(by_label, document.spoilt, patterns)
    for entry in document.entries:
        for rule in RULES:
            yield from rule(entry, around)
    yield from _circles(by_label)
    yield from _overlapping(document, patterns)
    if len(document.entries) > SOFT_LIMIT:
        message = (
            f"{len(document.entries)} intents in one file; more than {SOFT_LIMIT} are hard to keep apart"
        )
        yield FileFlaw("SOFT_LIMIT", message, field="active_intents", line=1, level="warning")


def _circles(by_label: dict[str, IntentEntry]) -> Iterator[FileFlaw]:
    for cycle in cycles_of({label: entry.dependencies for label, entry in by_label.items()}):
        first = by_label[cycle.path[0]]
        way = [
            *cycle.path[:_SHOWN],
            *(["…", cycle.path[-1]] if len(cycle.path) > _SHOWN + 1 else cycle.path[_SHOWN:]),
        ]
        more = len(cycle.members) - (len(cycle.path) - 1)
        others = f", and {more} more on the same round" if more else ""
        named = f"dependencies[{first.dependencies.index(cycle.path[1])}]"
        message = (
            f"intents wait for one another: {' → '.join(way)}{others}; leave one of the dependencies out"
        )
        data = {"cycle": list(cycle.path), "members": list(cycle.members)}
        yield FileFlaw("CIRCULAR_DEPENDENCY", message, first.label, named, first.line_of(named), data=data)


def _overlapping(document: IntentFile, patterns: Patterns) -> Iterator[FileFlaw]:
    active = [entry for entry in document.entries if entry.status == "IN_PROGRESS"]
    try:
        for overlap in overlaps_of([patterns.good(entry.owned_scope) for entry in active]):
            yield _overlap(active[overlap.one], active[overlap.other], overlap)
    except TooManyError:
        message = "the scopes of the intents in progress overlap, or begin alike, too often to tell of all"
        yield FileFlaw("SCOPE_OVERLAP", f"{message}; begin each pattern with a folder of its own", line=1)


def _overlap(one: IntentEntry, other: IntentEntry, overlap: Overlap) -> FileFlaw:
    """Told at the later of the two."""
    named = f"owned_scope[{other.owned_scope.index(overlap.its_pattern)}]"
    message = (
        f"{other.label} and {one.label} are both IN_PROGRESS and both own {shown(overlap.witness)}: "
        f"{shown(overlap.its_pattern)} meets {shown(overlap.pattern)}; part them, or finish one first"
    )
    data = {
        "intents": [one.label, other.label],
        "patterns": [overlap.pattern, overlap.its_pattern],
        "witness": overlap.witness,
    }
    return FileFlaw("SCOPE_OVERLAP", message, other.label, named, other.line_of(named), data=data)
