"""A goal taken apart into clauses: which says what is wanted, where further wishes stand, and which words say
something by themselves. Pure."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice, pairwise
from typing import Final

from mcl.compiler.stages.coverage_words import FILLER, KINDS, MANNER, WORD, CoverageWords
from mcl.language.skills import Skill
from mcl.model.cues import TextPlace, free, place_of, within
from mcl.model.protocol import Span

TIDY: Final = " \t\n,;:.!?-–—()[]"  # what no clause begins or ends with
_QUOTED: Final = re.compile(
    r"(?<![\w\"])\"([^\"\n]+)\"|“([^“”\n]+)”|`([^`\n]+)`|«([^«»\n]+)»|(?<![\w'’])['‘]([^'‘’\n]{2,})['’](?!\w)"
)
_BREAK: Final = re.compile(
    r"(?<![\w(])(?:\d{1,2}|[a-e])\)(?=\s)|[.!?;:…]+(?=[\s)\"”']|$)|,(?=\s|$)|\n+|\s[-–—]{1,2}\s|\((?!\d+\))|(?<!\(\d)(?<!\(\d\d)[)\[\]]"
)
_SENTENCE: Final = re.compile(r"[.!?;…\n]")
_SENTENCE_END: Final = re.compile(r"[.!?;](?=\s|$)|\n")
_BRACKETS: Final = re.compile(r"\([^()]*\)")
_LABEL: Final = 2  # words that say something of what only tells what a goal is about
_HEAD: Final = re.compile(r"[^\W_]+(?:['’.@/_-]+[^\W_]+)*")


@lru_cache(maxsize=512)
def _own_words(texts: tuple[str, ...]) -> frozenset[str]:
    """The words of texts, and each two that follow one another."""
    words = [match[0] for text in texts for match in WORD.finditer(text.casefold())]
    return frozenset((*words, *(" ".join(pair) for pair in pairwise(words))))


@lru_cache(maxsize=512)
def _own_verbs(texts: tuple[str, ...], adding: re.Pattern[str]) -> frozenset[str]:
    """The words behind "and" in texts."""
    return frozenset(word.casefold() for text in texts for word in adding.findall(text))


@dataclass(frozen=True)
class Clause:
    """A clause of a goal, without the words that join it to the one before. joined: these words; begins:
    whether it begins a sentence."""

    place: TextPlace
    joined: str = ""
    begins: bool = False


class Clauses:
    """The clauses of a goal, beside a skill, if any. found: where words stand that say something by
    themselves, by their kind. told: where texts stand that are given to the letter, beside quotes."""

    def __init__(
        self, prose: str, skill: Skill | None, words: CoverageWords, told: Sequence[TextPlace] = ()
    ) -> None:
        self.prose, self.words = prose, words
        self._skill = (skill.description, *skill.examples, *skill.phrases) if skill else ()
        self.takes_any = skill is not None and skill.takes_any
        self.takes_goal = skill is not None and skill.takes_goal
        self._covers = skill.covers if skill is not None else ()
        self.said_words = list(WORD.finditer(prose))
        self._starts = [match.start() for match in self.said_words]
        self.found = words.found(prose, self.said_words)
        letters = (TextPlace(match.end(), len(prose)) for match in words.letter.finditer(prose))
        self.quotes = [*(whole for whole, _ in quotes_of(prose)), *told, *islice(letters, 1)]
        self.all = list(self._clauses())

    @cached_property
    def covered(self) -> list[TextPlace]:
        """Where words stand that say what the skill does in any case."""
        if not self._covers:
            return []
        phrases = (
            r"\s+".join(map(re.escape, one.split())) for one in sorted(self._covers, key=len, reverse=True)
        )
        found = re.compile(rf"(?<!\w)(?:{'|'.join(phrases)})(?!\w)", re.IGNORECASE)
        return [TextPlace.of(match) for match in found.finditer(self.prose)]

    # ---- clauses

    @cached_property
    def _unparted(self) -> list[TextPlace]:
        """What marks in it do not part: quotes, and conditions such as "if, and only if, they pass"."""
        return [*self.quotes, *map(TextPlace.of, self.words.pointing.leading.finditer(self.prose))]

    def _clauses(self) -> Iterator[Clause]:
        start, begins = 0, True
        breaks = sorted(
            (*_BREAK.finditer(self.prose), *self.words.ending.finditer(self.prose)),
            key=lambda one: one.start(),
        )
        for match in (*breaks, None):
            if match is not None and not free(TextPlace.of(match), self._unparted):
                continue
            end = match.start() if match else len(self.prose)
            yield from self._joined(start, end, begins)
            if match:
                start, begins = match.end(), _SENTENCE.search(match[0]) is not None

    def _joined(self, start: int, end: int, begins: bool) -> Iterator[Clause]:
        """The clauses of a run without marks between them."""
        joined = ""
        for match in self.words.joined.finditer(self.prose, start, end):
            place = TextPlace.of(match)
            before = self.prose[start : place.start].strip(TIDY)
            if not free(place, self._unparted) or not before:
                continue
            lead = self.words.opening.match(before)
            if self.words.pointing.adverb.match(f"{before[lead.end() if lead else 0 :]} {match[0]}"):
                continue
            if match["turn"] or self._goes_on(place.end, end):
                yield from self._clause(start, place.start, joined, begins)
                start, joined, begins = place.end, match[0].strip().lower(), False
        yield from self._clause(start, end, joined, begins)

    def _goes_on(self, start: int, end: int) -> bool:
        """Whether what stands here is a clause of its own: a verb with what it is done to, or a ban."""
        lead = self.words.opening.match(self.prose, start, end)
        text = self.words.turned(self.prose[lead.end() if lead else start : end])
        text = self.words.inverted(text) or text
        if self.words.forbids(text) or self.words.wants(text) or self.words.pointing.leading.match(text):
            return True
        found = list(islice(_HEAD.finditer(text), 2))
        if len(found) == 1 and found[0][0].casefold() in self.words.alone:
            return True
        return len(found) > 1 and (
            self.words.is_verb(found[0][0]) or self.words.wished.match(text) is not None
        )

    def _clause(self, start: int, end: int, joined: str, begins: bool) -> Iterator[Clause]:
        lead = self.words.opening.match(self.prose, end - len(self.prose[start:end].lstrip(TIDY)), end)
        ends = self._ends(lead) if lead else start
        if lead is not None and self.prose[ends:end].strip(TIDY):
            joined = f"{joined} {self.prose[lead.start() : ends]}".strip().lower()
            start = ends
        text = self.prose[start:end]
        start += len(text) - len(text.lstrip(TIDY))
        end = start + len(self.prose[start:end].rstrip(TIDY))
        held = self.words.pointing.leading.match(self.prose, start, end)
        if held is not None and self.prose[held.end() : end].strip(TIDY):
            yield Clause(TextPlace.of(held), joined, begins)
            yield from self._clause(held.end(), end, "", False)
        elif end > start:
            yield Clause(TextPlace(start, end), joined, begins)

    def _ends(self, lead: re.Match[str]) -> int:
        """Where the words end that a clause begins with; not in the middle of others: "så fort" repeats."""
        marks = [one for kind in KINDS for one in self.found.get(kind, ())]
        cut = [one.start for one in marks if lead.start() <= one.start < lead.end() < one.end]
        return min(cut, default=lead.end())

    def _sentence_end(self, start: int) -> int:
        """Where the sentence ends that `start` stands in."""
        for match in _SENTENCE_END.finditer(self.prose, start):
            if free(TextPlace.of(match), self.quotes):
                return match.start()
        return len(self.prose)

    def within_sentences(self, places: Sequence[TextPlace]) -> list[TextPlace]:
        """The places as far as the sentence goes in which each begins."""
        return [TextPlace(one.start, min(one.end, self._sentence_end(one.start))) for one in places]

    # ---- further wishes

    def wishes(
        self, begins: Sequence[int], kept: Sequence[TextPlace] = (), inputs: Sequence[TextPlace] = ()
    ) -> tuple[TextPlace, ...]:
        """Where further wishes stand: what begins where a model says so, but for what forbids something; and
        clauses behind the first that begin with a verb. kept: where rules stand that a run can be held to;
        inputs: where values stand that fill slots."""
        main = self.main
        if main is None:
            return ()
        brackets = list(map(TextPlace.of, _BRACKETS.finditer(self.prose)))  # these only explain other words
        placed = [clause.place for clause in self.all if self._places(clause, inputs)]
        found = {
            clause.place.start
            for clause in self.all
            if clause.place.start > main.place.start and self._is_wish(clause)
            if free(clause.place, kept) and clause.place not in placed and self._plain(clause.place)
            if not self.is_manner(clause.place) and not self._is_told(clause)
            if not within(clause.place, self.quotes) and not within(clause.place, brackets)
        }
        for begin in begins:
            start = self._clause_start(begin)
            if self.takes_goal and self._asks_on(start):
                continue
            place = TextPlace(start, start + 1)
            clause = self.clause_of(place)
            apart = free(place, [*self.quotes, *placed]) and free(clause, [*kept, *brackets])
            apart = apart and self._plain(clause) and not self._is_limit(start)
            if start > main.place.start and apart:
                found.add(start)
        starts = sorted(
            {self._with_condition(start, main) for start in found if not self._ends_one(start, found)}
        )
        places = (TextPlace(start, self._wish_end(start, starts)) for start in starts)
        return tuple(one for one in places if one.end > one.start)

    def _is_told(self, clause: Clause) -> bool:
        """Whether a clause is what the one before adds: "add a new one: call Bo"."""
        at = self.all.index(clause)
        before = self.all[at - 1] if at else None
        if before is None or ":" not in self.prose[before.place.end : clause.place.start]:
            return False
        return self.does(before) and self.head(before) in self.words.noting | self.words.placing

    def _with_condition(self, start: int, main: Clause) -> int:
        """Where a wish begins with the clause before it, where that says on what it depends."""
        at = next((at for at, one in enumerate(self.all) if one.place.start == start), 0)
        before = self.all[at - 1] if at else main
        return before.place.start if before is not main and self._is_condition(before.place) else start

    def _is_condition(self, place: TextPlace) -> bool:
        """Whether words say on what a clause depends, and nothing else."""
        said = self.words.pointing.condition(self.said(place))
        return said is not None and said.place.start == 0

    def _ends_one(self, start: int, found: Collection[int]) -> bool:
        """Whether a clause only says on what the wish before it depends."""
        inside = (at for at, one in enumerate(self.all) if one.place.start <= start < one.place.end)
        at = next(inside, None)
        if at is None or not self._is_condition(TextPlace(start, self.all[at].place.end)):
            return False
        if start > self.all[at].place.start:
            return True
        behind = self.all[at + 1].place.start if at + 1 < len(self.all) else -1
        return behind not in found

    def clause_starts(self, place: TextPlace) -> list[int]:
        """Where the clauses within a place begin, from its start."""
        return [
            one.place.start - place.start for one in self.all if place.start < one.place.start < place.end
        ]

    def _wish_end(self, start: int, begins: Sequence[int]) -> int:
        """Where the wish that begins here ends: with its sentence, or where another or a ban begins."""
        end = min((one for one in begins if one > start), default=len(self.prose))
        end = min(end, self._sentence_end(start))
        for before, clause in pairwise(self.all):
            led = ":" in self.prose[before.place.end : clause.place.start]  # a text, to the letter
            if start < clause.place.start < end and not led and self._is_limit(clause.place.start):
                end = max(start, before.place.end)
                break
        return self.ended(TextPlace(start, end)).end

    def _clause_start(self, begin: int) -> int:
        """Where the clause begins, without the words that join it, in which a model heard a wish begin."""
        for clause in self.all:
            if clause.place.start - len(clause.joined) - 2 <= begin < clause.place.end:
                head = _HEAD.match(self.prose, clause.place.start)
                behind = head is not None and not self.prose[head.end() : begin].strip()
                # "show then what it says" begins with its verb
                return clause.place.start if behind and self.does(clause) else max(begin, clause.place.start)
        return begin

    def _is_limit(self, start: int) -> bool:
        text = self.prose[start : self._sentence_end(start)]
        lead = self.words.opening.match(text)
        text = text[lead.end() :] if lead else text
        return self.words.forbids(text)

    def _is_wish(self, clause: Clause) -> bool:
        """Whether a clause begins with a verb that says what is to be done, and no ban."""
        text = self.words.commanded(self.said(clause.place))
        if not self._heads(text) or self.words.forbids(text) or self._leads(clause):
            return False
        if self._notes(text):
            return True
        if self.takes_goal and self._asks_on(clause.place.start):
            return False
        own = _own_verbs(self._skill, self.words.adding)
        return text.split()[0].casefold() not in own or not clause.joined

    def _asks_on(self, start: int) -> bool:
        """Whether a clause of a goal that is taken as it was said goes on with what its skill does: "show the
        biggest first", says that it is to be told or where it stands, or has no verb of a wish."""
        text, words = self.prose[start:], self.words
        head, led = _first_word(text), words.goes_on_in.match(text)
        before = next((one for one in reversed(self.all) if one.place.end <= start), None)
        saved = before is not None and words.saved.search(self.said(before.place)) is not None
        if saved and head in words.telling_verbs:
            return False  # "take the rows of Bo into bo.csv and tell me how many": of what was made
        own = head in self.own_words or words.stem(head) in self.own_words
        if own or words.goes_on.match(text) or not self._heads(text):
            return True
        clause = self.clause_of(TextPlace(start, start + 1))
        behind = TextPlace(start + led.end(), clause.end) if led else clause
        return led is not None and len(list(islice(self.content(behind, self.filler), _LABEL + 1))) <= _LABEL

    def makes(self, span: Span) -> bool:
        """Whether a word in the clause before a name says that something is put there."""
        place = place_of(span)
        before = self.prose[self.clause_of(place).start : place.start].casefold()
        return any(word in self.words.placing for word in WORD.findall(before))

    def _places(self, clause: Clause, inputs: Sequence[TextPlace]) -> bool:
        """Whether a clause only says where the result goes, and that is an input of the skill."""
        text = self.said(clause.place)
        placed = _first_word(text) in self.words.placing
        placed = placed and not self._notes(text) and not self.words.pointing.puts_there(text)
        placed = placed and self.words.wished.search(text) is None and not self._puts(clause, inputs)
        return placed and not self.takes_any and not free(clause.place, inputs)

    def _puts(self, clause: Clause, inputs: Sequence[TextPlace]) -> bool:
        """Whether words just behind the verb of a clause are what is put somewhere: "put butter last"."""
        begin = clause.place.start + len(self.head(clause))
        near = [one for one in inputs if one.start >= begin and not self.prose[begin : one.start].strip()]
        told = [one for one in self.quotes if begin <= one.start and clause.place.end >= one.end]
        quoted = any(one.end <= value.start < clause.place.end for one in told for value in inputs)
        return quoted or any(" " in self.said(one) and not re.search(r"[./]", self.said(one)) for one in near)

    def _notes(self, text: str) -> bool:
        """Whether a clause says where the answer to an earlier wish is written: "add the sum to notes.md"."""
        answer = self.words.pointing.answer.search(text)
        adds = _first_word(text) in self.words.noting | self.words.placing
        return adds and answer is not None and bool(text[answer.end() :].strip(TIDY))

    def _leads(self, clause: Clause) -> bool:
        """Whether the clause just before only leads to this one: "look through the folder and list …"."""
        at = self.all.index(clause)
        before = self.all[at - 1] if at else None
        if before is None or before is not self.main or clause.begins or "then" in clause.joined:
            return False
        return self.head(before) in self.words.leading

    @cached_property
    def main(self) -> Clause | None:
        """The clause that says what is wanted: the first that begins with a verb, or that says something and
        neither tells how things are nor bounds what is wanted."""
        plain = [one for one in self.all if self._plain(one.place) and not self.sums_up(one)]
        said = (one for one in plain if self._says_what(one))
        return next(said, next(iter(plain), next(iter(self.all), None)))

    def sums_up(self, clause: Clause) -> bool:
        """Whether a clause only sums up what is wanted behind its colon: "tidy downloads: delete x"."""
        behind = next(iter(self.all[self.all.index(clause) + 1 :]), None)
        if behind is None or ":" not in self.prose[clause.place.end : behind.place.start]:
            return False
        return self.does(behind) and self.head(clause) in self.words.summing

    def _says_what(self, clause: Clause) -> bool:
        text = self.said(clause.place)
        if self.words.forbids(text):
            return False
        if self.words.wants(text):
            return self.words.also.search(text) is None
        if self._heads(text) or self.words.questions.match(text):
            return True
        marked = any(not free(clause.place, self.found.get(kind, ())) for kind in KINDS)
        tells = self.words.tells(text) or self.only_tells(clause)
        return not marked and not tells and not self.is_label(clause)

    def is_label(self, clause: Clause) -> bool:
        """Whether a clause is a word or two before what is wanted, which points at nothing: "money day"."""
        behind = next((one for one in self.all[self.all.index(clause) :] if self.does(one)), None)
        few = len(list(islice(self.content(clause.place, self.filler), _LABEL + 1))) <= _LABEL
        return few and behind is not None and not any(self.words.pointing.found(self.said(behind.place)))

    def _heads(self, text: str) -> bool:
        """Whether a text begins with a verb that says what is to be done."""
        text = self.words.commanded(text)
        head = _HEAD.match(text)
        if head is None or text[head.end() : head.end() + 1] == ":":  # "file:report.md" is an address
            return False
        if self.words.wished.match(text):
            return True
        return self.words.is_verb(head[0]) and not self.words.noun.match(text, head.end())

    def does(self, clause: Clause) -> bool:
        """Whether a clause begins with a verb that says what is to be done."""
        return self._heads(self.said(clause.place))

    def is_own(self, clause: Clause) -> bool:
        """Whether the first word of a clause is one that the skill says of itself."""
        return self.head(clause) in self.own_words

    def head(self, clause: Clause) -> str:
        """The first word of a clause."""
        return _first_word(self.said(clause.place))

    def _plain(self, place: TextPlace) -> bool:
        """Whether a clause says more than please and hello."""
        return any(self.content(place, self.found.get(FILLER, ())))

    def content(self, place: TextPlace, taken: Sequence[TextPlace]) -> Iterator[str]:
        """The words at a place that say something and stand in none of the taken places."""
        for match in self.said_words[bisect_left(self._starts, place.start) :]:
            if match.start() >= place.end:
                return
            if match.end() <= place.end:
                word = match[0].casefold()
                if word not in self.words.empty and free(TextPlace.of(match), taken):
                    yield word

    def says(self, place: TextPlace) -> bool:
        """Whether a word at a place says something."""
        return any(self.content(place, ()))

    def marks(self, clause: Clause) -> list[tuple[TextPlace, str]]:
        """Where words of a clause stand that need an answer, with their kind, in order; the longest first."""
        found = (
            (place, kind)
            for kind in KINDS
            for place in self.found.get(kind, ())
            if clause.place.start <= place.start < clause.place.end
        )
        return sorted(found, key=lambda one: (one[0].start, -one[0].end))

    @property
    def filler(self) -> Sequence[TextPlace]:
        """Where words say nothing."""
        return self.found.get(FILLER, ())

    @property
    def own_words(self) -> frozenset[str]:
        """What the skill says of itself: words, and each two that follow one another."""
        return _own_words(self._skill)

    def tells_much(self, place: TextPlace) -> bool:
        """Whether at least two words at a place say something and are no verbs of a wish."""
        words = (one for one in self.content(place, self.filler) if not self.words.is_verb(one))
        return len(list(islice(words, 2))) == 2

    def is_manner(self, place: TextPlace) -> bool:
        """Whether words say how something is done and nothing else."""
        manner = [one for one in self.found.get(MANNER, ()) if not free(one, [place])]
        others = set(self.content(place, [*manner, *self.filler]))
        return bool(manner) and others <= self.words.beside_manner

    def is_aside(self, place: TextPlace) -> bool:
        """Whether the clause that a place stands in only tells something: it wants, forbids and bounds
        nothing."""
        clause = next((one for one in self.all if not free(one.place, [place])), None)
        return clause is not None and clause is not self.main and self.only_tells(clause)

    def only_tells(self, clause: Clause) -> bool:
        """Whether a clause only tells something, wherever it stands."""
        begins = self.words.aside.match(self.prose, *clause.place)
        if begins is None and self.words.twin.search(self.prose):
            begins = self.words.kept.match(self.prose, *clause.place)
        if begins is None:
            return False
        amounts = (self.said(place) for place, kind in self.marks(clause) if kind == "amount")
        bounds = any(not any(letter.isdigit() for letter in words) for words in amounts)
        return not bounds and not self._claims(begins.end(), clause)

    def is_described(self, place: TextPlace) -> bool:
        """Whether words are part of what describes one thing: "that module nobody uses"."""
        clause = next((one for one in self.all if not free(one.place, [place])), None)
        found = self.words.described.search(self.prose, *clause.place) if clause is not None else None
        told = found is not None and found.start() < place.start
        return bool(told and found and clause and not self._claims(found.end(), clause))

    def _claims(self, start: int, clause: Clause) -> bool:
        told = self.words.unclaimed.sub("", self.prose[start : clause.place.end])
        return self.words.claims.search(told) is not None

    def clause_of(self, place: TextPlace) -> TextPlace:
        """The clause that a place stands in, or begins in."""
        return next((one.place for one in self.all if not free(one.place, [place])), place)

    def parts(self, place: TextPlace) -> list[TextPlace]:
        """What of a place stands in each clause."""
        return [
            TextPlace(max(place.start, one.place.start), min(place.end, one.place.end))
            for one in self.all
            if not free(one.place, [place])
        ]

    def sentence_of(self, place: TextPlace) -> str:
        """The sentence that a place begins in."""
        ends = [match.end() for match in _SENTENCE_END.finditer(self.prose, 0, place.start)]
        return self.prose[max(ends, default=0) : self._sentence_end(place.start)]

    def whole(self, place: TextPlace, others: Sequence[TextPlace]) -> TextPlace:
        """A rule with the words of its clause before it that turn it, and all behind it; the whole clause
        where nothing else was read in it."""
        clause = self.clause_of(place)
        if free(clause, others) and (self.main is None or clause != self.main.place):
            return TextPlace(min(place.start, clause.start), max(place.end, clause.end))
        first = max((one.end for one in others if one.end <= place.start), default=0)
        first = max(clause.start, first)
        turns = (one for one in self.found.get("negation", ()) if first <= one.start < place.start)
        before = next(turns, place)
        last = min((one.start for one in others if one.start >= place.end), default=clause.end)
        end = max(place.end, min(clause.end, last))
        text = self.prose[place.start : end].rstrip(TIDY)
        return TextPlace(min(before.start, place.start), place.start + len(text))

    def ended(self, place: TextPlace) -> TextPlace:
        """A place without the words at its end that join it to what follows."""
        text = self.said(place).rstrip(TIDY)
        return TextPlace(place.start, place.start + len(self.words.closing.sub("", text)))

    def said(self, place: TextPlace) -> str:
        """The words at a place."""
        return self.prose[place.start : place.end]


def _first_word(text: str) -> str:
    head = _HEAD.match(text)
    return head[0].casefold() if head is not None else ""


def quotes_of(prose: str) -> Iterator[tuple[TextPlace, TextPlace]]:
    """Each quote with its marks, and what stands between them less blanks at its ends."""
    for match in _QUOTED.finditer(prose):
        text = match[match.lastindex or 0]
        start = match.start(match.lastindex or 0) + len(text) - len(text.lstrip())
        yield TextPlace.of(match), TextPlace(start, start + len(text.strip()))
