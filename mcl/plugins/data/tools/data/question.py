"""What a question in plain words asks of a table: which rows, which columns, figures, groups and order.

Words are read against the names and the values of the columns, with a lexicon (question.toml) for what is
called otherwise and for how questions are put. What is said of the table and cannot be read is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from difflib import get_close_matches
from typing import Final, Literal, NamedTuple, NoReturn

from executor.core.errors import ToolError
from mcl.plugins.data.tools.data.periods import Period, Periods
from mcl.plugins.data.tools.data.schema import NO, YES, SchemaColumn, TableSchema, opposite, things_of
from mcl.plugins.data.tools.data.table import read_date, read_number
from mcl.plugins.data.tools.data.words import alike, length_of, member_of, members_of, phrases, words_in

_TOKEN: Final = re.compile(
    r"\S*\w\.(?:csv|tsv|tab|json|jsonl|ndjson|md|txt)\b|[\w@.+-]*\w/[\w./-]*\w"
    r"|\d{4}-\d\d(?:-\d\d)?(?!\d)|\d+(?:[ \u00a0]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)*(?![^\W\d_])"
    r"|[^\W_]+(?:['’-][^\W_]+)*|>=|<=|!=|[<>≥≤=*×/+%−-]|[,.;:!?()\"“”\n]"
)
_BREAKS: Final = frozenset(",.;:!?()\n")
_NEAR: Final = 6  # words
_LIKE: Final = 0.84
_AMOUNTS: Final = ("actual", "amount")
_NO_AMOUNTS: Final = frozenset(("id", "nr", "no", "number", "year", "år", "month", "månad", "day", "dag"))

Row = Sequence[str]
FigureName = Literal["sum", "mean", "count", "min", "max", "median", "change"]


@dataclass(frozen=True)
class Term:
    """A column, or two with what is done with them. name: as it is told."""

    name: str
    places: tuple[int, ...]
    operation: str = ""

    def value(self, row: Row, *, comma: bool) -> Decimal | None:
        """Its number in a row; None where there is none."""
        found = [read_number(row[place].strip(), comma=comma) for place in self.places]
        numbers = [one[0] for one in found if one is not None]
        if len(numbers) < len(self.places):
            return None
        return numbers[0] if not self.operation else operated(self.operation, numbers[0], numbers[1])


def operated(sign: str, one: Decimal, other: Decimal) -> Decimal | None:
    """One of + - * /."""
    if sign == "/":
        return one / other if other else None
    return {"+": one + other, "-": one - other, "*": one * other}[sign]


class Test(NamedTuple):
    """What a row must hold. about: the column, -1 for several."""

    told: str
    about: int
    holds: Callable[[Row], bool]


class Grouping(NamedTuple):
    """What rows are grouped by. part: characters of a date; 0 for the whole cell."""

    name: str
    place: int
    part: int = 0


class Adjustment(NamedTuple):
    """What is done with a figure at the end."""

    sign: str
    number: Decimal
    percent: bool


@dataclass
class TableQuestion:
    """One question. key: what rows or groups are ordered by, None for the figure of groups; ordered: whether
    they are. successive: differences from row to row; differ: of the two figures before."""

    tests: list[Test] = field(default_factory=list)
    figures: list[tuple[FigureName, Term | None]] = field(default_factory=list)
    groups: list[Grouping] = field(default_factory=list)
    columns: list[Term] = field(default_factory=list)
    key: Term | None = None
    ordered: bool = False
    descending: bool = False
    limit: int = 0
    adjust: list[Adjustment] = field(default_factory=list)
    successive: Term | None = None
    differ: bool = False
    notes: list[str] = field(default_factory=list)


@dataclass
class _Word:
    said: str  # as it stands
    word: str
    clause: int
    number: Decimal | None = None


class _Link(NamedTuple):
    """Columns that words mean. sure: 3 by name, 2 by a word of the name, 1 by what they are about."""

    columns: tuple[SchemaColumn, ...]
    sure: int
    length: int


def read_question(said: str, schema: TableSchema, today: date) -> list[TableQuestion]:
    """The questions in a text, in its order.

    Raises:
        ToolError: UNCLEAR, with the words that say nothing here.
    """
    words = list(_tokens(said))
    parts = list(_parted(words, schema))
    asked: list[TableQuestion] = []
    for part in parts:
        reader = _Reader(part, schema, today, asked[-1] if asked else None)
        one = reader.read()
        if one.differ and len(asked) < 2 and not one.figures:
            asked += reader.in_and_out()
        asked.append(one)
    return asked


def spoken_of(said: str, schema: TableSchema, today: date) -> int:
    """How much of a text is about a table: its values and names count more than what is about the same."""
    reader = _Reader(list(_tokens(said)), schema, today, None)
    return sum(reader.weight(at) for at in range(len(reader.words)))


def _tokens(said: str) -> Iterator[_Word]:
    clause = 0
    for match in _TOKEN.finditer(said):
        text = match[0]
        if text in _BREAKS:
            clause += 1
            continue
        if text in '"“”':
            continue
        number = None
        if text[0].isdigit():
            plain = re.sub(r"[ \u00a0]", "", text)
            found = read_number(plain, comma=False) if re.search(r",\d{3}\b", plain) else None
            found = found or read_number(plain.replace(",", "."), comma=False)
            number = found[0] if found else None
        plain = text.casefold().replace("’", "'")
        yield _Word(text, plain.removesuffix("'s"), clause, number)


def _parted(words: Sequence[_Word], schema: TableSchema) -> Iterator[list[_Word]]:
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


def _asks(words: Sequence[_Word], schema: TableSchema) -> bool:
    """Whether words ask something by themselves, and do not only lead to a question."""
    reader = _Reader(words, schema, date.min, None)
    plain = [one.word for one in words]
    figure = any(member_of("figure", plain, at)[0] for at in range(len(plain)))
    which = any(length_of("which", plain, at) for at in range(len(plain)))
    linked = any(reader.link(at) is not None for at in range(len(plain)))
    return (figure or which) and (linked or plain[0] in ("how", "hur"))


class _Reader:
    def __init__(
        self, words: Sequence[_Word], schema: TableSchema, today: date, before: TableQuestion | None
    ) -> None:
        self.words, self.schema, self.today, self.before = words, schema, today, before
        self.plain = [one.word for one in words]
        self.used: set[int] = set()
        self.asked = TableQuestion()
        self.mentions: list[tuple[int, SchemaColumn, int]] = []
        self.terms: list[tuple[int, Term]] = []
        self._grouped_by_which = False
        self.named: set[int] = set()
        self.late = [timedelta(0)]  # how far behind a period its last reading may be
        self.given: dict[tuple[int, bool], list[tuple[str, ...]]] = {}

    # ---- the passes

    def read(self) -> TableQuestion:
        """Everything that is asked here."""
        self._files()
        self._computed()
        self._successive()
        self._adjusted()
        self._beyond()
        self._periods()
        self._compared()
        self._grouped()
        self._sorted()
        self._values()
        self._figures()
        self._mentioned()
        self._settled()
        self._unread()
        self._inherited()
        return self.asked

    def _files(self) -> None:
        """Names of files say nothing of the rows."""
        for at, one in enumerate(self.words):
            if re.search(r"\w\.(?:csv|tsv|tab|json|jsonl|ndjson|md|txt)$", one.word) or (
                "/" in one.word and self.schema.path.casefold().startswith(one.word)
            ):
                self.used.add(at)
                self.named.add(at)

    def _computed(self) -> None:
        """“hours times rate”, perhaps with a name before it: “amount (hours times rate)”."""
        for at in range(1, len(self.words) - 1):
            sign, length = member_of("operations", self.plain, at)
            if not sign or at in self.used:
                continue
            left = self._number_before(at)
            right = self._number_column(at + length)
            if left is None or right is None or left[1].place == right[1].place:
                continue
            start, one = left
            end, other = right
            name = f"{one.name} {sign} {other.name}"
            if start and self.words[start - 1].clause == self.words[start].clause - 1:
                label = start - 1  # before a bracket
                if not self._empty(label) and self.words[label].number is None and self._names(label):
                    name = self.words[label].said
                    self.used.add(label)
            self.terms.append((start, Term(name, (one.place, other.place), sign)))
            self.used.update(range(start, end))

    def _names(self, at: int) -> bool:
        """Whether a word may name what is computed: none of a column of another kind."""
        found = self.link(at)
        return found is None or found.sure == 1 or found.columns[0].kind == "number"

    def _number_before(self, at: int) -> tuple[int, SchemaColumn] | None:
        for start in range(at - 1, max(at - 4, -1), -1):
            found = self.link(start)
            if found is not None and start + found.length == at and start not in self.used:
                number = [one for one in found.columns if one.kind == "number"]
                if len(number) == 1:
                    return start, number[0]
        return None

    def _number_column(self, at: int) -> tuple[int, SchemaColumn] | None:
        at = self._skip(at)
        found = self.link(at) if at < len(self.words) and at not in self.used else None
        number = [one for one in found.columns if one.kind == "number"] if found else []
        return (at + found.length, number[0]) if found and len(number) == 1 else None

    def _successive(self) -> None:
        for at in range(len(self.words)):
            length = length_of("between", self.plain, at)
            if not length:
                continue
            number = self._only_number(self.schema.of("number"))
            column = next((one for _, one, _ in self._links() if one.kind == "number"), number)
            if column is None:
                self._unclear(" ".join(self.plain[at : at + length]), self.schema.of("number"))
            self.asked.successive = Term(column.name, (column.place,))
            end = at + length + (1 if self.plain[at + length - 1] in ("varje", "each", "every") else 0)
            self._use(at, end - at)

    def _adjusted(self) -> None:
        for at in range(len(self.words)):
            sign, length = member_of("adjust", self.plain, at)
            there = self._skip(at + length)
            if not sign or at in self.used or there >= len(self.words):
                continue
            number = self.words[there].number
            if number is None or there in self.used:
                continue
            percent = self.plain[there + 1 : there + 2] in (["%"], ["percent"], ["procent"])
            self.asked.adjust.append(Adjustment(sign, number, percent))
            self._use(at, there - at + 1 + percent)
            self._unit(there)

    def _beyond(self) -> None:
        """“over budget”: what was used is more than what was planned."""
        planned = [one for one in self.schema.about({"planned"}) if one.kind == "number"]
        others = [one for one in self.schema.of("number") if one not in planned]
        actual = [one for one in others if "actual" in one.things] or others
        for at in range(len(self.words)):
            way, length = member_of("beyond", self.plain, at)
            if not way or at in self.used or len(planned) != 1 or len(actual) != 1:
                continue
            if self.words[min(at + length, len(self.words) - 1)].number is not None:
                continue
            one, other = actual[0], planned[0]
            self._use(at, length)
            told = f"{one.name} {way} {other.name}"
            if all(test.told != told for test in self.asked.tests):
                self.asked.tests.append(Test(told, -1, self._against(one, way, other)))
            before = range(max(0, at - 4), at)
            if any(member_of("figure", self.plain, place)[0] == "sum" for place in before):
                by = (one, other) if way == ">" else (other, one)
                term = Term(f"{by[0].name} - {by[1].name}", (by[0].place, by[1].place), "-")
                self.terms.append((at, term))
            for place in self._clause(at):
                found = self.link(place)
                if found is not None and found.sure == 1 and {one, other}.intersection(found.columns):
                    self._use(place, found.length)

    def _against(self, one: SchemaColumn, way: str, other: SchemaColumn) -> Callable[[Row], bool]:
        comma = self.schema.comma

        def test(row: Row) -> bool:
            left = read_number(row[one.place].strip(), comma=comma)
            right = read_number(row[other.place].strip(), comma=comma)
            return left is not None and right is not None and held(way, left[0], right[0])

        return test

    def _periods(self) -> None:
        found = list(Periods(self.plain, [one.said for one in self.words], self.today).found())
        found = [one for one in found if not self.used.intersection(range(one.start, one.end))]
        tests: list[Test] = []
        for one in found:
            if one.bare_year and not self._takes_year(one):
                continue
            test = self._when(one)
            if test is None and one.weak:
                continue
            if test is None:
                self._unclear(one.said, [], "no column of dates")
            if self._negated(one.start):
                tests.append(_none(test))
                self._use(one.start, one.end - one.start)
                continue
            same = next((old for old in tests if old.about == test.about >= 0), None)
            if same is not None:
                tests[tests.index(same)] = _either(same, test)
            else:
                tests.append(test)
            self._use(one.start, one.end - one.start)
        self.asked.tests += tests

    def _takes_year(self, one: Period) -> bool:
        """Whether a number of four digits is a year here, and no amount: 2026."""
        before = self.plain[max(0, one.start - 2) : one.start]
        compared = any(
            length_of(f"ways.{way}", before, at) + at == len(before)
            for way in (">", "<", ">=", "<=")
            for at in range(len(before))
        )
        return not compared or bool(self.schema.of("date") and not self.schema.of("number"))

    def _when(self, one: Period) -> Test | None:
        """The test of a period on the column of dates that is meant, else on those of months and years."""
        dates = self.schema.of("date")
        near = [link for link in self._links() if link[1] in dates and abs(link[0] - one.start) <= _NEAR]
        column = near[0][1] if near else next(iter(dates), None)
        if column is not None:
            place = column.place

            def test(row: Row) -> bool:
                moment = read_date(row[place].strip())
                return moment is not None and any(one.holds(moment.date() - late) for late in self.late)

            return Test(f"{column.name} in {one.told}", place, test)
        if not one.month and not one.year:
            return None
        months = self.schema.about({"month"})
        years = [each for each in self.schema.about({"year"}) if each.kind in ("number", "text")]
        if (one.month and not months) or (one.year and not one.month and not years):
            return None

        def named(row: Row) -> bool:
            fits = not one.month or any(one.is_month(row[each.place]) for each in months)
            return fits and (
                not one.year or any(str(one.year) in row[each.place] for each in (*years, *months))
            )

        return Test(one.told, -1, named)

    def _compared(self) -> None:
        """“over 500 kr”, “at least 3”, “spent more than planned”, “older than 40”."""
        for at in range(len(self.words)):
            way, length = member_of("ways", self.plain, at)
            there = self._skip(at + length)
            if not way or at in self.used or there >= len(self.words) or there in self.used:
                continue
            number, moment = self.words[there].number, read_date(self.words[there].said)
            if moment is not None:
                column = self._column_near(at, "date")
                told = f"{column.name} {way} {self.words[there].said}"
                self.asked.tests.append(Test(told, column.place, _dated(column.place, way, moment.date())))
                self._use(at, there - at + 1)
            elif number is not None:
                self._against_number(at, way, there, number)
            else:
                self._against_column(at, way, length, there)

    def _against_number(self, at: int, way: str, there: int, number: Decimal) -> None:
        old = self.plain[at] in ("older", "younger", "äldre", "yngre")
        years = self.plain[there + 1 : there + 2] in (["år"], ["years"], ["year"], ["yrs"])
        births = [one for one in self.schema.about({"birth"}) if one.kind in ("date", "number")]
        if (old or years) and births and not self.schema.about({"age"}):
            self.asked.tests.append(self._aged(births[0], way, number))
        else:
            column = self._column_near(at, "number", there)
            told = f"{column.name} {way} {self.words[there].said}"
            self.asked.tests.append(Test(told, column.place, self._over(column, way, number)))
        self._use(at, there - at + 1 + years)
        self._unit(there)

    def _over(self, column: SchemaColumn, way: str, number: Decimal) -> Callable[[Row], bool]:
        place, comma = column.place, self.schema.comma

        def test(row: Row) -> bool:
            own = read_number(row[place].strip(), comma=comma)
            return own is not None and held(way, own[0], number)

        return test

    def _aged(self, column: SchemaColumn, way: str, number: Decimal) -> Test:
        place, today = column.place, self.today

        def test(row: Row) -> bool:
            cell = row[place].strip()
            born = read_date(cell)
            if born is not None:
                day = born.date()
                age = today.year - day.year - ((today.month, today.day) < (day.month, day.day))
                return held(way, Decimal(age), number)
            return cell.isdigit() and held(way, Decimal(today.year - int(cell)), number)

        return Test(f"age by {column.name} {way} {number}", place, test)

    def _against_column(self, at: int, way: str, length: int, there: int) -> None:
        found = self.link(there)
        right = [one for one in found.columns if one.kind == "number"] if found else []
        if found is None or len(right) != 1:
            return
        before = [
            (place, one)
            for place, one, _ in self._links()
            if one.kind == "number" and one not in right and place < at and place in self._clause(at)
        ]
        others = [one for one in self.schema.of("number") if one not in right]
        left = before[-1][1] if before else others[0] if len(others) == 1 else None
        if left is None:
            return
        told = f"{left.name} {way} {right[0].name}"
        self.asked.tests.append(Test(told, -1, self._against(left, way, right[0])))
        start = before[-1][0] if before else at
        self._use(start if at - start <= 3 else at, there + found.length - (start if at - start <= 3 else at))

    def _grouped(self) -> None:
        at = 0
        while at < len(self.words):
            length = 0 if at in self.used else length_of("group", self.plain, at)
            by = 0 if length or at in self.used else length_of("by", self.plain, at)
            sorts = at and length_of("sorting", self.plain, at - 1)
            if not (length or by) or sorts:
                at += 1
                continue
            end = self._group_at(at, at + (length or by), by=bool(by))
            at = max(end, at + 1)

    def _group_at(self, at: int, there: int, *, by: bool) -> int:
        there = self._skip(there)
        if there >= len(self.words):
            return there
        found = self._grouping(there, by=by)
        if found is None:
            own = self.schema.is_own(self.plain[there]) or self._empty(there) or there in self.used
            if not by and not own and self.words[there].number is None:
                self._unclear(self.words[there].said, self.schema.columns)
            return at + 1
        while found is not None:
            if found[0] not in self.asked.groups:
                self.asked.groups.append(found[0])
            self._use(at, found[1] - at)
            at = found[1]
            joined = at < len(self.words) - 1 and self.plain[at] in ("and", "och", "&", "o")
            there = at + 1 if joined else len(self.words)
            found = self._grouping(there, by=True) if joined else None
        return at

    def _grouping(self, there: int, *, by: bool) -> tuple[Grouping, int] | None:
        """What a word says to group by, and where it ends."""
        if there >= len(self.words) or there in self.used:
            return None
        found = self.link(there, weak=True)
        part, length = member_of("parts", self.plain, there)
        dates = self.schema.of("date")
        exact = found is not None and found.sure == 3 and found.columns[0].kind != "date"
        if part and dates and not exact:
            characters = {"year": 4, "month": 7, "day": 10}[part]
            return Grouping(part, dates[0].place, characters), there + length
        if found is None:
            return None
        fitting = [one for one in found.columns if one.kind != "number"] or list(found.columns)
        if by and fitting[0].kind == "number" and fitting[0].name.casefold() not in _NO_AMOUNTS:
            return None
        if len(fitting) > 1:
            self._unclear(self.words[there].said, fitting)
        return Grouping(fitting[0].name, fitting[0].place), there + found.length

    def _sorted(self) -> None:
        rising, falling = self._any("rising"), self._any("falling")
        for at in range(len(self.words)):
            if at in self.used:
                continue
            length = length_of("sorting", self.plain, at) or (
                length_of("by", self.plain, at) if self._follows_top(at) or not self.asked.groups else 0
            )
            there = self._skip(at + length) if length else len(self.words)
            found = self.link(there, weak=True) if there < len(self.words) else None
            if length and found is not None and there not in self.used:
                column = found.columns[0]
                self.asked.key, self.asked.ordered = Term(column.name, (column.place,)), True
                self.asked.descending = self._follows_top(at) or (column.kind == "number" and falling)
                self._use(at, there + found.length - at)
        self._first()
        if (rising or falling) and not self.asked.ordered:
            self.asked.ordered = True
        if rising or falling:
            self.asked.descending = falling

    def _follows_top(self, at: int) -> bool:
        before = range(max(0, at - _NEAR), at)
        return any(length_of("top", self.plain, one) or self._superlative(one)[0] for one in before)

    def _first(self) -> None:
        """“biggest first”, “with the largest sum on top”: an order, and no choice."""
        for at in range(len(self.words)):
            which, length = self._superlative(at)
            if not which or at in self.used:
                continue
            for there in range(at + length, min(at + length + 5, len(self.words))):
                if self.words[there].clause != self.words[at].clause:
                    break
                end = length_of("first", self.plain, there)
                if not end or self._is_limit(there + end):
                    continue
                between = [self.link(one) for one in range(at + length, there)]
                named = [one for one in between if one is not None]
                self._order_by(which, at, length, named)
                self._use(at, there + end - at)
                break

    def _order_by(self, which: str, at: int, length: int, named: Sequence[_Link]) -> None:
        asked = self.asked
        asked.ordered = True
        columns = [one for link in named for one in link.columns if one.kind in ("number", "date")]
        about = self._spoken_of(at, length)
        if not columns and about:
            columns = about
        if columns and not (asked.groups and columns[0].kind == "number" and not about):
            asked.key = Term(columns[0].name, (columns[0].place,))
        asked.descending = self._down(which, columns[0] if columns else None)

    def _down(self, which: str, column: SchemaColumn | None) -> bool:
        """Whether the first is the highest: the oldest has the earliest date, but the highest age."""
        aged = column is not None and "age" in column.things and "birth" not in column.things
        if which in ("old", "young"):
            return (which == "old") == aged
        return which == "high"

    def _spoken_of(self, at: int, length: int) -> list[SchemaColumn]:
        """The columns that a superlative speaks of by itself: of the longest, those of lengths."""
        about = members_of("speaks_of", tuple(self.plain[at : at + length]))
        if "age" in about:
            aged = self.schema.about({"birth"}) or self.schema.about({"age"})
            aged = aged or self.schema.of("date") or self.schema.about({"year"})
            return [one for one in aged if one.kind in ("number", "date")]
        if "date" in about:
            return self.schema.of("date")
        return [one for one in self.schema.about(about) if one.kind == "number"]

    def _superlative(self, at: int) -> tuple[str, int]:
        if self.plain[at] == "min" and (at + 1 == len(self.words) or self.link(at + 1) is None):
            return "", 0  # in Swedish, what is mine
        return member_of("top_words", self.plain, at)

    def _is_limit(self, at: int) -> bool:
        return at < len(self.words) and self._count(at) is not None

    def _count(self, at: int) -> int | None:
        """The whole number that a word says."""
        number = self.words[at].number
        if number is not None and number == number.to_integral_value() and 0 < number <= 1000:
            return int(number)
        named, length = member_of("numerals", self.plain, at)
        return int(named) if length else None

    def _values(self) -> None:
        """Values that columns have, and yes or no of those that hold that."""
        for at in range(len(self.words)):
            if at in self.used:
                continue
            if self._lacking(at) or self._is_value(at) or self._yes_or_no(at):
                continue
        for (place, no), found in self.given.items():
            column = self.schema.columns[place]
            said = " or ".join(column.values.get(one, " ".join(one)) for one in dict.fromkeys(found))
            told = f"{column.name} is {'not ' if no else ''}{said}"
            self.asked.tests.append(Test(told, place, _valued(place, frozenset(found), no)))

    def _is_value(self, at: int) -> bool:
        for length in range(min(6, len(self.words) - at), 0, -1):
            if self.used.intersection(range(at, at + length)):
                continue
            if self._is_name(at, length):
                return False
            found = list(self._valued(at, length))
            if not found:
                continue
            kinds = [one for one in found if one[0].says_kinds] or found
            columns = {one.place for one, _ in kinds}
            no = self._negated(at)
            if len(columns) > 1:
                self._some(kinds, no)
            else:
                place = kinds[0][0].place
                self.given.setdefault((place, no), []).extend(value for _, value in kinds)
            self._use(at, length)
            return True
        return False

    def _is_name(self, at: int, length: int) -> bool:
        """Whether words are the name of a column, which counts before a value that is alike."""
        found = self.link(at)
        return found is not None and found.sure == 3 and found.length >= length

    def _some(self, found: Sequence[tuple[SchemaColumn, tuple[str, ...]]], no: bool) -> None:
        tests = [_valued(one.place, frozenset([value]), False) for one, value in found]
        names = " or ".join(one.name for one, _ in found)
        said = found[0][0].values[found[0][1]]
        told = f"{names} is {'not ' if no else ''}{said}"
        self.asked.tests.append(Test(told, -1, lambda row: any(test(row) for test in tests) != no))

    def _valued(self, at: int, length: int) -> Iterator[tuple[SchemaColumn, tuple[str, ...]]]:
        """The columns that have these words as a value: as they are, else but for endings or by the first
        word of just one, else what is about the same."""
        words = tuple(each for one in self.words[at : at + length] for each in words_in(one.said))
        if not words or (length == 1 and self._weak(at)):
            return
        text = [one for one in self.schema.of("text") if one.values and not one.says_yes]
        same = [(one, words) for one in text if words in one.values]
        if same:
            yield from same
            return
        if all(self._empty(one) for one in range(at, at + length)) and length < 2:
            return
        near = [
            (one, value)
            for one in text
            for value in one.values
            if len(value) == len(words) and all(map(alike, value, words))
        ]
        if near:
            yield from near
            return
        if length == 1 and len(words[0]) > 3:
            yes = [one for one in text if "mail" not in one.things]
            begun = [(one, value) for one in yes for value in one.values if value[:1] == words]
            if begun and len({one.place for one, _ in begun}) == 1 and not self.link(at):
                yield from begun
                return
        things = members_of("things", words)
        for one in text if things else ():
            if one.says_kinds and not self.link(at):
                yield from ((one, value) for value in one.values if things & things_of(value))

    def _lacking(self, at: int) -> bool:
        """“without a grade”: the cells of a column are empty."""
        length = length_of("lacking", self.plain, at)
        there = self._skip(at + length) if length else len(self.words)
        if there >= len(self.words) or there in self.used:
            return False
        found = self.link(there)
        if found is None or found.sure < 2 or found.columns[0].says_yes:
            return False
        place = found.columns[0].place
        self.asked.tests.append(
            Test(f"{found.columns[0].name} is empty", place, lambda row: not row[place].strip())
        )
        self._use(at, there + found.length - at)
        return True

    def _yes_or_no(self, at: int) -> bool:
        for length in (3, 2, 1):
            words = tuple(self.plain[at : at + length])
            if len(words) < length or self.used.intersection(range(at, at + length)):
                continue
            things = members_of("things", words)
            against = opposite(things)
            for column in self.schema.columns:
                if not column.says_yes:
                    continue
                named = length == 1 and any(alike(words[0], one) for one in column.words)
                if not (named or (things | against) & column.things):
                    continue
                if named and self._in_list(at):
                    return False
                no = self._negated(at) != (not named and not things & column.things)
                self._use(at, length)
                wanted = NO if no else YES
                told = f"{column.name} is {'no' if no else 'yes'}"
                if all(test.told != told for test in self.asked.tests):
                    self.asked.tests.append(Test(told, column.place, _cell_in(column.place, wanted)))
                return True
        return False

    def _in_list(self, at: int) -> bool:
        """Whether a column stands in a list of columns: name, city and paid."""
        beside = [one for one in (at - 2, at - 1, at + 1, at + 2) if 0 <= one < len(self.words)]
        joined = {self.plain[one] for one in (at - 1, at + 1) if 0 <= one < len(self.words)} & {"and", "och"}
        comma = at and self.words[at - 1].clause != self.words[at].clause
        return bool(joined or comma) and any(self._named(one) for one in beside)

    def _named(self, at: int) -> bool:
        found = self.link(at)
        return found is not None and found.sure > 1

    def _negated(self, at: int) -> bool:
        for there in range(at - 1, max(-1, at - _NEAR), -1):
            length = length_of("negation", self.plain, there)
            if self.words[there].clause != self.words[at].clause:
                break
            if length and there + length <= at:
                self._use(there, length)
                return True
            known = there not in self.used and self.link(there) is not None
            if known and not self._empty(there):
                break
        behind = self.words[at + 1 : at + 2]
        if behind and behind[0].clause == self.words[at].clause and behind[0].word in ("inte", "not", "ej"):
            self.used.add(at + 1)
            return True
        return False

    def _figures(self) -> None:
        asked = self.asked
        chosen: list[tuple[int, str]] = []
        for at in range(len(self.words)):
            if at in self.used:
                continue
            name, length = member_of("figure", self.plain, at)
            before = self.link(at - 1) if at and at - 1 not in self.used else None
            if before is not None and before.length > 1:  # "phone number of"
                name = ""
            which, superlative = self._superlative(at)
            prefix = self._prefixed(at)
            if length_of("difference", self.plain, at):
                asked.differ = True
                self._use(at, length_of("difference", self.plain, at))
            elif which and superlative >= length:
                self._top(at, which, superlative, chosen)
            elif name:
                if self.link(at) is None or self.link(at).sure < 3 or name == "count":  # type: ignore[union-attr]
                    self._use(at, length)
                chosen.append((at, name))
            elif prefix is not None:
                chosen.append((at, prefix[0]))
                self.mentions.append((at, prefix[1], 3))
                self._use(at, 1)
            elif length_of("top", self.plain, at) or length_of("bottom", self.plain, at):
                self._limited(at, bool(length_of("top", self.plain, at)))
        self._chosen = chosen

    def _prefixed(self, at: int) -> tuple[str, SchemaColumn] | None:
        """A figure and a column in one word: maxtemperatur."""
        if self.link(at) is not None:
            return None
        for name in ("high", "low", "mean", "sum"):
            for first in (one for some in phrases(f"prefixes.{name}").values() for one in some):
                rest = self.plain[at].removeprefix(first[0])
                if rest == self.plain[at] or len(rest) < 3:
                    continue
                found = self.link_of((rest,))
                number = [one for one in found.columns if one.kind == "number"] if found else []
                if len(number) == 1:
                    return {"high": "max", "low": "min"}.get(name, name), number[0]
        return None

    def _top(self, at: int, which: str, length: int, chosen: list[tuple[int, str]]) -> None:
        """A superlative that is no order: the first so many rows or groups, or the figure itself."""
        asked = self.asked
        near = [one for one in (at + length, *range(at - 1, at - 6, -1)) if 0 <= one < len(self.words)]
        near = [one for one in near if self.words[one].clause == self.words[at].clause]
        counts = [(one, self._count(one)) for one in near if one not in self.used]
        said = next(((one, many) for one, many in counts if many), None)
        about = self._spoken_of(at, length)
        asks = self._asks_which(at)
        if said is None and not asked.groups and not about:
            self._of_which(at, asks=asks)
        asks = asks or self.plain[:1] in (["show"], ["visa"], ["list"], ["lista"])
        behind = next((one for place, one, _ in self._links() if place >= at + length), None)
        if behind is not None and behind.kind not in ("number", "date"):
            behind = None
        if behind is not None and behind.kind == "date" and which not in ("old", "young") and not about:
            behind = None  # "busiest day" is none of the days
        if said is None and not (asks or self._grouped_by_which):
            chosen.append((at, "min" if self._low(which, about) else "max"))
            if about and behind is None:
                self.mentions.append((at, about[0], 3))
        else:
            asked.limit, asked.ordered = (said[1] or 1) if said else 1, True
            column = about[0] if about else behind
            if column is not None and not asked.groups:
                asked.key = Term(column.name, (column.place,))
                self._use_column(column)
            asked.descending = self._down(which, column)
            if said:
                self.used.add(said[0])
        self._use(at, length)

    def _asks_which(self, at: int) -> bool:
        which = (one for one in range(at) if length_of("which", self.plain, one))
        return any(self.plain[one] not in ("what", "vad") for one in which)

    def _of_which(self, at: int, *, asks: bool) -> None:
        """“which category … most”, “the page with most errors”: the groups of which one is asked for, where
        rows have the same there."""
        for there in range(at):
            if there in self.used:
                continue
            which = there and length_of("which", self.plain, there - 1)
            has = self.plain[there + 1 : there + 2]
            if not (which or (has and has[0] in ("with", "med", "that", "som", "where", "där"))):
                continue
            found = self._grouping(there, by=True)
            column = self.schema.columns[found[0].place] if found else None
            if found is None or column is None:
                continue
            if found[0].part or column.says_kinds:
                self.asked.groups.append(found[0])
                self._use(there, found[1] - there)
                self._grouped_by_which = True
                return

    def _low(self, which: str, about: Sequence[SchemaColumn]) -> bool:
        return not self._down(which, about[0] if about else None)

    def _limited(self, at: int, top: bool) -> None:
        asked = self.asked
        asked.ordered, asked.descending = True, top
        there = at + 1
        if there < len(self.words) and (many := self._count(there)) is not None:
            asked.limit = many
            self.used.add(there)
        self.used.add(at)

    def _mentioned(self) -> None:
        at = 0
        while at < len(self.words):
            found = self.link(at) if at not in self.used else None
            if (
                found is None
                and at not in self.used
                and self.plain[at] in ("amount", "amounts", "belopp", "beloppet")
            ):
                term = self._money("sum")
                self.terms.append((at, term))
                self._use(at, 1)
            if found is None or (found.sure == 1 and self._empty(at)) or self._stands_for_rows(at, found):
                at += 1
                continue
            number = [one for one in found.columns if one.kind == "number"]
            columns = number if len(number) == 1 and self._chosen else found.columns
            if len(columns) > 1 and found.sure > 1:
                self._unclear(self.words[at].said, columns)
            if len(columns) == 1:
                self.mentions.append((at, columns[0], found.sure))
            self._use(at, found.length)
            at += found.length
        self.mentions.sort(key=lambda one: one[0])

    def _stands_for_rows(self, at: int, found: _Link) -> bool:
        own = self.schema.own_words
        return found.sure < 3 and any(alike(self.plain[at], one) for one in own)

    def _settled(self) -> None:
        """What figures are of, and which columns are shown."""
        asked, chosen = self.asked, self._chosen
        numbers = [(at, Term(one.name, (one.place,))) for at, one, _ in self.mentions if one.kind == "number"]
        numbers += self.terms
        numbers.sort(key=lambda one: one[0])
        if asked.successive is not None:
            return
        if asked.differ and not chosen and not numbers:
            return
        if not chosen and asked.groups:
            adds = numbers or self._amount(quiet=True) is not None
            if not adds and self._grouped_by_which and self.schema.of("number"):
                self._unclear("most", self.schema.of("number"))
            chosen = [(-1, "sum" if adds else "count")]
        elif not chosen and asked.adjust and numbers:
            chosen = [(-1, "sum")]
        if chosen:
            self._figures_of(chosen, numbers)
            return
        shown = [(at, Term(one.name, (one.place,))) for at, one, _ in self.mentions] + self.terms
        shown.sort(key=lambda one: one[0])
        if self.terms or self._are_wanted(shown):
            asked.columns = list(dict.fromkeys(term for _, term in shown))
        if asked.ordered and asked.key is None:
            column = next((one for _, one, _ in self.mentions if one.kind in ("number", "date")), None)
            column = column or self._amount()
            assert column is not None
            asked.key = Term(column.name, (column.place,))

    def _figures_of(self, chosen: Sequence[tuple[int, str]], numbers: Sequence[tuple[int, Term]]) -> None:
        asked = self.asked
        for place, (at, name) in enumerate(chosen):
            end = chosen[place + 1][0] if place + 1 < len(chosen) else len(self.words)
            behind = [term for there, term in numbers if at <= there < end]
            if name == "count":
                near = [term for there, term in numbers if at < there <= at + 4]
                if (near and not any(other != "count" for _, other in chosen)) or (near and asked.groups):
                    self._add("sum", near[0])
                elif not any(other != "count" for _, other in chosen):
                    self._add("count", None)
                continue
            dates = [one for there, one, _ in self.mentions if one.kind == "date" and name in ("min", "max")]
            terms = behind or [term for _, term in numbers[-1:]]
            if not terms and dates:
                asked.ordered, asked.limit, asked.descending = True, 1, name == "max"
                asked.key = Term(dates[0].name, (dates[0].place,))
                return
            if not terms:
                terms = [self._money(name)]
            for term in terms:
                self._add(name, term)
        if asked.groups:
            for _, term in numbers:
                if all(term != other for _, other in asked.figures):
                    self._add("sum", term)
            order = {term: at for at, term in numbers}
            asked.figures.sort(key=lambda one: order.get(one[1], -1) if one[1] else -1)

    def _add(self, name: str, term: Term | None) -> None:
        one_column = term is not None and len(term.places) == 1 and not self.asked.groups
        if name == "sum" and term is not None and one_column and self._is_meter(term):
            name = "change"
            self.late = [timedelta(0), timedelta(1)]
        one: tuple[FigureName, Term | None] = (name, term)  # type: ignore[assignment]
        if one not in self.asked.figures:
            self.asked.figures.append(one)

    def _is_meter(self, term: Term) -> bool:
        return self.schema.columns[term.places[0]].is_meter

    def _money(self, name: str) -> Term:
        """What is added up where nothing is named: the amounts, else quantity times price."""
        found = self._amount(quiet=True)
        if found is not None:
            return Term(found.name, (found.place,))
        rates = [one for one in self.schema.about({"rate"}) if one.kind == "number"]
        many = [one for one in self.schema.about({"hours", "quantity"}) if one.kind == "number"]
        if len(rates) == 1 and len(many) == 1 and name == "sum":
            one, other = many[0], rates[0]
            return Term(f"{one.name} * {other.name}", (one.place, other.place), "*")
        column = self._amount()
        assert column is not None
        return Term(column.name, (column.place,))

    def _amount(self, *, quiet: bool = False) -> SchemaColumn | None:
        """The column of numbers that is meant where none is named. Raises UNCLEAR, unless quiet."""
        numbers = [one for one in self.schema.of("number") if one.name.casefold() not in _NO_AMOUNTS]
        for thing in _AMOUNTS:
            fitting = [one for one in numbers if thing in one.things and "planned" not in one.things]
            if len(fitting) == 1:
                return fitting[0]
            if len(fitting) > 1:
                break
        if self._only_number(numbers) is not None:
            return numbers[0]
        if not quiet:
            self._unclear("the column", numbers)
        return None

    @staticmethod
    def _only_number(numbers: Sequence[SchemaColumn]) -> SchemaColumn | None:
        return numbers[0] if len(numbers) == 1 else None

    def _are_wanted(self, shown: Sequence[tuple[int, Term]]) -> bool:
        """Whether columns that are named are those to show, and not only what the rows are."""
        if not shown:
            return False
        if self._any("just") or len(shown) > 1:
            return True
        at = shown[0][0]
        before = self.plain[max(0, at - 3) : at]
        asks = {"show", "visa", "need", "behöver", "want", "vill", "give", "ge", "list", "lista", "column"}
        return bool(asks.intersection(before)) and not (at and length_of("which", self.plain, at - 1))

    def _unread(self) -> None:
        """Refuse where words that say which rows are meant are none of the table's."""
        asked = self.asked
        linked = {self.words[at].clause for at in self.used - self.named}
        texts = bool(self.schema.of("text"))
        everything = not (asked.tests or asked.ordered or asked.columns or asked.figures or asked.groups)
        for at, one in enumerate(self.words):
            if at in self.used or self._empty(at) or one.number is not None or not one.word[0].isalnum():
                continue
            if self.schema.is_own(one.word) or length_of("people", self.plain, at):
                continue
            if one.clause not in linked and not everything:
                continue
            if not texts and not everything and not self._forbidden(at):
                continue  # no column says which
            if (self._binds(at) or not self._tolerated(at, everything=everything)) and not self._typo(at):
                self._unclear(one.said, self.schema.columns)

    def _tolerated(self, at: int, *, everything: bool) -> bool:
        """Whether a word may say nothing of the rows: a verb; what rows are, behind how many and which; what
        stands just before the name of a column."""
        if length_of("verbs", self.plain, at):
            return True
        before = [one for one in range(max(0, at - 2), at) if self.words[one].clause == self.words[at].clause]
        for there in before:
            counts = member_of("figure", self.plain, there)
            if counts[0] and there + counts[1] == at:
                return True
            if there == at - 1 and (length_of("which", self.plain, there) or self._count(there)):
                return True
            if there == at - 1 and self._superlative(there)[0]:
                return True
        kinds = any(column.says_kinds for column in self.schema.columns)
        if not kinds and at and self.plain[at - 1] in ("all", "alla", "hela", "whole", "every"):
            return True  # there is no column that would say which
        if everything:
            return False
        return at + 1 < len(self.words) and at + 1 in self.used and self.link(at + 1) is not None

    def _forbidden(self, at: int) -> bool:
        before = (one for one in range(max(0, at - 3), at) if self.words[one].clause == self.words[at].clause)
        return any(length_of("negation", self.plain, one) for one in before)

    def _binds(self, at: int) -> bool:
        """Whether a word stands behind one that makes it a condition: on books, without Anna."""
        for there in range(at - 1, max(-1, at - 4), -1):
            if self.words[there].clause != self.words[at].clause:
                return False
            if length_of("negation", self.plain, there):
                return True
            if length_of("binding", self.plain, there) and not self._is_me(there):
                return True
            if not self._empty(there) or there in self.used:
                return False
        return False

    def _is_me(self, at: int) -> bool:
        """Whether an i is the English one, and no place."""
        english = any(length_of("english", self.plain, one) for one in range(len(self.words)))
        return self.plain[at] == "i" and (english or self.words[at].said == "I")

    def _typo(self, at: int) -> bool:
        """A value that is nearly spelled so."""
        word = self.plain[at]
        known = {
            value[0]: one
            for one in self.schema.of("text")
            if one.says_kinds
            for value in one.values
            if len(value) == 1 and len(word) > 4
        }
        near = get_close_matches(word, known, 2, _LIKE)
        if len(near) != 1:
            return False
        column = known[near[0]]
        no = self._negated(at)
        value = column.values[(near[0],)]
        told = f"{column.name} is {'not ' if no else ''}{value}"
        self.asked.tests.append(Test(told, column.place, _valued(column.place, frozenset([(near[0],)]), no)))
        return True

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

    def in_and_out(self) -> list[TableQuestion]:
        """What came in, and what went out: their difference is asked for."""
        pairs = [
            (
                one,
                {
                    thing: value
                    for value in one.values
                    for thing in ("income", "expense")
                    if thing in things_of(value)
                },
            )
            for one in self.schema.of("text")
            if one.says_kinds
        ]
        column, values = next(((one, two) for one, two in pairs if len(two) == 2), (None, {}))
        if column is None:
            self._unclear("the difference", self.schema.columns)
        term = self._money("sum")
        made = []
        for thing in ("income", "expense"):
            value = values[thing]
            told = f"{column.name} is {column.values[value]}"
            test = Test(told, column.place, _valued(column.place, frozenset([value]), False))
            made.append(TableQuestion([*self.asked.tests, test], [("sum", term)]))
        return made

    def weight(self, at: int) -> int:
        """How much a word says of the table."""
        if self._weak(at) or self.words[at].number is not None or length_of("people", self.plain, at):
            return 0
        if self.schema.is_own(self.plain[at]):
            return 2
        most = min(3, len(self.words) - at)
        values = [value for length in range(1, most + 1) for value in self._valued(at, length)]
        if values:
            plain = words_in(self.words[at].said)
            return 3 if any(value[: len(plain)] == plain for _, value in values) else 1
        if self._empty(at) or member_of("figure", self.plain, at)[0]:
            return 0
        found = self.link(at)
        return min(found.sure, 2) if found is not None else 0

    # ---- small things

    def link(self, at: int, *, weak: bool = False) -> _Link | None:
        """The columns that the words from a place on mean, by as many words as can be."""
        best: _Link | None = None
        for length in range(min(4, len(self.words) - at), 0, -1):
            if any(one.clause != self.words[at].clause for one in self.words[at : at + length]):
                continue
            if length == 1 and self._weak(at) and not weak:
                continue
            found = self.link_of(tuple(self.plain[at : at + length]))
            if found is not None and (best is None or found.sure > best.sure):
                best = found
        return best

    def link_of(self, words: tuple[str, ...]) -> _Link | None:
        """The columns that these words mean, all of them together."""
        columns, length = self.schema.columns, len(words)
        parted = tuple(each for one in words for each in words_in(one))
        same = [one for one in columns if one.words == parted]
        near = same or [
            one for one in columns if len(one.words) == len(parted) and all(map(alike, one.words, parted))
        ]
        if near:
            return _Link(tuple(near), 3, length)
        if length == 1:
            part = [one for one in columns if any(alike(words[0], each) for each in one.words)]
            if part:
                return _Link(tuple(part), 2, length)
        things = members_of("things", words)
        about = [one for one in columns if things & one.things]
        if about:
            return _Link(tuple(about), 1, length)
        if length == 1 and len(words[0]) > 3:
            begun = [one for one in columns if any(each.startswith(words[0]) for each in one.words)]
            if len(begun) == 1:
                return _Link(tuple(begun), 1, length)
        return None

    def _links(self) -> Iterator[tuple[int, SchemaColumn, int]]:
        for at in range(len(self.words)):
            found = self.link(at) if at not in self.used else None
            for one in found.columns if found else ():
                yield at, one, found.sure if found else 0

    def _column_near(self, at: int, kind: str, there: int | None = None) -> SchemaColumn:
        """The column that a comparison is about: the last that is named before it, the next behind it, else
        the only one, or that of the amounts."""
        clause = self._clause(at)
        links = [
            (place, one)
            for place in clause
            if (found := self.link(place)) is not None
            for one in found.columns
            if one.kind == kind
        ]
        before = [one for place, one in links if place < at]
        behind = [(place, one) for place, one in links if place > (there or at)]
        if before:
            return before[-1]
        if behind:
            return behind[0][1]
        fitting = [one for one in self.schema.columns if one.kind == kind]
        if len(fitting) == 1:
            return fitting[0]
        column = self._amount() if kind == "number" else None
        if column is None:
            self._unclear(self.words[at].said, fitting)
        return column

    def _clause(self, at: int) -> list[int]:
        return [place for place, one in enumerate(self.words) if one.clause == self.words[at].clause]

    def _use(self, at: int, length: int) -> None:
        self.used.update(range(at, at + length))

    def _use_column(self, column: SchemaColumn) -> None:
        for at in range(len(self.words)):
            found = self.link(at) if at not in self.used else None
            if found is not None and column in found.columns:
                self._use(at, found.length)

    def _unit(self, at: int) -> None:
        """The unit behind a number belongs to it."""
        if at + 1 < len(self.words) and members_of("things", tuple(self.plain[at + 1 : at + 2])):
            self.used.add(at + 1)

    def _skip(self, at: int) -> int:
        """The next place with a word that says something."""
        articles = ("the", "a", "an", "den", "det", "de", "ett", "en", "of", "av", "på", "their", "its", "is")
        while at < len(self.words) - 1 and self.plain[at] in articles:
            at += 1
        return at

    def _any(self, name: str) -> bool:
        found = [at for at in range(len(self.words)) if length_of(name, self.plain, at)]
        for at in found:
            if name in ("rising", "falling"):
                self._use(at, length_of(name, self.plain, at))
        return bool(found)

    def _empty(self, at: int) -> bool:
        before = range(max(0, at - 2), at + 1)
        return any(length_of("empty", self.plain, one) + one > at for one in before)

    def _weak(self, at: int) -> bool:
        return length_of("weak", self.plain, at) > 0

    def _unclear(self, said: str, columns: Sequence[SchemaColumn], why: str = "") -> NoReturn:
        names = ", ".join(one.name for one in columns[:20])
        if columns and len(columns) < len(self.schema.columns):
            message = f"“{said}” may be any of {names}" if len(columns) > 1 else f"“{said}” is not clear"
        else:
            message = f"“{said}” says nothing of {self.schema.path!r}" + (f": {why}" if why else "")
        kinds = [one for one in self.schema.columns if one.says_kinds][:3]
        told = "; ".join(f"{one.name}: {', '.join(list(one.values.values())[:8])}" for one in kinds)
        every = ", ".join(one.name for one in self.schema.columns[:20])
        fix = f"ask with words of the table: its columns are {every}" + (f" ({told})" if told else "")
        raise ToolError("UNCLEAR", message, place="question", fix=fix)


def held(way: str, one: Decimal, other: Decimal) -> bool:
    """Whether a comparison holds."""
    return {"<": one < other, ">": one > other, "<=": one <= other, ">=": one >= other}[way]


def _either(one: Test, other: Test) -> Test:
    """In September and November: in any of them."""
    told = f"{one.told} or {other.told.rpartition(' in ')[2]}"
    return Test(told, one.about, lambda row: one.holds(row) or other.holds(row))


def _none(one: Test) -> Test:
    """The rows that do not hold it."""
    return Test(f"not {one.told}", -1, lambda row: not one.holds(row))


def _dated(place: int, way: str, day: date) -> Callable[[Row], bool]:
    def test(row: Row) -> bool:
        moment = read_date(row[place].strip())
        if moment is None:
            return False
        own = moment.date()
        return {"<": own < day, ">": own > day, "<=": own <= day, ">=": own >= day}[way]

    return test


def _valued(place: int, values: frozenset[tuple[str, ...]], no: bool) -> Callable[[Row], bool]:
    return lambda row: (words_in(row[place]) in values) != no


def _cell_in(place: int, wanted: frozenset[str]) -> Callable[[Row], bool]:
    return lambda row: row[place].strip().casefold() in wanted
