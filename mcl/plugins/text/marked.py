"""A state that a goal gives a text, written as texts like it have theirs: “mark their invoice paid”."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.language.bm25 import WORD
from mcl.model.cues import TextPlace, free
from mcl.plugins.text.answers import empty_words, means
from mcl.plugins.text.said import named_files, pattern, said_words, table, texts
from mcl.values.dates import read_past_day

_FIELD: Final = re.compile(r"^(?P<label>[^\W\d_][\w ]{0,20}):[ \t]*(?P<value>\S.*?)[ \t]*$", re.MULTILINE)
_DAY: Final = re.compile(r"(?<![\w-])\d{4}-\d\d-\d\d(?![\w-])")
_SAME: Final = 0.9  # how far a word of the goal says a state
_APART: Final = 0.1  # by which another file says less
_MOST: Final = 8  # texts that may be meant


@dataclass(frozen=True)
class _State:
    """What a text has in a field, and what it would have in the state. dated: whether others have a day."""

    path: str
    old: str
    new: str
    dated: bool


def read_marked(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """What a text says of its state, what it is to say, and the file; nothing where no text beside it has
    such a state, or where words are given for it."""
    for one in clauses:
        verb = pattern("mark", "verbs").search(prose, *one.place)
        if verb is None or one.keeps or not one.does:
            continue
        behind = TextPlace(verb.end(), one.place.end)
        words = said_words(prose, [behind], frozenset(table("mark")["empty"].split()))
        said = [(word, at, found) for word, at in words if (found := list(_states(word, names)))]
        if said:  # "change unpaid to paid": the last is what it is to be, and others what it is
            _, at, found = said[-1]
            was = [state for state in found if any(_says(state, word) for word, _, _ in said[:-1])]
            return _chosen(prose, clauses, names, at, was or found)
    return ()


def _says(state: _State, word: str) -> bool:
    """Whether a word is what a text says of its state now."""
    return state.old.split(":", 1)[1].split()[0].casefold() == word


def _states(word: str, names: FileNames) -> Iterator[_State]:
    """The texts that are not in a state, of those beside which others are."""
    folders: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for path in texts(names):
        for match in _FIELD.finditer(names.text(path)):
            key = (path.rpartition("/")[0], match["label"])
            folders.setdefault(key, []).append((path, match[0], match["value"]))
    for lines in folders.values():
        exact = [value for _, _, value in lines if _DAY.sub(" ", value).split() == [word]]
        own = exact or [value for _, _, value in lines if _is_state(value, word)]
        if not own or len(lines) < 2:
            continue
        state = own[0].split()[0]
        dated = any(_DAY.search(value) for value in own)
        for path, line, value in lines:
            if value not in own and (exact or not _is_state(value, word)):
                yield _State(path, line, f"{line[: len(line) - len(value)]}{state}", dated)


def _is_state(value: str, word: str) -> bool:
    """Whether a value is a state, and no name, with no more than a day: “paid 2026-01-10”."""
    rest = _DAY.sub(" ", value).split()
    return len(rest) == 1 and rest[0].islower() and means(word, rest[0]) >= _SAME


def _chosen(
    prose: str, clauses: Sequence[SaidClause], names: FileNames, at: TextPlace, found: Sequence[_State]
) -> Sequence[FilledInput]:
    """The one of some texts that a goal means, or those of which a person says which."""
    named = [(place, one) for place, paths in named_files(prose, names) if len(paths) == 1 for one in paths]
    best = [state for state in found if any(state.path == path for _, path in named)]
    place = next((place for place, path in named if best and path == best[0].path), at)
    if not best:
        if any(names.has(prose[slice(*place)]) for place, _ in named):
            return ()
        best = _described(prose, [one.place for one in clauses], at, found, names)
    olds, new = tuple(dict.fromkeys(one.old for one in best)), best[0].new if best else ""
    if not best or len({one.new for one in best}) > 1:
        return ()
    if best[0].dated:
        new = f"{new} {_day(prose, names.at)}"
    read = [FilledInput("", one.place) for one in clauses if not one.keeps]
    return (
        FilledInput("old", at, olds, unsure=len(olds) > 1),
        FilledInput("new", at, (new,)),
        FilledInput("files", place, tuple(one.path for one in best[:_MOST]), unsure=len(best) > 1),
        *read,
    )


def _described(
    prose: str, places: Sequence[TextPlace], at: TextPlace, found: Sequence[_State], names: FileNames
) -> list[_State]:
    """Those that words of a goal say most of, by what stands in them."""
    own = {
        one.path: {word.casefold() for word in WORD.findall(f"{one.path} {names.text(one.path)}")}
        for one in found
    }
    said = [word for word, place in said_words(prose, places, empty_words()) if free(place, [at])]
    having = {
        word: {path: share for path, there in own.items() if (share := max(means(word, o) for o in there))}
        for word in dict.fromkeys(said)
    }
    many = Counter(word for word, paths in having.items() for _ in paths)
    scores = {
        one.path: math.fsum(
            paths[one.path] / many[word]
            for word, paths in having.items()
            if one.path in paths and many[word] < len(found)
        )
        for one in found
    }
    most = max(scores.values(), default=0.0)
    return [one for one in found if most - scores[one.path] <= _APART]


def _day(prose: str, at: str) -> str:
    """The day that a goal says, else the one on which it was said."""
    if given := _DAY.search(prose):
        return given[0]
    words = list(re.finditer(r"[^\s,.;:!?]+", prose))
    for many in (3, 2, 1):
        for first in range(len(words) - many + 1):
            day = read_past_day(prose[words[first].start() : words[first + many - 1].end()], at)
            if day is not None:
                return day[:10]
    return at[:10]
