"""A goal taken apart into clauses: which says what is wanted, where further wishes stand, and which words say
something by themselves. Pure."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice, pairwise
from typing import Final, NamedTuple

from mcl.language.mtx.core import CoreModule
from mcl.language.skills import Skill
from mcl.model.cues import TextPlace, free

SECOND: Final = "second"
KINDS: Final = ("negation", "amount", "time", "recurrence", "condition", "grouping", SECOND)
_FILLER, _MANNER = "filler", "manner"
TIDY: Final = " \t\n,;:.!?-–—()[]"  # what no clause begins or ends with
_QUOTED: Final = re.compile(
    r"(?<![\w\"])\"[^\"\n]+\"|“[^“”\n]+”|`[^`\n]+`|«[^«»\n]+»|(?<![\w'’])['‘][^'‘’\n]{2,}['’](?!\w)"
)
_BREAK: Final = re.compile(r"[.!?;:…]+(?=[\s)\"”']|$)|,(?=\s|$)|\n+|\s[-–—]{1,2}\s|[()\[\]]")
_SENTENCE: Final = re.compile(r"[.!?;…\n]")
_SENTENCE_END: Final = re.compile(r"[.!?;](?=\s|$)|\n")
_JOINED: Final = re.compile(
    r"(?<=\s)(?<!nothing )(?<!anything )(?<!anywhere )(?<!all )(?<!none )"
    r"(?P<turn>but|though|although|however|men|fast|dock)\s+"
    r"|(?<=\s)(?P<join>(?:and|och|å|&|or|eller|then|samt|plus|sedan|sen|also)"
    r"(?:\s+(?:then|also|finally|afterwards|please|just|sen|sedan|så|också|även|därefter|samtidigt|gärna))*)\s+",
    re.IGNORECASE,
)
_LEADS: Final = re.compile(
    r"(?:(?:and|but|then|also|so|or|plus|please|pls|finally|afterwards|first|next|lastly|though|och|å|men|samt"
    r"|fast|sedan|sen|så|också|även|därefter|snälla|sist|till sist|kan du|kan du också|could you|can you"
    r"|would you|i want you to|i need you to|i'd like you to|jag vill att du|vill jag att du"
    r"|så vill jag att du"
    r"|don['’]t forget to|remember to|glöm inte att|kom ihåg att)[\s,]+)+",
    re.IGNORECASE,
)
_TRAILING: Final = re.compile(
    r"(?:[\s,;]+(?:and|but|then|also|och|men|sedan|sen|samt|plus))+$", re.IGNORECASE
)
_HEAD: Final = re.compile(r"[^\W_]+(?:['’.@/_-]+[^\W_]+)*")
WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_AND: Final = re.compile(r"\b(?:and|och)\s+(\w+)", re.IGNORECASE)
_SMALL: Final = frozenset(
    ("and", "but", "och", "men", "it", "be", "stay", "den", "det", "dig", "keep", "make")
)
# What forbids something, wherever it stands, and at the beginning of a clause.
FORBIDS: Final = re.compile(
    r"\b(?:do not|don['’]?t|never|must ?n['’]t|must not|may not|shall not|should ?n['’]t|should not|make no"
    r"|not a|under no|without(?: \w+){0,2} \w+ing|rather than \w+ing|utan att|får inte|får ej|ska inte"
    r"|får aldrig|ska aldrig"
    r"|låt bli|absolut inte|inte heller|hands off|off limits)\b",
    re.IGNORECASE,
)
_FORBIDS_FIRST: Final = re.compile(
    r"(?:no|not|none|nothing|nobody|nowhere|only|just|never|neither|without|except|anything but|nothing but|"
    r"inga|inget|ingen|ingenting|inte|ej|aldrig|bara|endast|enbart|utom|förutom|utan)\b"
    r"|\w+ (?:inte|inga|inget|ingen|ingenting|aldrig|ej|bara|endast|nothing|no|none|only)\b",
    re.IGNORECASE,
)
_WANTS: Final = re.compile(
    r"(?:i|we)(?: would|['’]d)?(?: also)? (?:want|need|like)\b|(?:jag|vi) (?:vill|behöver)\b"
    r"|(?:vill|behöver) (?:jag|vi)\b",
    re.IGNORECASE,
)
_ALSO: Final = re.compile(r"\b(?:also|too|as well|också|även)\b", re.IGNORECASE)
_ALLOWS: Final = re.compile(r"\s+(?:is|are|was|may|can|får|är)\b", re.IGNORECASE)
_TELLS: Final = re.compile(
    r"\b(?:is|are|was|were|isn['’]t|aren['’]t|has|have|had|it['’]s|there['’]s|we['’]re|they['’]re|i['’]m|i['’]ve"
    r"|we['’]ve|är|var|har|hade|finns)\b",
    re.IGNORECASE,
)


class WordRun(NamedTuple):
    """Words that belong together, and what kind they are of."""

    words: tuple[str, ...]
    kind: str


@dataclass(frozen=True)
class CoverageWords:
    """The words of the module `coverage`. phrases: by their first word; stems: those whose first word goes on
    as it likes; forms: what is no list of words; verbs: as they begin a clause; inflected: those of which
    other forms count too; leading: verbs that only lead to what is wanted; placing: those that say where its
    result goes."""

    phrases: Mapping[str, tuple[WordRun, ...]]
    stems: tuple[WordRun, ...]
    forms: tuple[tuple[re.Pattern[str], str], ...]
    empty: frozenset[str]
    verbs: frozenset[str]
    inflected: frozenset[str]
    leading: frozenset[str]
    placing: frozenset[str]

    @classmethod
    def of(cls, module: CoreModule) -> "CoverageWords":
        """Read them. Raises SkillError NO_SETTING, BAD_SETTING."""
        keys = {_FILLER: _FILLER, _MANNER: _MANNER, **{f"blocks.{kind}": kind for kind in KINDS}}
        phrases: dict[str, list[WordRun]] = {}
        stems, forms = [], []
        for key, kind in keys.items():
            module.text(key)
            for said in module.phrases(key):
                words = tuple(said.casefold().split())
                if said.startswith("<"):
                    if said not in _FORMS:
                        raise module.bad(key, f"names {said}", f"forms: {' '.join(_FORMS)}")
                    forms.append((_FORMS[said], kind))
                elif words[0].endswith("*"):
                    stems.append(WordRun(words, kind))
                else:
                    phrases.setdefault(words[0], []).append(WordRun(words, kind))
        inflected = frozenset(module.text("verbs.sv").split())
        return cls(
            {first: tuple(sorted(more, key=lambda one: -len(one.words))) for first, more in phrases.items()},
            tuple(stems),
            tuple(forms),
            frozenset(module.text("empty").split()),
            inflected | frozenset(module.text("verbs.en").split()),
            inflected,
            frozenset(module.text("leading").split()),
            frozenset(module.text("placing").split()),
        )

    def is_verb(self, word: str) -> bool:
        """Whether a word is one of the verbs, or a form of one."""
        word = word.casefold()
        stems = (word.removesuffix(ending) for ending in ("a", "r", "ar", "er") if word.endswith(ending))
        return word in self.verbs or any(len(stem) > 2 and stem in self.inflected for stem in stems)

    def found(self, prose: str, words: Sequence[re.Match[str]]) -> dict[str, list[TextPlace]]:
        """Where the phrases stand in a text, by kind, in its order; of one kind the longest. words: of it."""
        said = [match[0].casefold().replace("’", "'") for match in words]
        places: dict[str, list[TextPlace]] = {}
        for at, word in enumerate(said):
            for phrase in (*self.phrases.get(word, ()), *self.stems):
                last = at + len(phrase.words) - 1
                if last >= len(said) or not all(map(_fits, phrase.words, said[at : last + 1])):
                    continue
                place = TextPlace(words[at].start(), words[last].end())
                near = all(
                    prose[one.end() : two.start()].isspace() for one, two in pairwise(words[at : last + 1])
                )
                if near and free(place, places.get(phrase.kind, [])[-1:]):
                    places.setdefault(phrase.kind, []).append(place)
        for form, kind in self.forms:
            for match in form.finditer(prose):
                places.setdefault(kind, []).append(TextPlace(*match.span()))
        return {kind: sorted(found) for kind, found in places.items()}


def _fits(phrase: str, word: str) -> bool:
    return phrase in ("<word>", word) or (phrase.endswith("*") and word.startswith(phrase[:-1]))


_FORMS: Final = {  # what the module names by <…>
    "<number>": re.compile(
        r"(?<![\w./#-])(?:[$€£]?\d[\d\s.,:]*(?:[%°]|(?=\D)|$)|\d+(?:st|nd|rd|th|:[ea]))(?![\w/-])"
    ),
    "<not>": re.compile(r"(?<=\w)n['’]t\b", re.IGNORECASE),
    "<by>": re.compile(
        r"(?<![\w-])by\s+(?!(?:the|an?|my|our|your|his|her|their|this|that|next|end|now|then|hand|mail|e-?mail|post"
        r"|phone|train|car|bus|air|mistake|default|itself|all|far|name|lunch|noon|midnight|tonight|tomorrow|today"
        r"|\w+day|\w+ing)\b)[a-zåäö]+"
        r"|(?<![\w-])efter\s+(?!(?:att|det|den|de|en|ett|varje|lunch|hand)\b)[a-zåäö]+"
    ),
}


@lru_cache(maxsize=512)
def _own_words(texts: tuple[str, ...]) -> frozenset[str]:
    """The words of texts, and each two that follow one another."""
    words = [match[0] for text in texts for match in WORD.finditer(text.casefold())]
    return frozenset((*words, *(" ".join(pair) for pair in pairwise(words))))


@lru_cache(maxsize=512)
def _own_verbs(texts: tuple[str, ...]) -> frozenset[str]:
    """The words behind "and" in texts."""
    return frozenset(word.casefold() for text in texts for word in _AND.findall(text))


@dataclass(frozen=True)
class Clause:
    """A clause of a goal, without the words that join it to the one before. joined: these words; begins:
    whether it begins a sentence."""

    place: TextPlace
    joined: str = ""
    begins: bool = False


class Clauses:
    """The clauses of a goal, beside a skill. found: where words stand that say something by themselves, by
    their kind."""

    def __init__(self, prose: str, skill: Skill, words: CoverageWords) -> None:
        self.prose, self.words = prose, words
        self._skill, self.takes_any = (skill.description, *skill.examples), skill.takes_any
        self.said_words = list(WORD.finditer(prose))
        self._starts = [match.start() for match in self.said_words]
        self.found = words.found(prose, self.said_words)
        self.quotes = [TextPlace(*match.span()) for match in _QUOTED.finditer(prose)]
        self.all = list(self._clauses())

    # ---- clauses

    def _clauses(self) -> Iterator[Clause]:
        start, begins = 0, True
        for match in (*_BREAK.finditer(self.prose), None):
            if match is not None and not free(TextPlace(*match.span()), self.quotes):
                continue
            end = match.start() if match else len(self.prose)
            yield from self._joined(start, end, begins)
            if match:
                start, begins = match.end(), _SENTENCE.search(match[0]) is not None

    def _joined(self, start: int, end: int, begins: bool) -> Iterator[Clause]:
        """The clauses of a run without marks between them."""
        joined = ""
        for match in _JOINED.finditer(self.prose, start, end):
            place = TextPlace(*match.span())
            if not free(place, self.quotes) or not self.prose[start : place.start].strip(TIDY):
                continue
            if match["turn"] or self._goes_on(place.end, end):
                yield from self._clause(start, place.start, joined, begins)
                start, joined, begins = place.end, match[0].strip().lower(), False
        yield from self._clause(start, end, joined, begins)

    def _goes_on(self, start: int, end: int) -> bool:
        """Whether what stands here is a clause of its own: a verb with what it is done to, or a ban."""
        lead = _LEADS.match(self.prose, start, end)
        text = self.prose[lead.end() if lead else start : end]
        if forbids(text) or wants(text):
            return True
        found = list(islice(_HEAD.finditer(text), 2))
        return len(found) > 1 and self.words.is_verb(found[0][0])

    def _clause(self, start: int, end: int, joined: str, begins: bool) -> Iterator[Clause]:
        lead = _LEADS.match(self.prose, start + _blank(self.prose[start:end]), end)
        if lead is not None and self.prose[lead.end() : end].strip(TIDY):
            joined = f"{joined} {lead[0]}".strip().lower()
            start = lead.end()
        text = self.prose[start:end]
        start += len(text) - len(text.lstrip(TIDY))
        end = start + len(self.prose[start:end].rstrip(TIDY))
        if end > start:
            yield Clause(TextPlace(start, end), joined, begins)

    def _sentence_end(self, start: int) -> int:
        """Where the sentence ends that `start` stands in."""
        for match in _SENTENCE_END.finditer(self.prose, start):
            if free(TextPlace(*match.span()), self.quotes):
                return match.start()
        return len(self.prose)

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
        found = {
            clause.place.start
            for clause in self.all
            if clause.place.start > main.place.start and self._is_wish(clause)
            if free(clause.place, kept) and not self._places(clause, inputs)
            if not self.is_manner(clause.place)
        }
        for begin in begins:
            start = self._clause_start(begin)
            quoted = not free(TextPlace(start, start + 1), self.quotes)
            apart = free(self.clause_of(TextPlace(start, start + 1)), kept) and not quoted
            if start > main.place.start and apart and not self._is_limit(start):
                found.add(start)
        starts = sorted(found)
        places = (TextPlace(start, self._wish_end(start, starts)) for start in starts)
        return tuple(one for one in places if one.end > one.start)

    def _wish_end(self, start: int, begins: Sequence[int]) -> int:
        """Where the wish that begins here ends: with its sentence, or where another or a ban begins."""
        end = min((one for one in begins if one > start), default=len(self.prose))
        end = min(end, self._sentence_end(start))
        for before, clause in pairwise(self.all):
            if start < clause.place.start < end and self._is_limit(clause.place.start):
                end = max(start, before.place.end)
                break
        return self.ended(TextPlace(start, end)).end

    def _clause_start(self, begin: int) -> int:
        """Where the clause begins, without the words that join it, in which a model heard a wish begin."""
        for clause in self.all:
            if clause.place.start - len(clause.joined) - 2 <= begin < clause.place.end:
                return max(begin, clause.place.start)
        return begin

    def _is_limit(self, start: int) -> bool:
        text = self.prose[start : self._sentence_end(start)]
        lead = _LEADS.match(text)
        text = text[lead.end() :] if lead else text
        return forbids(text)

    def _is_wish(self, clause: Clause) -> bool:
        """Whether a clause begins with a verb that says what is to be done, and no ban."""
        text = self.said(clause.place)
        if not self._heads(text) or forbids(text) or self._leads(clause):
            return False
        return text.split()[0].casefold() not in _own_verbs(self._skill) or not clause.joined

    def _places(self, clause: Clause, inputs: Sequence[TextPlace]) -> bool:
        """Whether a clause only says where the result goes, and that is an input of the skill."""
        head = _HEAD.match(self.said(clause.place))
        placed = head is not None and head[0].casefold() in self.words.placing
        return placed and not self.takes_any and not free(clause.place, inputs)

    def _leads(self, clause: Clause) -> bool:
        """Whether the clause just before only leads to this one: "look through the folder and list …"."""
        at = self.all.index(clause)
        before = self.all[at - 1] if at else None
        if before is None or before is not self.main or clause.begins or "then" in clause.joined:
            return False
        head = _HEAD.match(self.said(before.place))
        return head is not None and head[0].casefold() in self.words.leading

    @cached_property
    def main(self) -> Clause | None:
        """The clause that says what is wanted: the first that begins with a verb, or that says something and
        neither tells how things are nor bounds what is wanted."""
        plain = [one for one in self.all if self._plain(one.place)]
        said = (one for one in plain if self._says_what(one))
        return next(said, next(iter(plain), next(iter(self.all), None)))

    def _says_what(self, clause: Clause) -> bool:
        text = self.said(clause.place)
        if forbids(text):
            return False
        if wants(text):
            return _ALSO.search(text) is None
        if self._heads(text):
            return True
        marked = any(not free(clause.place, self.found.get(kind, ())) for kind in KINDS)
        return not marked and not tells(text)

    def _heads(self, text: str) -> bool:
        """Whether a text begins with a verb that says what is to be done."""
        head = _HEAD.match(text)
        if head is None or text[head.end() : head.end() + 1] == ":":  # "file:report.md" is an address
            return False
        return self.words.is_verb(head[0]) and not _ALLOWS.match(text, head.end())

    def _plain(self, place: TextPlace) -> bool:
        """Whether a clause says more than please and hello."""
        return any(self.content(place, self.found.get(_FILLER, ())))

    def content(self, place: TextPlace, taken: Sequence[TextPlace]) -> Iterator[str]:
        """The words at a place that say something and stand in none of the taken places."""
        for match in self.said_words[bisect_left(self._starts, place.start) :]:
            if match.start() >= place.end:
                return
            if match.end() <= place.end:
                word = match[0].casefold()
                if word not in self.words.empty and free(TextPlace(*match.span()), taken):
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
        return self.found.get(_FILLER, ())

    @property
    def own_words(self) -> frozenset[str]:
        """What the skill says of itself: words, and each two that follow one another."""
        return _own_words(self._skill)

    def is_manner(self, place: TextPlace) -> bool:
        """Whether words say how something is done and nothing else."""
        manner = [one for one in self.found.get(_MANNER, ()) if not free(one, [place])]
        return bool(manner) and not set(self.content(place, [*manner, *self.filler])) - _SMALL

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
        return TextPlace(place.start, place.start + len(_TRAILING.sub("", text)))

    def said(self, place: TextPlace) -> str:
        """The words at a place."""
        return self.prose[place.start : place.end]


def forbids(text: str) -> bool:
    """Whether a text begins with words that forbid something."""
    return _FORBIDS_FIRST.match(text) is not None or FORBIDS.match(text) is not None


def wants(text: str) -> bool:
    """Whether a text begins as people say what they want."""
    return _WANTS.match(text) is not None


def tells(text: str) -> bool:
    """Whether a text tells how something is."""
    return _TELLS.search(text) is not None


def _blank(text: str) -> int:
    return len(text) - len(text.lstrip(TIDY))
