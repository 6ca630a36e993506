"""Which figures a question asks for, of which columns, and which columns are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Final, cast

from mcl.plugins.data.tools.data.asked import Adjustment, FigureName, Grouping, TableQuestion, Term, Test
from mcl.plugins.data.tools.data.question_order import OrderWords
from mcl.plugins.data.tools.data.question_rows import valued
from mcl.plugins.data.tools.data.question_words import NEAR, NO_AMOUNTS, ColumnLink
from mcl.plugins.data.tools.data.schema import SchemaColumn
from mcl.plugins.data.tools.data.words import alike, length_of, member_of, members_of, phrases

_THAT: Final = frozenset(("det", "that", "it", "them", "dem", "dom", "this"))


class FigureWords(OrderWords):
    """What the words of a question say of figures and columns."""

    def _computed(self) -> None:
        """“hours times rate”, perhaps with a name before it: “amount (hours times rate)”."""
        for at in range(len(self.words) - 1):
            sign, length = member_of("operations", self.plain, at)
            if not sign or at in self.used:
                continue
            left = self._number_before(at)
            if left is None and (first := self._number_column(at + length)):  # “multiply hours with rate”
                left, length = (at, first[1]), first[0] - at
                length += length_of("joined_by", self.plain, first[0]) if first[0] < len(self.words) else 0
            right = self._number_column(at + length)
            if left is None or right is None or left[1].place == right[1].place:
                continue
            start, one = left
            end, other = right
            if sign == "from":
                sign, one, other = "-", other, one
            name = f"{one.name} {sign} {other.name}"
            if start and self.words[start - 1].clause == self.words[start].clause - 1:
                label = start - 1  # before a bracket
                free = not self._empty(label) and self.words[label].number is None and label not in self.named
                if free and self._names(label) and not member_of("months", self.plain, label)[0]:
                    name = self.words[label].said
                    self.used.add(label)
            self.terms.append((start, Term(name, (one.place, other.place), sign)))
            self.used.update(range(start, end))

    def _less(self) -> None:
        """“what came in minus what went out”: the difference of the two."""
        column, ways = self._ways()
        for at in range(1, len(self.words) - 1) if column is not None else ():
            if not (length := length_of("minus", self.plain, at)):
                continue
            scope = range(len(self.words)) if length > 1 else self._clause(at)
            clause = [one for one in scope if one not in self.used]
            sides = [[one for one in clause if one < at], [one for one in clause if one >= at + length]]
            if all(any(self._way_at(one, ways) for one in side) for side in sides):
                self.asked.differ = True
                for side in sides:
                    self.used.update(one for one in side if not self._empty(one) or self._way_at(one, ways))
                self._use(at, length)

    def _totals(self) -> None:
        """“total in and total out”, “what came in and what went out”: the sum of each."""
        column, ways = self._ways()
        found: dict[str, list[int]] = {thing: [] for thing in ways}
        for at in range(len(self.words)) if column is not None and not self.asked.differ else ():
            for thing, value in ways.items():
                if self._way_at(at, {thing: value}):
                    found[thing].append(at)
        if column is None or not all(found.values()):
            return
        first, last = sorted(places[0] for places in found.values())
        each = all(at and member_of("figure", self.plain, at - 1) == ("sum", 1) for at in (first, last))
        asks = any(
            member_of("figure", self.plain, at)[0] == "sum" or length_of("which", self.plain, at)
            for at in range(len(self.words))
        )
        joined = asks and any(length_of("joins", self.plain, at) for at in range(first, last))
        if (each or joined) and not self._any("difference"):
            self.asked.groups.append(Grouping(column.name, column.place))
            self.group_places.append(first)
            for at in (at for places in found.values() for at in places):
                self._use(at, next(n for n in (3, 2, 1) if n == 1 or self._is_way(at, n, ways)))
            if not any(member_of("figure", self.plain, at)[0] for at in range(len(self.words))):
                self._add("sum", self._money("sum"))

    def _way_at(self, at: int, ways: Mapping[str, tuple[str, ...]]) -> bool:
        return any(self._is_way(at, length, ways) for length in (1, 2, 3))

    def _is_way(self, at: int, length: int, ways: Mapping[str, tuple[str, ...]]) -> bool:
        words = tuple(self.plain[at : at + length])
        said = bool(members_of("things", words) & ways.keys()) or words in ways.values()
        return said and len(words) == length

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
        self._rounded()
        timed = {at for one in self.times if not one.bare_year for at in range(one.start, one.end)}
        for at in range(len(self.words)):
            if length_of("each", self.plain, at) and (price := self._price_before(at)) is not None:
                self.asked.adjust.append(Adjustment("*", self.words[price].number or Decimal(0), False))
                self.per_head = True
                self._use(price, at + length_of("each", self.plain, at) - price)
            self._moved(at)
            sign, length = member_of("adjust", self.plain, at)
            there = self._skip(at + length)
            if not sign and length_of("taking", self.plain, at) and (off := self._taken_off(at + 1)):
                sign, there, length = "-", at + 1, 1
                self.used.add(off)
            if not sign or at in self.used or there >= len(self.words) or there in timed:
                continue
            if self.plain[at + length : at + length + 1] and self.plain[at + length] in _THAT:
                there = self._number_before_that(at)
            number = self.words[there].number
            if number is None or there in self.used:
                continue
            if there < at:
                self._use(at, length)
                self.asked.adjust.append(Adjustment(sign, number, False))
                self._use(there, 1)
                self._unit(there)
                continue
            percent = self.plain[there + 1 : there + 2] in (["%"], ["percent"], ["procent"])
            self.asked.adjust.append(Adjustment(sign, number, percent))
            self._use(at, there - at + 1 + percent)
            self._unit(there)

    def _moved(self, at: int) -> None:
        """“where every temperature is 0.5 lower”: so in every row."""
        sign, length = member_of("adjust_behind", self.plain, at)
        there = at - 2 if at > 1 and members_of("things", (self.plain[at - 1],)) else at - 1
        number = self.words[there].number if there >= 0 else None
        if not sign or number is None or there in self.used or not self._any("every_row"):
            return
        self.asked.adjust.append(Adjustment(sign, number, False))
        than = length_of("than", self.plain, at + length) if at + length < len(self.words) else 0
        self._use(there, at - there + length + than)

    def _taken_off(self, at: int) -> int:
        """Where “off” stands behind a number that is taken off something; 0 where it does not."""
        behind = [one for one in self._clause(min(at, len(self.words) - 1)) if at < one < at + 3]
        number = at < len(self.words) and self.words[at].number is not None
        return next((one for one in behind if number and length_of("off", self.plain, one)), 0)

    def _rounded(self) -> None:
        """“to two decimals”, “to the krona”."""
        for at in range(len(self.words)):
            many, length = member_of("round", self.plain, at)
            if not length and length_of("decimals", self.plain, at) and at:
                many, length = str(self._count(at - 1) or ""), length_of("decimals", self.plain, at)
                if many:
                    self.used.add(at - 1)
            if many:
                self.asked.decimals = int(many)
                self._use(at, length)

    def _price_before(self, at: int) -> int | None:
        """The number that each of some is to pay."""
        near = range(at - 1, max(-1, at - 3), -1)
        return next(
            (one for one in near if self.words[one].number is not None and one not in self.used), None
        )

    def _number_before_that(self, at: int) -> int:
        """The number that “that” stands for; the place itself where there is none."""
        before = range(at - 1, -1, -1)
        return next(
            (one for one in before if self.words[one].number is not None and one not in self.used), at
        )

    def _figures(self) -> None:
        asked = self.asked
        chosen: list[tuple[int, str]] = []
        for at in range(len(self.words)):
            if at in self.used:
                continue
            name, length = member_of("figure", self.plain, at)
            about, longer = member_of("how", self.plain, at)
            much = [one for one in self.schema.about({about}) if one.kind == "number"] if about else []
            if len(much) == 1 and longer >= length:
                name, length = "sum", longer
                self.mentions.append((at, much[0], 3))
            before = self.link(at - 1) if at and at - 1 not in self.used else None
            pair = self.link_of(tuple(self.plain[at - 1 : at + 1])) if before is not None else None
            if before is not None and (before.length > 1 or pair is not None):  # "phone number of"
                name = ""
            which, superlative = self._superlative(at)
            prefix = self._prefixed(at)
            if length_of("difference", self.plain, at):
                asked.differ = True
                self._use(at, length_of("difference", self.plain, at))
            elif which and superlative >= length:
                self._top(at, which, superlative, chosen)
            elif name:
                link = self.link(at)
                if link is None or link.sure < 3 or name == "count":
                    self._use(at, length)
                chosen.append((at, name))
            elif prefix is not None:
                chosen.append((at, prefix[0]))
                self.mentions.append((at, prefix[1], 3))
                self._use(at, 1)
            elif length_of("top", self.plain, at) or length_of("bottom", self.plain, at):
                self._limited(at, bool(length_of("top", self.plain, at)))
        if not chosen and not self.asked.groups and self._amount(quiet=True) is not None:
            chosen = self._used_up()
        self.asked.shown = any(self._asks_which(at) for at, _ in chosen) or any(
            length_of("which", self.plain, at) and one.word not in ("what", "vad")
            for at, one in enumerate(self.words)
        )
        if self.per_head:
            chosen = [(at, "count") for at, _ in chosen[:1]] or [(-1, "count")]
        elif not chosen and any(one.is_meter for one in self.schema.columns):
            chosen = [(at, "sum") for at in range(len(self.words)) if length_of("consumed", self.plain, at)][
                :1
            ]
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
                if self.schema.is_own(rest) and (only := self._only_number(self.schema.of("number"))):
                    return {"high": "max", "low": "min"}.get(name, name), only
                found = self.link_of((rest,))
                number = [one for one in found.columns if one.kind == "number"] if found else []
                if len(number) == 1:
                    return {"high": "max", "low": "min"}.get(name, name), number[0]
        return None

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
            if (
                found is None
                or (found.sure == 1 and self._empty(at) and not self._counted(at))
                or self._stands_for_rows(at, found)
            ):
                at += 1
                continue
            if at - 1 not in self.used and at and self.mentions and self._is_left_out(at):
                self._use(at - 1, found.length + 1)  # "no mail addresses"
                at += found.length
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

    def _is_left_out(self, at: int) -> bool:
        """Whether the name of a column stands behind one word that says no."""
        return (
            length_of("negation", self.plain, at - 1) == 1
            and self.words[at - 1].clause == self.words[at].clause
        )

    def _stands_for_rows(self, at: int, found: ColumnLink) -> bool:
        own = self.schema.own_words
        behind = self.words[at + 1 : at + 2]
        if self.schema.is_own(self.plain[at]) and behind and length_of("tables", self.plain, at + 1):
            return True  # “the visit stats”
        return found.sure < 3 and any(alike(self.plain[at], one) for one in own)

    def _settled(self) -> None:
        """What figures are of, and which columns are shown."""
        asked, chosen = self.asked, self._chosen
        numbers = [(at, Term(one.name, (one.place,))) for at, one, _ in self.mentions if one.kind == "number"]
        numbers += self.terms
        numbers.sort(key=lambda one: one[0])
        if asked.successive is not None:
            return
        if self.terms and self._any("extra"):  # all columns, and what is computed of them
            name = self.words[chosen[0][0]].said if chosen else self._label() or self.terms[-1][1].name
            for at in range(len(self.words)):
                self._use(at, length_of("extra", self.plain, at))
            whole = [Term(one.name, (one.place,)) for one in self.schema.columns]
            asked.columns = [*whole, replace(self.terms[-1][1], name=name)]
            return
        if asked.differ and any(term.operation == "-" for _, term in numbers):
            asked.differ, chosen = False, chosen or [(-1, "sum")]
        sums = all(name == "sum" for _, name in chosen)
        if asked.differ and sums and (left := self._unspent(numbers)) is not None:
            asked.differ, numbers, chosen = False, [(len(self.words), left)], [(-1, "sum")]
        metered = asked.tests and any(one.is_meter for one in self.schema.columns)
        if asked.differ and not chosen and not numbers and not metered:
            return
        if not numbers and self._any("earned") and (earned := self._earned()) is not None:
            numbers = [(len(self.words) if not chosen else chosen[0][0], earned)]
            chosen = chosen or [(-1, "sum")]
        if not chosen and len(asked.adjust) == len(numbers) == 1 and self._any("every_row"):
            self._in_every_row(numbers[0][1])
            return
        if asked.limit == 1 and asked.key is not None and self._is_date(asked.key) and not asked.groups:
            chosen = []  # the row says how much it was
        meter = next((one for one in self.schema.columns if one.is_meter), None)
        if meter is not None and asked.groups and all(one.part for one in asked.groups):
            term = Term(meter.name, (meter.place,))  # what it says each month is no sum
            asked.groups, asked.successive = [], None if asked.tests else term
            if not asked.tests:
                return
            chosen = chosen or [(-1, "sum")]
        if meter is not None and asked.differ and asked.tests and not chosen:
            asked.differ, chosen = False, [(-1, "sum")]
        if not chosen and asked.groups:
            adds = numbers or self._amount(quiet=True) is not None
            if not adds and self._grouped_by_which and self.schema.of("number"):
                self._unclear("most", self.schema.of("number"))
            chosen = [(-1, "sum" if adds else "count")]
        elif not chosen and asked.adjust and numbers:
            chosen = [(-1, "sum")]
        if chosen:
            self._figures_of(chosen, numbers)
            self._having()
            return
        shown = [(at, Term(one.name, (one.place,))) for at, one, _ in self.mentions] + self.terms
        shown.sort(key=lambda one: one[0])
        tested = {test.about for test in asked.tests}
        only_tested = all(set(term.places) <= tested for _, term in shown)
        if self.terms or (self._are_wanted(shown) and not (only_tested and not self._just(shown))):
            asked.columns = list(dict.fromkeys(term for _, term in shown))
        if asked.ordered and asked.key is None:
            column = next((one for _, one, _ in self.mentions if one.kind in ("number", "date")), None)
            column = column or self._amount()
            assert column is not None
            asked.key = Term(column.name, (column.place,))

    def _label(self) -> str:
        """What a column is to be called, behind the word for it."""
        for at in range(1, len(self.words)):
            if not length_of("column", self.plain, at - 1) or at in self.named:
                continue
            there = at + length_of("naming", self.plain, at)
            clause = self._clause(at - 1)
            ends = there > at or there == clause[-1]
            if there in clause and not self.link(there) and (ends or not self._empty(there)):
                self.used.add(there)
                return self.words[there].said
        return ""

    def _in_every_row(self, term: Term) -> None:
        """“take 0.5 off every temperature”: the table, with that column so."""
        one = self.asked.adjust.pop()
        factor = 1 + (one.number if one.sign == "+" else -one.number) / 100
        sign, number = ("*", factor) if one.percent else (one.sign, one.number)
        whole = [Term(column.name, (column.place,)) for column in self.schema.columns]
        made = replace(term, operation=sign, number=number)
        self.asked.columns = [made if column.places == term.places else column for column in whole]

    def _unspent(self, numbers: Sequence[tuple[int, Term]]) -> Term | None:
        """What was planned less what was spent of it, where no more than a plan is named."""
        planned = [one for one in self.schema.about({"planned"}) if one.kind == "number"]
        others = [one for one in self.schema.of("number") if one not in planned]
        named = {place for _, term in numbers for place in term.places}
        if len(planned) != 1 or len(others) != 1 or named - {planned[0].place}:
            return None
        one, other = planned[0], others[0]
        return Term(f"{one.name} - {other.name}", (one.place, other.place), "-")

    def _is_date(self, term: Term) -> bool:
        return self.schema.columns[term.places[0]].kind == "date"

    def _shares(self) -> None:
        """“how many percent is rent”, “errors as a percentage of visits”."""
        for at in range(len(self.words)):
            if at not in self.used and (length := length_of("share", self.plain, at)):
                found = self.link(at)
                if found is None or found.sure < 2:
                    self.asked.share = True
                    self.whole_at = at + length if self.plain[at + length - 1] in ("of", "av") else 0
                    self._use(at, length)

    def of_the_whole(self, asked: TableQuestion) -> list[TableQuestion]:
        """A share as the figure it is of, the figure of the whole, and the one in percent of the other."""
        named = [(at != self.whole_at, one) for at, one, _ in self.mentions if one.kind == "number"]
        numbers = [one for one in self.schema.of("number") if one.name.casefold() not in NO_AMOUNTS]
        if len({one.place for _, one in named}) == 1 and len(numbers) == 2 and not self.given:
            named += [(not named[0][0], one) for one in numbers if one is not named[0][1]]
        named.sort(key=lambda one: not one[0])
        said = list(dict.fromkeys(Term(one.name, (one.place,)) for _, one in named))
        part, whole = replace(asked, share=False), replace(asked, share=False)
        if len(said) == 2:
            part.figures, whole.figures = [("sum", said[0])], [("sum", said[1])]
        else:
            amount = self._amount(quiet=True)
            values = {place for place, _ in self.given}
            whole.tests = [one for one in asked.tests if one.about not in values]
            if amount is None or len(whole.tests) == len(asked.tests):
                self._unclear("percent", self.schema.columns)
            part.figures = whole.figures = [("sum", Term(amount.name, (amount.place,)))]
        for one in (part, whole):
            one.columns, one.adjust, one.shown, one.limit = [], [], False, 0
        return [part, whole, TableQuestion(share=True, decimals=asked.decimals)]

    def only_values(self, before: TableQuestion) -> bool:
        """Whether a question for how many only names other values: the figure of the one before is meant."""
        counts = [name for name, _ in self.asked.figures] == ["count"]
        read = all(at in self.used or self._empty(at) for at in range(len(self.words)))
        return counts and read and bool(self.given) and [name for name, _ in before.figures] == ["sum"]

    def tells_columns(self, before: TableQuestion) -> bool:
        """Whether all that is said here is which columns of the rows before are wanted."""
        rows = before.ordered and before.limit and not before.figures
        said = self.asked
        own = said.groups or said.adjust or said.having or said.limit or len(said.tests) > len(before.tests)
        much = all(self.plain[at] in ("how", "hur") for at, _ in self._chosen)
        return bool(rows and not own and much and (self.mentions or self._chosen))

    def of_that_row(self, before: TableQuestion) -> bool:
        """Whether columns of the row with the highest or the lowest are asked for, “and what shop was it”."""
        highest = [name for name, term in before.figures if term is not None] in (["max"], ["min"])
        own = len(self.asked.tests) > len(before.tests) or self.asked.groups or self.asked.limit
        that = any(length_of("that_row", self.plain, at) for at in range(len(self.words)))
        return bool(highest and not own and not before.groups and that and self.mentions and not self._chosen)

    def the_row(self, before: TableQuestion) -> TableQuestion:
        """The question before, as one for the row that has it."""
        name, term = before.figures[0]
        columns = list(dict.fromkeys([*self.named_columns(), *([term] if term else [])]))
        first = replace(before, figures=[], key=term, ordered=True, descending=name == "max", limit=1)
        return replace(first, columns=columns, shown=False)

    def named_columns(self) -> list[Term]:
        """The columns that are named, and the amounts where it is asked how much."""
        terms = [Term(one.name, (one.place,)) for _, one, _ in self.mentions]
        terms += [term for _, term in self.asked.figures if term is not None]
        return list(dict.fromkeys(terms))

    def _having(self) -> None:
        """What is said behind the groups of a figure holds of it, and not of each row."""
        figures = [term for name, term in self.asked.figures if name != "count"]
        for at, test, having in self.measured:
            if self.group_places and at > self.group_places[0] and having.term in figures:
                self.asked.tests.remove(test)
                self.asked.having.append(having)

    def _figures_of(self, chosen: Sequence[tuple[int, str]], numbers: Sequence[tuple[int, Term]]) -> None:
        asked = self.asked
        for place, (at, name) in enumerate(chosen):
            end = chosen[place + 1][0] if place + 1 < len(chosen) else len(self.words)
            behind = [term for there, term in numbers if at <= there < end]
            if not behind and name == "sum" and place + 1 < len(chosen) and not asked.groups:
                amount = self._amount(quiet=True)  # “the total, and how much of it is tax”
                behind = [Term(amount.name, (amount.place,))] if amount is not None else []
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
        one = (cast("FigureName", name), term)  # names of figures come from the lexicon, which has just these
        if one not in self.asked.figures:
            self.asked.figures.append(one)

    def _is_meter(self, term: Term) -> bool:
        return self.schema.columns[term.places[0]].is_meter

    def _money(self, name: str) -> Term:
        """What is added up where nothing is named: the amounts, else quantity times price."""
        found = self._amount(quiet=True) or self._column_of_file()
        if found is not None:
            return Term(found.name, (found.place,))
        earned = self._earned() if name == "sum" else None
        if earned is not None:
            return earned
        column = self._amount()
        assert column is not None
        return Term(column.name, (column.place,))

    def _column_of_file(self) -> SchemaColumn | None:
        """The numbers that a table is named for, where it is said that the table is added up: hours.csv."""
        ends = ((one - n, n) for one in self.named for n in (1, 2) if one >= n)
        before = [length_of("figure.sum", self.plain, at) == n for at, n in ends]
        own = [one for one in self.schema.of("number") if one.words == self.schema.own_words]
        return own[0] if any(before) and len(own) == 1 else None

    def _earned(self) -> Term | None:
        """Quantity times price, where there is one of each."""
        rates = [one for one in self.schema.about({"rate"}) if one.kind == "number"]
        many = [one for one in self.schema.about({"hours", "quantity"}) if one.kind == "number"]
        if len(rates) != 1 or len(many) != 1:
            return None
        one, other = many[0], rates[0]
        return Term(f"{one.name} * {other.name}", (one.place, other.place), "*")

    def _are_wanted(self, shown: Sequence[tuple[int, Term]]) -> bool:
        """Whether columns that are named are those to show, and not only what the rows are."""
        if not shown:
            return False
        if self._just(shown) or len(shown) > 1:
            return True
        at = shown[0][0]
        before = self.plain[max(0, at - 3) : at]
        asks = {"show", "visa", "need", "behöver", "want", "vill", "give", "ge", "list", "lista", "column"}
        return bool(asks.intersection(before)) and not (at and length_of("which", self.plain, at - 1))

    def _just(self, shown: Sequence[tuple[int, Term]]) -> bool:
        """Whether it is said where columns are named that it is just these."""
        clauses = {self.words[at].clause for at, _ in shown if at < len(self.words)}
        places = (at for at, one in enumerate(self.words) if one.clause in clauses)
        just = (at for at in places if length_of("just", self.plain, at))
        return any(not length_of("asides", self.plain, at) for at in just)

    def _used_up(self) -> list[tuple[int, str]]:
        """“what did the kids spend”: how much it was."""
        for at in range(len(self.words)):
            verbs = [one for one in self._clause(at) if at < one < at + NEAR]
            verb = next((one for one in verbs if length_of("spending", self.plain, one)), None)
            if self.plain[at] in ("what", "vad") and verb is not None:
                self._use(at, 1)
                self._use(verb, length_of("spending", self.plain, verb))
                return [(at, "sum")]
        return []

    def is_amount(self, columns: Sequence[Term]) -> bool:
        """Whether these are nothing but the amounts."""
        amount = self._amount(quiet=True)
        return amount is not None and [one.places for one in columns] == [(amount.place,)]

    def has_in_and_out(self) -> bool:
        """Whether a column says of each row that it came in, or went out."""
        return self._ways()[0] is not None

    def in_and_out(self) -> list[TableQuestion]:
        """What came in, and what went out: their difference is asked for."""
        column, values = self._ways()
        if column is None:
            self._unclear("the difference", self.schema.columns)
        term = self._money("sum")
        made = []
        for thing in ("income", "expense"):
            value = values[thing]
            told = f"{column.name} is {column.values[value]}"
            test = Test(told, column.place, valued(column.place, frozenset([value]), False))
            made.append(TableQuestion([*self.asked.tests, test], [("sum", term)]))
        return made
