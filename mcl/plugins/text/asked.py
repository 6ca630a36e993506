"""Which file a goal wants to see that it describes in words of its own, and whether texts here answer it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from executor.core.words import one_slip
from ir.inline_secrets import lines_without_keys
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.compiler.stages.word_forms import alike, folded, stems
from mcl.language.bm25 import WORD
from mcl.model.cues import TextPlace
from mcl.plugins.text.answers import answers, is_of_a_kind, others
from mcl.plugins.text.said import is_table, is_text, pattern, texts
from mcl.values.durations import in_english
from mcl.values.periods import MONTHS

_HEADER: Final = re.compile(r"^(?:from|to|subject|date):.*$", re.IGNORECASE | re.MULTILINE)
_HEAD: Final = 1 << 10  # characters in which a letter says whose it is
_LONG_WORD: Final = 6  # letters of one that may be spelled wrongly
_TITLE: Final = 80  # characters of a first line that may be a title
_ENOUGH: Final = 0.35  # of what all words of a question would count, what its line must
_ALL_SAID: Final = 0.9  # and of a few words that ask nothing
_FEW: Final = 5  # such words
_FIRST: Final = 20  # lines that answer
_LONGEST: Final = 200  # characters of a question
_ENDS: Final = re.compile(r"[,;!?\n]|\.(?=\s|$)")
_SENTENCE: Final = re.compile(r"(?:[^.!?\n]|[.!?](?!\s|$))+")
_DAY: Final = re.compile(r"(?<!\d)(\d\d?)(?:st|nd|rd|th|:[ae])?(?!\d)")


def read_described(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The one text that all words of a goal to show something describe: by its path, its title, whose letter
    it is and the day in its name; of several a person says which."""
    lead = pattern("described", "shows").match(prose)
    if lead is None or len(prose) > _LONGEST or _does_more(prose, clauses, lead.end()):
        return ()
    end = _ENDS.search(prose, lead.end())
    says = pattern("described", "says").search(prose, lead.end())
    place = TextPlace(lead.end(), min([one.start() for one in (end, says) if one], default=len(prose)))
    said, day = _described(prose[slice(*place)])
    if not (said or ("-" in day and day[-1] != "-")):
        return ()
    found = [path for path in _letters_and_texts(names) if _fits(path, said, day, names)]
    if not 0 < len(found) <= 5:
        return ()
    return (FilledInput("file", place, tuple(found), unsure=len(found) > 1),)


def read_question(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The question itself, where a line of some text here answers it and no table does."""
    parts = [TextPlace.of(one) for one in _SENTENCE.finditer(prose)]
    asks = [one for one in parts if pattern("described", "asks").search(prose, *one)]
    bare = not asks and len(parts) == 1 and not any(one.does for one in clauses) and _is_bare(prose)
    asks = parts if bare else asks
    if len(prose) > 2 * _LONGEST or not asks or _does_more(prose, clauses, 0):
        return ()
    if read_described(prose, clauses, names):
        return ()  # the text itself is wanted
    said = prose[slice(*asks[-1])].strip()
    if pattern("described", "points").match(said) or _is_text(said, names):
        return ()
    read = ((path, lines_without_keys(names.text(path))) for path in _letters_and_texts(names))
    found = answers(said, read, _FIRST) if pattern("described", "figures").search(said) is None else []
    best = [one for one in found if one.score == found[0].score and not is_table(one.path)]
    if not best or best[0].share < (_ALL_SAID if bare else _ENOUGH) or (bare and len(best) > 1):
        return ()
    return (FilledInput("question", asks[-1], (said,)),)


def _is_text(question: str, names: FileNames) -> bool:
    """Whether it is asked where something is, and all that is said of it is the name of a text."""
    lead = pattern("described", "where").search(question)
    end = _ENDS.search(question, lead.end()) if lead is not None else None
    said, _ = _described(question[lead.end() : end.start() if end else len(question)]) if lead else ([], "")
    named = (path for path in _letters_and_texts(names) if len(said) > 1)
    return any(_fits(path.rpartition("/")[2], said, "", names) for path in named)


def _is_bare(text: str) -> bool:
    """Whether a few words only name something of which a line may tell the number, the day, the code."""
    return len(WORD.findall(text)) <= _FEW and is_of_a_kind(text)


def _does_more(prose: str, clauses: Sequence[SaidClause], start: int) -> bool:
    """Whether something else is wanted behind a place than to find and be told."""
    wishes = (one.place for one in clauses if one.does and one.place.end > start)
    return any(not pattern("described", "tells").match(prose, *one) for one in wishes if one.start >= start)


def _letters_and_texts(names: FileNames) -> Iterator[str]:
    yield from texts(names)
    yield from (
        path for path in names.files if path.casefold().endswith((".eml", ".pdf")) and not is_text(path)
    )


def _described(text: str) -> tuple[list[str], str]:
    """The words that say which file it is, and the day that is named: "10-05"; "10-" for a month."""
    said, day = [], ""
    for match in WORD.finditer(text):
        word = folded(match[0].removesuffix("'s").removesuffix("’s"))
        month = MONTHS.get(in_english(word)) or next(
            (at for name, at in MONTHS.items() if len(word) >= _LONG_WORD and one_slip(word, name)), 0
        )
        if month:
            number = _DAY.search(text, max(0, match.start() - 6), match.end() + 4)
            day = f"{month:02}-{int(number[1]):02}" if number else f"{month:02}-"
        elif word and not pattern("described", "empty").fullmatch(match[0]) and not _DAY.fullmatch(match[0]):
            said.append(word)
    return said, day


def _fits(path: str, said: Sequence[str], day: str, names: FileNames) -> bool:
    """Whether a file is all that is said: each word is one of its path, its title or the head of a letter."""
    if day and f"-{day}" not in path.rpartition("/")[2]:
        return False
    head = names.text(path)[:_HEAD]
    title = head.strip().partition("\n")[0][:_TITLE]
    letter = " ".join(_HEADER.findall(head.partition("\n\n")[0])) if path.casefold().endswith(".eml") else ""
    own = folded(f"{path} {letter or title}").split()
    return all(any(_same(word, one) for one in own) for word in said)


def _same(word: str, other: str) -> bool:
    """Whether two words are one, or other words for the same."""
    slip = len(word) >= _LONG_WORD and one_slip(word, other)
    meant = (folded(one) for one in (word, *others(word)))
    return slip or any(alike(one, other) for one in meant) or not stems(word).isdisjoint(stems(other))
