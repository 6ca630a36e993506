"""What a goal about a text says beside the texts that are there, for what reads lists and replacements."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from executor.core.tables import table_beside
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import SaidClause
from mcl.language.bm25 import WORD
from mcl.model.cues import TextPlace, free
from mcl.values.durations import in_english
from mcl.values.periods import MONTHS

_MOST_FILES: Final = 300
_LONGEST_NAME: Final = 3  # words of a goal that name a file
_BINARY: Final = (
    *("png", "jpg", "jpeg", "gif", "svg", "webp", "mp3", "mp4", "mov", "wav", "pdf", "docx", "xlsx"),
    *("pptx", "odt", "eml", "ics", "zip", "gz", "tar", "exe", "bin", "db", "sqlite", "tmp", "bak"),
)
_SENTENCE: Final = re.compile(r"[.!?;\n](?=\s|$)")


def table(section: str) -> dict[str, Any]:
    """A section of the words of edits."""
    found: dict[str, Any] = table_beside(__file__, "edits")[section]
    return found


@functools.cache
def pattern(section: str, name: str) -> re.Pattern[str]:
    """A pattern of it, where no letter stands beside; also as it is written without dots and rings."""
    said = table(section)[name].translate({ord("å"): "[åa]", ord("ä"): "[äa]", ord("ö"): "[öo]"})
    return re.compile(rf"(?<!\w)(?:{said})(?!\w)", re.IGNORECASE)


def is_text(path: str) -> bool:
    """Whether a file may be a text, by its name."""
    return path.rpartition(".")[2].casefold() not in _BINARY


def is_table(path: str) -> bool:
    """Whether a file is a table or other data, by its name."""
    return path.casefold().endswith((".csv", ".tsv", ".tab", ".json"))


def texts(names: FileNames) -> Iterator[str]:
    """The files that may be texts, those at the top first."""
    files = sorted(names.files, key=lambda path: path.count("/"))
    yield from [path for path in files if is_text(path)][:_MOST_FILES]


def named_files(prose: str, names: FileNames) -> list[tuple[TextPlace, tuple[str, ...]]]:
    """Where a goal names files, each place with those that may be meant, in its order."""
    words = [TextPlace.of(one) for one in re.finditer(r"[^\s,;:!?\"“”()]*[^\W_][^\s,;:!?\"“”()]*", prose)]
    found: list[tuple[TextPlace, tuple[str, ...]]] = []
    for many in range(_LONGEST_NAME, 0, -1):
        for first in range(len(words) - many + 1):
            place = TextPlace(words[first].start, words[first + many - 1].end)
            text = prose[place.start : place.end].rstrip(".'’")
            place = TextPlace(place.start, place.start + len(text))
            if not free(place, [one for one, _ in found]) or any(mark in text for mark in ",;:!?\n"):
                continue
            meant = names.named(text, 1)
            paths = tuple(path for path in meant.paths if is_text(path)) if meant is not None else ()
            if paths and not (many == 1 and text.isdigit()):
                found.append((place, paths))
    todo = pattern("list", "todo")
    told = [TextPlace.of(one) for one in todo.finditer(prose)]
    told = [one for one in told if free(one, [place for place, _ in found])]
    plain = ((path, path.rpartition("/")[2].partition(".")[0]) for path in (texts(names) if told else ()))
    if lists := tuple(path for path, name in plain if todo.fullmatch(name)):
        found += [(one, lists) for one in told]
    return sorted(found)


def day_in(text: str) -> tuple[int, int] | None:
    """The month and day that a text says first; None where it says none."""
    found = (one for one in pattern("add", "day").finditer(text) if month_of(one["month"]))
    return next(((month_of(one["month"]), int(one["day"])) for one in found), None)


def month_of(word: str) -> int:
    """Which month a word is; 0 where it is none."""
    return MONTHS.get(in_english(word), 0)


def kept_places(prose: str, clauses: Sequence[SaidClause], named: Sequence[TextPlace]) -> list[TextPlace]:
    """Where it is said what is not to be touched: clauses that say so, and the one before such a clause that
    names nothing itself ("CHANGELOG.md I do by hand, leave it alone")."""
    found: list[TextPlace] = []
    own = pattern("keep", "own")
    for at, one in enumerate(clauses):
        if one.keeps or own.search(prose, *one.place):
            found.append(one.place)
            before = clauses[at - 1] if at else None
            names = any(not free(one.place, [place]) for place in named)
            if before is not None and not before.does and not names:
                between = prose[before.place.end : one.place.start]
                if not _SENTENCE.search(between) and any(not free(before.place, [p]) for p in named):
                    found.append(before.place)
    return found


def said_words(prose: str, places: Sequence[TextPlace], empty: frozenset[str]) -> list[tuple[str, TextPlace]]:
    """The words at places that say something, each with where it stands."""
    found = []
    for place in places:
        for match in WORD.finditer(prose, place.start, place.end):
            word = match[0].casefold()
            if word not in empty and (len(word) > 1 or word.isdigit()):
                found.append((word, TextPlace.of(match)))
    return found
