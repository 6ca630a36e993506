"""The file that a goal describes where it names none: “the receipt for the washing machine”."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from mcl.compiler.stages.clauses import Clause
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.model.cues import TextPlace, free, within
from mcl.plugins.files.choice.clauses import NO_PLACE, ClauseReader, is_copy
from mcl.plugins.files.choice.looking import Described, WeightedWord, empty_words, looking_in
from mcl.plugins.files.choice.names import base
from mcl.plugins.files.choice.searched import mark_said
from mcl.plugins.files.choice.words import SaidWord, pattern_beside, tokens_of
from mcl.values.numbers import read_number

_BESIDE: Final = 0.5  # what a word of another clause counts
_CLEAR: Final = 1.25  # times what the next describes, that one is clearly meant
_SURE: Final = 1.6  # and of what is to be gone
_NEXT: Final = 1.1  # times what the one behind as many as are said does
_ALONE: Final = 2  # times what any other does, where one word describes it
_NEARLY: Final = 0.75  # of the words for what is to be gone, what must describe it
_LEAST: Final = 2  # words that describe a file
_LONGEST: Final = 600  # characters of a goal


def terms_of(tokens: Sequence[SaidWord], weight: float = 1.0) -> Iterator[WeightedWord]:
    """The words that may describe a file."""
    for one in tokens:
        text = re.sub(r"['’]s$", "", one.text.strip(".:()'’"))
        if len(text) > 1 and text not in empty_words() and re.search(r"\w", text):
            yield WeightedWord(one._replace(text=text), weight)


def read_described(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The file that is looked for, where all that is said of it describes one alone."""
    asked = pattern_beside(__file__, "asks").search(prose) if len(prose) <= _LONGEST else None
    if asked is None or mark_said(prose) is not None:
        return ()
    looking = looking_in(names, names.text)
    told = [list(terms_of(tokens_of(prose, *clause.place))) for clause in clauses]
    heads = [
        not clause.keeps and any(looking.sets.of(word) for word, _ in own)
        for clause, own in zip(clauses, told, strict=True)
    ]
    beside = _BESIDE if any(heads) else 1.0  # of what is called by no name all that is said counts
    terms = [
        one if own_head else one._replace(weight=beside)
        for own, own_head in zip(told, heads, strict=True)
        for one in own
    ]
    found = looking.described(terms)
    if not found or not is_told(found):
        return ()
    if len(looking.alike(found, _CLEAR if any(heads) else _SURE)) > 1:
        return ()
    named = [one.place for one, head in zip(clauses, heads, strict=True) if head] or [clauses[0].place]
    return (
        FilledInput("name", named[0], (found[0].path,)),
        *(FilledInput("", one.place) for one in clauses),
    )


def is_told(found: Sequence[Described]) -> bool:
    """Whether enough describes the first of some files that it may be meant: two words, or one of its path
    that says no other."""
    first = found[0]
    alone = first.named and all(_ALONE * one.score < first.score for one in found[1:])
    return bool(alone or (first.terms >= _LEAST and first.named + first.headed))


class DescribedFiles:
    """The files that a goal with a verb describes, and where they go. reader: of its clauses; target: where
    what they go to is named, if that was read; into: whether that may be a folder here, makes: whether a
    name that is new; kept: where clauses stand that say what stays."""

    def __init__(
        self, reader: ClauseReader, target: TextPlace, kept: Sequence[TextPlace], *, into: bool, makes: bool
    ) -> None:
        self.reader, self.clauses, self.sets, self.into = reader, reader.clauses, reader.sets, into
        self.looking = looking_in(reader.sets.names, reader.sets.names.text)
        self.kept = [one for one in self.clauses.all if not free(one.place, kept) or self._is_ban(one)]
        fresh = self._fresh() if makes else NO_PLACE
        self.target = next((one for one in (fresh, target) if one.end), self._named_target())
        self.folder = ""  # where they go, if that is here and said in other words
        self.terms = {at: self._terms(at) for at in range(len(self.clauses.all))}

    def chosen(self, most: int, *, changed: str) -> FilledInput | None:
        """Where the description stands, and the files; None where it describes none. most: so many at most;
        changed: what becomes of them. The input has no name yet."""
        whole = any(self._says_itself(one) for at in self.terms for one in self._tokens(at))
        wanted = self.target.end or any(map(self.clauses.does, self.clauses.all))
        if whole or len(self.clauses.prose) > _LONGEST or not wanted:
            return None
        copied = changed != "" and any(self._is_copied(one) for at in self.terms for one in self._tokens(at))
        found = self._found([one for terms in self.terms.values() for one in terms], copied=copied)
        if not found or not (is_told(found) or copied) or (found[0].named < _LEAST and self._is_of_folder()):
            return None
        gone = changed == "write"
        if gone and not (copied or self._is_all(found[0].path)):
            return None
        paths = tuple(one.path for one in self.looking.alike(found, _SURE if gone else _CLEAR))
        many = 0 if gone else self._many()
        if 1 < many < len(found) and found[many].score * _NEXT < found[many - 1].score:
            paths = tuple(one.path for one in found[:many])
        if most > 1 and not (many or gone) and (parts := self._parts()):
            paths, many = tuple(filter(None, parts)), len(parts)
        if len(paths) == 1 < most and self._speaks_of_several():
            return None
        unsure = len(paths) > most or len(paths) != (many or 1)
        return FilledInput("", self._place(paths[0]), paths, unsure=unsure)

    @property
    def read(self) -> list[TextPlace]:
        """Where clauses stand that describe the files, or say where they go."""
        return [one.place for at, one in enumerate(self.clauses.all) if self.terms[at] or self._is_beside(at)]

    def _is_of_folder(self) -> bool:
        """Whether what is done is done to a folder that is named: “zip labb for Bo”."""
        does = (at for at, one in enumerate(self.clauses.all) if self.clauses.does(one) and self.terms[at])
        first = next((self.terms[at][0].word for at in does), None)
        if first is None:
            return False
        before = [one for at in self.terms for one in self._tokens(at) if one.end <= first.start]
        inside = before and before[-1].text in self.reader.words.sets["within"]
        folders = (base(one.path).casefold() for one in self.sets.names.entries if one.folder)
        return not inside and first.text in folders

    def _is_beside(self, at: int) -> bool:
        """Whether a clause says where they go, or which of two alike is meant."""
        place = self.clauses.all[at].place
        target = self.target.end > 0 and within(self.target, [place])
        return target or any(map(self._is_copied, self._tokens(at))) or "(1)" in self.clauses.said(place)

    def _tokens(self, at: int) -> list[SaidWord]:
        """The words of a clause, but for those of the target."""
        tokens = tokens_of(self.clauses.prose, *self.clauses.all[at].place)
        return [one for one in tokens if free(TextPlace(one.start, one.end), [self.target])]

    def _terms(self, at: int) -> list[WeightedWord]:
        """The words of a clause that describe files: less where it names none."""
        clause = self.clauses.all[at]
        if clause in self.kept:
            return []
        sets = self.reader.words.sets
        empty = sets["making"] | sets["placing"] | sets["copies"] | sets["packed"] | sets["folder"]
        empty |= sets["numerals"] | sets["fresh"] | sets["originals"]
        told = [
            one
            for one in terms_of(self._tokens(at))
            if one.word.text not in empty and not self._is_verb(one.word)
        ]
        heads = any(self.sets.of(word) for word, _ in told)
        return told if heads else [one._replace(weight=_BESIDE) for one in told]

    def _is_verb(self, token: SaidWord) -> bool:
        """Whether a word is the verb of its clause."""
        begins = [self.clauses.head(one).casefold() for one in self.clauses.all if self.clauses.does(one)]
        return token.text in begins

    def _says_itself(self, token: SaidWord) -> bool:
        """Whether a word is a path or a pattern, or means all files."""
        if token.text[:1] == "." and self.sets.of(token):
            return True
        exact = token.quoted or "." in token.text or "/" in token.text or "*" in token.text
        if exact and (self.sets.is_whole(token.text) or "*" in token.text):
            return True
        sets = self.reader.words.sets
        return token.text in (sets["everything"] | sets["all"]) - sets["one"] - sets["two"] - sets["pronouns"]

    def _is_all(self, path: str) -> bool:
        """Whether nearly all that is said of it describes a file."""
        terms = [one for terms in self.terms.values() for one in terms if one.weight == 1]
        hits = sum(bool(self.looking.described([one], [path])) for one in terms)
        return hits >= _NEARLY * len(terms)

    def _is_ban(self, clause: Clause) -> bool:
        return self.clauses.words.forbids(self.clauses.said(clause.place))

    def _is_copied(self, token: SaidWord) -> bool:
        """Whether a word says that one of two alike is meant."""
        return token.text in self.reader.copied | self.reader.words.sets["spare"]

    def _found(self, terms: Sequence[WeightedWord], *, copied: bool = False) -> list[Described]:
        """The files that words describe, best first: none that lies where they go, or that stays; of one that
        gets a name with an ending those that have it too. copied: only copies."""
        said = self.clauses.said(self.target) if self.target.end else ""
        ending = f".{said.rpartition('.')[2].casefold()}" if "." in said and not said.endswith(".zip") else ""
        folder = self.folder or (self.sets.folder(said.casefold()) if said and self.into else "")
        out = {path for one in self.kept for path in self._left_out(one)}
        files = [
            one.path
            for one in self.sets.files
            if one.path not in out
            and (not folder or one.path.rpartition("/")[0] != folder)
            and (not copied or is_copy(one.path))
        ]
        same = [path for path in files if ending and path.casefold().endswith(ending)]
        return self.looking.described(terms, same or files)

    def _left_out(self, clause: Clause) -> frozenset[str]:
        """The files that a clause names which says what stays: where each of its words names some."""
        said = tokens_of(self.clauses.prose, *clause.place)
        if any(one.text in self.reader.words.sets["others"] for one in said):
            return frozenset()  # “keep it with the other songs”
        tokens = list(terms_of(said))
        sets = [files for one, _ in tokens if (files := self.sets.of(one))]
        return frozenset.intersection(*sets) if sets else frozenset()

    def _many(self) -> int:
        """How many files are said to be meant; 0 where that is not said of what describes them."""
        sets = self.reader.words.sets
        for at, terms in self.terms.items():
            tokens, described = self._tokens(at), {one.word.start for one in terms}
            for token, behind in pairwise(tokens):
                if token.text in sets["two"]:
                    return 2
                if token.text in sets["numerals"] and behind.start in described:
                    return int(read_number(token.text) or 0)
        return 0

    def _speaks_of_several(self) -> bool:
        """Whether some word says that more than one file is meant."""
        several = self.reader.words.sets["several"]
        return any(one.text.strip("()") in several for at in self.terms for one in self._tokens(at))

    def _parts(self) -> tuple[str, ...]:
        """The files that descriptions with “and” between them say, each one alone; none where there is one
        alone."""
        for at, terms in self.terms.items():
            joins = [one.start for one in self._tokens(at) if one.text in self.reader.words.sets["joins"]]
            runs = pairwise((0, *joins, len(self.clauses.prose)))
            own = ([one for one in terms if first <= one.word.start < last] for first, last in runs)
            found = [one for one in map(self._found, own) if one and is_told(one)]
            paths = dict.fromkeys(like.path for one in found for like in self.looking.alike(one, _CLEAR))
            if len(found) > 1 and len(paths) > 1:
                return tuple(paths) if len(paths) == len(found) else ("", *paths)
        return ()

    def _place(self, path: str) -> TextPlace:
        """Where the words stand that describe a file, in the clause that says most of it."""
        told = {
            at: [one for one in terms if self.looking.described([one], [path])]
            for at, terms in self.terms.items()
        }
        own = max(told.values(), key=len)
        before = [one for one in own if one.word.end <= self.target.start] if self.target.end else own
        behind = [one for one in own if one.word.start >= self.target.end]
        own = max((before, behind), key=len)
        return TextPlace(own[0].word.start, own[-1].word.end)

    def _named_target(self) -> TextPlace:
        """Where the name stands of what the files go to, or of what is made of them."""
        found = NO_PLACE
        for clause in self.clauses.all:
            tokens = tokens_of(self.clauses.prose, *clause.place)
            for at in range(len(tokens)):
                lead = self.reader.words.at("into", tokens, at) if self.into else 0
                place, step = self.reader.target_at(tokens, at + lead) if lead else (NO_PLACE, 0)
                made = any(
                    one.text in self.reader.words.sets["folder"]
                    for one in tokens[at + lead : at + lead + step]
                )
                if place.end and (made or self.sets.folder(self.clauses.said(place).casefold())):
                    found = place
        return found

    def _fresh(self) -> TextPlace:
        """Where the name of a file stands that is not here."""
        tokens = tokens_of(self.clauses.prose, 0, len(self.clauses.prose))
        found = (TextPlace(one.start, one.end) for one in tokens if self._is_fresh(one))
        return next(found, NO_PLACE)

    def _is_fresh(self, token: SaidWord) -> bool:
        name = re.fullmatch(r"[^\s*?]*[^\W_][^\s*?]*\.[a-z][a-z0-9]{0,4}", token.text)
        return name is not None and not self.sets.is_whole(token.text)
