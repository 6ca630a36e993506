"""Which list a goal wants each entry of once, or in order: “no doubles, a to z”."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from mcl.compiler.stages.clauses import quotes_of
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.model.cues import TextPlace, free, within
from mcl.plugins.text.said import is_table, kept_places, named_files, pattern

_NEW: Final = re.compile(r"[\w./-]*\w\.(?:txt|md|list|todo|log)(?!\w)", re.IGNORECASE)


class _Said(NamedTuple):
    """What a goal says of the lines of one file. once, sorts: where it says that each is there once, and that
    they are put in order; files: the file, and the new one for the result; read: the words for all of it."""

    once: TextPlace | None
    sorts: TextPlace | None
    files: tuple[FilledInput, FilledInput]
    read: tuple[FilledInput, ...]


def read_unique(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The list of which each entry is kept once."""
    said = _said(prose, clauses, names)
    if said is None or said.once is None:
        return ()
    return (*said.files, *(_order(prose, said.sorts) if said.sorts else ()), *said.read)


def read_sorted(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The list that is put in order, how, and whether each entry is kept once."""
    said = _said(prose, clauses, names)
    if said is None or said.sorts is None:
        return ()
    once = [FilledInput("doubles", said.once, ("drop",))] if said.once else []
    return (*said.files, _way(prose, said.sorts), *_order(prose, said.sorts), *once, *said.read)


def _way(prose: str, place: TextPlace) -> FilledInput:
    ways = (one for one in ("number", "length") if pattern("lines", one).search(prose))
    return FilledInput("by", place, (next(ways, "text"),))


def _order(prose: str, place: TextPlace) -> tuple[FilledInput, ...]:
    down = pattern("lines", "descending").search(prose) is not None
    return (FilledInput("order", place, ("descending" if down else "ascending",)),)


def _said(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> _Said | None:
    if pattern("lines", "asks").match(prose):
        return None
    once, sorts = _places("once", prose, clauses), _places("sorts", prose, clauses)
    named = named_files(prose, names) or _misspelt(prose, names)
    made = _made(prose, names, [place for place, paths in named]) if once or sorts else None
    kept = [] if made else kept_places(prose, clauses, [place for place, _ in named])
    lists = [one for one in named if made is None or free(one[0], [made])]
    lists = [one for one in lists if free(one[0], kept)] or lists
    paths = {path for _, found in lists for path in found}
    if not (once or sorts) or len(paths) != 1 or not _is_list(next(iter(paths)), names):
        return None
    file = FilledInput("file", lists[0][0], tuple(paths))
    result = FilledInput("result", made or file.place, (prose[slice(*made)],) if made else ())
    places = [*once, *sorts, *(place for place, _ in lists), *([made] if made else ())]
    unsorted = pattern("lines", "unsorted")
    read = [
        FilledInput("", one.place)
        for one in clauses
        if any(within(place, [one.place]) for place in places)
        or (one.keeps and made)
        or unsorted.search(prose, *one.place)
        or (once and pattern("lines", "second").search(prose, *one.place))
    ]
    return _Said(next(iter(once), None), next(iter(sorts), None), (file, result), tuple(read))


def _places(name: str, prose: str, clauses: Sequence[SaidClause]) -> list[TextPlace]:
    """Where a goal says so, in no quote and nowhere that it says what is not to be."""
    apart = [whole for whole, _ in quotes_of(prose)]
    if name == "sorts":
        apart += [TextPlace.of(one) for one in pattern("lines", "unsorted").finditer(prose)]
    found = [
        TextPlace.of(one) for each in clauses for one in pattern("lines", name).finditer(prose, *each.place)
    ]
    return [one for one in found if free(one, apart)]


def _misspelt(prose: str, names: FileNames) -> list[tuple[TextPlace, tuple[str, ...]]]:
    """The list that is called with a slip: “the shoping list”."""
    found = list[tuple[TextPlace, tuple[str, ...]]]()
    for match in pattern("lines", "called").finditer(prose):
        meant = names.meant(match[0], "there", 1)
        if meant is not None and len(meant.paths) == 1 and _is_list(meant.paths[0], names):
            found.append((TextPlace.of(match), meant.paths))
    return found


def _made(prose: str, names: FileNames, named: Sequence[TextPlace]) -> TextPlace | None:
    """The new file that is named, where there is one: beside a list that is here."""
    for match in _NEW.finditer(prose):
        place = TextPlace.of(match)
        led = pattern("lines", "makes").search(prose[: place.start]) is not None
        beside = any(free(place, [one]) for one in named)
        if not names.has(match[0]) and beside and (led or free(place, named) or "/" in match[0]):
            return place
    return None


def _is_list(path: str, names: FileNames) -> bool:
    return not is_table(path) and bool(names.text(path).strip())
