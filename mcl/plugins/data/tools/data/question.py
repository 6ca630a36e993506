"""What a question in plain words asks of a table: which rows, which columns, figures, groups and order.

Words are read against the names and the values of the columns, with a lexicon (question.toml) for what is
called otherwise and for how questions are put. What is said of the table and cannot be read is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise
from typing import Final, NamedTuple

from executor.core.errors import ToolError
from mcl.plugins.data.tools.data.asked import TableQuestion, Term
from mcl.plugins.data.tools.data.question_figures import FigureWords
from mcl.plugins.data.tools.data.question_rows import RowWords
from mcl.plugins.data.tools.data.question_words import QuestionWord, words_of
from mcl.plugins.data.tools.data.schema import TableSchema, opposite
from mcl.plugins.data.tools.data.words import is_known, length_of, member_of, members_of

_AGES: Final = ("new", "old")  # what tells one table of a kind from another


def read_question(said: str, schema: TableSchema, today: date) -> list[TableQuestion]:
    """The questions in a text, in its order.

    Raises:
        ToolError: UNCLEAR, with the words that say nothing here.
    """
    words, once = _once(words_of(said, schema), schema, today)
    asked: list[TableQuestion] = []
    if sides := _compared(words):
        times = [
            [slice(one.start, one.end) for one in _Reader(side, schema, today, None).times] for side in sides
        ]
        if not times[0]:
            sides[0] += [word for place in times[1] for word in sides[1][place]]
        for side in sides:
            one = _Reader(side, schema, today, asked[-1] if asked else None).read()
            asked.append(replace(one, figures=asked[0].figures, shown=False) if asked else one)
        return [*asked, TableQuestion(differ=True)]
    for part in _parted(words, schema):
        reader = _Reader(part, schema, today, asked[-1] if asked else None)
        try:
            one = reader.read()
        except ToolError:
            if not asked or not _is_why(words, part):
                raise
            asked[-1].notes.append(f"not read: {' '.join(word.said for word in part)}")
            continue
        if asked and reader.only_values(asked[-1]):
            one.figures = asked[-1].figures
        if asked and reader.of_that_row(asked[-1]):
            asked[-1] = reader.the_row(asked[-1])
            continue
        if asked and reader.tells_columns(asked[-1]):
            asked[-1].columns = list(dict.fromkeys([*asked[-1].columns, *reader.named_columns()]))
            continue
        if (
            one.differ
            and not asked
            and reader.has_in_and_out()
            and [name for name, _ in one.figures] == ["sum"]
        ):
            one.figures = []
        if one.differ and not asked and reader.has_in_and_out() and reader.is_amount(one.columns):
            one.columns = []
        if one.differ and len(asked) < 2 and not one.figures and not one.columns:
            asked += reader.in_and_out()
        asked += reader.of_the_whole(one) if one.share else [one]
    for one, behind in list(pairwise(asked))[::-1]:
        _share_time(one, behind, schema)
    for one in asked:
        if [name for name, _ in one.figures] == ["count"] and not one.groups:
            one.once = once
    return asked


def _is_why(words: Sequence[QuestionWord], part: Sequence[QuestionWord]) -> bool:
    """Whether the sentence of a part only tells what somebody wants to know by what is asked before it: “I
    want to see who works and who only talks”."""
    sentence = [one for one in words if one.clause == part[0].clause]
    return length_of("tells", [one.word for one in sentence], 0) > 0 and sentence[0] is not words[0]


def _counts(plain: Sequence[str], at: int) -> bool:
    """Whether words just before a place count something."""
    return any(
        first >= 0 and length_of("figure.count", plain, first) == at - first for first in (at - 2, at - 1)
    )


def _once(words: list[QuestionWord], schema: TableSchema, today: date) -> tuple[list[QuestionWord], int]:
    """The words without those that let each value of a column count once, and its place; -1 for none."""
    plain = [one.word for one in words]
    found = [
        (at, length, kind)
        for at in range(len(words))
        for kind, length in [member_of("once", plain, at)]
        if kind and (kind == "said" or _counts(plain, at))
    ]
    if not found:
        return words, -1
    reader = _Reader(words, schema, today, None)
    behind = (
        reader.link(at)
        for at, _, kind in found
        if kind == "apart"
        for at in range(at + 1, at + 4)
        if at < len(words)
    )
    named = next((link.columns[0].place for link in behind if link is not None), None)
    texts = (one.place for one in schema.columns if one.kind == "text")
    gone = {at for first, length, _ in found for at in range(first, first + length)}
    return [one for at, one in enumerate(words) if at not in gone], next(
        texts, -1
    ) if named is None else named


def _share_time(one: TableQuestion, behind: TableQuestion, schema: TableSchema) -> None:
    """Give a question the time at the end of the one behind it, where that only asks about another value:
    “how much came in and how much went out in May”."""
    dates = {column.place for column in schema.of("date")}
    tests, others = ([test for test in each.tests if test.about not in dates] for each in (one, behind))
    same = [test.about for test in tests] == [test.about for test in others] and one.figures == behind.figures
    if same and tests and tests != others and len(tests) == len(one.tests):
        one.tests = [*one.tests, *(test for test in behind.tests if test.about in dates)]


def _compared(words: Sequence[QuestionWord]) -> list[list[QuestionWord]]:
    """The two sides of “how much more … than …”, without these words; none where there are none."""
    plain = [one.word for one in words]
    for at in range(1, len(plain)):
        more = length_of("more", plain, at)
        asks = at > 1 and length_of("figure.sum", plain, at - 2) == 2
        if not (more and asks) or member_of("beyond", plain, at)[0]:
            continue
        than = next((one for one in range(at + 2, len(plain)) if length_of("than", plain, one)), 0)
        if than:
            return [[*words[:at], *words[at + more : than]], list(words[than + 1 :])]
    return []


class SaidOrder(NamedTuple):
    """What a text says of the order of rows. column: "" where it says none; read: where words stand that say
    this, or nothing, as start and end."""

    column: str
    descending: bool
    read: tuple[tuple[int, int], ...]


def order_said(said: str, schema: TableSchema) -> SaidOrder:
    """The order that a text wants rows in."""
    reader = _Reader(words_of(said, schema), schema, date.min, None)
    reader.read_order()
    key = reader.asked.key
    words = [
        (one.start, one.start + len(one.said))
        for at, one in enumerate(reader.words)
        if at in reader.used or reader.says_nothing(at)
    ]
    return SaidOrder(key.name if key else "", reader.asked.descending, tuple(words))


def is_asked(said: str, schema: TableSchema) -> bool:
    """Whether a text asks something, or wants something shown."""
    reader = _Reader(words_of(said, schema), schema, date(2000, 1, 1), None)
    return reader.asks()


def names_times(said: str, schema: TableSchema) -> bool:
    """Whether a text names times, which mean others on another day."""
    reader = _Reader(words_of(said, schema), schema, date(2000, 1, 1), None)
    return any(not one.bare_year for one in reader.times)


class LinkedWord(NamedTuple):
    """A word of a text. columns: the places of those that it names, and how `sure` it does, as ColumnLink;
    empty: it says nothing of a row."""

    word: QuestionWord
    columns: tuple[int, ...]
    sure: int
    empty: bool


def linked_words(said: str, schema: TableSchema) -> list[LinkedWord]:
    """The words of a text, with the columns that they name."""
    reader = _Reader(words_of(said, schema), schema, date.min, None)
    found: list[LinkedWord] = []
    for at, one in enumerate(reader.words):
        link = reader.link(at)
        about = link.columns if link else schema.about(opposite(members_of("things", (one.word,))))
        columns = tuple(each.place for each in about)
        found.append(LinkedWord(one, columns, link.sure if link else 1, reader.says_nothing(at)))
    return found


class SpokenOf(NamedTuple):
    """How much of a text is about a table: its values and names count more than what is about the same.
    strange: words of what it asks that say nothing of it; unnamed: of its name, what the text does not say,
    or only in other words."""

    weight: int
    strange: int
    unnamed: int

    @property
    def sure(self) -> int:
        return self.weight - self.strange


def spoken_of(said: str, schema: TableSchema, today: date) -> SpokenOf:
    """How much of a text is about a table."""
    reader = _Reader(words_of(said, schema), schema, today, None)
    weight = sum(reader.weight(at) for at in range(len(reader.words)))
    return SpokenOf(weight and weight + reader.beside(), reader.strange(), reader.unnamed())


def is_left_out(said: str, schema: TableSchema) -> bool:
    """Whether a text says that it is not of this table, but of one like it: “not the two new ones”, of
    new-members.csv."""
    words = words_of(said, schema)
    plain = [one.word for one in words]
    ages = {thing for one in schema.own_words for thing in members_of("named", (one,)) if thing in _AGES}
    for at in range(len(words)):
        before = (one for one in range(max(0, at - 4), at) if words[one].clause == words[at].clause)
        behind = (one for one in range(at, len(words)) if words[one].clause == words[at].clause)
        spared = any(length_of("spares", plain, one) for one in behind)
        if ages & members_of("named", (plain[at],)) and (
            spared or any(length_of("negation", plain, one) for one in before)
        ):
            return True
    return False


def _parted(words: Sequence[QuestionWord], schema: TableSchema) -> Iterator[list[QuestionWord]]:
    """The words of each question: one begins where a clause, or what is joined by and, begins with how much,
    which, what."""
    plain = [one.word for one in words]
    starts = [0]
    for at in range(1, len(words)):
        fresh = words[at].clause != words[at - 1].clause
        joined = plain[at - 1] in ("and", "och", "o", "&", "plus", "samt")
        asks = length_of("which", plain, at) or member_of("figure", plain, at)[0] in ("sum", "count")
        begins = plain[at] in ("how", "hur") or length_of("which", plain, at)
        if asks and begins and (fresh or joined) and not length_of("which", plain, at - 1):
            starts.append(at)
    lead = words[: starts[1]] if len(starts) > 1 else []
    if lead and not _asks(lead, schema):
        starts.pop(1)
    for start, end in zip(starts, (*starts[1:], len(words)), strict=True):
        yield list(words[start:end])


def _asks(words: Sequence[QuestionWord], schema: TableSchema) -> bool:
    """Whether words ask something by themselves, and do not only lead to a question."""
    reader = _Reader(words, schema, date.min, None)
    plain = [one.word for one in words]
    figure = any(member_of("figure", plain, at)[0] for at in range(len(plain)))
    which = any(length_of("which", plain, at) for at in range(len(plain)))
    linked = any(reader.link(at) is not None for at in range(len(plain)))
    linked = linked or any(member_of("top_words", plain, at)[0] for at in range(len(plain)))
    return (figure or which) and (linked or plain[0] in ("how", "hur"))


class _Reader(RowWords, FigureWords):
    def read(self) -> TableQuestion:
        """Everything that is asked here."""
        self._files()
        self._asides()
        self._less()
        self._readings()
        self._totals()
        self._computed()
        self._shares()
        self._successive()
        self._adjusted()
        self._beyond()
        self._periods()
        self._compared()
        self._equal()
        self._grouped()
        self._sorted()
        self._values()
        self._figures()
        self._mentioned()
        self._settled()
        self._unread()
        self._inherited()
        return self.asked

    def asks(self) -> bool:
        """Whether something is asked for at all."""
        self._files()
        self._less()
        self._computed()
        places = range(len(self.words))
        if any(length_of("sends", self.plain, at) for at in places):
            return False
        if any(length_of("yes_no", self.plain, at) and self._clause(at)[0] == at for at in places):
            return True
        self._adjusted()
        if self.asked.adjust and any(length_of("every_row", self.plain, at) for at in places):
            return True
        figures = any(self.asks_at(at) or self._prefixed(at) is not None for at in places)
        begins = self.link(0) if self.words else None  # “hours for Acme”
        figures = figures or (begins is not None and begins.sure > 1)
        figures = figures or any(
            length_of("group", self.plain, at) and self.link(at + 1) for at in places[:-1]
        )
        return figures or bool(self.terms) or self.asked.differ

    def strange(self) -> int:
        """How many words of the clauses that ask say nothing of the table, nor of how it is asked."""
        self._asides()
        places = range(len(self.words))
        asking = {self.words[at].clause for at in places if at not in self.named and self.asks_at(at)}
        times = {at for one in self.times for at in range(one.start, one.end)}
        many = 0
        for at, one in enumerate(self.words):
            known = at in times or one.number is not None or not one.word[0].isalnum()
            known = known or at in self.named or is_known(one.word, asking=True)
            known = known or self._prefixed(at) is not None
            many += not (known or one.clause not in asking or self.weight(at) or self._is_done(at))
        return many

    def read_order(self) -> None:
        """Only in which order rows are wanted."""
        self._files()
        self._grouped()
        tops = [(at, self._superlative(at)[1]) for at in range(len(self.words))]
        spoken = [one for at, length in tops if length for one in self._spoken_of(at, length)]
        self._sorted()
        if self.asked.groups:
            self.asked = TableQuestion()  # it is the groups that have an order
        if self.asked.ordered and self.asked.key is None and (only := [*spoken, self._amount(quiet=True)][0]):
            self.asked.key = Term(only.name, (only.place,))

    def says_nothing(self, at: int) -> bool:
        """Whether a word only speaks of the table, or of nothing."""
        return self._empty(at) or self.schema.is_own(self.plain[at])

    def _files(self) -> None:
        """Names of files say nothing of the rows, nor does “from my hours”, of hours.csv."""
        for at, one in enumerate(self.words):
            led = length_of("from_own", self.plain, at - 2) if at > 1 else 0
            if led == 2 and self.schema.is_own(one.word):
                self.used.add(at)
                self.named.add(at)
            if re.search(r"\w\.(?:csv|tsv|tab|json|jsonl|ndjson|md|txt|log)$", one.word) or (
                "/" in one.word and self.schema.path.casefold().startswith(one.word)
            ):
                self.used.add(at)
                self.named.add(at)

    def _asides(self) -> None:
        """What only says when, or why, somebody asks: “before I book anything for December, …”; or how the
        table is written."""
        for at in range(len(self.words)):
            if length_of("headings", self.plain, at):
                lead = at
                while lead - 1 in self._clause(at) and length_of("to_headings", self.plain, lead - 1):
                    lead -= 1
                self._use(lead, at + 1 - lead)
                self.named.update(range(lead, at + 1))
            if self._explains(at):
                self.used.update(self._clause(at))
                self.named.update(self._clause(at))
            self._use(at, length_of("asides", self.plain, at))
            if length_of("secret", self.plain, at) and self._clause(at)[0] == at:
                self.used.update(self._clause(at))
                self.named.update(self._clause(at))
            lead = length_of("leading", self.plain, at)
            if (
                lead
                and self._clause(at)[0] == at
                and length_of("doers", self.plain, min(at + lead, len(self.words) - 1))
            ):
                clause = self._clause(at)
                if len(clause) < len(self.words) and not any(map(self.asks_at, clause[1:])):
                    self.used.update(clause)
                    self.named.update(clause)
            if length_of("now_that", self.plain, at) and not any(map(self.asks_at, self._clause(at)[2:])):
                self.used.update(self._clause(at))
                self.named.update(self._clause(at))
            for place in self._told_beside(at):
                self.used.add(place)
                self.named.add(place)

    def _explains(self, at: int) -> bool:
        """Whether a clause from here on says how a column is to be read, beside others that ask."""
        clause = self._clause(at)
        behind = [one for one in clause if one > at]
        column = length_of("column", self.plain, at) or (self.link(at) is not None and clause[0] == at)
        says = any(length_of("explains", self.plain, one) for one in behind[:2])
        why = any(length_of("explained", self.plain, one) for one in behind[1:])
        asks = any(self.asks_at(one) for one in range(len(self.words)) if one not in clause)
        return bool(column and says and why and asks and not any(map(self._begins_question, clause)))

    def _told_beside(self, at: int) -> range:
        """Where somebody tells beside what is asked what somebody does, or how it is: “I will talk to them”,
        “Bo is asking”, up to the end of the clause or to what asks; nothing where that says something of
        rows: “what he is owed”, “she has paid”."""
        clause = self._clause(at)
        before = [one for one in clause if at - 3 < one < at]
        bound = any(length_of(name, self.plain, one) for one in before for name in ("which", "relative"))
        short = self.words[at].said.casefold().endswith(("'s", "’s"))
        many = length_of("tells", self.plain, at) or (short and length_of("doers", self.plain, at))
        begins = all(
            self._empty(one) or self.plain[one] in ("the", "my", "our") for one in clause if one < at
        )
        if bound or not (many or (begins and self._is_doing(at + 1))):
            return range(0)
        end = next((one for one in clause if one > at and self._begins_question(one)), clause[-1] + 1)
        lead = at - bool(before and length_of("joiners", self.plain, at - 1))
        told = range(lead, end)
        asks = any(self.asks_at(one) for one in range(len(self.words)) if one not in told)
        speaks = any(self._speaks_of_rows(one) for one in range(at + (many or 1), end))
        speaks = speaks and not length_of("opinions", self.plain, at)
        return range(0) if speaks or not asks else told

    def _is_doing(self, at: int) -> bool:
        """Whether a word before says who is doing what the words from here on say: “Bo's asking”."""
        if at >= len(self.words) or self.words[at - 1].clause != self.words[at].clause:
            return False
        short = self.words[at - 1].said.casefold().endswith(("'s", "’s"))
        there = at + (not short and length_of("is", self.plain, at) > 0)
        doing = there < len(self.words) and length_of("doing", self.plain, there) > 0
        return doing and (short or there > at)

    def _begins_question(self, at: int) -> bool:
        return bool(length_of("which", self.plain, at) or self.plain[at] in ("how", "hur"))

    def _speaks_of_rows(self, at: int) -> bool:
        """Whether a word says something of the rows: a value, a column, what is asked for."""
        found = self.link(at)
        named = found is not None and found.sure > 1 and not self._empty(at)
        yes = members_of("things", (self.plain[at],))
        paid = any(one.says_yes and (yes | opposite(yes)) & one.things for one in self.schema.columns)
        return named or paid or self.asks_at(at) or self.weight(at) > 1

    def _inherited(self) -> None:
        """What the question before says of the rows holds here too, but for what this one says otherwise."""
        before, asked = self.before, self.asked
        if before is None:
            return
        told = {test.about for test in asked.tests}
        asked.tests = [*(one for one in before.tests if one.about not in told), *asked.tests]
        if before.successive is not None and not asked.groups:
            term = before.successive
            asked.figures = [("change", term)]
