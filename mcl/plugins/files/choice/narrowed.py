"""Which of the files here are counted or ranked, where a goal says it in words: “how many photos are from
july”, “in how many of the minutes is Hanna named”, “the three latest receipts”."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from typing import Final

from executor.core.tables import table_beside
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.model.cues import TextPlace
from mcl.plugins.files.choice.looking import empty_words, looking_in
from mcl.plugins.files.choice.names import NamedSets
from mcl.plugins.files.choice.searched import as_written, pattern_of, thing_said
from mcl.plugins.files.choice.words import Facts, SaidWord, pattern_beside, tokens_of, when, words

_pattern = partial(pattern_beside, __file__)
_LONGEST: Final = 300  # characters of a goal


def read_counted(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """A pattern for the files that are counted, where something must hold of them."""
    return _read("counts", prose, clauses, names, least=1)


def read_ranked(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """A pattern for the files of which the newest or largest are wanted."""
    return _read("ranks", prose, clauses, names, least=0)


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
    """What a clause says of files: which are meant, how many things must hold of them, what names them."""

    def __init__(self, files: Sequence[str]) -> None:
        self.files, self.tests = list(files), 0
        self.named: list[SaidWord] = []

    def keep(self, holds: Callable[[str], bool]) -> None:
        """Only those of which it holds."""
        self.files = [path for path in self.files if holds(path)]


class _Narrowing:
    """Reads which files a clause means. today: the day on which it is said."""

    def __init__(self, sets: NamedSets, today: date | None) -> None:
        self.sets, self.today = sets, today
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
            if token.text in self.empty or token.text in ",;!?" or token.text.isdigit():
                continue
            found = self.sets.of(token)
            if not found:
                return None
            told.named.append(token)
            told.keep(found.__contains__)
        return told

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
