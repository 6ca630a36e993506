"""In which order a question wants rows or groups, and how many of them."""

from __future__ import annotations

from collections.abc import Sequence

from mcl.plugins.data.tools.data.asked import Term
from mcl.plugins.data.tools.data.question_groups import GroupWords
from mcl.plugins.data.tools.data.question_words import NEAR, ColumnLink
from mcl.plugins.data.tools.data.schema import SchemaColumn
from mcl.plugins.data.tools.data.words import length_of


class OrderWords(GroupWords):
    """What the words of a question say of order."""

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
        before = range(max(0, at - NEAR), at)
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

    def _order_by(self, which: str, at: int, length: int, named: Sequence[ColumnLink]) -> None:
        asked = self.asked
        asked.ordered = True
        columns = [one for link in named for one in link.columns if one.kind in ("number", "date")]
        about = self._spoken_of(at, length)
        if asked.groups and not about and columns and columns[0].kind == "date":
            columns = []  # “best day first”
        if not columns and about:
            columns = about
        if columns and not (asked.groups and columns[0].kind == "number" and not about):
            asked.key = Term(columns[0].name, (columns[0].place,))
        elif asked.groups and columns and columns[0].kind == "number":
            self.mentions.append((at, columns[0], 3))  # “biggest hours at the top”
        asked.descending = self._down(which, columns[0] if columns else None)

    def _is_limit(self, at: int) -> bool:
        return at < len(self.words) and self._count(at) is not None

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
