"""What a goal wants written down, and in which list or note: “sätt upp ljus sist på inköpslistan”."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from mcl.compiler.stages.clauses import quotes_of
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.model.cues import TextPlace, free
from mcl.plugins.text.said import named_files, pattern

_LISTS: Final = (".txt", ".md", ".list", ".todo")
_NAME: Final = re.compile(r"[\w./-]*\w\.(?:txt|md|list|todo)(?!\w)", re.IGNORECASE)
_COLON: Final = re.compile(r":[ \t]*(?=\S)|:[ \t]*\n")
_BEFORE: Final = 40  # characters of a clause before its verb
_TIDY: Final = " \t\n,;:.!?"


class _Target(NamedTuple):
    """Where it is written. place: of all words that say so, around: of the name alone."""

    place: TextPlace
    around: TextPlace
    paths: tuple[str, ...]


def read_addition(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The words that are written down, and the file; nothing where it is not clear that some are."""
    begun = _begun(prose, clauses)
    if begun is None:
        return ()
    clause, verb, strong = begun
    at = clauses.index(clause)
    behind = next((one.place.start for one in clauses[at + 1 :] if one.does or one.keeps), len(prose))
    scope = TextPlace(verb.end, behind)
    colon = _COLON.search(prose, scope.start)
    if colon is not None and not free(TextPlace.of(colon), [whole for whole, _ in quotes_of(prose)]):
        colon = None
    if colon is not None:  # what is told behind it is no wish
        scope = TextPlace(verb.end, len(prose))
    above = TextPlace(
        clauses[at - 1].place.start if at and not clauses[at - 1].does else clause.place.start, verb.start
    )
    target = _target(prose, [scope, above], colon.start() if colon else scope.end, names)
    if target is None and not strong:
        return ()
    if target is not None and not all(
        path.casefold().endswith(_LISTS) or "." not in path for path in target.paths
    ):
        return ()
    note = _note(prose, scope, target, colon)
    if pattern("add", "given").fullmatch(prose, note.start, note.end):
        return ()  # an earlier wish says what it is
    read = [
        FilledInput(
            "", TextPlace(clause.place.start, max(verb.end, note.end, target.place.end if target else 0))
        )
    ]
    if target is not None and free(target.place, [read[0].place]):
        read.append(FilledInput("", target.place))
    if target is not None:
        read.append(FilledInput("file", target.around, target.paths, unsure=len(target.paths) != 1))
    if note.end <= note.start:
        return (FilledInput("note", verb, (), unsure=True), *read)
    return (FilledInput("note", note, (prose[note.start : note.end],)), *read)


def _begun(prose: str, clauses: Sequence[SaidClause]) -> tuple[SaidClause, TextPlace, bool] | None:
    """The first clause that wants something written, the words that say so, and whether they do alone."""
    for one in clauses:
        if one.keeps or not one.does:
            continue
        for name in ("strong", "weak"):
            match = pattern("add", name).search(prose, *one.place)
            if match is not None and match.start() - one.place.start <= _BEFORE:
                return one, TextPlace.of(match), name == "strong"
        return None
    return None


def _target(prose: str, scopes: Sequence[TextPlace], end: int, names: FileNames) -> _Target | None:
    """The list or note that is named: the last behind words such as “to” up to an end, else one before."""
    named = list(named_files(prose, names))
    known = [place for place, _ in named]
    for match in _NAME.finditer(prose):
        place = TextPlace.of(match)
        if free(place, known):
            named.append((place, (match[0],)))
    for match in pattern("add", "notes").finditer(prose):
        place = TextPlace.of(match)
        if free(place, known):
            named.append((place, ("notes.md",)))
    found = []
    for place, paths in named:
        lead = pattern("add", "leads").search(prose[: place.start])
        start = lead.start() if lead else place.start
        inside = scopes[0].start <= place.start and place.end <= end
        if inside and lead is not None:
            behind = pattern("add", "behind").match(prose, place.end)
            found.append(_Target(TextPlace(start, behind.end() if behind else place.end), place, paths))
        elif scopes[1].start <= place.start and place.end <= scopes[1].end:
            found.insert(0, _Target(TextPlace(start, place.end), place, paths))
    return max(found, key=lambda one: one.place.start, default=None)


def _note(prose: str, scope: TextPlace, target: _Target | None, colon: re.Match[str] | None) -> TextPlace:
    """Where what is written down stands: behind a colon, in quotes, or in what is left of the scope."""
    if colon is not None:
        behind = target is None or target.place.end <= colon.start()
        if target is None or behind or not _between(prose, scope, target):
            return _bare(prose, TextPlace(colon.end(), scope.end), ends=behind)
    inner = [one for whole, one in quotes_of(prose) if scope.start <= whole.start and whole.end <= scope.end]
    if len(inner) == 1:
        return inner[0]
    if target is None or not scope.start <= target.place.start:
        return _bare(prose, scope)
    before = _bare(prose, TextPlace(scope.start, target.place.start))
    return before if before.end > before.start else _bare(prose, TextPlace(target.place.end, scope.end))


def _between(prose: str, scope: TextPlace, target: _Target) -> bool:
    place = _bare(prose, TextPlace(scope.start, target.place.start))
    return place.end > place.start


def _bare(prose: str, place: TextPlace, *, ends: bool = True) -> TextPlace:
    """A place without the words around what is written: “that”, “a line”, “at the end”, “please”."""
    start, end = place
    while True:
        text = prose[start:end]
        left, right = text.lstrip(_TIDY), text.rstrip(" \t\n,;:.!")
        start, end = end - len(left), max(end - len(text) + len(right), end - len(left))
        lead = pattern("add", "around").match(prose, start, end)
        tails = pattern("add", "ends").finditer(prose, start, end) if ends else ()
        tail = next((one for one in tails if one.end() == end), None)
        if lead is not None and lead.end() > start:
            start = lead.end()
        elif tail is not None and tail.start() < end:
            end = tail.start()
        else:
            return TextPlace(start, end)
