"""What a clause of a goal says of files: which it names, what must hold of them, where they go."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import Final

from mcl.compiler.stages.clauses import Clause, Clauses
from mcl.compiler.stages.file_names import PLURAL
from mcl.compiler.stages.word_forms import stems
from mcl.model.cues import TextPlace, within
from mcl.plugins.files.choice.names import NamedSets
from mcl.plugins.files.choice.words import (
    Facts,
    SaidWord,
    Test,
    age,
    amount,
    is_stated,
    says,
    states,
    tokens_of,
    when,
    words,
)
from mcl.values.kinds import kind_of_ending
from mcl.values.numbers import read_number

_COMPOUND: Final = 4  # letters of each part of a word that has a month before it
_YEAR: Final = 4  # digits of a number that counts nothing
_LEADING: Final = 5  # words before the name of a target
_ENDED: Final = re.compile(r"\w\.[a-z][a-z0-9]{1,4}$")  # a name with its ending
_RECIPIENT: Final = 6  # words of “for the new auditor”
_LONGEST: Final = 60  # words of a clause whose topic is looked for
_BEHIND_TEXT: Final = ("into", "out", "but", "aside", "mentioned")
_MARKS: Final = (",", ";", "?", "!")
NO_PLACE: Final = TextPlace(0, 0)


@dataclass
class Noun:
    """A run of words that names files together. all, one, many: a word beside it says how many; tests: what
    must hold of them; newest: of how many of them the newest are meant, the oldest where it is negative;
    alone: what must hold of them is all that is said; head: of how many words “from” and the like stand
    behind; among: which of them are named behind it."""

    tokens: list[SaidWord] = field(default_factory=list)
    all: bool = False
    one: bool = False
    many: int = 0
    folder: str = ""
    tests: list[Test] = field(default_factory=list)
    newest: int = 0
    alone: bool = False
    head: int = 0
    among: list[Said] = field(default_factory=list)

    @property
    def names(self) -> bool:
        """Whether it says of itself which files."""
        return bool(self.tokens or self.newest or self.alone)


@dataclass
class Said:
    """What was read of a clause. tests: of all that it names; but: what is left out; everything, pronoun,
    there, beside: whether it says “everything”, “it”, “in there”, “in the same folder”; left: a word in it
    that says something else; first, last: where it speaks of files; end: as far as it was read."""

    nouns: list[Noun] = field(default_factory=list)
    tests: list[Test] = field(default_factory=list)
    but: list[Said] = field(default_factory=list)
    target: TextPlace = NO_PLACE
    parent: str = ""
    everything: bool = False
    pronoun: bool = False
    there: bool = False
    beside: bool = False
    left: str = ""
    first: int = -1
    last: int = 0
    end: int = 0

    @property
    def speaks(self) -> bool:
        """Whether it says which files."""
        return bool(self.nouns or self.tests or self.everything or self.pronoun)

    def marked(self, token: SaidWord) -> None:
        """Take a word as one that speaks of files."""
        self.first = token.start if self.first < 0 else self.first
        self.last = token.end


class ClauseReader:
    """Reads clauses of one goal. targeted: whether what is chosen goes somewhere; makes: whether into one new
    file; keeps: whether it stays where it is all the same; own: words of the skill's fixed phrases."""

    def __init__(
        self,
        clauses: Clauses,
        sets: NamedSets,
        today: date,
        own: frozenset[str],
        *,
        targeted: bool,
        keeps: bool,
        makes: bool = False,
    ) -> None:
        self.clauses, self.sets, self.today, self.own = clauses, sets, today, own
        self.targeted, self.makes, self.keeps, self.words = targeted, makes, keeps, words()
        self.copied = self.words.sets["copied"] | (frozenset() if keeps else self.words.sets["copies"])

    def read(self, tokens: Sequence[SaidWord]) -> Said:
        """What a clause says of files, word for word; up to a word that says something else."""
        said, at, noun, since, tested = Said(), 0, Noun(), 0, 0
        group: list[Noun] = []
        tokens = [part for one in self._whole(tokens) for part in self._parts(one)]
        placing, given = any(one.text in self.words.sets["placing"] for one in tokens), False

        def end_noun() -> None:
            nonlocal noun
            if noun.names:
                said.nouns.append(noun)
            noun = Noun()

        while at < len(tokens):
            token = tokens[at]
            aside = self.words.at("aside", tokens, at) if at else 0
            if at and token.text in self.words.sets["recipient"]:
                aside = aside or int(tokens[at - 1].text in self.words.sets["packed"])
            step, test = self._held(tokens, at)
            if said.speaks or noun.tokens or said.target.end:
                if many := self._for_whom(tokens, at) or self._for_somebody(tokens, at, noun, said):
                    at += many
                    continue
                aside = aside or (0 if step else self.words.at("meanwhile", tokens, at))
            elif aside:
                given, at = True, at + aside  # "i want to send all songs to her"
                continue
            if many := self.words.at("but", tokens, at):
                if self._originals(tokens[at + many :]) == "":
                    at = len(tokens)  # “but keep the originals”
                    break
                one = self.read(tokens[at + many :])
                if one.left or not self.known(one):
                    said.left = token.text
                said.but.append(one)
                said.target = said.target if said.target.end else one.target
                said.last = one.last or token.end
                at = len(tokens)
                break
            if not step and not noun.newest and (step := self._ranked(tokens, at, noun)):
                said.marked(token)
                at += step
                continue
            if test is not None and self._is_before(tokens, at, at + step, noun, said):
                noun.tests.append(test)  # “the songs and the duplicate note”
                said.marked(token)
                at += step
                continue
            if token.text in self.copied and at + 1 < len(tokens):  # “the copy of the plan”, and not of all
                of = tokens[at + 1].text in self.words.sets["copy_of"]
                alone = bool(said.nouns) and not noun.tokens
                alone = alone and tokens[at + 1].text in self.words.sets["thing"]
                if alone and self.sets.of(token):
                    noun.tokens.append(token)  # “the plan and the copy one”
                    at += 2
                    continue
                if of and test is not None:
                    end_noun()
                    noun.tests.append(test)
                    said.marked(token)
                    at += 2
                    continue
            if step:
                end_noun()
                said.pronoun = said.pronoun or token.text in self.words.sets["with"]
                group = said.nouns[tested:] or group
                tested = len(said.nouns)
                for each in group:
                    each.tests += [test] if test is not None else []
                said.tests += [test] if test is not None and not group else []
                said.marked(token)
                said.last, at = tokens[at + step - 1].end, at + step
                continue
            if many := self.words.at("beside", tokens, at):
                end_noun()
                said.beside, at = True, at + many
                continue
            if many := self.words.at("there", tokens, at):
                said.there, said.last, at = True, tokens[at + many - 1].end, at + many
                continue
            out = self.words.at("out", tokens, at)
            folder, step = self._folder(tokens, at + out) if out else ("", 0)
            into = self.words.at("into", tokens, at)
            if aside or (given and into and noun.tokens):
                at = len(tokens)  # what it is for, and for whom, changes nothing
                break
            within_one = self.words.at("within", tokens, at) if self.targeted else 0
            further = (self.words.at("within", tokens, place) for place in range(at + 1, len(tokens)))
            if within_one and (
                any(self.words.at("unto", tokens, place) for place in range(at + 1, len(tokens)))
                or any(
                    many and self._is_new(tokens, place + many) for place, many in enumerate(further, at + 1)
                )
            ):
                within_one = 0  # “those in songs in a new folder”, “those in songs go to old”
            points = said.pronoun and not (noun.names or said.nouns) and self._is_verb(tokens[0])
            if within_one and ((at and (placing or points)) or self._is_new(tokens, at + within_one)):
                into, folder = (
                    max(into, out),
                    folder if not (said.nouns or noun.tokens or said.pronoun) else "",
                )
            behind = said.target.end and tokens[at - 1].end == said.target.end
            if folder and behind and self.words.at("within", tokens, at):
                said.parent, at = folder, at + out + step  # “to a folder x in photos”
                continue
            if folder:
                own = noun.alone and not noun.tokens  # “the songs plus everything in x”
                end_noun()
                for each in said.nouns[-1:] if own else said.nouns[since:]:
                    each.folder = folder
                since = len(said.nouns)
                if not since:
                    said.nouns.append(Noun(folder=folder))
                    since = 1
                said.last, at = tokens[at + out + step - 1].end, at + out + step
                continue
            called = token.text in self.words.sets["called"]
            named = called and at and tokens[at - 1].end == said.target.end  # “in letters called b.txt”
            if (
                into
                and self.targeted
                and not said.target.end
                and (step := self._lodged(tokens, at + into, said))
            ):
                end_noun()
                at += into + step
                continue
            if into and self.targeted and (named or not said.target.end):
                above = self.clauses.prose[slice(*said.target)].casefold()
                said.parent = self.sets.folder(above) if named else ""
                place, step = self.target_at(tokens, at + into)
                if token.text in self.words.sets["to_last"] and "." not in self.clauses.prose[slice(*place)]:
                    step = 0
                if step:
                    end_noun()
                    said.target, at = place, at + into + step
                    continue
            names = self.words.at("naming", tokens, at) if self.targeted and (noun.names or said.nouns) else 0
            if names and at + names < len(tokens) and "." in tokens[at + names].text:
                end_noun()
                at += names + 1  # “zip my notes n call it notes.zip”
                continue
            if out or into:
                noun.head = noun.head or len(noun.tokens)
                at += out or into
                continue
            if step := self._making(tokens, at, said):
                at += step
                continue
            at += 1
            if self._is_next(token, noun):
                end_noun()
            if token.text == "," or token.text in self.words.sets["joins"]:
                end_noun()
            elif not self._word(token, noun, said, commanded=at > 1 and self._is_verb(tokens[0])):
                test = self._told(tokens, at - 1, noun if noun.tokens else next(reversed(said.nouns), noun))
                if test is not None:
                    said.tests.append(test)
                elif noun.tokens or not (noun.many and at < len(tokens) and self.sets.of(tokens[at])):
                    said.left = token.text  # “the three blue pictures” are known by their number
                    break
        end_noun()
        for each in [one for one in said.nouns if one.alone and not one.folder]:
            said.nouns.remove(each)  # “the songs and stuff”
            said.everything, said.tests = True, [*said.tests, *each.tests]
        said.nouns = [one for one in said.nouns if one.names or one.folder]
        said.end = tokens[at - 1].end if at else 0
        return said

    def item(self, tokens: Sequence[SaidWord]) -> Said:
        """One of a list of files: by name, or from when it is; with a word left that says something else."""
        if (days := when(tokens, 0, self.today, led=True)) and days[0] == len(tokens):
            return Said(tests=[days[1]])
        one = self.read(tokens)
        known = (one.nouns or one.tests) and self.known(one) and not (one.but or one.target.end)
        return one if known else replace(one, left=one.left or tokens[0].text)

    def _for_whom(self, tokens: Sequence[SaidWord], at: int) -> int:
        """How many words before a name say for whom it is made: “for the auditor as m.zip”."""
        if not (at and self.targeted and tokens[at].text in self.words.sets["recipient"]):
            return 0
        for place in range(at + 2, min(at + _RECIPIENT, len(tokens))):
            if self.words.at("into", tokens, place):
                between = tokens[at + 1 : place]
                return 0 if any(self.sets.is_whole(one.text) for one in between) else place - at
        return 0

    def _for_somebody(self, tokens: Sequence[SaidWord], at: int, noun: Noun, said: Said) -> int:
        """How many words say for whom it is, behind a folder that is one or what is made: “zip x for Bo”."""
        if not self.targeted or tokens[at].text not in self.words.sets["recipient"]:
            return 0
        last = noun.tokens[-1].text if len(noun.tokens) == 1 else ""
        one = PLURAL.search(last) is None or any(
            word.text in self.words.sets["folder"] for word in tokens[:at]
        )
        whole = one and last != "" and self.sets.folder(last) != ""
        if not (whole or (said.target.end and said.target.end < tokens[at].start)):
            return 0
        leads = ("but", "only", "keep", "into", "widening")
        ends = (
            place
            for place in range(at + 1, len(tokens))
            if tokens[place].text in _MARKS
            or self._is_new(tokens, place + 1)
            or any(self.words.at(name, tokens, place) for name in leads)
        )
        return next(ends, len(tokens)) - at

    def _is_next(self, token: SaidWord, noun: Noun) -> bool:
        """Whether a word names another file than a noun, both by a number or a whole name: “a1 a2 and a3”."""
        known = frozenset.intersection(*map(self.sets.of, noun.tokens)) if noun.tokens else frozenset()
        sure = all(any(map(str.isdigit, one.text)) or "." in one.text for one in (*noun.tokens[-1:], token))
        other = self.sets.of(token) if sure and len(known) == 1 else frozenset()
        return len(other) == 1 and known.isdisjoint(other)

    def _whole(self, tokens: Sequence[SaidWord]) -> Iterator[SaidWord]:
        """The words, those of a name with blanks in it as one: “lux (1).pdf”."""
        behind = -1
        for one in tokens:
            if one.start > behind:
                name = self.sets.spaced_at(self.clauses.prose, one.start)
                behind = one.start + len(name) if name else behind
                yield SaidWord(name, one.start, behind) if name else one

    def _parts(self, token: SaidWord) -> list[SaidWord]:
        """A word, or the month and the rest of one such as “novemberbilderna”."""
        for month in self.words.sets["bare_months"] if not token.quoted else ():
            rest = token.text.removeprefix(month)
            if len(month) >= _COMPOUND <= len(rest) < len(token.text) and not self.sets.is_whole(token.text):
                cut = token.start + len(month)
                first, last = SaidWord(month, token.start, cut), SaidWord(rest, cut, token.end)
                if self.sets.of(last):
                    return [first, last]
        known = token.quoted or self._is_nothing(token) or self.sets.of(token)
        return [token if known else token._replace(text=self.words.mended(token.text))]

    def _originals(self, tokens: Sequence[SaidWord]) -> str | None:
        """What hinders that originals stay, where that is said: they are taken, and none of their copies."""
        if not any(one.text in self.words.sets["originals"] for one in tokens):
            return None
        all_ = tokens_of(self.clauses.prose, 0, len(self.clauses.prose))
        return "" if self.keeps or any(one.text in self.copied for one in all_) else "original"

    def _word(self, token: SaidWord, noun: Noun, said: Said, *, commanded: bool) -> bool:
        """Read a word that leads to nothing. Gives whether it says no more than which files."""
        sets, inside = self.words.sets, bool(noun.tokens or noun.one or noun.all)
        if token.text in (";", "!", "?"):
            return True
        if token.text in sets["some"]:  # which of them, nobody says
            return False
        if token.text in sets["subjects"] and commanded and (noun.tokens or said.nouns):
            return False  # “the files I need”
        counts = (noun.all or noun.one) and token.text.isdigit() and len(token.text) < _YEAR
        if (token.text in sets["numerals"] or (counts and token.text[0] != "0")) and not noun.tokens:
            noun.many = int(read_number(token.text) or 0)
        elif token.text in sets["all"] and not self.sets.is_whole(token.text):
            noun.all = said.pronoun = True
        elif token.text in sets["everything"] and not self.sets.is_whole(token.text):
            if said.nouns and not noun.tokens:
                noun.alone = noun.all = True
            else:
                said.everything = True
                noun.all = noun.all or bool(noun.tokens)  # “the .tmp junk”
            said.marked(token)
        elif not noun.tokens and not self._names(token, noun) and self._is_nothing(token, inside=inside):
            noun.one = noun.one or token.text in sets["one"]
            said.pronoun = said.pronoun or token.text in sets["pronouns"]
        elif token.text in sets["folder"]:
            if noun.tokens:
                noun.tokens.append(token)
                said.marked(token)
        elif self.sets.of(token):
            noun.tokens.append(token)
            said.marked(token)
        elif token.text in sets["file"]:
            said.pronoun = said.pronoun or not noun.names
            noun.all = noun.all or (bool(noun.tokens) and PLURAL.search(token.text) is not None)
        else:
            more = sets["thing"] | (sets["behind"] if noun.tokens else frozenset())
            return (inside and token.text in more) or self._is_nothing(token, inside=inside)
        return True

    def _told(self, tokens: Sequence[SaidWord], at: int, noun: Noun) -> Test | None:
        """That a word stands in files, where it does in some of those that a noun is for, and not in all: a
        name, or what they are about (“the receipt for the washing machine”)."""
        said = self.clauses.prose[tokens[at].start : tokens[at].end]
        about = any(one.text in self.words.sets["about"] for one in tokens[max(0, at - 3) : at])
        sets = [self.sets.of(one) for one in noun.tokens] if said[:1].isupper() or about else []
        test, found = says(said), frozenset.intersection(*sets) if sets else frozenset()
        having = sum(test(Facts(path, 0, self.sets.names.text)) for path in found)
        return test if 0 < having < len(found) else None

    def _held(self, tokens: Sequence[SaidWord], at: int) -> tuple[int, Test | None]:
        """What must hold of the files, as it is said from a token on; of how many tokens."""
        led = 0
        while at + led < len(tokens) and tokens[at + led].text in self.words.sets["dated"] and led < 3:
            led += 1
        many = 0
        while at + led + many < len(tokens) and tokens[at + led + many].text == "the":
            many += 1
        for skip in (led + many, led, 0):
            if found := when(tokens, at + skip, self.today, led=bool(led)):
                picture = any(one.text in self.words.sets["photographed"] for one in tokens[at : at + skip])
                step, test = skip + found[0], found[1]
                while more := self._or_when(tokens, at + step):
                    step, test = step + more[0], _either(test, more[1])
                return step, _both(test, _is_picture) if picture else test
        if found := age(tokens, at, self.today) or amount(tokens, at):
            return found
        if tokens[at].text in self.words.sets["photographed"]:
            return 1, _is_picture
        for name in ("begins", "ends"):
            lead = self.words.at(name, tokens, at)
            if lead and at + lead < len(tokens):
                return lead + 1, partial(_is_called, name, tokens[at + lead].text)
        if tokens[at].text in self.copied:
            return 1, lambda facts: is_copy(facts.path)
        if found := self._stated(tokens, at):
            return found
        lead = self.words.at("says", tokens, at)
        if not lead and tokens[at].text in self.words.sets["with"]:
            inside = (many for many in (2, 3, 4) if self.words.at("within_them", tokens, at + many))
            named = (many for many in (2, 3, 4) if self.words.at("in_name", tokens, at + many))
            if many := next(named, 0):  # “with (1) in the name”
                said = self.clauses.prose[tokens[at].end : tokens[at + many].start].casefold()
                text = re.sub(r"^\s*(?:an?|the|ett?|en) ", "", said).strip(" \"'“”‘’")
                step = many + self.words.at("in_name", tokens, at + many)
                return step, lambda facts: text in facts.path.rpartition("/")[2].casefold()
            if many := next(inside, 0):  # “with milk in them”
                text = self.clauses.prose[tokens[at + 1].start : tokens[at + many - 1].end]
                return many + self.words.at("within_them", tokens, at + many), says(text)
        if lead and at + lead < len(tokens):
            quoted = tokens[at + lead].quoted
            sure = tokens[at].text not in self.words.sets["linking"] or lead > 1
            sure = sure or any(self.words.at("mentioned", tokens, at + more) for more in (2, 3))
            if quoted or sure:
                return self._content(tokens, at, lead)
        return 0, None

    def _ranked(self, tokens: Sequence[SaidWord], at: int, noun: Noun) -> int:
        """How many words say that only the newest or oldest are meant: “the 3 newest”, “de två äldsta”."""
        most = self.words.at("at_most", tokens, at)
        while most and at + most < len(tokens) and tokens[at + most].text in self.words.sets["one"]:
            most += 1
        at += most
        said = [
            read_number(one.text) if one.text.isdigit() or one.text in self.words.sets["numerals"] else None
            for one in tokens[at : at + 3]
        ]
        led = bool(said and said[0])
        for name, sign in (("newest", 1), ("oldest", -1)):
            if step := self.words.at(name, tokens, at + led):
                behind = not led and step < len(said) and bool(said[step])
                many = said[0] if led else said[step] if behind else noun.many
                noun.newest, noun.many = sign * int(many or 1), 0
                return most + led + step + behind
        return 0

    def _stated(self, tokens: Sequence[SaidWord], at: int) -> tuple[int, Test] | None:
        """What files say of themselves, in a line with a name: “unpaid and overdue”, “not paid”."""
        negated = self.words.at("unlike", tokens, at)
        place = last = at + negated + self.words.at("stating", tokens, at + negated)
        between = self.words.sets["joins"] | self.words.sets["one"] | {",", "the"}
        said: frozenset[str] = frozenset()
        while place < len(tokens) and (
            self._is_state(tokens[place]) or (said and tokens[place].text in between)
        ):
            if tokens[place].text not in between:
                said, last = said | stems(tokens[place].text), place + 1
            place += 1
        if not said:
            return None
        test = is_stated(said)
        return last - at, (lambda facts: bool(states(facts.text())) and not test(facts)) if negated else test

    def _is_state(self, token: SaidWord) -> bool:
        return not self._is_nothing(token) and not self._is_verb(token) and self.sets.is_stated(token)

    def _or_when(self, tokens: Sequence[SaidWord], at: int) -> tuple[int, Test] | None:
        if at + 1 >= len(tokens) or tokens[at].text not in self.words.sets["joins"] | {","}:
            return None
        led = tokens[at + 1].text in self.words.sets["dated"]
        found = when(tokens, at + 1 + led, self.today, led=True)
        return (1 + led + found[0], found[1]) if found else None

    def _content(self, tokens: Sequence[SaidWord], at: int, lead: int) -> tuple[int, Test]:
        said = [tokens[at + lead]]
        if not said[0].quoted:
            for place, one in enumerate(tokens[at + lead + 1 :], at + lead + 1):
                ends = any(self.words.at(name, tokens, place) for name in _BEHIND_TEXT)
                if ends or one.text in _MARKS or one.text in self.words.sets["going"]:
                    break
                said.append(one)
        text = self.clauses.prose[said[0].start : said[-1].end]
        return lead + len(said), says(text.removeprefix("the ").rstrip(".?! "))

    def _folder(self, tokens: Sequence[SaidWord], at: int) -> tuple[str, int]:
        """The folder here that words name, and how many there are."""
        step = 0
        skipped = self.words.sets["one"] | self.words.sets["folder"] | self.words.sets["called"]
        while at + step < len(tokens) - 1 and tokens[at + step].text in skipped:
            step += 1
        if at + step >= len(tokens):
            return "", 0
        path = self.sets.folder(tokens[at + step].text)
        step += 1
        if path and at + step < len(tokens) and tokens[at + step].text in self.words.sets["folder"]:
            step += 1
        return (path, step) if path else ("", 0)

    def target_at(self, tokens: Sequence[SaidWord], at: int) -> tuple[TextPlace, int]:
        """Where the name of what things go to stands, and how many tokens it is; a place of none where only
        its kind is said."""
        around = self.words.sets["fresh"] | self.words.sets["called"] | self.words.sets["folder"]
        around |= self.words.sets["packed"] | (self.words.sets["file"] if self.makes else frozenset())
        step, first = 0, at
        while at < len(tokens) and tokens[at].text in around and step < _LEADING:
            made = any(one.text in self.words.sets["folder"] for one in tokens[first:at])
            if self.sets.is_whole(tokens[at].text) or (made and tokens[at].text in self.words.sets["packed"]):
                break  # “a folder archive”
            at, step = at + 1, step + 1
        led = self._naming(tokens, at)
        at, step = at + led, step + led
        if self.makes:
            named = at < len(tokens) and self.is_fresh(tokens[at])
            return (TextPlace(*tokens[at][1:3]), step + 1) if named else (NO_PLACE, 0)
        ends = (*_MARKS, *self.words.sets["going_on"], *self.words.sets["recipient"])
        if at >= len(tokens) or tokens[at].text in ends or self._is_filler(tokens[at]):
            packed = [one for one in tokens[first:at] if one.text in self.words.sets["packed"]]
            if packed and step == 1 and not packed[0].text.startswith("zip"):  # “to archive” is a name
                return TextPlace(packed[0].start, packed[0].end), step
            holds = any(one.text in self.words.sets["folder"] for one in tokens[first:at])
            return NO_PLACE, step if packed or holds else 0
        if tokens[at].text in self.words.sets["per"]:
            return NO_PLACE, 0  # “a folder per month” is none
        start, end = tokens[at].start, tokens[at].end
        naming = self.words.sets["called"] - self.words.sets["one"]
        named = any(one.text in naming for one in tokens[first:at])  # “a folder called documents”
        if not named and (tokens[at].text in self.words.sets["pronouns"] or self._is_filler(tokens[at])):
            return NO_PLACE, 0
        at, step = at + 1, step + 1
        whole = 1
        while at < len(tokens) and not self._ends_target(tokens, at) and whole < 3:
            if tokens[at].text in self.words.sets["folder"]:
                return TextPlace(start, end), step + 1
            end, at, step, whole = tokens[at].end, at + 1, step + 1, whole + 1
        return TextPlace(start, end), step

    def _lodged(self, tokens: Sequence[SaidWord], at: int, said: Said) -> int:
        """How many words are for a folder that is made in one that is here: “a folder in x called y”, or
        without its name."""
        around, step = self.words.sets["fresh"] | self.words.sets["called"] | {"of"}, 0
        while at + step < len(tokens) and tokens[at + step].text in around | self.words.sets["folder"]:
            step += 1
        holds = any(one.text in self.words.sets["folder"] for one in tokens[at : at + step])
        inside = self.words.at("within", tokens, at + step) or self.words.at("out", tokens, at + step)
        folder, more = self._folder(tokens, at + step + inside) if holds and inside else ("", 0)
        if not folder:
            return 0
        step += inside + more
        if named := self._naming(tokens, at + step):
            said.target = TextPlace(*tokens[at + step + named][1:3])
            step += named + 1
        said.parent = folder
        return step

    def _naming(self, tokens: Sequence[SaidWord], at: int) -> int:
        """How many words say that a name follows: “which shall be called”."""
        leads = self.words.sets["going"] | self.words.sets["linking"] | self.words.sets["auxiliary"]
        step = 0
        while at + step < len(tokens) and tokens[at + step].text in leads:
            step += 1
        named = at + step + 1 < len(tokens) and tokens[at + step].text in self.words.sets["titled"]
        return step + 1 if named else 0

    def is_fresh(self, token: SaidWord) -> bool:
        """Whether a word is a path, or the name of a file, that is not here."""
        named = "." in token.text.strip(".") if self.makes else token.text.endswith(".zip")
        path = named or (not self.makes and "/" in token.text)
        return self.targeted and path and not self.sets.is_whole(token.text)

    def _is_new(self, tokens: Sequence[SaidWord], at: int) -> bool:
        """Whether words are for a folder or an archive that is not there yet: “a zip called …”."""
        new = at < len(tokens) and not self.sets.is_whole(tokens[at].text)
        if new and (tokens[at].text.endswith(".zip") or "/" in tokens[at].text or self.is_fresh(tokens[at])):
            return True
        fresh = self.words.sets["fresh"] | self.words.sets["indefinite"]
        holds = self.words.sets["folder"] | self.words.sets["packed"]
        holds |= self.words.sets["file"] if self.makes else frozenset()
        return (
            at + 1 < len(tokens)
            and tokens[at].text in fresh
            and (any(one.text in holds for one in tokens[at + 1 : at + 3]))
        )

    def _ends_target(self, tokens: Sequence[SaidWord], at: int) -> bool:
        token = tokens[at]
        if token.text in (*_MARKS, *self.words.sets["going_on"]) or self._is_filler(token):
            return True
        if _ENDED.search(tokens[at - 1].text) or self.words.at("meanwhile", tokens, at):
            return True
        leads = ("into", "out", "but", "aside", "only", "there")
        if any(self.words.at(name, tokens, at) for name in leads) or self._held(tokens, at)[0]:
            return True
        return self._is_nothing(token) and token.text not in self.words.sets["folder"]

    def resumed(self, tokens: Sequence[SaidWord]) -> int:
        """Where the verb stands behind what leads to it: “Ada wants the songs so zip them”; 0 for nowhere."""
        leads = self.words.sets["resuming"]
        verbs = (at for at in range(1, len(tokens)) if self._is_verb(tokens[at]))
        return next((at for at in verbs if tokens[at - 1].text in leads), 0)

    def verb(self, tokens: Sequence[SaidWord]) -> int:
        """Where the verb stands, where no word before it names a file: “my boss says i may delete …”."""
        if at := self.resumed(tokens):
            return at
        verbs = (at for at, one in enumerate(tokens) if self._is_verb(one))
        at = next(verbs, 0)
        return at if not any(self.sets.of(one) for one in tokens[:at]) else 0

    def _is_verb(self, token: SaidWord) -> bool:
        return token.text in self.words.sets["verbs"] or self.clauses.words.is_verb(token.text)

    def _making(self, tokens: Sequence[SaidWord], at: int, said: Said) -> int:
        """How many tokens only say that a folder is to be made, where all goes: “make a folder x and …”."""
        making = tokens[at].text in self.words.sets["making"]
        if not self.targeted or said.target.end or not (making or self._is_new(tokens, at)):
            return 0
        around, holds = self.words.sets["fresh"] | self.words.sets["called"], self.words.sets["folder"]
        begins = at + making
        behind = next((at for at in range(begins, len(tokens)) if tokens[at].text not in around), at)
        called = behind + 1 < len(tokens) and tokens[behind + 1].text in self.words.sets["called"]
        packed = (self.words.sets["packed"] if called else frozenset()) | holds
        first = called or making or (not at and tokens[0].text in self.words.sets["fresh"])
        if not first or tokens[behind].text not in packed:
            return 0
        said.target, step = self.target_at(tokens, begins)
        step += making if step else 0
        out = self.words.at("out", tokens, at + step) if step else 0
        folder, more = self._folder(tokens, at + step + out) if out else ("", 0)
        if folder:
            said.parent, step = folder, step + out + more
        return step

    def kept(self, tokens: Sequence[SaidWord], clause: Clause, *, after: bool) -> Said | None:
        """What a clause says is left out; None where it says no such thing."""
        lead = self.words.at("keep", tokens, 0)
        tail = next((at for at in range(1, len(tokens)) if self.words.at("stays", tokens, at)), 0)
        ends = self.words.at("stays", tokens, tail) if tail else 0
        if tail and not lead and self.clauses.does(clause) and self._is_verb(tokens[0]):
            tail = 0  # “släng den va”
        if tail and any(one.text in self.words.sets["gone"] for one in tokens[tail:]):
            tail = 0  # “can be deleted”
        if tail and not all(self._is_nothing(one) for one in tokens[tail + ends :]):
            tail = 0
        also = after and clause.joined.partition(" ")[0] in self.words.sets["joined_also"]
        also = also or (after and bool(self.words.at("also", tokens, 0)))
        lead = lead or (self.words.at("also", tokens, 0) if also else 0)
        if not (lead or tail or also):
            return None
        inner = list(tokens[lead : tail or None])
        inner = [one for one in inner if one.text not in self.words.sets["beside_kept"]]
        others = next((at for at, one in enumerate(inner) if one.text in self.words.sets["others"]), -1)
        unnamed = others >= 0 and not any(self.sets.of(one) for one in inner[others + 1 :])
        if unnamed or any(self.words.at("rest", inner, at) for at in range(len(inner))):
            return Said()
        if (hinders := self._originals(inner)) is not None:
            return Said(left=hinders)
        one = self.read(inner)
        if one.pronoun and not (one.left or one.nouns or one.tests) and one.end == inner[-1].end:
            return Said()  # “not all of them”
        if not (one.nouns or one.tests) or not self.known(one):
            one.left = one.left or "?"
        return one

    def _is_filler(self, token: SaidWord) -> bool:
        place = TextPlace(token.start, token.end)
        return within(place, self.clauses.filler) or token.text in self.words.sets["thanks"]

    def _is_nothing(self, token: SaidWord, *, inside: bool = False) -> bool:
        """Whether a word says nothing of which files: one around names, or a verb, which a word behind “the”
        is not. inside: whether it stands there."""
        if token.quoted:
            return False
        others = self.words.sets["doing"] | self.words.sets["one"] | self.words.sets["pronouns"]
        if token.text in others or token.text in self.clauses.words.empty or self._is_filler(token):
            return True
        others = self.words.sets["making"] | self.words.sets["placing"] | self.words.sets["gone"]
        place = token.text in others | self.own
        return place or (not inside and self._is_verb(token))

    def _is_before(self, tokens: Sequence[SaidWord], at: int, end: int, noun: Noun, said: Said) -> bool:
        """Whether what must hold is said before the name of the files of which it must, behind others."""
        if noun.tokens or not said.nouns or not at or end >= len(tokens):
            return False
        leads = self.words.sets["joins"] | self.words.sets["one"] | {",", "the"}
        named = not self._is_nothing(tokens[end], inside=True) and bool(self.sets.of(tokens[end]))
        return named and tokens[at - 1].text in leads

    def _names(self, token: SaidWord, noun: Noun) -> bool:
        """Whether a word that says nothing elsewhere names a file: its whole name does, and a verb does
        behind “the” or “all”."""
        if self.sets.is_whole(token.text):
            return True
        plain = token.text in self.words.sets["doing"]  # “a copy of”
        return (noun.one or noun.all) and not plain and self._is_verb(token) and bool(self.sets.of(token))

    def known(self, said: Said) -> bool:
        """Whether all words that name files name some that are here."""
        return all(self.sets.of(word) for noun in said.nouns for word in noun.tokens)

    def told(self, tokens: Sequence[SaidWord]) -> bool | None:
        """Whether a clause that tells something of files says that something is not so; None where it tells
        nothing, which ones are meant, or where they are."""
        sets = self.words.sets
        at = next((at for at, one in enumerate(tokens) if one.text in sets["tells"]), len(tokens) - 1)
        held = tokens[at + 1 : at + 2]
        if not held or any(one.text in sets["relative"] for one in tokens[:at]):
            return None
        if self.words.at("out", tokens, at + 1) or self.sets.is_whole(held[0].text):
            return None
        return bool(self.read(tokens[:at]).nouns) and any(one.text in sets["negated"] for one in tokens[at:])

    def topic(self, tokens: Sequence[SaidWord]) -> Said | None:
        """What a clause tells something of: “downloads is a mess”."""
        tells = (at for at, one in enumerate(tokens) if one.text in self.words.sets["tells"])
        said = [one for one in tokens[: next(tells, 0)] if one.text not in self.words.sets["some"]]
        if len(said) > 1 and said[-1].text in self.words.sets["subjects"]:
            said = said[:-1]  # “the old songs they are in the way”
        tokens = [one for one in tokens if one.text not in self.words.sets["some"]]
        ends = range(1, len(tokens) if len(tokens) <= _LONGEST else 0)  # each is read to its end
        wanted = (self.read(tokens[at:]) for at in ends)  # “she wants all our letters”
        found = (one for one in wanted if any(noun.all or noun.one for noun in one.nouns) or one.tests)
        return next((one for one in (self.read(said), *found) if one.nouns and not one.left), None)


def _both(*tests: Test) -> Test:
    return lambda facts: all(test(facts) for test in tests)


def _either(*tests: Test) -> Test:
    return lambda facts: any(test(facts) for test in tests)


def _is_called(name: str, text: str, facts: Facts) -> bool:
    """Whether the name of a file begins so, or ends so with or without its ending."""
    own = facts.path.rpartition("/")[2].casefold()
    ends = own.endswith(text) or own.rpartition(".")[0].endswith(text)
    return own.startswith(text) if name == "begins" else ends


def is_copy(path: str) -> bool:
    """Whether a file is one of another, by its name."""
    return re.search(r"\(\d+\)|copy|kopia|dubb?lett", path.rpartition("/")[2].casefold()) is not None


def _is_picture(facts: Facts) -> bool:
    return kind_of_ending(f".{facts.path.rpartition('.')[2]}") in ("pictures", "videos")
