"""Which entry of which list a goal means, by those that are there: “ringt CSN, kryssa den” is “ringa CSN”."""

from __future__ import annotations

import bisect
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from mcl.compiler.stages.clauses import quotes_of
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.language.bm25 import WORD
from mcl.model.cues import TextPlace, free, within
from mcl.plugins.text.answers import empty_words, means
from mcl.plugins.text.marked import read_marked
from mcl.plugins.text.said import kept_places, named_files, pattern, said_words, table, texts

_BOX: Final = re.compile(r"^\s*(?:[-*+]|\d+[.)])?\s*\[(?P<tick>[ xX]?)\]\s*(?P<text>.*\S)")
_MARK: Final = re.compile(r"^\s*(?:[-*+]\s+|\d+[.)]\s+)?")
_LEAST: Final = 0.5  # of the words of an entry, by their weight
_SURE: Final = 0.9  # of a word that no other entry has
_APART: Final = 0.15  # by which another entry says less
_OFFERED: Final = 20
_LONG_LINE: Final = 12  # words of an entry


@dataclass(frozen=True)
class _Found:
    """An entry that a goal may mean. places: of the goal's words for it; score: how much of it they say."""

    path: str
    text: str
    places: tuple[TextPlace, ...]
    score: float
    whole: bool


def read_list_edit(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The entry, the list and what is done to it; nothing where the lists here do not say which is meant."""
    what, verb = _what(prose, clauses)
    if not what or verb is None or pattern("list", "doubles").search(prose):
        return ()
    if what == "tick" and read_marked(prose, clauses, names):
        return ()  # “mark their invoice paid”
    scope = _scope(clauses, verb)
    named = named_files(prose, names)
    near = [(place, paths) for place, paths in named if any(not free(place, [one]) for one in scope)]
    listed = {
        path: entries
        for place, paths in near
        for path in paths
        if (entries := _entries(names.text(path), what))
    }
    place = next((place for place, paths in near if any(path in listed for path in paths)), None)
    lists = any(pattern("list", "lists").search(prose, *one) for one in scope)
    if not listed and (what != "remove" or lists):
        all_ = ((path, _entries(names.text(path), what)) for path in texts(names) if _may_be_list(path))
        listed = {path: entries for path, entries in all_ if len(entries) > 1}
    if place is None and what == "remove":
        listed = {
            path: entries for path, entries in listed.items() if all(len(one.split()) <= 5 for one in entries)
        }
    if not listed:
        return ()
    kept = kept_places(prose, clauses, [])
    said_in = [one for one in scope if one not in kept]
    quoted = [inner for _, inner in quotes_of(prose) if any(not free(inner, [one]) for one in said_in)]
    empty = empty_words() | frozenset(table("list")["empty"].split())
    own = [one for one, paths in near if any(path in listed for path in paths)] + [
        TextPlace.of(match) for match in _verbs(prose)
    ]
    words = said_words(prose, quoted or said_in, frozenset() if quoted else empty)
    words = [(word, at) for word, at in words if quoted or free(at, own)]
    found = [one for path, entries in listed.items() for one in _meant(path, entries, words)]
    read = [FilledInput("", one) for one in scope]
    done = FilledInput("what", verb, (what,))
    if not words and len(listed) == 1:  # "take one thing off the list"
        path, entries = next(iter(listed.items()))
        asked = TextPlace(*verb)
        offered = tuple(dict.fromkeys(entries))[:_OFFERED]
        return (
            FilledInput("line", asked, offered, unsure=True),
            FilledInput("file", place or asked, (path,)),
            done,
            *read,
        )
    if not found:
        return ()
    chosen = _each(prose, scope, verb, words, listed)
    best = chosen or _best(found)
    paths = tuple(dict.fromkeys(one.path for one in best))
    if len(paths) > 1:
        return ()
    where = [at for one in best for at in one.places]
    entry = TextPlace(min(at.start for at in where), max(at.end for at in where))
    values = tuple(dict.fromkeys(one.text for one in best))
    clear = all(one.whole for one in chosen) if chosen else len(values) == 1
    if chosen and not clear:  # a part of what is said is none of its entries, or may be several
        values = tuple(dict.fromkeys((*values, *listed[paths[0]])))
    line = ("; ".join(values),) if clear else values[:_OFFERED]
    filled = FilledInput("line", entry, line, unsure=not clear)
    return (filled, FilledInput("file", place or entry, paths), done, *read)


def read_boxes(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The lists of which the boxes are counted that are ticked, or that are not: by what such a box is."""
    start = pattern("list", "counts").search(prose)
    scope = next((one.place for one in clauses if start and not free(one.place, [TextPlace.of(start)])), None)
    if start is None or scope is None or pattern("list", "whole").search(prose, *scope):
        return ()
    is_open, closed = (pattern("list", name).search(prose, *scope) for name in ("open", "closed"))
    state = is_open or (closed if pattern("list", "entries").search(prose, *scope) else None)
    said = [(place, paths) for place, paths in named_files(prose, names) if not free(place, [scope])]
    if state is None or len({paths for _, paths in said}) != 1:
        return ()
    place, paths = said[0]
    if not any(map(_BOX.match, "".join(names.text(one) + "\n" for one in paths).splitlines())):
        return ()
    box = FilledInput("word", TextPlace.of(state), ("[ ]" if is_open else "[x]",))
    return (FilledInput("files", place, paths), box, FilledInput("", scope))


def _may_be_list(path: str) -> bool:
    return path.casefold().endswith((".txt", ".md", ".list", ".todo")) or "." not in path


def _verbs(prose: str) -> list[re.Match[str]]:
    return [match for kind in ("untick", "tick", "remove") for match in pattern("list", kind).finditer(prose)]


def _what(prose: str, clauses: Sequence[SaidClause]) -> tuple[str, TextPlace | None]:
    """What is done, and the word that says it: the first that does, in a clause that forbids nothing."""
    found: list[tuple[int, str, TextPlace]] = []
    for one in clauses:
        if one.keeps:
            continue
        for order, kind in enumerate(("untick", "tick", "remove")):
            match = pattern("list", kind).search(prose, *one.place)
            if match is not None and (one.does or kind != "remove"):
                found.append((order if kind == "untick" else 3, kind, TextPlace.of(match)))
    found.sort(key=lambda one: (one[0], one[2].start))
    if not found:  # "“water the plants” in todo.txt is done"
        told = (pattern("list", "done").search(prose, *one.place) for one in clauses if not one.keeps)
        found = [(0, "tick", TextPlace.of(match)) for match in told if match is not None]
    return (found[0][1], found[0][2]) if found else ("", None)


def _scope(clauses: Sequence[SaidClause], verb: TextPlace) -> list[TextPlace]:
    """The clauses that speak of it: up to the one with the verb, and behind it to the next wish."""
    at = next((at for at, one in enumerate(clauses) if not free(one.place, [verb])), 0)
    first = max((place for place in range(at) if clauses[place].does), default=-1) + 1
    last = next((place for place in range(at + 1, len(clauses)) if clauses[place].does), len(clauses))
    behind = [one.place for one in clauses[at + 1 : last] if not one.keeps]
    return [one.place for one in clauses[first : at + 1]] + behind


def _entries(text: str, what: str) -> list[str]:
    """The texts of the entries that it may be done to; none where a text is no list."""
    if what != "remove":
        ticked = what == "untick"
        boxes = (_BOX.match(line) for line in text.splitlines())
        return [box["text"] for box in boxes if box and (box["tick"].strip() != "") == ticked]
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    boxed = [_BOX.match(line) for line in lines]
    found = [
        box["text"] if box else _MARK.sub("", line).strip() for line, box in zip(lines, boxed, strict=True)
    ]
    return found if all(len(one.split()) <= _LONG_LINE for one in found) else []


def _meant(path: str, entries: Sequence[str], words: Sequence[tuple[str, TextPlace]]) -> list[_Found]:
    """The entries that words of a goal say enough of."""
    own = {text: list(dict.fromkeys(one.casefold() for one in WORD.findall(text))) for text in entries}
    empty = empty_words()
    own = {text: [one for one in said if one not in empty] or said for text, said in own.items()}
    having = Counter(one for said in own.values() for one in said)
    found = []
    for text, said in own.items():
        spoken = {word for word, _ in words}
        weights = {one: 1 / having[one] for one in said if not one.isdigit() or one in spoken}
        told = {one: max(((means(word, one), at) for word, at in words), default=(0.0, None)) for one in said}
        total = math.fsum(weights.values())
        score = math.fsum(weights[one] * told[one][0] for one in weights) / total if total else 0.0
        sure = any(told[one][0] >= _SURE and having[one] == 1 and len(one) > 2 for one in said)
        places = tuple(at for share, at in told.values() if share and at is not None)
        whole = all(share == 1.0 for share, _ in told.values())
        if places and (score >= _LEAST or sure):
            found.append(_Found(path, text, places, score, whole))
    return found


def _each(
    prose: str,
    places: Sequence[TextPlace],
    verb: TextPlace,
    words: Sequence[tuple[str, TextPlace]],
    listed: Mapping[str, Sequence[str]],
) -> list[_Found]:
    """The entries of one list that a goal names one after the other, all `whole` where it is clear which of
    them each part means; none where it names but one. verb: in whose clause each part means some."""
    joins = [TextPlace.of(one) for one in pattern("list", "several").finditer(prose)]
    joins += [TextPlace(at, at + 1) for at, sign in enumerate(prose) if sign in ",;"]
    ends = sorted(one.start for one in joins if free(one, [inner for _, inner in quotes_of(prose)]))
    parts: dict[tuple[int, int], list[tuple[str, TextPlace]]] = {}
    for word, at in words:
        clause = next((number for number, one in enumerate(places) if within(at, [one])), -1)
        parts.setdefault((clause, bisect.bisect(ends, at.start)), []).append((word, at))
    own = next((number for number, one in enumerate(places) if within(verb, [one])), -1)
    told = []
    for path, entries in listed.items():
        found = {part: _best(_meant(path, entries, said)) for part, said in parts.items()}
        if any(best for part, best in found.items() if part[0] == own):
            # What is told beside it may be of all.
            found = {part: best for part, best in found.items() if part[0] == own or len(best) == 1}
        chosen = [one for best in found.values() for one in best]
        clear = all(len(best) == 1 or (not best and part[0] != own) for part, best in found.items())
        if len(parts) > 1 and (len({one.text for one in chosen}) > 1 or (chosen and not clear)):
            told.append([replace(one, whole=clear) for one in chosen])
    surest = [one for one in told if one[0].whole] or told
    return surest[0] if len(surest) == 1 else []


def _best(found: Sequence[_Found]) -> list[_Found]:
    """Those that little speaks for less than for the best."""
    most = max((one.score for one in found), default=0.0)
    return [one for one in found if one.score >= most - _APART]
