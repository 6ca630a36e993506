"""Which of the files here a goal means as a whole: “the mp3 and setup.exe from downloads, rest stays”.

Each word of such a goal names a file, a kind or a folder, says something that must hold of the files, or says
nothing. Where one does none of it, nothing is chosen: what it says may leave files out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from mcl.compiler.stages.clauses import Clause, Clauses
from mcl.compiler.stages.file_names import PLURAL, FileNames, NamedFile
from mcl.compiler.stages.filled import STAYS, FilledInput
from mcl.compiler.stages.repeats import PLACED
from mcl.compiler.stages.request import GoalRequest
from mcl.compiler.stages.word_forms import folded, stems
from mcl.language.skills import Skill, Slot
from mcl.model.cues import TextPlace, free, within
from mcl.plugins.files.choice.clauses import NO_PLACE, ClauseReader, Noun, Said
from mcl.plugins.files.choice.described import DescribedFiles
from mcl.plugins.files.choice.looking import looking_in
from mcl.plugins.files.choice.names import NamedSets, base
from mcl.plugins.files.choice.renaming import Renamed, Renaming, read_renaming, read_tidying
from mcl.plugins.files.choice.words import Facts, SaidWord, Test, tokens_of
from mcl.plugins.files.selection import day_of, named_day, suffix

_NAME: Final = "name"  # the input that says what one file is to be called
_ONE: Final = re.compile(r"[^s]er$")  # of one letter, behind “the”
_LODGED: Final = 2  # words of a folder that is said with the one it lies in
_NEAR: Final = 24  # characters of “a subfolder called”
_POINTED: Final = 20  # characters of “that one photo”
_BRACKETS: Final = re.compile(r"(?<=[^\s(]) ?\(((?:[^()\n]|\(\d{1,2}\))+)\)")
_LEADS: Final = ("keep", "only", "but", "also", "widening", "aside", "naming", "into")


class Selection(NamedTuple):
    """What a goal means. place: where it says so; paths: of the files; unsure: a person has to say which, of
    these or of any; target: where the name of what they go to stands; read: where all stands that was
    understood."""

    place: TextPlace
    paths: tuple[str, ...]
    unsure: bool
    target: TextPlace
    read: tuple[TextPlace, ...]


@dataclass
class _Goal:
    """What the clauses of a goal say. aside: where those stand that say what stays, or only what counts;
    topic: what one tells something of; stopped: a word of it says what is not understood; beside: what is
    made lies where the files do; wished: a clause with a verb was read; named: one says only what is
    made; unsure: what is listed is not all understood."""

    said: list[tuple[Clause, Said]] = field(default_factory=list)
    but: list[Said] = field(default_factory=list)
    only: list[Said] = field(default_factory=list)
    aside: list[TextPlace] = field(default_factory=list)
    topic: Said | None = None
    target: TextPlace = NO_PLACE
    parent: str = ""
    stopped: bool = False
    beside: bool = False
    wished: bool = False
    named: bool = False
    unsure: bool = False


class Selections:
    """Reads what the words of one goal choose. contents: a folder means what lies in it."""

    def __init__(
        self, clauses: Clauses, sets: NamedSets, reader: ClauseReader, *, contents: bool = False
    ) -> None:
        self.clauses, self.sets, self.reader, self.words = clauses, sets, reader, reader.words
        self.contents = contents
        self.goal = self._read()

    # ---- its clauses

    def _read(self) -> _Goal:
        goal, done, kept, widened = _Goal(), False, False, False
        for clause in self._units():
            tokens = tokens_of(self.clauses.prose, *clause.place)
            led = self.words.at("widening", tokens, 0)
            if led == len(tokens):  # “incl.”
                widened = True
                goal.aside.append(clause.place)
                continue
            self._retarget(clause, tokens, goal)
            if goal.said and self.clauses.does(clause) and self._narrows(clause, tokens, goal):
                goal.said, done = [], False
            wide = (widened or led) and self._widens(tokens[led:], goal)
            widened = False
            if wide or (
                tokens[-1:] and tokens[-1].text in self.words.sets["too"] and self._widens(tokens[:-1], goal)
            ):
                goal.aside.append(clause.place)
            elif (left := self.reader.kept(tokens, clause, after=kept)) is not None:
                kept = True
                goal.stopped = goal.stopped or bool(left.left)
                goal.but.append(left)
                goal.aside.append(self._with_joined(clause))
            elif (many := self.words.at("only", tokens, 0)) and not self._is_wish(tokens[many:]):
                one = self.reader.read(tokens[many:])
                if one.nouns and not one.left and self.reader.known(one):
                    goal.only.append(one)
                    goal.aside.append(clause.place)
                elif (
                    one.tests
                    and not one.left
                    and any(noun.tests for _, said in goal.said for noun in said.nouns)
                ):
                    goal.aside.append(self._with_joined(clause))  # “but the copy alone”, as was said
            elif kept and any(self.words.at("in_name", tokens, at) for at in (1, 2)):
                goal.aside.append(self._with_joined(clause))  # “those without (1) or copy in the name”
            elif clause.place in self._brackets and self._lists(tokens, goal):
                goal.aside.append(clause.place)
            elif done and (named := self._is_naming(tokens)):
                goal.named = True
                goal.aside.append(clause.place)
                goal.beside |= any(self.words.at("beside", tokens, at) for at in range(len(tokens)))
                goal.parent = goal.parent or self._lies_with(tokens[named:])
            elif done and self.clauses.does(clause) and not self._places(tokens, goal):
                break  # a wish of its own
            elif done and self.words.at(
                "aside", tokens_of(self.clauses.prose, *self._with_joined(clause)), 0
            ):
                goal.aside.append(clause.place)  # “so that i may hand them over”
            elif done and not self.clauses.does(clause) and (told := self.reader.told(tokens)) is not None:
                goal.stopped = goal.stopped or told  # what is not so of files may leave them out
                goal.aside += [clause.place] if told else []
            else:
                leads = (
                    tokens[:1] and tokens[0].text in self.clauses.words.summing
                )  # “tidy x, the old can go”
                done = (self._take(clause, tokens, goal) and not leads) or done
        return goal

    def _is_naming(self, tokens: Sequence[SaidWord]) -> int:
        """How many words of a clause say that what is made is called so: “call it”, “it should be called”."""
        led = int(bool(tokens) and tokens[0].text in self.words.sets["pronouns"])
        many = self.words.at("naming", tokens, 0) or self.words.at("naming", tokens, led)
        return led + many if many else 0

    def _lies_with(self, tokens: Sequence[SaidWord]) -> str:
        """The folder of the files with which what is made is to lie: “… and be with the other minutes”."""
        around = self.words.sets["one"] | self.words.sets["pronouns"] | self.words.sets["all"]
        for at in range(len(tokens)):
            led = self.words.at("alongside", tokens, at)
            behind = [one for one in tokens[at + led :] if one.text not in around]
            others = bool(behind) and behind[0].text in self.words.sets["others"]
            if led and len(behind) > others and (path := self.sets.folder(behind[others].text)):
                return path
        return ""

    @cached_property
    def _brackets(self) -> list[TextPlace]:
        """Where lists stand in brackets, without these: “the minutes (of May and June)”; none that begins as
        what stays, or counts besides."""
        found = []
        for match in _BRACKETS.finditer(self.clauses.prose):
            place = TextPlace(*match.span(1))
            tokens = tokens_of(self.clauses.prose, *place)
            joins = self.words.sets["joins"] | {","}
            led = any(self.words.at(name, tokens, 0) for name in _LEADS)
            if not led and any(one.text in joins for one in tokens) and free(place, self.clauses.quotes):
                found.append(place)
        return found

    def _lists(self, tokens: Sequence[SaidWord], goal: _Goal) -> bool:
        """Whether a list in brackets says which of the files just named are meant; one of which not all is
        understood, or fits, leaves that open."""
        noun = next((noun for _, one in goal.said[-1:] for noun in one.nouns[-1:] if noun.tokens), None)
        parts: list[list[SaidWord]] = [[]]
        for token in tokens:
            if token.text == "," or token.text in self.words.sets["joins"]:
                parts.append([])
            else:
                parts[-1].append(token)
        read = [self.reader.item(part) for part in parts if part]
        known = [one for one in read if not one.left]
        if noun is None or not known:
            return False
        noun.among = known
        goal.unsure = goal.unsure or len(known) < len(read)
        return True

    def _units(self) -> Iterator[Clause]:
        """The clauses, those together that commas part and that only say from when files are: “from may, june
        and july”; a list in brackets as one; what is told as one, where a wish that points at it goes on from
        it without a mark."""
        units: list[Clause] = []
        for clause in (part for one in self.clauses.all for part in self._run_on(one)):
            if held := next((one for one in self._brackets if within(clause.place, [one])), None):
                if not units or units[-1].place != held:
                    units.append(Clause(held))
                continue
            before = units[-1] if units else None
            between = self.clauses.prose[before.place.end : clause.place.start].strip() if before else ""
            if (
                before is not None
                and between == ","
                and self._dates(before, last=True)
                and self._dates(clause)
            ):
                units[-1] = Clause(
                    TextPlace(before.place.start, clause.place.end), before.joined, before.begins
                )
            else:
                units.append(clause)
        yield from units

    def _run_on(self, clause: Clause) -> Iterator[Clause]:
        """A clause, or what it tells and the wish behind that: “the old songs are in the way move them”."""
        tokens = tokens_of(self.clauses.prose, *clause.place)
        pointing = self.words.sets["several"] | self.words.sets["pronouns"]
        for at in range(1, 0 if self.clauses.does(clause) else len(tokens) - 1):
            if self._is_wish(tokens[at:]) and tokens[at + 1].text in pointing:
                before = TextPlace(clause.place.start, tokens[at - 1].end)
                yield Clause(before, clause.joined, clause.begins)
                yield Clause(TextPlace(tokens[at].start, clause.place.end))
                return
        yield clause

    def _dates(self, clause: Clause, *, last: bool = False) -> bool:
        """Whether a clause says nothing but from when files are; last: ends so."""
        tokens = tokens_of(self.clauses.prose, *clause.place)
        one = self.reader.read(tokens[-1:] if last else tokens)
        says_more = one.nouns or one.pronoun or one.everything or one.target.end or one.left or one.but
        return bool(one.tests) and not says_more and (last or not self.clauses.does(clause))

    def _retarget(self, clause: Clause, tokens: Sequence[SaidWord], goal: _Goal) -> None:
        """Where what is only told seems to say where files go, and the wish behind it does, that counts: “the
        train to Rome is in downloads, put it in trips”."""
        if goal.target.end and not goal.wished and self.clauses.does(clause):
            one = self.reader.read(tokens)
            if one.target.end and not one.left and not one.nouns:
                goal.target, goal.parent = NO_PLACE, ""
        goal.wished = goal.wished or self._is_wish(tokens)

    def _sums_up(self, tokens: Sequence[SaidWord]) -> bool:
        """Whether a clause only says that something is done: “tidy a bit”."""
        some = self.words.sets["some"] | self.words.sets["one"] | self.words.sets["doing"]
        return tokens[0].text in self.clauses.words.summing and all(one.text in some for one in tokens[1:])

    def _is_wish(self, tokens: Sequence[SaidWord]) -> bool:
        """Whether words begin with a verb of the skill: “just move the songs”."""
        return (
            bool(tokens) and tokens[0].text in self.reader.own and self.clauses.words.is_verb(tokens[0].text)
        )

    def _widens(self, tokens: Sequence[SaidWord], goal: _Goal) -> bool:
        """Whether words only say that files in a folder count too, of those that are meant wherever they
        lie: “(old too)”, “incl. the one in photos/old”."""
        one = self.reader.read(tokens)
        places = [noun.folder for noun in one.nouns if not noun.tokens]
        places += [self.sets.folder(noun.tokens[0].text) for noun in one.nouns if self._is_folder(noun)]
        return bool(goal.said and places and not (one.left or one.tests)) and len(places) == len(one.nouns)

    def _narrows(self, clause: Clause, tokens: Sequence[SaidWord], goal: _Goal) -> bool:
        """Whether a clause with a verb says which of those that clauses before it only tell of are meant:
        “there are two of lux in songs, bin the (1) one”."""
        one = self.reader.read(tokens)
        told = any(self.clauses.does(other) for other, _ in goal.said)
        named = bool(one.nouns) and all(noun.tokens for noun in one.nouns) and self.reader.known(one)
        stays = self.reader.kept(tokens, clause, after=False) is not None
        if told or stays or one.left or one.there or one.target.end or not named:
            return False
        before = {path for _, said in goal.said for path in self._all_of(said)}
        return set(self._all_of(one)) < before

    @property
    def kept(self) -> list[TextPlace]:
        """Where clauses stand that only say that the originals, or what is not named, stay as they are."""
        found = []
        for clause in self.clauses.all:
            left = self.reader.kept(tokens_of(self.clauses.prose, *clause.place), clause, after=False)
            if left is not None and not (left.left or left.nouns or left.tests):
                found.append(self._with_joined(clause))
        return found

    def _with_joined(self, clause: Clause) -> TextPlace:
        """Where a clause stands, with the words that join it to the one before."""
        before = self.clauses.prose[: clause.place.start].rstrip()
        joined = clause.joined if clause.joined and before.casefold().endswith(clause.joined) else ""
        return TextPlace(len(before) - len(joined) if joined else clause.place.start, clause.place.end)

    def _take(self, clause: Clause, tokens: Sequence[SaidWord], goal: _Goal) -> bool:
        """Add what a clause says. Gives whether what is wanted is known by it."""
        main, does = clause is self.clauses.main, self.clauses.does(clause)
        if goal.said and not goal.target.end and len(tokens) == 1 and self.reader.is_fresh(tokens[0]):
            goal.target = clause.place  # “to a new folder, photos/july”
            goal.aside.append(clause.place)
            return False
        if len(tokens) == 1 and self._beside_name(tokens[0], goal):
            goal.aside.append(clause.place)
            return False
        one = self.reader.read(tokens)
        goal.beside = goal.beside or one.beside
        if one.left and (main or does or self.reader.resumed(tokens)):
            one = self.reader.read(tokens[self.reader.verb(tokens) :])
        inside = next((noun.folder for noun in one.nouns if not noun.tokens), "")
        behind = (
            self.clauses.prose[goal.target.end : clause.place.start].strip(" ,") if goal.target.end else "-"
        )
        if inside and not (behind or one.left or goal.parent or does or len(one.nouns) > 1):
            goal.parent = inside  # “to a folder july, inside photos”
            return False
        if one.left:
            goal.stopped = goal.stopped or (does and not self._sums_up(tokens))
            goal.topic = goal.topic or self.reader.topic(tokens)
            return False
        goal.but += one.but
        placed = one.target.end and (
            main or does or one.speaks or bool(goal.said)
        )  # "till bokföringen: …" is no place
        if not goal.target.end and placed:
            goal.target, goal.parent = one.target, one.parent
        elif not goal.target.end:
            goal.parent = goal.parent or one.parent
        if one.speaks or placed or one.beside:
            goal.said.append((clause, one))
        out = self.words.at("out", tokens, 0) and not self.words.at("within", tokens, 0)
        only_made = one.target.end and not (one.pronoun or one.everything or one.tests or out)
        if only_made and one.nouns and not any(noun.tokens for noun in one.nouns):
            goal.parent = goal.parent or one.nouns[0].folder  # “in songs make a folder old”
            return False
        return (main or does) and one.speaks

    def _beside_name(self, token: SaidWord, goal: _Goal) -> bool:
        """Take a word in brackets as one of those before it: “both plans (pdf)”."""
        for one in (*goal.but, *(said for _, said in goal.said)):
            for noun in one.nouns:
                if noun.tokens and self.clauses.prose[noun.tokens[-1].end : token.start] == " (":
                    noun.head = noun.head or len(noun.tokens)
                    noun.tokens.append(token)
                    return bool(self.sets.of(token))
        return False

    def _places(self, tokens: Sequence[SaidWord], goal: _Goal) -> bool:
        """Whether a clause with a verb only says what is done with what was named: “lägg dem i x”."""
        one = self.reader.read(tokens)
        if one.left or one.nouns:
            return False
        told = not any(self.clauses.does(clause) for clause, _ in goal.said)
        points = told and bool(one.pronoun or one.tests)
        same = points and tokens[0].text in self.reader.own  # “that can go, delete it”
        again = one.there and one.pronoun
        placed = bool(one.target.end) if not goal.target.end else again
        return same or (self.reader.targeted and placed) or (self.contents and again)

    @property
    def listed(self) -> bool:
        """Whether a list says which files are meant."""
        return any(noun.among for _, one in self.goal.said for noun in one.nouns)

    # ---- all of it

    def chosen(self) -> Selection | None:
        """What the goal chooses; None where its words say more, or nothing, of files."""
        goal, place = self.goal, self._place()
        if goal.stopped or not place.end:
            return None
        named = [one for _, one in goal.said if any(noun.names for noun in one.nouns)]
        for _, one in goal.said:
            if named and one not in named and one.everything and one.tests:  # “whatever is old in x, and y”
                one.nouns = [Noun(all=True, folder=next((noun.folder for noun in one.nouns), ""), alone=True)]
        for _, one in goal.said:  # “the duplicate in songs, and the .bak”
            for noun in one.nouns if named and one not in named else ():
                noun.alone = noun.alone or bool(noun.folder and (noun.tests or one.tests))
                noun.all = noun.all or noun.alone
        nouns = [noun for _, one in goal.said for noun in one.nouns]
        for one in (*(one for _, one in goal.said), *([goal.topic] if goal.topic else ())):
            for noun in one.nouns:
                noun.tests += one.tests
        tests = [test for _, one in goal.said if not one.nouns for test in one.tests]
        tests += [test for noun in nouns if not noun.names for test in noun.tests]
        folder = next((noun.folder for noun in nouns if not noun.names), "")
        points = any(one.pronoun for _, one in goal.said)
        everything = any(one.everything for _, one in goal.said)
        if folder and goal.target.end and any(one.there for _, one in goal.said):
            goal.parent = goal.parent or folder  # “in projects … to the subfolder old there”
        about = [noun for noun in goal.topic.nouns if noun.tokens] if goal.topic else []
        if about and not any(noun.names for noun in nouns):
            if self._is_folder(about[0]) and not (about[0].many or about[0].tests):
                folder = folder or self.sets.folder(about[0].tokens[0].text)
            elif points or tests:
                nouns += about
        whole = [noun for noun in nouns if noun.tokens and self._is_folder(noun)]
        if (entire := self._entire(whole)) is not None and all(self._lie_in(entire, one) for one in nouns):
            nouns = whole = [Noun(tokens=entire.tokens)]  # “the whole essay folder, drafts and all”
        others = len(nouns) > len(whole)  # beside others one that is told more of is none: “årets protokoll”
        whole = [
            noun
            for noun in whole
            if not (noun.many or noun.newest or noun.among or (others and (noun.tests or noun.all)))
        ]
        wanted = [noun for noun in nouns if noun.names and noun not in whole]
        inside = tests or wanted or goal.but or goal.only or any(noun.tests for noun in whole)
        if whole and (inside or self.contents):
            tests += [test for noun in whole for test in noun.tests]
            folder = self.sets.folder(whole[0].tokens[0].text) or folder
        elif whole:  # the folder itself
            paths = (self.sets.folder(whole[0].tokens[0].text),) if goal.target.end or goal.named else ()
            return Selection(place, paths, False, goal.target, tuple(self._all_read())) if paths else None
        if not wanted:
            if (
                everything
                and folder
                and "." in self.clauses.said(goal.target)
                and not (tests or goal.only or goal.but)
            ):
                return Selection(place, (folder,), False, goal.target, tuple(self._all_read()))
            if not (tests or goal.only or goal.but or (folder and self.contents)):
                return self._pointed(place) if points and not (everything or folder) else None
            if not (everything or folder or (points and tests)):
                return None
            wanted = [Noun(all=True)]
        return self._selection(wanted, tests, folder, place)

    def _selection(
        self, wanted: Sequence[Noun], tests: Sequence[Test], folder: str, place: TextPlace
    ) -> Selection:
        goal, paths, unsure = self.goal, list[str](), self.goal.unsure
        excluded = {path for one in goal.but for path in self._all_of(one)}
        for noun in wanted:
            noun.folder = noun.folder or folder
        named = {path for noun in wanted for path in self._files(noun, [*tests, *noun.tests], narrow=False)}
        if self.reader.keeps and named <= excluded:  # “the invoices themselves stay”
            excluded = set()
        kept = {path for one in goal.only for path in self._all_of(one)}
        for noun in wanted:
            bounds = [*tests, *noun.tests]
            narrow = not noun.newest
            found = [path for path in self._files(noun, bounds, narrow=narrow) if path not in excluded]
            if noun.among:
                parts = [self._listed(one, found) for one in noun.among]
                unsure = unsure or not all(parts)
                found = list(dict.fromkeys(path for part in parts for path in part))
            if goal.only:
                found = [path for path in found if path in kept]
            if noun.newest:
                found = self._newest(found, noun.newest)
            several = len(found) == abs(noun.newest)
            several = several or bool(noun.among)
            several = several or self._several(noun, len(found), bounded=bool(bounds or goal.only))
            unsure = unsure or not found or ((len(found) > 1 or noun.many > 1) and not several)
            paths += [path for path in found if path not in paths]
        return Selection(place, tuple(paths), unsure, goal.target, tuple(self._all_read()))

    def _listed(self, said: Said, found: Sequence[str]) -> list[str]:
        """Of some files those that one of a list means: the one that is called just so, where there is one;
        by its own name, where it is none of them."""
        paths = self._all_of(said)
        there = [path for path in paths if path in found] or (paths if said.nouns else [])
        words = " ".join(one.text for noun in said.nouns for one in noun.tokens)
        exact = [path for path in there if folded(base(path).rpartition(".")[0]) == folded(words)]
        return exact if len(exact) == 1 else there

    def _newest(self, paths: Sequence[str], many: int) -> list[str]:
        """So many of the files, the newest first; the oldest where it is negative."""
        modified = {one.path: one.modified for one in self.sets.files}
        days = {
            path: (named_day(base(path), whole=False) or day_of(modified[path]), modified[path])
            for path in paths
        }
        return sorted(paths, key=days.__getitem__, reverse=many > 0)[: abs(many)]

    def _pointed(self, place: TextPlace) -> Selection:
        """What “it” and “the file” mean: the one file that there is."""
        paths = tuple(one.path for one in self.sets.files) if len(self.sets.files) == 1 else ()
        return Selection(place, paths, not paths, self.goal.target, tuple(self._all_read()))

    def _files(self, noun: Noun, tests: Sequence[Test], *, narrow: bool) -> list[str]:
        """The files that a noun means, in their order. narrow: of a kind, those that lie highest."""
        sets = [files for one in noun.tokens if (files := self.sets.of(one))]
        below = f"{noun.folder}/" if noun.folder else ""
        template = self.words.sets["template"]
        named = any(stems(one.text) & template for one in noun.tokens)
        found = [
            one.path
            for one in self.sets.files
            if one.path.startswith(below)
            and all(one.path in each for each in sets)
            and (named or not (tests or noun.newest) or template.isdisjoint(folded(base(one.path)).split()))
            and all(test(Facts(one.path, one.modified, self.sets.names.text)) for test in tests)
        ]
        if narrow and not tests and all(_is_unnamed(noun, path) for path in found):
            depth = min((path.count("/") for path in found), default=0)
            found = [path for path in found if path.count("/") == depth]
        return found

    def _all_of(self, said: Said) -> list[str]:
        nouns = said.nouns or ([Noun()] if said.tests else [])
        tests = said.tests
        return [path for one in nouns for path in self._files(one, [*tests, *one.tests], narrow=False)]

    def _is_folder(self, noun: Noun) -> bool:
        """Whether a noun is the name of a folder here: its path, or its name with “folder”."""
        named = [one for one in noun.tokens if one.text not in self.words.sets["folder"]]
        path = self.sets.folder(named[0].text) if len(named) == 1 else ""
        whole = bool(path) and named[0].text.rstrip("/") == path.casefold()
        if not path and len(named) == _LODGED and (path := self.sets.folder(named[0].text)):
            above = path.rpartition("/")[0]  # “the north project”, in projects
            return bool(stems(folded(base(above))) & stems(folded(named[1].text)))
        return whole or (bool(path) and len(named) < len(noun.tokens))

    def _entire(self, folders: Sequence[Noun]) -> Noun | None:
        """The one of some folders that is meant with all that is in it."""
        entire = self.words.sets["entire"]
        said = [
            (noun, tokens_of(self.clauses.prose, *clause.place))
            for clause, one in self.goal.said
            for noun in one.nouns
        ]
        return next(
            (noun for noun, tokens in said if noun in folders and any(it.text in entire for it in tokens)),
            None,
        )

    def _lie_in(self, folder: Noun, noun: Noun) -> bool:
        """Whether all files that a noun means lie in a folder."""
        below = f"{self.sets.folder(folder.tokens[0].text)}/"
        return noun is folder or all(path.startswith(below) for path in self._files(noun, [], narrow=False))

    def _several(self, noun: Noun, count: int, *, bounded: bool) -> bool:
        """Whether a noun means all files that it fits, of which there are so many. bounded: something more
        must hold of them."""
        last = noun.tokens[noun.head - 1].text if noun.tokens else ""
        if noun.many:
            return count == noun.many
        plural = PLURAL.search(last) is not None or last.removesuffix("en") in self.words.sets["neuters"]
        if noun.all or not last or (plural and not (noun.one and _ONE.search(last))):
            return True
        return bounded and not last.endswith("et") and not (noun.one and not last.endswith("en"))

    def _place(self) -> TextPlace:
        """Where the goal says which files: in the first clause that names some, else where it points."""
        for _, one in self.goal.said:
            if one.last > one.first >= 0:
                cut = one.target.start if one.first < one.target.start < one.last else one.last
                return self.clauses.ended(TextPlace(one.first, cut))
        for clause, one in self.goal.said:
            pointing = self.words.sets["pronouns"] | self.words.sets["file"] if one.pronoun else ()
            told = [one for one in tokens_of(self.clauses.prose, *clause.place) if one.text in pointing]
            if told:
                near = told[-1].end - told[0].start < _POINTED
                return TextPlace(told[0].start, told[-1].end if near else told[0].end)
        return NO_PLACE

    def _all_read(self) -> Iterator[TextPlace]:
        for clause, one in self.goal.said:
            yield TextPlace(clause.place.start, min(clause.place.end, one.end or clause.place.end))
        yield from self.goal.aside


def _is_unnamed(noun: Noun, path: str) -> bool:
    """Whether no word of a noun stands in the name of a file itself: it is one of its kind or folder."""
    name = folded(base(path).rpartition(".")[0])
    return not any(folded(one.text)[:4] in name for one in noun.tokens if len(one.text) > 3)


class FileChoice:
    """The same for the inputs of a skill (`mcl.compiler.stages.filled.Chooser`)."""

    def __init__(self, request: GoalRequest, skill: Skill, clauses: Clauses) -> None:
        self._request, self._skill, self._clauses = request, skill, clauses
        files, uses = request.files, request.files.uses(skill)
        self._names = files.there or FileNames(())
        placed = any(one.name == PLACED[1] for one in skill.slots)
        lists = [one for one in skill.slots if one.most > 1 and uses.get(one.name) == "there"]
        self._lists = [one for one in lists if placed or one.name != PLACED[0]]
        self._into = next((name for name, use in uses.items() if use == "folder" and name != PLACED[1]), "")
        self._made = self._into or next((name for name, use in uses.items() if use == "new"), "")
        self._today = today = datetime.fromisoformat(request.at).astimezone(ZoneInfo(request.zone)).date()
        sets, changed = looking_in(self._names, self._names.text).sets, files.changed(skill)
        self._slot = self._lists[0] if len(self._lists) == 1 else None
        single = [
            one for one in skill.slots if one.most == 1 and one.required and uses.get(one.name) == "there"
        ]
        renames = any(one.name == _NAME for one in skill.slots) and len(single) == 1 and not self._lists
        self._single = single[0] if renames else None
        slot = self._slot
        self._changed = changed.get(slot.name, "") if slot is not None else next(iter(changed.values()), "")
        own = frozenset(_words(skill, whole=True))
        self._reader = ClauseReader(
            clauses,
            sets,
            today,
            own,
            targeted=bool(self._made),
            keeps=not self._changed,
            makes=not self._into,
        )

    def stays(self, clause: Clause) -> bool:
        """Whether a clause says what stays as it is."""
        tokens = tokens_of(self._clauses.prose, *clause.place)
        return self._reader.kept(tokens, clause, after=False) is not None

    def chosen(self) -> Sequence[FilledInput] | None:
        """The files, and where they go; of no slot where a goal is not understood that changes some."""
        request, slot, into = self._request, self._slot, self._made
        if any(one.name in request.slots or f"slot.{one.name}" in request.answers for one in self._lists):
            return None
        if any(one.name == PLACED[1] for one in self._skill.slots):
            return next(self._placed(), None)
        selections = Selections(self._clauses, self._reader.sets, self._reader)
        goal = selections.goal
        if slot is None:
            kept = [FilledInput("", one) for one in selections.kept if not self._changed]
            return self._described(selections, self._single, _NAME) or kept or None
        found = selections.chosen()
        doubt = found is None or (found.unsure and not selections.listed)
        if doubt and (told := self._described(selections, slot, into)):
            return told
        named = any(self._names.in_words(request.prose))  # "a (1).jpg" is one name
        if found is None or (found.unsure and named) or len(found.paths) > slot.most:
            stopped = goal.stopped and self._changed == "write"
            return [FilledInput(STAYS, one) for one in goal.aside] if stopped else None
        beside = found.paths[0].rpartition("/")[0] if goal.beside and len(found.paths) == 1 else ""
        parent = goal.parent or beside or self._above(found, selections)
        filled = [FilledInput(slot.name, found.place, found.paths, found.unsure)]
        filled += [FilledInput("", one) for one in found.read]
        if found.target.end and self._lie_there(found.paths, self._clauses.said(found.target)):
            return filled  # “both in downloads can go”
        if found.target.end and into not in request.slots:
            name = self._clauses.said(found.target)
            if folder := self._folder_of(name, parent):
                called = list(self._named(folder))
                return [*filled, *(called or [FilledInput(into, found.target, (folder,))])]
            path = f"{parent}/{name.rstrip('/')}" + "/" * ("." not in name and bool(self._into))
            filled.append(FilledInput(into, found.target, (path,), plain=not parent))
        if not found.target.end:
            filled += list(self._named(parent)) or self._placed_in(goal)
        return filled

    def _lie_there(self, paths: Sequence[str], name: str) -> bool:
        """Whether all files lie in the folder already in which they would be put."""
        folder = self._reader.sets.folder(name.casefold()) if self._into else ""
        return {path.rpartition("/")[0] for path in paths} == {folder} and folder != ""

    def _above(self, found: Selection, selections: Selections) -> str:
        """The one folder in which all of the files lie, where they go to a folder below it."""
        below = selections.words.sets["subfolder"]
        before = tokens_of(self._request.prose, max(0, found.target.start - _NEAR), found.target.start)
        name = self._clauses.said(found.target)
        folders = {path.rpartition("/")[0] for path in found.paths}
        if not self._into or "/" in name.rstrip("/") or not any(one.text in below for one in before):
            return ""
        return folders.pop() if len(folders) == 1 else ""

    def _folder_of(self, name: str, parent: str) -> str:
        """The folder here that words mean which say what lies there: “the other invoices”."""
        sets = self._reader.words.sets
        said = [one for one in name.casefold().split() if one not in sets["one"] | {"the"}]
        told = [one for one in said if one not in sets["vague"]]
        if not self._into or len(told) == len(said) or "/" in name:
            return ""
        told = [one for one in told if one not in sets["old"]]
        return parent if not told else self._reader.sets.folder(told[0]) if len(told) == 1 else ""

    def _placed_in(self, goal: _Goal) -> list[FilledInput]:
        """The folder here that a clause names to which the files go, which says more than that."""
        looked = DescribedFiles(self._reader, NO_PLACE, goal.aside, into=bool(self._into), makes=False)
        place = looked.target
        return [FilledInput(self._into, place, plain=True), FilledInput("", place)] if place.end else []

    def _described(self, selections: Selections, slot: Slot | None, made: str) -> list[FilledInput]:
        """The files that the goal describes by what they say, and what they go to; none where an input is
        needed beside these."""
        needed = {one.name for one in self._skill.slots if one.required}
        answered = (
            slot is None or slot.name in self._request.slots or f"slot.{slot.name}" in self._request.answers
        )
        if slot is None or answered or not (made or self._changed) or not needed <= {slot.name, made}:
            return []
        goal = selections.goal
        kept = [*selections.kept, *goal.aside]
        looked = DescribedFiles(self._reader, goal.target, kept, into=bool(self._into), makes=bool(made))
        meant = self._folder_of(self._clauses.said(goal.target), goal.parent) if goal.target.end else ""
        looked.folder = meant if looked.target == goal.target else ""
        found = looked.chosen(slot.most, changed=self._changed)
        if found is None:
            return []
        filled = [found._replace(slot=slot.name), *(FilledInput("", one) for one in (*looked.read, *kept))]
        if made and looked.target.end and made not in self._request.slots:
            name = self._clauses.said(looked.target)
            if looked.folder:
                return [*filled, FilledInput(made, looked.target, (looked.folder,))]
            above = found.values[0].rpartition("/")[0] if goal.beside and "." in name else ""
            filled.append(FilledInput(made, looked.target, (f"{above}/{name}",), plain=not above))
        return filled

    def _named(self, parent: str) -> Iterator[FilledInput]:
        """What is made of them, as the goal calls it: “call it open.zip”."""
        tokens = tokens_of(self._request.prose, 0, len(self._request.prose))
        for at in range(len(tokens)):
            many = self._reader.words.at("naming", tokens, at)
            name = "".join(one.text for one in tokens[at + many : at + many + 1])
            if many and self._made and (("." in name) != bool(self._into and parent and "." not in name)):
                place = TextPlace(*tokens[at + many][1:3])
                path = f"{parent}/{self._clauses.said(place)}" + "/" * ("." not in name) if parent else ""
                yield FilledInput(self._made, place, (path,) if path else (), plain=not path)
                yield FilledInput("", TextPlace(tokens[at].start, place.end))
                return

    # ---- a place for each

    def _placed(self) -> Iterator[Sequence[FilledInput]]:
        """The files and the new place of each, by each rule of the goal that some files fit."""
        prose, names = self._request.prose, [base(one.path) for one in self._reader.sets.files]
        tidied = "by" in {one.name for one in self._skill.slots}
        stays = self._reader.words.sets["originals"] | self._reader.words.sets["copying"]
        stay = next((one for one in tokens_of(prose, 0, len(prose)) if tidied and one.text in stays), None)
        kept = [FilledInput("originals", TextPlace(stay.start, stay.end), ("keep",))] if stay else []
        for rule in read_tidying(prose) if tidied else read_renaming(prose, names):
            rest = prose
            for start, end in rule.places:
                plural = (
                    "s" if rest[:start][-1:].isalpha() and rest[start - 1] != "s" else ""
                )  # “picture names”
                rest = rest[:start] + plural.ljust(end - start) + rest[end:]
            clauses, sets = Clauses(rest, self._skill, self._clauses.words), self._reader.sets
            own = frozenset(_words(self._skill, whole=False))  # not “the pictures”
            reader = ClauseReader(clauses, sets, self._today, own, targeted=False, keeps=bool(stay))
            selections = Selections(clauses, sets, reader, contents=True)
            found = selections.chosen()
            sure = found if found is not None and not found.unsure else None
            chosen = list(sure.paths) if sure else self._having(rule, clauses)
            files = [one for path in chosen for one in sets.files if one.path == path]
            targets = _places(files, rule)
            moved = [(one.path, to) for one, to in zip(files, targets, strict=True) if to != one.path]
            if not moved or len(moved) > self._lists[0].most or len({to for _, to in moved}) < len(moved):
                continue
            said = sure.place if sure else rule.places[0]
            read = found.read if found is not None else ()
            yield [
                FilledInput(self._lists[0].name, said, tuple(one for one, _ in moved)),
                FilledInput(
                    PLACED[1],
                    max(rule.places, key=lambda one: one.end - one.start),
                    tuple(to for _, to in moved),
                ),
                *kept,
                *(FilledInput("", one) for one in (*rule.places, *read)),
            ]

    def _having(self, rule: Renaming, clauses: Clauses) -> list[str]:
        """The files whose names have the piece that changes, in the folders that are named, if any; those
        that are named one by one, where as many names are new."""
        words = tokens_of(clauses.prose, 0, len(clauses.prose))
        if rule.many:
            sets = (
                self._reader.sets.of(one)
                for one in words
                if any(map(str.isdigit, one.text)) or "." in one.text
            )
            single = list(dict.fromkeys(next(iter(one)) for one in sets if len(one) == 1))
            return single if len(single) == rule.many else []
        if not rule.piece:
            return []
        folders = {
            found for one in words if len(one.text) > 3 and (found := self._reader.sets.folder(one.text))
        }
        return [
            one.path
            for one in self._reader.sets.files
            if rule.piece.casefold() in base(one.path).casefold()
            and (not folders or any(one.path.startswith(f"{folder}/") for folder in folders))
        ]


def _words(skill: Skill, *, whole: bool) -> Iterator[str]:
    """The words of a skill's fixed phrases; not whole: of what they begin with."""
    for phrase in skill.phrases:
        for part in phrase.split()[: None if whole else 2]:
            if "{" not in part:
                yield from part.removesuffix("?").split("|")


def _places(files: Sequence[NamedFile], rule: Renaming) -> list[str]:
    """The new path of each file."""
    names = [base(one.path) for one in files]
    stems = [
        Renamed(name.removesuffix(suffix(name)), one.modified) for name, one in zip(names, files, strict=True)
    ]
    above = [one.path.removesuffix(name).rstrip("/") for name, one in zip(names, files, strict=True)]
    top = min(above, key=len, default="")
    new = rule.rule(stems)
    return [
        "/".join(
            part for part in (rule.parent or (top if "/" in to else folder), f"{to}{suffix(name)}") if part
        )
        for folder, name, to in zip(above, names, new, strict=True)
    ]
