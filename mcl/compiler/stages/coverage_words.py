"""The words of the module `coverage`: what joins and begins clauses, what they forbid, want or tell, and
which of their words need an answer."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Final, NamedTuple, TypeAlias

from mcl.compiler.stages.limit_words import LimitLeads
from mcl.compiler.stages.phrases import any_of, compiled, either, not_behind
from mcl.compiler.stages.pointing import PointingWords
from mcl.language.mtx.core import CoreModule
from mcl.model.cues import TextPlace, free

SECOND: Final = "second"
ASIDE: Final = "aside"
KINDS: Final = ("negation", "amount", "time", "recurrence", "condition", "grouping", SECOND)
FILLER: Final = "filler"
MANNER: Final = "manner"
_FRONT: Final = 7  # words before the verb of a wish that say where it is done

WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_FORMS: Final = {  # what the module names by <…>
    "<number>": re.compile(
        r"(?<![\w./#-])(?:[$€£]?\d[\d\s.,:]*(?:[%°]|(?=\D)|$)|\d+(?:st|nd|rd|th|:[ea]))(?![\w/-])"
    ),
    "<not>": re.compile(r"(?<=\w)n['’]t\b", re.IGNORECASE),
}
_BY: Final = "<by>"
Form: TypeAlias = tuple[re.Pattern[str], str]


class WordRun(NamedTuple):
    """Words that belong together, and what kind they are of."""

    words: tuple[str, ...]
    kind: str


@dataclass(frozen=True)
class CoverageWords:
    """The words of the module `coverage`. phrases: by their first word; stems: those whose first word
    goes on as it likes; forms: what is no list of words; verbs: as they begin a clause; inflected: those
    of which other forms count too; leading: verbs that only lead to what is wanted;
    summing: those that sum up what is said next; placing: those that
    say where its result goes, noting: that add it to what is there; alone: those that say all by
    themselves; wished: what begins a wish with no verb; ending: reasons that end what stands before;
    beside_manner: what says nothing beside how something is done. leads: words around limits.

    Of clauses: joined, opening, closing: what joins, begins and ends one; adding: what joins verbs, with
    the next word; noun: what stands behind a word that is no verb; forbidding (first: at the beginning
    of a clause), wanting, telling: what forbids, wants and tells; also: what makes of what is wanted a
    further wish; questions: what begins a question. Of words that need an answer: bounds, repeats: what
    does so of the whole goal; adverb: what never stands behind an adverb that does; each: before what is
    counted; told: before what is said of a thing; reason: what begins a reason; aside: what begins a
    clause that only tells something, claims: what makes it no such clause, unclaimed: what looks like it and
    does not; described: what begins a clause that describes one thing;
    twin, kept: what speaks of a copy, and what then says that all others stay; signing: what wants a
    signature; asked, asked_if: before and of a condition that is only asked about; duty, mine: a duty,
    and whose it is; seeking: what looks for something; letter: what leads to a text that goes on to the
    end. saved: what ends in the new file of what is asked, telling_verbs: what then asks of that.
    front: what leads to where a wish is done, before its verb; front_nouns: what is no verb there.
    pointing: how a wish speaks of what an earlier one gives.
    """

    phrases: Mapping[str, tuple[WordRun, ...]]
    stems: tuple[WordRun, ...]
    forms: tuple[tuple[re.Pattern[str], str], ...]
    empty: frozenset[str]
    verbs: frozenset[str]
    inflected: frozenset[str]
    leading: frozenset[str]
    summing: frozenset[str]
    placing: frozenset[str]
    noting: frozenset[str]
    alone: frozenset[str]
    wished: re.Pattern[str]
    ending: re.Pattern[str]
    beside_manner: frozenset[str]
    leads: LimitLeads
    joined: re.Pattern[str]
    opening: re.Pattern[str]
    closing: re.Pattern[str]
    adding: re.Pattern[str]
    noun: re.Pattern[str]
    forbidding: re.Pattern[str]
    forbidding_first: re.Pattern[str]
    wanting: re.Pattern[str]
    telling: re.Pattern[str]
    also: re.Pattern[str]
    questions: re.Pattern[str]
    goes_on: re.Pattern[str]
    goes_on_in: re.Pattern[str]
    bounds: re.Pattern[str]
    repeats: re.Pattern[str]
    adverb: re.Pattern[str]
    each: re.Pattern[str]
    told: re.Pattern[str]
    reason: re.Pattern[str]
    aside: re.Pattern[str]
    claims: re.Pattern[str]
    unclaimed: re.Pattern[str]
    described: re.Pattern[str]
    twin: re.Pattern[str]
    kept: re.Pattern[str]
    signing: re.Pattern[str]
    asked: re.Pattern[str]
    asked_if: re.Pattern[str]
    duty: re.Pattern[str]
    mine: re.Pattern[str]
    seeking: re.Pattern[str]
    letter: re.Pattern[str]
    saved: re.Pattern[str]
    telling_verbs: frozenset[str]
    front: re.Pattern[str]
    front_nouns: frozenset[str]
    pointing: PointingWords

    @classmethod
    def of(cls, module: CoreModule, limits: CoreModule) -> "CoverageWords":
        """Read them. limits: the module `constraint`. Raises SkillError NO_SETTING, BAD_SETTING."""

        def said(key: str) -> str:
            return either(module.phrases(key))

        def words(key: str) -> frozenset[str]:
            return frozenset(module.text(key).split())

        inflected = words("verbs.sv")
        before = not_behind(module.phrases("turning.not"))
        bounds = either((*limits.phrases("most"), *limits.phrases("least")))
        # "weekly" repeats something by itself, "the weekly report" does not.
        alone = rf"(?!\s+(?!{said('adverbs.behind')}\b)[^\W\d_])"
        return cls(
            *_runs(module),
            empty=words("empty"),
            verbs=inflected | words("verbs.en"),
            inflected=inflected,
            leading=words("leading"),
            summing=words("summing"),
            placing=words("placing"),
            noting=words("noting"),
            alone=words("alone"),
            wished=any_of(module.phrases("wished")),
            ending=compiled(rf"\s+(?={said('ending')}(?!\w))"),
            beside_manner=words("manner.beside"),
            leads=LimitLeads.of(limits),
            joined=compiled(
                rf"(?<=\s){before}(?P<turn>{said('turning')})\s+"
                rf"|(?<=\s)(?P<join>{said('joining')}(?:\s+{said('joining.more')})*)\s+"
            ),
            opening=compiled(rf"(?:{said('opening')}[\s,]+)+"),
            closing=compiled(rf"(?:[\s,;]+{said('closing')})+$"),
            adding=compiled(rf"\b{said('adding')}\s+(\w+)"),
            noun=compiled(rf"\s+{said('nouns.behind')}\b"),
            forbidding=any_of(module.phrases("forbids")),
            forbidding_first=any_of(module.phrases("forbids.first")),
            wanting=any_of(module.phrases("wants")),
            telling=any_of(module.phrases("tells")),
            also=any_of(module.phrases("also")),
            goes_on=any_of(module.phrases("goes.on")),
            goes_on_in=any_of(module.phrases("goes.on.in")),
            questions=compiled(rf"{said('questions')}(?!\w)"),
            bounds=compiled(
                rf"(?<!\w){bounds}\s+(?:\w+\s+){{0,2}}[$€£]?(?:\d|{said('numerals')}\b)"
                rf"|\d\s*\w*\s+{either(limits.phrases('behind.most'))}\b(?!\s*[$€£]?\d)"
            ),
            repeats=compiled(
                rf"\b(?:{said('each')}\s+(?:\w+\s+)?(?:{said('periods')}|\d+)|{said('repeats')}"
                rf"|{said('adverbs')}{alone})\b"
            ),
            adverb=compiled(alone),
            each=compiled(rf"\b{said('each')}$"),
            told=compiled(
                rf"\b(?:{either(limits.phrases('relative'))}|{said('purpose')})\s+(?:\S+\s+){{0,2}}$"
            ),
            reason=any_of(module.phrases("reasons")),
            aside=compiled(rf"{said('asides')}(?!\w)|{said('asides.persons')}(?:['’]\w+)?\s+(?=\w)"),
            claims=any_of(module.phrases("asides.not")),
            unclaimed=any_of(module.phrases("asides.still")),
            described=compiled(
                rf"(?<!\w){said('described')}\s+(?:[^\W\d]\S*\s+){{0,4}}?[^\W\d]\S*(?<![^s\W]s)\s+"
                rf"(?:{either(limits.phrases('relative'))}\s+)?{said('described.who')}(?:['’]\w+)?\s+(?=\S)"
            ),
            twin=any_of(module.phrases("twin")),
            kept=compiled(rf"{said('twin.kept')}(?!\w)"),
            signing=any_of(module.phrases("signing")),
            asked=compiled(rf"{said('asking')}\s+$"),
            asked_if=any_of(module.phrases("asking.if")),
            duty=any_of(module.phrases("duties")),
            mine=compiled(rf"(?:^|\b{said('persons')})\s*$"),
            seeking=compiled(rf"\b{said('seeking')}\b[^.;]*$"),
            letter=compiled(rf"(?<![\w/.-]){said('letter')}\s*:\s+(?![\"“])"),
            saved=compiled(rf"(?<!\w){said('saves')}\s+(?:\S+\s+){{0,3}}?\S+\.\w{{1,5}}\s*$"),
            telling_verbs=words("saves.tell"),
            front=compiled(rf"{said('front')}\s+"),
            front_nouns=words("front.nouns"),
            pointing=PointingWords.of(module),
        )

    def forbids(self, text: str) -> bool:
        """Whether a text begins with words that forbid something."""
        return (self.forbidding_first.match(text) or self.forbidding.match(text)) is not None

    def wants(self, text: str) -> bool:
        """Whether a text begins as people say what they want."""
        return self.wanting.match(text) is not None

    def tells(self, text: str) -> bool:
        """Whether a text tells how something is."""
        return self.telling.search(text) is not None

    def commanded(self, text: str) -> str:
        """A wish with its verb at its beginning, as an order: "kopian kan du slänga" is "släng kopian"."""
        verb = text.partition(" ")[0]
        if self.is_verb(verb) and not self.noun.match(text, len(verb)):
            return self.turned(text)  # "tell me which files can be deleted" is an order already
        said = self.pointing.commanded(self.turned(text))
        first, _, rest = said.partition(" ")
        if said != text:
            stem = first.removesuffix("a")
            return f"{stem} {rest}" if stem in self.inflected else said
        return self.inverted(text) or said

    def turned(self, text: str) -> str:
        """A wish with the words behind it that say where it is done: "on the invoice swap a for b"."""
        said, front = self.pointing.turned(text), self.front.match(text)
        if said != text or front is None:
            return said
        words = list(islice(WORD.finditer(text, front.end()), _FRONT))
        for before, verb in pairwise(words):
            if self.pointing.nobody.match(text, before.start()):
                break  # "on the list we have milk"
            word = verb[0].casefold()
            place = before[0].casefold() not in self.empty and word not in self.front_nouns
            if place and word in self.verbs and not self.noun.match(text, verb.end()):
                return f"{text[verb.start() :]} {text[: verb.start()].rstrip(' ,')}"
        return text

    def inverted(self, text: str) -> str:
        """A wish whose verb stands behind what it is done to, as an order: "biljetten flyttar du dit"; ""
        where it is none."""
        verb, rest = self.pointing.inverted(text)
        stem = self.stem(verb.casefold())
        return f"{stem} {rest}" if stem else ""

    def stem(self, verb: str) -> str:
        """A verb as an order, of a form that tells: "flyttar" is "flytta"; "" where it is none."""
        stems = (verb.removesuffix(ending) for ending in ("r", "er", "ar") if verb.endswith(ending))
        return next((one for one in stems if len(one) > 1 and one in self.inflected), "")

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
                places.setdefault(kind, []).append(TextPlace.of(match))
        return {kind: sorted(found) for kind, found in places.items()}


def _fits(phrase: str, word: str) -> bool:
    return phrase in ("<word>", word) or (phrase.endswith("*") and word.startswith(phrase[:-1]))


def _runs(
    module: CoreModule,
) -> tuple[dict[str, tuple[WordRun, ...]], tuple[WordRun, ...], tuple[Form, ...]]:
    """The phrases by their first word, those whose first word goes on, and what is no list of words."""
    by = either(module.phrases("by.not"))
    forms = _FORMS | {_BY: re.compile(rf"(?<![\w-])(?:by|efter)\s+(?!{by}\b)[a-zåäö]+")}
    phrases: dict[str, list[WordRun]] = {}
    stems, others = [], []
    for key, kind in {FILLER: FILLER, MANNER: MANNER, **{f"blocks.{kind}": kind for kind in KINDS}}.items():
        for said in module.phrases(key):
            words = tuple(said.casefold().split())
            if said.startswith("<"):
                if said not in forms:
                    raise module.bad(key, f"names {said}", f"forms: {' '.join(forms)}")
                others.append((forms[said], kind))
            elif words[0].endswith("*"):
                stems.append(WordRun(words, kind))
            else:
                phrases.setdefault(words[0], []).append(WordRun(words, kind))
    ordered = {first: tuple(sorted(more, key=lambda one: -len(one.words))) for first, more in phrases.items()}
    return ordered, tuple(stems), tuple(others)
