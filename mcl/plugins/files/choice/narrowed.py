"""Which of the files here are counted or ranked, where a goal says it in words: “how many photos are from
july”, “in how many of the minutes is Hanna named”, “the three latest receipts”."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from typing import Final, NamedTuple

from executor.core.tables import table_beside
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.compiler.stages.word_forms import folded, stems
from mcl.model.cues import TextPlace
from mcl.plugins.files.choice.described import read_described
from mcl.plugins.files.choice.looking import empty_words, looking_in
from mcl.plugins.files.choice.names import NamedSets
from mcl.plugins.files.choice.searched import as_written, pattern_of, read_searched, thing_said
from mcl.plugins.files.choice.words import Facts, SaidWord, pattern_beside, tokens_of, when, words

_pattern = partial(pattern_beside, __file__)
_LONGEST: Final = 300  # characters of a goal
_NUMBERED: Final = re.compile(r"(?<![\w./-])(?=[\w-]*\d)[A-Za-z0-9]+(?:-[A-Za-z0-9]+)+(?![\w/-]|\.\w)")
_DATED: Final = re.compile(r"\d{4}-\d\d(?:-\d\d)?|\d{1,2}-\d{1,2}")
_MOST_READ: Final = 300  # files
_SEVERAL: Final = 2  # files of which some are asked for


def read_counted(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """A pattern for the files that are counted, where something must hold of them."""
    return _read("counts", prose, clauses, names, least=1)


def read_ranked(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """A pattern for the files of which the newest or largest are wanted."""
    which = _Which.read(prose, clauses, names)
    dated = which.filled("pattern", clauses) if which is not None and not which.unread else ()
    if which is not None and dated:  # all of them are told
        return (*dated, dated[0]._replace(slot="count", values=(str(len(which.files)),)))
    return _read("ranks", prose, clauses, names, least=0)


def read_located(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The names of the files of which all holds that a question says, or the one that is looked for."""
    which = _Which.read(prose, clauses, names)
    found = which.filled("name", clauses) if which is not None else ()
    return found or read_described(prose, clauses, names)


def read_found(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The text that is looked for, and a pattern for the files in which it is, or of which all holds that a
    question says; asked for where it says what no line there has."""
    if found := read_searched(prose, clauses, names):
        return found
    if cited := _cited(prose, clauses, names):
        return cited
    which = _Which.read(prose, clauses, names)
    if which is None or (len(which.files) == 1 and read_described(prose, clauses, names)):
        return ()  # where that one is, is asked
    if which.unread and not which.pattern:
        place = TextPlace(which.unread[0].start, which.unread[-1].end)
        return (FilledInput("text", place, ("",), unsure=True),)
    texts = [names.text(path) for path in which.files]
    ways = [
        (one, as_written(one.text, texts)) for one in sorted(which.unread, key=lambda one: -len(one.text))
    ]
    said = next(
        (
            FilledInput("text", TextPlace(one.start, one.end), (text,))
            for one, text in ways
            if text and all(text.casefold() in each.casefold() for each in texts)
        ),
        None,
    )
    filled = which.filled("pattern", clauses)
    return (said, *filled) if filled and said is not None else filled


def _cited(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The one number of a thing, as “K-2041-7”, that is told beside a question which files have it."""
    asks = next((one for one in clauses if _pattern("which").match(prose, *one.place)), None)
    found = [one for one in _NUMBERED.finditer(prose) if not _DATED.fullmatch(one[0])]
    if asks is None or len(found) != 1 or any(one.does or one.keeps for one in clauses):
        return ()
    said = found[0][0].casefold()
    if not any(said in names.text(path).casefold() for path in names.files[:_MOST_READ]):
        return ()
    return (
        FilledInput("text", TextPlace.of(found[0]), (found[0][0],)),
        *(FilledInput("", one.place) for one in clauses),
    )


class _Which(NamedTuple):
    """Of which files all holds that a question says. named: what names them all; files, pattern: those of
    which it holds, "" where it does of none, or all; unread: the words that are to stand in a line."""

    named: SaidWord
    files: tuple[str, ...]
    pattern: str
    unread: tuple[SaidWord, ...]

    @classmethod
    def read(cls, prose: str, clauses: Sequence[SaidClause], names: FileNames) -> _Which | None:
        clause = next((one for one in clauses if _pattern("which").match(prose, *one.place)), None)
        if clause is None or len(prose) > _LONGEST or any(one.does or one.keeps for one in clauses):
            return None
        others = [prose[slice(*one.place)] for one in clauses if one is not clause]
        if any(map(_pattern("which").match, others)) or _pattern("turns").search(prose):
            return None
        sets = looking_in(names, names.text).sets
        narrowing = _Narrowing(sets, date.fromisoformat(names.at[:10]) if names.at else None, open=True)
        told = narrowing.read(prose, tokens_of(prose, *clause.place))
        if told is None or not told.named or told.whole < _SEVERAL or not (told.tests or told.unread):
            return None
        told.keep_line(sets.names.text)
        some = 0 < len(told.files) < told.whole
        pattern = pattern_of(told.files, names.files) if some else ""
        return cls(told.named[0], tuple(told.files), pattern, tuple(told.unread))

    def filled(self, slot: str, clauses: Sequence[SaidClause]) -> Sequence[FilledInput]:
        """The pattern as an input; nothing where there is none."""
        if not self.pattern:
            return ()
        place = TextPlace(self.named.start, self.named.end)
        return (
            FilledInput(slot, place, (self.pattern,)),
            *(FilledInput("", one.place) for one in clauses),
        )


def _read(
    asks: str, prose: str, clauses: Sequence[SaidClause], names: FileNames, *, least: int
) -> Sequence[FilledInput]:
    clause = next((one for one in clauses if _pattern(asks).search(prose, *one.place)), None)
    if clause is None or len(prose) > _LONGEST or any(one.does and one is not clause for one in clauses):
        return ()
    sets = looking_in(names, names.text).sets
    narrowing = _Narrowing(sets, date.fromisoformat(names.at[:10]) if names.at else None)
    told = narrowing.read(prose, tokens_of(prose, *clause.place))
    if told is None or told.tests < least or not told.files:
        return _all_files(prose, clause) if told is not None and not (told.named or told.tests) else ()
    if not told.named:
        return ()
    first, pattern = told.named[0], pattern_of(told.files, names.files)
    if not pattern:
        return ()
    return (
        FilledInput("pattern", TextPlace(first.start, first.end), (pattern,)),
        *(FilledInput("", one.place) for one in clauses),
    )


def _all_files(prose: str, clause: SaidClause) -> Sequence[FilledInput]:
    """All files, where a clause counts these, and says no more."""
    noun = _pattern("files").search(prose, *clause.place)
    return (FilledInput("pattern", TextPlace.of(noun), ("**",)),) if noun is not None else ()


class _Told:
    """What a clause says of files: which are meant, how many things must hold of them, what names them, how
    many these are; unread: the words that say something else."""

    def __init__(self, files: Sequence[str]) -> None:
        self.files, self.tests, self.whole = list(files), 0, 0
        self.named: list[SaidWord] = []
        self.unread: list[SaidWord] = []

    def keep_line(self, text: Callable[[str], str]) -> None:
        """Only those that have all words which say something else in one line."""
        wanted = [stems(part) for one in self.unread for part in folded(one.text).split()]
        self.keep(lambda path: any(_has(line, wanted) for line in text(path).splitlines()) or not wanted)

    def keep(self, holds: Callable[[str], bool]) -> None:
        """Only those of which it holds."""
        self.files = [path for path in self.files if holds(path)]


def _has(line: str, wanted: Sequence[frozenset[str]]) -> bool:
    there = frozenset(stem for one in folded(line).split() for stem in stems(one))
    return all(one & there for one in wanted)


class _Narrowing:
    """Reads which files a clause means. today: the day on which it is said; open: whether it may say what is
    not understood."""

    def __init__(self, sets: NamedSets, today: date | None, *, open: bool = False) -> None:
        self.sets, self.today, self.open = sets, today, open
        self.empty = {*table_beside(__file__)["empty"].split(), *empty_words()}

    def read(self, prose: str, tokens: Sequence[SaidWord]) -> _Told | None:
        """What is said; None where a word says what is not understood."""
        told, at = _Told([one.path for one in self.sets.files]), 0
        while at < len(tokens):
            token = tokens[at]
            many, test = self._when(tokens, at)
            if test is not None:
                told.keep(partial(self._holds, test))
                told.tests += 1
                at += many
                continue
            if _pattern("states").match(prose, token.start):
                thing, behind = thing_said(tokens[at + 1 :])
                if not thing:
                    return None
                said = prose[thing[0].start : thing[-1].end]
                text = as_written(said, [self.sets.names.text(path) for path in told.files])
                told.keep(partial(self._has, text))
                told.tests += 1
                tokens, at = behind, 0
                continue
            at += 1
            counts = token.text.isdigit() and not self.open
            if token.text in self.empty or token.text in ",;!?" or counts:
                continue
            if self.open and (below := self._inside(tokens, at - 1)):
                told.keep(below.__contains__)  # of the songs in a folder those that are no music count too
                told.files = told.files or [path for path in self.sets.names.files if path in below]
                told.named.append(token)
                told.whole = len(told.files)
                continue
            found = self.sets.of(token)
            if self.open and (
                told.unread or not found or (told.named and not found.intersection(told.files))
            ):
                told.unread.append(token)
                continue
            if not found:
                return None
            told.named.append(token)
            told.keep(found.__contains__)
            told.whole = len(told.files)
        return told

    def _inside(self, tokens: Sequence[SaidWord], at: int) -> frozenset[str]:
        """The files below a folder that is named as the place in which they are."""
        led = at > 0 and tokens[at - 1].text in words().sets["within"]
        folder = self.sets.folder(tokens[at].text) if led else ""
        return frozenset(path for path in self.sets.names.files if folder and path.startswith(f"{folder}/"))

    def _when(self, tokens: Sequence[SaidWord], at: int) -> tuple[int, Callable[[Facts], bool] | None]:
        if self.today is None:
            return 0, None
        lead = words().at("dated", tokens, at)
        read = when(tokens, at + lead, self.today, led=bool(lead)) if at + lead < len(tokens) else None
        return (lead + read[0], read[1]) if read is not None else (0, None)

    def _holds(self, test: Callable[[Facts], bool], path: str) -> bool:
        modified = next(one.modified for one in self.sets.files if one.path == path)
        return test(Facts(path, modified, self.sets.names.text))

    def _has(self, text: str, path: str) -> bool:
        return (
            bool(text)
            and re.search(rf"(?<!\w){re.escape(text)}", self.sets.names.text(path), re.IGNORECASE) is not None
        )
