"""Which words of a goal belong to nothing: what must not be left out in silence, and what is only shown.

A word is accounted for where it stands in what was read of a slot, a limit, a sign of success or a wish, in a
quote, or in a phrase of the skill's own. Of the others the module `coverage` says which need an answer: a
negation, an amount, a time, a recurrence, a condition, a grouping, a further wish. Pure.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from mcl.compiler.stages.clauses import FORBIDS, KINDS, SECOND, TIDY, Clause, Clauses, tells, wants
from mcl.model.cues import TextPlace, free, within

_OWN: Final = ("condition", "grouping", SECOND)  # kinds of words that a skill may say of itself
_READ: Final = ("negation", "amount", "time")  # and what code looks at before a limit
_BOUND: Final = ("condition", "time", "negation", "amount")
# What says something of the whole goal even where it fills a slot: it forbids, bounds or repeats.
_BOUNDS: Final = re.compile(
    r"\b(?:at most|at the most|at least"
    r"|(?:no|not) (?:more|less|fewer|later|longer|bigger|higher|earlier)(?: than)?"
    r"|max(?:imum)?|under|below|up to|within|less than|fewer than|cheaper than|högst|minst|som mest|inom"
    r"|mindre än|billigare än|inte mer än|inte över|får kosta)\s+(?:\w+\s+){0,2}"
    r"[$€£]?(?:\d|en\b|ett\b|one\b|two\b|three\b|ten\b|tio\b)"
    r"|\d\s*\w*\s+(?:max|tops|at most|or less|eller mindre)\b(?!\s*[$€£]?\d)",
    re.IGNORECASE,
)
_REPEATS: Final = re.compile(
    r"\b(?:(?:every|each|varje|varannan|vartannat)\s+(?:\w+\s+)?(?:second|minute|hour|day|morning|afternoon"
    r"|evening|night|week|weekday|weekend|month|quarter|year|time|monday|tuesday|wednesday|thursday|friday"
    r"|saturday|sunday|gång|minut|timme|dag|morgon|kväll|natt|vecka|månad|kvartal|år|måndag|tisdag|onsdag"
    r"|torsdag|fredag|lördag|söndag|\d+)|whenever|each time|as soon as|så fort|once an?|twice an?"
    r"|en gång (?:i|om|per)|dagligen|veckovis|månadsvis|kvartalsvis|årligen"
    r"|(?:daily|nightly|hourly|weekly|monthly|quarterly|yearly)"
    r"(?=\s*(?:$|[.,;:!?)]|(?:at|on|in|from|until|by|and)\b)))\b",
    re.IGNORECASE,
)
_STRONG: Final = {"negation": FORBIDS, "amount": _BOUNDS, "recurrence": _REPEATS}
_TOLD: Final = re.compile(r"\b(?:that|which|who|whose|to|som|att|where)\s+(?:\S+\s+){0,2}$", re.IGNORECASE)
_REASON: Final = re.compile(r"(?:or|otherwise|else|because|annars|eller|eftersom)\b", re.IGNORECASE)
_ASKED: Final = re.compile(
    r"(?:check|see|know|ask|look|wonder\w*|kolla|se|fråga|undersök|undrar)\s+$", re.IGNORECASE
)
_MODAL: Final = re.compile(
    r"(?:must|ha[sv]e? to|needs? to|needed|should|required|måste|behöver|shall|ska ha|ska vara|ska|skall)",
    re.IGNORECASE,
)
_MINE: Final = re.compile(r"(?:^|\b(?:i|we|you|jag|vi|du|ni|man|det))\s*$", re.IGNORECASE)
_OFTEN: Final = re.compile(
    r"\s+(?!(?:at|on|in|from|until|by|and|to|kl|till|vid|på|i)\b)[^\W\d_]", re.IGNORECASE
)
_EACH: Final = re.compile(r"\b(?:every|each|varje)$", re.IGNORECASE)
_SEEKS: Final = re.compile(r"\b(?:sök|leta|titta|fråg|lig)\w*\b[^.;]*$", re.IGNORECASE)
# Words on both sides of a limit that belong to it.
_BEFORE: Final = re.compile(
    r"(?:(?<![\w'’-])(?:a|an|the|for|with|within|between|by|at|in|of|to|from|under|below|before|until|till|max"
    r"|maximum|min|minimum|most|least|up|no|not|more|than|less|later|fewer|higher|bigger|over|above|only|about"
    r"|around|just|due|on|must|should|it|that|is|be|keep|stay|spend|budget|cost|costs|price|limit|latest|every"
    r"|each|anywhere|anything|but|nothing|nowhere|outside|av|för|från|högst|senast|inom|minst|bara|endast|inte"
    r"|never|exceed|exceeds|go|pay|leave|gå|överstiga|aldrig|mer|än|i|på|före|innan|får|kosta|som|mest|under|till|helst|ideally|preferably|gärna|have|has)[\s:(]+)"
    r"{1,8}$",
    re.IGNORECASE,
)
_BEHIND: Final = re.compile(
    r"(?:\s*[,(]?\s*(?:max|maximum|tops|at most|or less|or more|or better|all in|in total|incl\S*|inkl\S*"
    r"|excl\S*|exkl\S*|vat|moms|at the latest|latest|only|altogether|included|totalt|eller mindre|som mest"
    r"|per \w+|an? \w+|each))+",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Uncovered:
    """Words that belong to nothing. kind: why they need an answer; "" where they are only shown."""

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
        self.clauses, self.slots = clauses, account.slots
        self.prose, self.signs = clauses.prose, account.signs
        self.limits = [self._with_leads(one) for one in (*account.limits, *account.read)]
        self.before = [self._with_all_before(one) for one in account.read]

    def uncovered(self) -> list[Uncovered]:
        """The words that need an answer, then those that are only shown, each in the order of the goal."""
        asked: list[Uncovered] = []
        shown: list[Uncovered] = []
        for clause in self.clauses.all:
            found = list(self._blocking(clause))
            asked += found
            if not found:
                shown += self._left(clause)
        return [*asked, *shown]

    def _blocking(self, clause: Clause) -> Iterator[Uncovered]:
        """The words of a clause that need an answer, with why: the whole clause where nothing was read in it,
        else what begins with such words."""
        about = clause is self.clauses.main or not free(clause.place, self.slots)
        signed = not free(clause.place, self.signs)
        reason = _REASON.match(f"{clause.joined} {self.clauses.said(clause.place)}".strip()) is not None
        found: list[Uncovered] = []
        for place, kind in self.clauses.marks(clause):
            if not free(place, (*self.limits, *self.clauses.quotes)) or self._owned(kind, place):
                continue
            if within(place, self.clauses.filler):  # "i must not forget"
                continue
            if kind == "amount" and self._leads_to_value(place):
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
        wanted = clause is not self.clauses.main and wants(self.clauses.said(clause.place))
        if wanted and not found and free(clause.place, self.limits):
            found.append(Uncovered(clause.place, SECOND))
        if not about and not found and not reason and self._stands_alone(clause):
            found.append(Uncovered(clause.place, "clause"))
        # A word alone, such as "never" or "also", says nothing by itself.
        alone = () if about else ("negation", SECOND)
        yield from (one for one in found if one.kind not in alone or self._says_more(one.place))

    def _stands_alone(self, clause: Clause) -> bool:
        """Whether a clause, in which nothing was read, tells nothing but says how something must be."""
        untouched = free(clause.place, (*self.slots, *self.limits, *self.clauses.quotes))
        return untouched and self._content(clause.place) and not tells(self.clauses.said(clause.place))

    def _says_more(self, place: TextPlace) -> bool:
        """Whether a word at a place says something beside those that need an answer."""
        return any(self.clauses.content(place, [*self.clauses.filler, *self._marked]))

    def _counts(self, kind: str, clause: Clause, place: TextPlace, *, about: bool) -> bool:
        """Whether a mark says there what it says by itself."""
        words, before = self.clauses.said(place), self.prose[clause.place.start : place.start]
        if kind == "condition":
            asked = words.casefold() in ("if", "om", "ifall") and _ASKED.search(before)
            mine = _MODAL.fullmatch(words) and _MINE.search(before)
            return not asked and not (clause is self.clauses.main and mine)
        if kind == "recurrence" and _EACH.search(words) and self._leads_to(place):
            return False  # "every TODO" is how many of them, not how often
        if kind == "recurrence" and words.casefold().endswith("ly"):
            return _OFTEN.match(self.prose, place.end) is None
        if kind == "grouping" and words.casefold().startswith("efter") and _SEEKS.search(before):
            return False
        return not (kind == SECOND and about and clause is self.clauses.main)

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
        strong = _STRONG.get(kind)
        if strong is None or (kind == "amount" and not self.clauses.takes_any):
            return False
        before = self.prose[clause.place.start : place.start]
        if _TOLD.search(before):
            return False
        aside = clause is not self.clauses.main
        if kind == "negation" and place.start == clause.place.start and aside:
            return True
        if aside and place.start > clause.place.start and within(clause.place, self.slots):
            return False  # a whole clause is what a slot says, such as the text of a note
        found = (TextPlace(*match.span()) for match in strong.finditer(self.prose, *clause.place))
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
        own, verbs = self.clauses.own_words, self.clauses.words
        return any(word not in own and not verbs.is_verb(word) for word in words)

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
        before = _BEFORE.search(
            self.prose, min(place.start, self.clauses.clause_of(place).start), place.start
        )
        behind = _BEHIND.match(self.prose, place.end)
        start, end = before.start() if before else place.start, behind.end() if behind else place.end
        return TextPlace(start, end)
