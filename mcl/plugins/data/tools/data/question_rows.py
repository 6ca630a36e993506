"""Which rows a question is about: times, comparisons, values, yes and no."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from difflib import get_close_matches
from typing import Final

from executor.core.words import unaccented
from mcl.plugins.data.tools.data.asked import Having, Row, Term, Test, held
from mcl.plugins.data.tools.data.periods import Period
from mcl.plugins.data.tools.data.question_words import NEAR, QuestionWords
from mcl.plugins.data.tools.data.schema import NO, YES, SchemaColumn, opposite, things_of
from mcl.plugins.data.tools.data.table import read_date, read_number
from mcl.plugins.data.tools.data.words import (
    alike,
    is_known,
    length_of,
    member_of,
    members_of,
    with_accents,
    words_in,
)

_LIKE: Final = 0.84
_YEARS: Final = (1000, 2100)


class RowWords(QuestionWords):
    """What the words of a question say of the rows."""

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
            most = range(at + length, min(at + length + 2, len(self.words)))
            figure = any(member_of("figure", self.plain, place)[0] == "sum" for place in before)
            if figure or any(self._superlative(place)[0] for place in (*most, *before)):
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
        found = [one for one in self.times if not self.used.intersection(range(one.start, one.end))]
        tests: list[Test] = []
        for one in found:
            if one.bare_year and not self._takes_year(one):
                continue
            test = self._when(one)
            if test is None and one.year and not one.month and str(one.year) in self.schema.path:
                self._use(one.start, one.end - one.start)  # the table is of that year
                continue
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

    def _readings(self) -> None:
        """“from 1 November take away 1 October”, of a meter: what it went up between two days."""
        meters, dates = [one for one in self.schema.columns if one.is_meter], self.schema.of("date")
        bounds = (one.last if one.first == date.min else one.first for one in self.times)
        single = (one.first == one.last or date.max in (one.first, one.last) for one in self.times)
        days = {day for day, alone in zip(bounds, single, strict=True) if day is not None and alone}
        if len(meters) != 1 or not dates or len(days) != 2:
            return
        place = dates[0].place
        told = f"{dates[0].name} is {min(days)} or {max(days)}"

        def test(row: Row) -> bool:
            moment = read_date(row[place].strip())
            return moment is not None and moment.date() in days

        self.asked.tests.append(Test(told, place, test))
        self.asked.figures.append(("change", Term(meters[0].name, (meters[0].place,))))
        for at, one in enumerate(self.words):
            if one.number is not None or length_of("minus", self.plain, at):
                self._use(at, 1)
        for time in self.times:
            self._use(time.start, time.end - time.start)

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
        near = [link for link in self._links() if link[1] in dates and abs(link[0] - one.start) <= NEAR]
        column = near[0][1] if near else next(iter(dates), None)
        if column is not None:
            place = column.place

            def test(row: Row) -> bool:
                moment = read_date(row[place].strip())
                return moment is not None and any(one.holds(moment.date() - late) for late in self.late)

            return Test(f"{column.name} in {one.told}", place, test)
        years = [each for each in self.schema.about({"year"}) if each.kind in ("number", "text")]
        if one.bare_year and one.first is not None and one.last is not None and len(years) == 1:
            bounds, at = range(one.first.year, one.last.year + 1), years[0].place
            return Test(
                f"{years[0].name} in {one.told}", at, lambda row: row[at].isdigit() and int(row[at]) in bounds
            )
        if not one.month and not one.year:
            return None
        months = self.schema.about({"month"})
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
            if (
                number is None
                and way
                and (many := member_of("numerals", self.plain, there)[0])
                and self._column_at(there + 1)
            ):
                number = Decimal(many)
            if moment is not None:
                column = self._column_near(at, "date")
                told = f"{column.name} {way} {self.words[there].said}"
                self.asked.tests.append(Test(told, column.place, _dated(column.place, way, moment.date())))
                self._use(at, there - at + 1)
            elif number is not None:
                self._against_number(at, way, there, number)
            else:
                self._against_column(at, way, length, there)

    def _column_at(self, at: int) -> bool:
        """Whether a column of numbers is named at a place."""
        found = self.link(at) if at < len(self.words) else None
        return found is not None and found.sure > 1 and any(one.kind == "number" for one in found.columns)

    def _equal(self) -> None:
        """“with exactly 4 parts”: what a column of numbers has."""
        for at in range(len(self.words)):
            length = length_of("exactly", self.plain, at)
            there = at + length
            if not length or at in self.used or there >= len(self.words) or there in self.used:
                continue
            many = self._count(there)
            number = self.words[there].number if many is None else Decimal(many)
            found = self.link(there + 1) if number is not None and there + 1 < len(self.words) else None
            columns = [each for each in found.columns if each.kind == "number"] if found else []
            if number is None or found is None or len(columns) != 1 or found.sure < 2:
                continue
            place, comma = columns[0].place, self.schema.comma
            told = f"{columns[0].name} is {self.words[there].said}"
            self.asked.tests.append(Test(told, place, _numbered(place, number, comma=comma)))
            self._use(at, length + 1 + found.length)

    def _against_number(self, at: int, way: str, there: int, number: Decimal) -> None:
        old = self.plain[at] in ("older", "younger", "äldre", "yngre")
        years = self.plain[there + 1 : there + 2] in (["år"], ["years"], ["year"], ["yrs"])
        births = [one for one in self.schema.about({"birth"}) if one.kind in ("date", "number")]
        if (old or years) and births and not self.schema.about({"age"}):
            self.asked.tests.append(self._aged(births[0], way, number))
        else:
            named = [one for one in self.schema.about({"year"}) if one.kind == "number"]
            dated = len(named) == 1 and _YEARS[0] <= number <= _YEARS[1] and len(self.words[there].said) == 4
            column = named[0] if dated else self._column_near(at, "number", there)
            told = f"{column.name} {way} {self.words[there].said}"
            test = Test(told, column.place, self._over(column, way, number))
            self.asked.tests.append(test)
            having = Having(f"its {told}", Term(column.name, (column.place,)), way, number)
            self.measured.append((at, test, having))
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

    def _values(self) -> None:
        """Values that columns have, and yes or no of those that hold that."""
        for at in range(len(self.words)):
            if at in self.used:
                continue
            if self._lacking(at) or self._filled(at) or self._is_value(at):
                continue
            if self._answered(at) or self._yes_or_no(at):
                continue
        column, ways = self._ways()
        if column is not None and all(place != column.place for place, _ in self.given) and self._paid_out():
            self.given[column.place, False] = [ways["expense"]]
        just = any(length_of("just", self.plain, at) for at in range(len(self.words)))
        for (place, no), found in self.given.items():
            if just and self.literal.get((place, no)):
                found = self.literal[place, no]  # “who owes us money? only the overdue ones”
            column = self.schema.columns[place]
            said = " or ".join(column.values.get(one, " ".join(one)) for one in dict.fromkeys(found))
            told = f"{column.name} is {'not ' if no else ''}{said}"
            self.asked.tests.append(Test(told, place, valued(place, frozenset(found), no)))

    def _paid_out(self) -> bool:
        """Whether it is said that something was spent, which went out."""
        said = {at: length_of("spending", self.plain, at) for at in range(len(self.words))}
        paid = {"paid", "unpaid", "owed"}
        return any(
            many and not paid & members_of("things", tuple(self.plain[at : at + many]))
            for at, many in said.items()
        )

    def is_said(self, at: int) -> bool:
        """Whether a word is one of how questions are put."""
        return is_known(self.plain[at]) or self._empty(at)

    def _is_value(self, at: int) -> bool:
        for length in range(min(6, len(self.words) - at), 0, -1):
            if self.used.intersection(range(at, at + length)):
                continue
            if self._is_name(at, length) or (length == 1 and length_of("negation", self.plain, at)):
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
                plain = tuple(self.plain[at : at + length])
                self.literal.setdefault((place, no), []).extend(value for _, value in kinds if value == plain)
            self._use(at, length)
            self.value_places.add(at)
            return True
        return False

    def _is_name(self, at: int, length: int) -> bool:
        """Whether words are the name of a column, which counts before a value that is alike."""
        found = self.link(at)
        return found is not None and found.sure == 3 and found.length >= length

    def _some(self, found: Sequence[tuple[SchemaColumn, tuple[str, ...]]], no: bool) -> None:
        tests = [valued(one.place, frozenset([value]), False) for one, value in found]
        names = " or ".join(one.name for one, _ in found)
        said = found[0][0].values[found[0][1]]
        told = f"{names} is {'not ' if no else ''}{said}"
        self.asked.tests.append(Test(told, -1, lambda row: any(test(row) for test in tests) != no))

    def _valued(self, at: int, length: int) -> Iterator[tuple[SchemaColumn, tuple[str, ...]]]:
        """The columns that have these words as a value: as they are, else but for endings or by the first
        word of just one, else what is about the same."""
        said = (re.sub(r"['’]s$", "", one.said) for one in self.words[at : at + length])
        words = tuple(each for one in said for each in words_in(one))
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
            for value in (one.values if "file" not in one.things else ())
            if len(value) == len(words) and all(map(alike, value, words))
        ]
        if near:
            yield from near
            return
        if length == 1 and len(words[0]) > 3 - self._is_called(at):
            yes = [one for one in text if not {"mail", "file"} & one.things]
            yes = [] if self.schema.is_own(words[0]) else yes
            begun = [(one, value) for one in yes for value in one.values if value[:1] == words]
            if not begun and not self.is_said(at):
                whole = {words[0], words[0].removesuffix("s")}
                begun = [(one, value) for one in yes for value in one.values if not whole.isdisjoint(value)]
                begun = begun if len({value for _, value in begun}) == 1 else []
            if begun and len({one.place for one, _ in begun}) == 1 and not self.link(at):
                yield from begun
                return
        things = members_of("things", words)
        named = self.link(at)
        for one in text if things and (named is None or named.length < length) else ():
            several = one.says_kinds or not (one.more or {"name", "mail"} & one.things)
            meant = {value: things & things_of(value) for value in one.values} if several else {}
            if meant and not one.says_kinds:
                meant = {value: some for value, some in meant.items() if members_of("things", value)}
            exact = {value for value, some in meant.items() if some & {"overdue"}}
            yield from ((one, value) for value, some in meant.items() if some and value in (exact or meant))

    def _lacking(self, at: int) -> bool:
        """“without a grade”, “where the grade is empty”: the cells of a column are empty."""
        length = length_of("lacking", self.plain, at)
        named = self.link(at) if not length else None
        if named is not None and named.sure > 1 and not named.columns[0].says_yes:
            behind = (one for one in self._clause(at) if one >= at + named.length and not self._empty(one))
            end = next(behind, at)
            if many := length_of("hollow", self.plain, end):
                self._emptied(named.columns[0], filled=self._negated(end))
                self._use(at, end + many - at)
                return True
        there = self._skip(at + length) if length else len(self.words)
        if there >= len(self.words) or there in self.used:
            return False
        found = self.link(there)
        if found is None or found.sure < 2 or found.columns[0].says_yes:
            return False
        self._emptied(found.columns[0], filled=False)
        self._use(at, there + found.length - at)
        return True

    def _filled(self, at: int) -> bool:
        """“has a grade”: a column of which some cells are empty has something there."""
        length = length_of("has", self.plain, at)
        there = self._skip(at + length) if length else len(self.words)
        place = next((one for one in range(there, min(there + 3, len(self.words))) if self.link(one)), None)
        found = self.link(place) if place is not None and place not in self.used else None
        hollow = any(length_of("hollow", self.plain, one) for one in self._clause(at) if one > at)
        if place is None or found is None or len(found.columns) > 1 or hollow:
            return False
        column = found.columns[0]
        if column.says_yes or column.cells == self.schema.rows or column.kind == "number":
            return False
        self._emptied(column, filled=not self._negated(place))
        self._use(at, length)
        self._use(place, found.length)
        return True

    def _emptied(self, column: SchemaColumn, *, filled: bool) -> None:
        told = f"{column.name} is {'not ' if filled else ''}empty"
        place = column.place
        self.asked.tests.append(Test(told, place, lambda row: bool(row[place].strip()) == filled))

    def _answered(self, at: int) -> bool:
        """“nej for betalt”, “a no in the paid column”: a yes or no before the column that holds it, or where
        only one does."""
        word = self.plain[at]
        columns = [one for one in self.schema.columns if one.says_yes and (word,) in one.values]
        if not columns:
            return False
        clause = self._clause(at)
        there = next((one for one in clause if at < one <= at + NEAR and self._named(one)), at)
        found = self.link(there) if length_of("beside", self.plain, min(at + 1, clause[-1])) else None
        named = [one for one in columns if found is not None and one in found.columns]
        told = any(length_of("answers", self.plain, one) == at - one for one in clause if at - 3 < one < at)
        if not named and not (told and len(columns) == 1 and len(word) > 2 and not self._empty(at)):
            return False
        column = (named or columns)[0]
        self._wants(column, no=(word in NO) != self._negated(at))
        self._use(at, there + 1 - at if named else 1)
        return True

    def _wants(self, column: SchemaColumn, *, no: bool) -> None:
        """Ask for the rows where a column says yes, or no."""
        told = f"{column.name} is {'no' if no else 'yes'}"
        if all(test.about != column.place for test in self.asked.tests):
            self.asked.tests.append(Test(told, column.place, cell_in(column.place, NO if no else YES)))

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
                no = no or self._is_to_do(at)
                self._use(at, length)
                there = next(
                    (
                        one
                        for one in range(at + length, min(at + length + 3, len(self.words)))
                        if not self._empty(one) or self.plain[one] in YES | NO
                    ),
                    at,
                )
                if named and self.plain[there] in YES | NO and there not in self.used:
                    no = self.plain[there] in NO
                    self._use(there, 1)
                self._wants(column, no=no)
                return True
        return False

    def _is_to_do(self, at: int) -> bool:
        """Whether it still is to be done: “who has to pay”."""
        return any(length_of("to_do", self.plain, one) == at - one for one in range(max(0, at - 3), at))

    def _in_list(self, at: int) -> bool:
        """Whether a column stands in a list of columns: name, city and paid."""
        beside = [one for one in (at - 2, at - 1, at + 1, at + 2) if 0 <= one < len(self.words)]
        joined = {self.plain[one] for one in (at - 1, at + 1) if 0 <= one < len(self.words)} & {"and", "och"}
        comma = at and self.words[at - 1].clause != self.words[at].clause
        return bool(joined or comma) and any(self._named(one) for one in beside)

    def _named(self, at: int) -> bool:
        found = self.link(at)
        return found is not None and found.sure > 1

    def _unread(self) -> None:
        """Refuse where words that say which rows are meant are none of the table's."""
        asked = self.asked
        linked = {self.words[at].clause for at in self.used - self.named}
        texts = bool(self.schema.of("text"))
        everything = not (asked.tests or asked.ordered or asked.columns or asked.figures or asked.groups)
        for at, one in enumerate(self.words):
            if at in self.used or self._empty(at) or not one.word[0].isalnum():
                continue
            if self._count(at) or one.number is not None:
                if one.number is not None and one.clause in linked and asked.figures:
                    asked.passed.append(one.said)
                continue
            owns = one.word.endswith("s") and self._is_column(at + 1)
            if self.schema.is_own(one.word) or (length_of("people", self.plain, at) and not owns):
                continue
            beside = at + 1 in self.value_places and not self._forbidden(at)
            if (one.clause not in linked and not everything and not self._is_only(at)) or beside:
                continue  # an aside; that ancient Acme
            if self._is_aside(one.clause) or self._is_paid(at) or self._is_no_row(at):
                continue
            if not texts and not everything and not self._forbidden(at):
                continue  # no column says which
            if (self._binds(at) or not self._tolerated(at, everything=everything)) and not self._typo(at):
                if everything or self._limits(at):
                    self._unclear(one.said, self.schema.columns)
                asked.passed.append(one.said)

    def _limits(self, at: int) -> bool:
        """Whether a word that is not read may say which rows are meant: a name, what stands before a thing or
        a verb, behind what leads to a limit."""
        if self._binds(at) or self._is_called(at) or self._forbidden(at):
            return True
        if at + 1 in self._clause(at):
            behind = self._skip(at + 1)
            verb = any(length_of(name, self.plain, behind) for name in ("verbs", "spending", "has"))
            if verb or self.schema.is_own(self.plain[behind]) or self.link(behind) is not None:
                return True
        for there in reversed([one for one in self._clause(at) if one < at]):
            if length_of("limits", self.plain, there) or self.schema.is_own(self.plain[there]):
                return True
            if there in self.used or not self._empty(there):
                return False
        return False

    def _is_aside(self, clause: int) -> bool:
        """Whether a clause beside the one that asks says nothing of which rows are meant."""
        asking = {one.clause for at, one in enumerate(self.words) if self.asks_at(at)}
        own = [at for at, one in enumerate(self.words) if one.clause == clause]
        if (asking or self.asked.tests) and clause not in asking and self._is_about_other(own):
            return True
        if not asking or clause in asking:
            return False
        bounds = any(length_of(name, self.plain, at) for name in ("negation", "just") for at in own)
        tests = self.value_places.intersection(own) or any(self._superlative(at)[0] for at in own)
        return not (bounds or tests or any(length_of("has", self.plain, at) for at in own[:2]))

    def _is_only(self, at: int) -> bool:
        """Whether a name is all that is meant: “only the Acme ones”."""
        before = [one for one in range(max(0, at - 2), at) if self.words[one].clause == self.words[at].clause]
        only = any(length_of("just", self.plain, one) for one in before)
        return only and self.words[at].said[0].isupper() and not self._is_aside(self.words[at].clause)

    def _is_about_other(self, own: Sequence[int]) -> bool:
        """Whether a clause tells something of somebody or something that the table has nothing of, such as
        “the treasurer opens only Excel”."""
        links = [self.link(at) for at in own if not self._empty(at)]
        owned = self.words[own[0]].said.casefold().endswith(("'s", "’s"))
        begins = length_of("owners", self.plain, own[0]) or owned
        speaks = any(one is not None and one.sure > 1 for one in links) or self.value_places.intersection(own)
        return bool(len(own) > 2 and begins and not speaks and not self.schema.is_own(self.plain[own[1]]))

    def _is_no_row(self, at: int) -> bool:
        """Whether what is left out is none of the rows: a blank form, or nothing that is named."""
        clause = self._clause(at)
        blanks = [one for one in clause if length_of("blank", self.plain, one)]
        behind = [one for one in clause if one > at]
        verbs = {one for one in behind if length_of("verbs", self.plain, one)}
        nothing = self._forbids(at) and behind and all(one in verbs or self._empty(one) for one in behind)
        return bool(nothing) or bool(blanks and (at in blanks or self._forbids(at)) and self.schema.is_folder)

    def _forbids(self, at: int) -> bool:
        return any(length_of(name, self.plain, at) > 0 for name in ("negation", "negation_behind"))

    def asks_at(self, at: int) -> bool:
        """Whether a word asks for something."""
        figure = member_of("figure", self.plain, at)[0] or self._superlative(at)[0]
        return bool(figure or length_of("which", self.plain, at) or length_of("asking", self.plain, at))

    def _is_paid(self, at: int) -> bool:
        """Whether a word says what somebody owes or paid, where a column says who did: “the fee”."""
        before = [one for one in range(max(0, at - 4), at) if self.words[one].clause == self.words[at].clause]
        if any(length_of("binding", self.plain, one) and one not in self.used for one in before):
            return False
        paid = {one.place for one in self.schema.columns if one.says_yes and "paid" in one.things}
        there = next((one for one in reversed(before) if not self._empty(one) or one in self.used), None)
        if (
            there is None
            or there not in self.used
            or not any(test.about in paid for test in self.asked.tests)
        ):
            return False
        runs = (tuple(self.plain[there - many : there + 1]) for many in range(min(4, there + 1)))
        return any({"paid", "unpaid", "owed"} & members_of("things", one) for one in runs)

    def _tolerated(self, at: int, *, everything: bool) -> bool:
        """Whether a word may say nothing of the rows: a verb; what rows are, behind how many and which; what
        stands just before the name of a column."""
        if self._is_called(at):
            return False
        if length_of("verbs", self.plain, at) or self._is_done(at):
            return True
        before = [one for one in range(max(0, at - 2), at) if self.words[one].clause == self.words[at].clause]
        if before and at + 1 < len(self.words) and self.schema.is_own(self.plain[at + 1]):
            return False
        for there in before:
            counts = member_of("figure", self.plain, there)
            if counts[0] == "count" and there + counts[1] == at:
                return True
            if there == at - 1 and (length_of("which", self.plain, there) or self._count(there)):
                return True
            if there == at - 1 and self._superlative(there)[0]:
                return True
        kinds = any(column.says_kinds for column in self.schema.columns)
        # where no column would say which, all are all
        return not kinds and at > 0 and self.plain[at - 1] in ("all", "alla", "hela", "whole", "every")

    def _is_column(self, at: int) -> bool:
        """Whether a word means columns that hold no numbers."""
        found = self.link(at) if at < len(self.words) else None
        return found is not None and all(one.kind != "number" for one in found.columns)

    def _is_called(self, at: int) -> bool:
        """Whether a word is a name: written large within a sentence."""
        begins = not at or self.words[at].clause != self.words[at - 1].clause
        return not begins and self.words[at].said[0].isupper() and not self.words[at].said.isupper()

    def _is_done(self, at: int) -> bool:
        """Whether a word says what somebody does, or how: behind who does it or what helps a verb, before
        what belongs to one; a title of what is made."""
        word, same = self.plain[at], self._clause(at)
        if self.words[at].said[0].isupper() and same[0] != at:
            return False
        behind = at + 1 if at + 1 in same else len(self.words)
        if at - 1 in same and length_of("doers", self.plain, at - 1):
            return True
        if any(length_of("helps", self.plain, one) == at - one for one in range(max(same[0], at - 3), at)):
            return True
        if word.endswith("ly") and len(word) > 5:
            return True
        if word.endswith("ing") and same[0] == at and self._skip(at + 1) > at + 1:
            return True
        if behind == len(self.words):
            return False
        if same[0] == at and length_of("particles", self.plain, behind):
            return True
        there = self._skip(behind + 1) if self.plain[behind] in ("of", "av", "over", "över") else behind
        return there > behind and (there in self.named or self.schema.is_own(self.plain[there]))

    def _forbidden(self, at: int) -> bool:
        before = (one for one in range(max(0, at - 3), at) if self.words[one].clause == self.words[at].clause)
        return any(length_of("negation", self.plain, one) for one in before)

    def _binds(self, at: int) -> bool:
        """Whether a word stands behind one that makes it a condition: on books, without Anna."""
        for there in range(at - 1, max(-1, at - 4), -1):
            if self.words[there].clause != self.words[at].clause:
                return False
            if length_of("negation", self.plain, there):
                return not self._is_done(at)
            if length_of("binding", self.plain, there) and not self._is_me(there):
                return not self._is_done(at)
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
        self.asked.tests.append(Test(told, column.place, valued(column.place, frozenset([(near[0],)]), no)))
        return True

    def beside(self) -> int:
        """How much a text that speaks of a table says of it beside: times that its rows have, what was spent
        where they have amounts, what was used where they are readings."""
        dated = bool(self.schema.of("date") or self.schema.about({"month"}))
        said = dated and any(not one.weak for one in self.times)
        places = range(len(self.words))
        spent = any(
            length_of("spending", self.plain, at) or member_of("figure", self.plain, at)[0] == "sum"
            for at in places
        )
        used = any(length_of("consumed", self.plain, at) for at in places)
        meters = any(one.is_meter for one in self.schema.columns)
        told = any(
            length_of("source", self.plain, at) and self.schema.is_own(self.plain[self._skip(at + 1)])
            for at in places[:-1]
        )
        return said + 2 * told + (spent and self._amount(quiet=True) is not None) + 3 * (used and meters)

    def unnamed(self) -> int:
        """Of the name of the table, what is not said, or only in other words."""
        said = [with_accents(unaccented(one)) for one in self.plain] + [unaccented(one) for one in self.plain]
        whole = [one for one in self.schema.own_words if any(alike(one, word) for word in said)]
        other = [one for one in self.schema.own_words if one not in whole]
        named = {thing for word in self.plain for thing in members_of("named", (word,))}
        return sum(2 - bool(members_of("named", (one,)) & named) for one in other)

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
            literal = any(value[: len(plain)] == plain for _, value in values)
            return 3 if literal else 2 if any(members_of("things", value) for _, value in values) else 1
        top, length = self._superlative(at)
        if top and self._spoken_of(at, length):
            return 1 + bool(top in ("old", "young") and self.schema.about({"age", "birth"}))
        if self._empty(at) or member_of("figure", self.plain, at)[0]:
            return 0
        found = self.link(at)
        return min(found.sure, 2) if found is not None else 0


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


def _numbered(place: int, number: Decimal, *, comma: bool) -> Callable[[Row], bool]:
    def test(row: Row) -> bool:
        own = read_number(row[place].strip(), comma=comma)
        return own is not None and own[0] == number

    return test


def valued(place: int, values: frozenset[tuple[str, ...]], no: bool) -> Callable[[Row], bool]:
    return lambda row: (words_in(row[place]) in values) != no


def cell_in(place: int, wanted: frozenset[str]) -> Callable[[Row], bool]:
    return lambda row: row[place].strip().casefold() in wanted
