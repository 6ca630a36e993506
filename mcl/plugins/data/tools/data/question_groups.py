"""What a question groups rows by."""

from __future__ import annotations

from functools import cached_property

from mcl.plugins.data.tools.data.asked import WEEK, Grouping
from mcl.plugins.data.tools.data.question_words import NEAR, NO_AMOUNTS, QuestionWords
from mcl.plugins.data.tools.data.words import length_of, member_of


class GroupWords(QuestionWords):
    """What the words of a question say of groups."""

    def _grouped(self) -> None:
        at = 0
        while at < len(self.words):
            length = 0 if at in self.used or self._together(at) else length_of("group", self.plain, at)
            if at in self._apart_from_each:
                at = max(self._group_at(at, at, by=False), at + 1)
                continue
            by = 0 if length or at in self.used else length_of("by", self.plain, at)
            sorts = any(length_of("sorting", self.plain, one) > at - one for one in range(max(0, at - 3), at))
            if not (length or by) or sorts:
                at += 1
                continue
            end = self._group_at(at, at + (length or by), by=bool(by))
            at = max(end, at + 1)

    def _together(self, at: int) -> bool:
        """Whether all of something are put together there: “every day added up”."""
        behind = [one for one in self._clause(at) if at < one < at + NEAR]
        every = behind and length_of("every_one", self.plain, at)
        part = member_of("parts", self.plain, at + 1)[0] if every else ""
        return bool(part) and any(length_of("together", self.plain, one) for one in behind)

    @cached_property
    def _apart_from_each(self) -> frozenset[int]:
        """Where something is said of one after the other: “client by client”."""
        places = range(len(self.plain) - 2)
        between = (at for at in places if length_of("one_by_one", self.plain, at + 1))
        return frozenset(at for at in between if self.plain[at] == self.plain[at + 2])

    def _group_at(self, at: int, there: int, *, by: bool) -> int:
        there = self._skip(there)
        while there < len(self.words) - 1 and self.schema.is_own(self.plain[there]) and self.link(there + 1):
            there += 1  # "per log file"
        if there < len(self.words) - 1 and self._count(there):
            there += 1  # "each of the two pages"
        if there >= len(self.words):
            return there
        found = self._grouping(there, by=by)
        if found is None:
            own = self._owns(there) or self._empty(there) or there in self.used
            self.asked.apart |= not by and self._owns(there)
            every = length_of("every_one", self.plain, at)
            own = own or bool(every and (link := self.link(there)) and link.columns[0].kind == "number")
            if not by and not own and self.words[there].number is None:
                self._unclear(self.words[there].said, self.schema.columns)
            return at + 1
        while found is not None:
            if found[0] not in self.asked.groups:
                self.asked.groups.append(found[0])
            self.group_places.append(at)
            self._use(at, found[1] - at + 2 * (at in self._apart_from_each))
            at = found[1]
            joined = at < len(self.words) - 1 and self.plain[at] in ("and", "och", "&", "o")
            there = at + 1 if joined else len(self.words)
            found = self._grouping(there, by=True) if joined else None
        return at

    def _owns(self, there: int) -> bool:
        """Whether a word, or the one behind it, says what the rows are: “lab runs”."""
        return any(map(self.schema.is_own, self.plain[there : there + 2]))

    def _grouping(self, there: int, *, by: bool) -> tuple[Grouping, int] | None:
        """What a word says to group by, and where it ends."""
        if there >= len(self.words) or there in self.used:
            return None
        found = self.link(there, weak=True)
        part, length = member_of("parts", self.plain, there)
        dates = self.schema.of("date")
        exact = found is not None and found.sure == 3 and found.columns[0].kind != "date"
        if part and dates and not exact:
            characters = {"year": 4, "month": 7, "week": WEEK, "day": 10}[part]
            return Grouping(part, dates[0].place, characters), there + length
        if found is None:
            return None
        fitting = [one for one in found.columns if one.kind != "number"] or list(found.columns)
        by = by or length_of("every_one", self.plain, there - 1) > 0
        if by and fitting[0].kind == "number" and fitting[0].name.casefold() not in NO_AMOUNTS:
            return None
        if len(fitting) > 1:
            self._unclear(self.words[there].said, fitting)
        return Grouping(fitting[0].name, fitting[0].place), there + found.length

    def _any_spending(self, at: int) -> bool:
        return any(length_of("spending", self.plain, one) for one in self._clause(at) if one > at)

    def _by_whom(self, at: int) -> None:
        """“who did we pay the most”: those that money went to."""
        columns = [one for one in self.schema.about({"shop", "client"}) if one.says_kinds]
        if len(columns) == 1:
            self.asked.groups.append(Grouping(columns[0].name, columns[0].place))
            self._use(at, 1)
            self._grouped_by_which = True
        elif not self.schema.about({"name"}):
            self._unclear(self.words[at].said, self.schema.columns)

    def _of_which(self, at: int, *, asks: bool) -> None:
        """“which category … most”, “the page with most errors”: the groups of which one is asked for, where
        rows have the same there."""
        for there in range(at):
            if there in self.used:
                continue
            if length_of("whom", self.plain, there) and self._any_spending(there):
                self._by_whom(there)
                return
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
