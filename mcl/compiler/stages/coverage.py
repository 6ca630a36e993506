"""Which words of a goal belong to nothing: what must not be left out in silence, and what is only shown.

A word is accounted for where it stands in what was read of a slot, a limit, a sign of success or a wish, in a
quote, or in a phrase of the skill's own. Of the others the module `coverage` says which need an answer: a
negation, an amount, a time, a recurrence, a condition, a grouping, a further wish. Pure.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from mcl.compiler.stages.clauses import TIDY, Clause, Clauses
from mcl.compiler.stages.coverage_words import ASIDE, KINDS, SECOND
from mcl.model.cues import TextPlace, free, within

_OWN: Final = ("condition", "grouping", SECOND)  # kinds of words that a skill may say of itself
_READ: Final = ("negation", "amount", "time")  # and what code looks at before a limit
_BOUND: Final = ("condition", "time", "negation", "amount")


@dataclass(frozen=True)
class Uncovered:
    """Words that belong to nothing. kind: why they need an answer; of an aside, which is signed with the rest
    and needs none, ASIDE; "" where they are only shown."""

    place: TextPlace
    kind: str = ""


@dataclass(frozen=True)
class Account:
    """Where what was read stands. read: limits that code reads with the words before them; limits: all
    others; signs: of these who signs and what must exist, whose whole clause speaks of it."""

    slots: Sequence[TextPlace] = ()
    limits: Sequence[TextPlace] = ()
    read: Sequence[TextPlace] = ()
    signs: Sequence[TextPlace] = ()


class Coverage:
    """What of a goal is accounted for."""

    def __init__(self, clauses: Clauses, account: Account) -> None:
        self.clauses, self.words, self.slots = clauses, clauses.words, account.slots
        # What says something of the whole goal even where it fills a slot: it forbids, bounds or repeats.
        self.strong = {
            "negation": self.words.forbidding,
            "amount": self.words.bounds,
            "recurrence": self.words.repeats,
        }
        self.prose, self.signs = clauses.prose, account.signs
        self.limits = [self._with_leads(one) for one in (*account.limits, *account.read)]
        self.before = [self._with_all_before(one) for one in account.read]

    def uncovered(self) -> list[Uncovered]:
        """The words that need an answer, then those that are only shown, each in the order of the goal."""
        asked: list[Uncovered] = []
        shown: list[Uncovered] = []
        for clause in self.clauses.all:
            aside = self.clauses.is_aside(clause.place) and free(clause.place, self.limits)
            found = [Uncovered(clause.place, ASIDE)] if aside else list(self._blocking(clause))
            asked += found
            if not found:
                shown += self._left(clause)
        return [*asked, *shown]

    def _blocking(self, clause: Clause) -> Iterator[Uncovered]:
        """The words of a clause that need an answer, with why: the whole clause where nothing was read in it,
        else what begins with such words."""
        about = clause is self.clauses.main or not free(clause.place, self.slots)
        signed = not free(clause.place, self.signs)
        text = self.clauses.said(clause.place)
        reason = self.words.reason.match(f"{clause.joined} {text}".strip()) is not None
        found: list[Uncovered] = []
        for place, kind in self.clauses.marks(clause):
            if not free(place, (*self.limits, *self.clauses.quotes)) or self._owned(kind, place):
                continue
            if within(place, self.clauses.filler):  # "i must not forget"
                continue
            if kind == "amount" and self._leads_to_value(place):
                continue
            if kind in ("negation", "condition") and self.clauses.is_described(place):
                continue
            if kind in _READ and not free(place, self.before):
                continue
            if (signed or reason) and kind in _BOUND:
                continue
            if not self._counts(kind, clause, place, about=about):
                continue
            if not free(place, self.slots) and not self._turns(kind, clause, place):
                continue
            whole = not about or (kind == SECOND and clause is not self.clauses.main)
            run = clause.place if whole else self._run(clause, place)
            if free(run, [one.place for one in found]):
                found.append(Uncovered(run, kind))
        asked = self.clauses.takes_goal and within(clause.place, self.slots)
        wanted = clause is not self.clauses.main and self.words.wants(text) and not asked
        if wanted and not found and free(clause.place, self.limits):
            found.append(Uncovered(clause.place, SECOND))
        bans = clause is not self.clauses.main and self.words.forbids(text)
        if bans and not found and free(clause.place, (*self.limits, *self.before)):
            found.append(Uncovered(clause.place, "negation"))
        led = clause is self.clauses.all[0] and self.clauses.is_label(clause)
        led = led or self.clauses.sums_up(clause)
        if not about and not found and not reason and not led and self._stands_alone(clause):
            found.append(Uncovered(clause.place, "clause"))
        # A word alone, such as "never" or "also", says nothing by itself.
        alone = () if about else ("negation", SECOND)
        yield from (one for one in found if one.kind not in alone or self._says_more(one.place))

    def _stands_alone(self, clause: Clause) -> bool:
        """Whether a clause, in which nothing was read, tells nothing but says how something must be."""
        untouched = free(clause.place, (*self.slots, *self.limits, *self.clauses.quotes))
        return (
            untouched
            and self._content(clause.place)
            and not self.words.tells(self.clauses.said(clause.place))
        )

    def _says_more(self, place: TextPlace) -> bool:
        """Whether a word at a place says something beside those that need an answer."""
        return any(self.clauses.content(place, [*self.clauses.filler, *self._marked]))

    def _counts(self, kind: str, clause: Clause, place: TextPlace, *, about: bool) -> bool:
        """Whether a mark says there what it says by itself."""
        words, before = self.clauses.said(place), self.prose[clause.place.start : place.start]
        if kind == "condition":
            asked = self.words.asked_if.fullmatch(words) and self.words.asked.search(before)
            mine = self.words.duty.fullmatch(words) and self.words.mine.search(before)
            return not asked and not (clause is self.clauses.main and mine)
        if kind == "recurrence" and self.words.each.search(words) and self._leads_to(place):
            return False  # "every TODO" is how many of them, not how often
        if kind == "recurrence" and words.casefold().endswith("ly"):
            return self.words.adverb.match(self.prose, place.end) is not None
        if kind == "grouping" and words.casefold().startswith("efter") and self.words.seeking.search(before):
            return False
        main, text = clause is self.clauses.main, self.clauses.said(clause.place)
        if (
            kind in ("grouping", SECOND)
            and not main
            and self.words.tells(text)
            and not self.clauses.does(clause)
        ):
            return False  # "it is still open by a process"
        return not (kind == SECOND and about and main)

    def _leads_to_value(self, place: TextPlace) -> bool:
        """Whether a word of amounts stands just before a number that fills a slot: "max 60"."""
        behind = self.prose[place.end :].lstrip()
        return not self.clauses.takes_any and behind[:1].isdigit() and self._leads_to(place)

    def _leads_to(self, place: TextPlace) -> bool:
        """Whether what fills a slot begins just behind a mark."""
        start = len(self.prose) - len(self.prose[place.end :].lstrip())
        return any(one.start == start for one in self.slots)

    def _turns(self, kind: str, clause: Clause, place: TextPlace) -> bool:
        """Whether a mark says something of the whole goal although it stands in what fills a slot."""
        strong = self.strong.get(kind)
        if self.clauses.takes_goal or strong is None or (kind == "amount" and not self.clauses.takes_any):
            return False
        before = self.prose[clause.place.start : place.start]
        if self.words.told.search(before):
            return False
        aside = clause is not self.clauses.main
        if kind == "negation" and place.start == clause.place.start and aside:
            return True
        if aside and place.start > clause.place.start and within(clause.place, self.slots):
            return False  # a whole clause is what a slot says, such as the text of a note
        found = (TextPlace.of(match) for match in strong.finditer(self.prose, *clause.place))
        return any(not free(place, [one]) for one in found)

    def _owned(self, kind: str, place: TextPlace) -> bool:
        """Whether the skill says these words of itself."""
        return kind in _OWN and self.clauses.said(place).casefold() in self.clauses.own_words

    def _run(self, clause: Clause, place: TextPlace) -> TextPlace:
        """From a mark to the end of its clause, or to what was read behind it."""
        behind = [one.start for one in (*self.slots, *self.limits) if one.start >= place.end]
        end = min((*behind, clause.place.end))
        words = self.prose[place.start : end].rstrip(TIDY)
        if not self._content(TextPlace(place.start, place.start + len(words))):
            words = self.clauses.said(TextPlace(place.start, clause.place.end))
        return TextPlace(place.start, place.start + len(words))

    def _left(self, clause: Clause) -> Iterator[Uncovered]:
        """The runs of words of a clause that belong to nothing, where one of them says something."""
        if not self._content(clause.place):
            return
        if free(clause.place, (*self.slots, *self.limits)) and clause is not self.clauses.main:
            yield Uncovered(clause.place)
            return
        start = clause.place.start
        for one in (*sorted((*self.slots, *self.limits)), TextPlace(clause.place.end, clause.place.end)):
            end = min(one.start, clause.place.end)
            if end > start:
                text = self.prose[start:end]
                first = start + len(text) - len(text.lstrip(TIDY))
                run = TextPlace(first, first + len(self.prose[first:end].rstrip(TIDY)))
                if self._content(run):
                    yield Uncovered(run)
            start = max(start, one.end)

    def _content(self, place: TextPlace) -> bool:
        """Whether a word at a place says something and belongs to nothing."""
        taken = (*self.slots, *self.limits, *self.clauses.quotes, *self.clauses.filler, *self._marked)
        words = self.clauses.content(place, taken)
        own = self.clauses.own_words
        return any(word not in own and not self.words.is_verb(word) for word in words)

    @cached_property
    def _marked(self) -> list[TextPlace]:
        """Where the words stand that need an answer, but for numbers."""
        return [
            place
            for kind in KINDS
            for place in self.clauses.found.get(kind, ())
            if not any(letter.isdigit() for letter in self.clauses.said(place))
        ]

    def _with_all_before(self, place: TextPlace) -> TextPlace:
        """The place of a limit that code reads with the words of its clause before it: it looks at these."""
        clause = self.clauses.clause_of(place)
        behind = [one.end for one in (*self.slots, *self.clauses.quotes) if one.end <= place.start]
        return TextPlace(min(place.start, max((clause.start, *behind))), place.end)

    def _with_leads(self, place: TextPlace) -> TextPlace:
        """The place of a limit with the words on both sides that lead to it."""
        before = self.words.leads.before.search(
            self.prose, min(place.start, self.clauses.clause_of(place).start), place.start
        )
        behind = self.words.leads.behind.match(self.prose, place.end)
        start, end = before.start() if before else place.start, behind.end() if behind else place.end
        return TextPlace(start, end)
