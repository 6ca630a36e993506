"""What a goal wants written down, and in which list or note: “sätt upp ljus sist på inköpslistan”."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from mcl.compiler.stages.clauses import quotes_of
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.model.cues import TextPlace, free
from mcl.plugins.text.answers import empty_words
from mcl.plugins.text.passages import read_passage
from mcl.plugins.text.said import (
    is_table,
    is_text,
    month_of,
    named_files,
    pattern,
    said_words,
    table,
    texts,
)

_LISTS: Final = (".txt", ".md", ".list", ".todo")
_NAME: Final = re.compile(r"[\w./-]*\w\.(?:txt|md|list|todo)(?!\w)", re.IGNORECASE)
_MARK: Final = re.compile(r"^\s*(?:#+\s+|[-*+]\s+(?:\[[ xX]?\]\s*)?|\[[ xX]?\]\s*)")
_COLON: Final = re.compile(r":[ \t]*(?=\S)|:[ \t]*\n")
_LEAD: Final = re.compile(r"\s*[:.]\s+|\s+(?=\w)")
_BEFORE: Final = 40  # characters of a clause before its verb
_OF_DAY: Final = re.compile(r"(?P<day>\d{1,2}) (?P<month>[^\W\d_]{3,}): \S.*")
_LONGEST_NAME: Final = 3  # words
_TIDY: Final = " \t\n,;:.!?"


class _Target(NamedTuple):
    """Where it is written. place: of all words that say so, around: of the name alone."""

    place: TextPlace
    around: TextPlace
    paths: tuple[str, ...]


def read_addition(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The words that are written down, and the file; nothing where it is not clear that some are."""
    if made := _made(prose, names):
        return made
    begun = _begun(prose, clauses)
    section = pattern("passage", "section").search(prose)
    if begun is None or section or read_passage(prose, clauses, names):  # “put Bo instead” adds nothing
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
    told = [one.place.end for one in clauses[:at] if one.does]
    above = TextPlace(told[-1] if told else 0, verb.start)
    end = colon.start() if colon else scope.end
    target = _target(prose, [scope, above], end, names)
    target = target or _unknown(prose, TextPlace(scope.start, end), names)
    if target is None and not strong:
        return ()
    folders = {one.path for one in names.entries if one.folder}
    if target is not None and not all(
        path.casefold().endswith(_LISTS) or ("." not in path and path.rstrip("/") not in folders)
        for path in target.paths
    ):
        return ()
    note = _note(prose, scope, target, colon)
    given = pattern("add", "given").fullmatch(prose, note.start, note.end)
    if given and any(one.does for one in clauses[:at]):
        return ()  # an earlier wish says what it is
    where, note = _where(prose, TextPlace(above.start, scope.end), note, target, names)
    ends = [verb.end, note.end, target.place.end if target else 0, *(one.place.end for one in where)]
    whole = TextPlace(clause.place.start, max(ends))
    read = [*where, FilledInput("", whole)]
    if target is not None and free(target.place, [whole]):
        read.append(FilledInput("", target.place))
    if target is not None:
        read.append(FilledInput("file", target.around, target.paths, unsure=len(target.paths) != 1))
    if given or note.end <= note.start:
        return (FilledInput("note", verb, (), unsure=True), *read)
    if (line := _like_others(prose, scope, note, target, names)) is not None:
        return (FilledInput("note", note, (line,)), *read) if line else ()
    if (source := _source(prose[slice(*note)], names)) and target is not None:
        return (FilledInput("note", note, plain=True), FilledInput("sources", note, (source,)), *read)
    return (FilledInput("note", note, (_lines(prose, scope, note),)), *read)


def _made(prose: str, names: FileNames) -> Sequence[FilledInput]:
    """A file that is not there yet, with a line for each thing that is told: “make gifts.txt with three
    lines: …”; nothing where it is not clear which things these are."""
    made = pattern("add", "made").search(prose)
    told = pattern("add", "lines").search(prose, made.end()) if made is not None else None
    if made is None or told is None or names.has(made["name"]):
        return ()
    lead = _LEAD.match(prose, told.end())
    start = lead.end() if lead is not None else len(prose)
    place = TextPlace(start, _stop(prose, start))
    if place.end <= place.start:  # “with milk and eggs, each on its own line”
        place = _bare(prose, TextPlace(made.end(), told.start()))
        beside = pattern("add", "beside").match(prose, *place)
        place = _bare(prose, TextPlace(beside.end() if beside else place.start, place.end))
    text, many = prose[slice(*place)], _many(told[0])
    ordinal = pattern("add", "ordinal")
    split = re.compile(table("add")["between"], re.IGNORECASE).split
    ways = [re.split(r"[,;]\s+", text), split(text)] if many else [split(text)]
    if len(ordinal.findall(text)) > 1:
        ways = [[one.strip(_TIDY) for one in ordinal.split(text)][1:]]
    things = next((way for way in ways if len(way) > 1 and len(way) == (many or len(way))), [])
    if not things or not all(map(str.strip, things)):
        return ()
    return (
        FilledInput("note", place, ("\n".join(one.strip(_TIDY) for one in things),)),
        FilledInput("file", TextPlace.of(made, "name"), (made["name"],)),
        FilledInput("", TextPlace(made.start(), max(place.end, told.end()))),
    )


def _many(said: str) -> int:
    """How many lines are said; 0 where no number is."""
    words = said.casefold().split()
    return next((many for many, one in enumerate(table("add")["counts"]) if {*one.split()} & {*words}), 0)


def _stop(prose: str, start: int) -> int:
    """Where the sentence ends that begins there."""
    stop = re.compile(r"[.!?](?=\s|$)").search(prose, start)
    return stop.start() if stop else len(prose)


def _lines(prose: str, scope: TextPlace, note: TextPlace) -> str:
    """What is written down, with a line for each thing where that is said."""
    said = prose[slice(*note)]
    several = pattern("add", "lines").search(prose, *scope) is not None
    return re.sub(table("add")["between"], "\n", said) if several else said


def _like_others(
    prose: str, scope: TextPlace, note: TextPlace, target: _Target | None, names: FileNames
) -> str | None:
    """A line for somebody and a day, where all lines of the list are such: “7 december: Fatima”. "" where the
    day has one already; None where it is no such list, or a day or name is not said."""
    text = names.text(target.paths[0]) if target is not None and len(target.paths) == 1 else ""
    lines = [_OF_DAY.fullmatch(one.strip()) for one in text.splitlines() if one.strip()]
    there = [one for one in lines if one is not None]
    said = [one for one in pattern("add", "day").finditer(prose, *scope) if month_of(one["month"])]
    if target is None or len(there) < 2 or len(there) < len(lines) or len(said) != 1:
        return None
    day, month = int(said[0]["day"]), month_of(said[0]["month"])
    if any((int(one["day"]), month_of(one["month"])) == (day, month) for one in there):
        return ""
    own = {one["month"] for one in there if month_of(one["month"]) == month} or {said[0]["month"]}
    apart = [TextPlace.of(said[0]), target.place, target.around]
    empty = empty_words() | frozenset(table("add")["unnamed"].split())
    for place in (note, scope):  # what stands around what is written says the name only where that does not
        words = said_words(prose, [place], empty)
        if called := [prose[slice(*at)] for _, at in words if free(at, apart)]:
            break
    if not 0 < len(called) <= _LONGEST_NAME:
        return None
    return f"{day} {next(iter(own))}: {' '.join(one[:1].upper() + one[1:] for one in called)}"


def _source(said: str, names: FileNames) -> str:
    """The text file whose lines are added, where its name is all that is said."""
    match = pattern("add", "contents").match(said)
    path = said[match.end() :].strip() if match else said
    meant = names.named(path, 1) if "." in path and " " not in path else None
    one = meant.paths[0] if meant and len(meant.paths) == 1 else ""
    return one if one and is_text(one) and not is_table(one) else ""


def _unknown(prose: str, scope: TextPlace, names: FileNames) -> _Target | None:
    """The lists here, of which a person says which, where “the list” is all that names one."""
    for match in pattern("add", "bare").finditer(prose, *scope):
        lead = pattern("add", "leads").search(prose[: match.start()])
        if lead is not None and lead.start() >= scope.start:
            paths = [path for path in texts(names) if path.casefold().endswith(_LISTS) and "/" not in path]
            return (
                _Target(TextPlace(lead.start(), match.end()), TextPlace.of(match), tuple(paths))
                if paths
                else None
            )
    return None


def _where(
    prose: str, scope: TextPlace, note: TextPlace, target: _Target | None, names: FileNames
) -> tuple[list[FilledInput], TextPlace]:
    """Where in the list it goes, if it is said, and the words that are written down without those."""
    if target is None or len(target.paths) != 1:
        return [], note
    quotes = [whole for whole, _ in quotes_of(prose)]
    said: list[tuple[TextPlace, FilledInput]] = []
    for match in pattern("add", "first").finditer(prose, *scope):
        said.append((TextPlace.of(match), FilledInput("first", TextPlace.of(match), ("start",))))
    lines = [_MARK.sub("", line).strip() for line in names.text(target.paths[0]).splitlines()]
    for match in pattern("add", "below").finditer(prose, *scope):
        behind = prose[match.end() : scope.end].casefold()
        start = match.end() + len(behind) - len(behind.lstrip())
        meant = [
            one for one in lines if one and re.match(rf"{re.escape(one.casefold())}(?!\w)", behind.lstrip())
        ]
        if meant:
            line = max(meant, key=len)
            place = TextPlace(start, start + len(line))
            said.append((TextPlace(match.start(), place.end), FilledInput("first", place, (line,))))
    for place, filled in said:
        if not free(place, quotes):
            continue
        if not free(place, [note]):
            before = _bare(prose, TextPlace(note.start, max(note.start, place.start)))
            note = before if before.end > before.start else _bare(prose, TextPlace(place.end, note.end))
        return [filled], note
    return [], note


def _begun(prose: str, clauses: Sequence[SaidClause]) -> tuple[SaidClause, TextPlace, bool] | None:
    """The first clause that wants something written, the words that say so, and whether they do alone."""
    for one in clauses:
        if one.keeps or not (one.does or pattern("add", "below").match(prose, one.place.start)):
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
