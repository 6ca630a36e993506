"""The answer of a table to a question: rows or figures of its groups, in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any, Final

from executor.core.errors import ToolError
from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.data.tools.data.asked import WEEK, Grouping, TableQuestion, Term, operated
from mcl.plugins.data.tools.data.figures import Group, rounded
from mcl.plugins.data.tools.data.picture import aligned
from mcl.plugins.data.tools.data.question import read_question
from mcl.plugins.data.tools.data.schema import TableSchema, schema_of
from mcl.plugins.data.tools.data.selection import Key, bounded, in_order, order_key
from mcl.plugins.data.tools.data.source import open_rows
from mcl.plugins.data.tools.data.table import read_date

_GROUPS: Final = 50_000
_KEPT: Final = 2_000_000  # numbers kept for medians
_FEW: Final = 10  # rows that are shown with their figure
_SHOWN: Final = 100
_WIDE: Final = 300  # characters of a cell
_NAMES: Final = {
    "sum": "sum of ",
    "mean": "mean of ",
    "min": "min of ",
    "max": "max of ",
    "median": "median of ",
}


@dataclass(frozen=True)
class TableAnswer:
    """A table that answers a question. told: which rows were meant; figure: what of them; value: where there
    is just one; count: of how many rows it is; of: of how many in all; path: of one of several tables."""

    names: tuple[str, ...]
    rows: list[list[str]]
    told: tuple[str, ...]
    count: int
    of: int
    figure: str = ""
    by: str = ""
    value: Decimal | None = None
    notes: tuple[str, ...] = ()
    single: bool = False
    path: str = ""


def answers_of(args: Mapping[str, Any], bench: Bench, check: Callable[[], None]) -> list[TableAnswer]:
    """The answers of ``path`` to each question in ``question``. Raises as
    ``read_question`` and ``open_rows``."""
    path, also = str(args["path"]), [str(one) for one in args.get("also", ())]
    schema = schema_of(path, bench, check, also)
    today = date.fromisoformat(bench.clock.now()[:10])
    made: list[TableAnswer] = []
    for asked in read_question(str(args["question"]), schema, today):
        if asked.differ and not asked.figures and not asked.groups and _two(made):
            made.append(_difference(made))
            continue
        if asked.share:
            made[-2:] = [_share(made, asked.decimals)]
            continue
        if asked.differ and not asked.figures:
            raise ToolError(
                "UNCLEAR", "the difference of what is not said", place="question", fix="name two figures"
            )
        apart = [(one, ()) for one in (path, *also)] if asked.apart and also else [(path, also)]
        for one, more in apart:
            with open_rows(one, bench, check, more) as found:
                answer = _Asking(asked, schema).answer(found.rows)
            made.append(replace(answer, path=one if more != also else ""))
    return made


def told_of(path: str, answers: Sequence[TableAnswer]) -> str:
    """The answers as people read them: each begins with what was done."""
    lines: list[str] = []
    for one in answers:
        path = one.path or path
        where = f" where {' and '.join(one.told)}" if one.told else ""
        if lines:
            lines.append("")
        if one.single:
            what = f"{one.figure} in {path}{where}"
            lines.append(f"{what}: {plainly(one.value)} ({counted(one.count, 'row')})")
        elif one.figure:
            by = f" by {one.by}" if one.by else ""
            lines.append(f"{one.figure}{by} in {path}{where} ({counted(one.count, 'row')})")
        else:
            lines.append(f"{path}{where}: {one.count:,} of {counted(one.of, 'row')}")
        if one.rows and not (one.single and not one.names):
            cells = [[cell[:_WIDE] for cell in row] for row in one.rows[:_SHOWN]]
            lines += ["", *aligned([list(one.names), *cells], left=range(len(one.names)))]
            if len(one.rows) > _SHOWN:
                lines.append(f"and {len(one.rows) - _SHOWN:,} more")
        lines += one.notes
    return "\n".join(lines)


def plainly(value: Decimal | None) -> str:
    """A number as people read it."""
    return "-" if value is None else f"{value:,f}"


def _two(made: Sequence[TableAnswer]) -> bool:
    return len(made) > 1 and all(one.single and one.value is not None for one in made[-2:])


def _difference(made: Sequence[TableAnswer]) -> TableAnswer:
    one, other = made[-2:]
    value = (one.value or Decimal(0)) - (other.value or Decimal(0))
    return TableAnswer(
        (), [], (), one.count + other.count, one.of, "difference of these", "", value, single=True
    )


def _share(made: Sequence[TableAnswer], decimals: int | None) -> TableAnswer:
    """The figures of the answer before the last in percent of those of the last."""
    one, other = made[-2:]

    def percent(part: Decimal | None, whole: Decimal | None) -> Decimal | None:
        if part is None or not whole:
            return None
        return round(100 * part / whole, 2 if decimals is None else decimals)

    figure = f"{one.figure} in percent of {other.figure}"
    if one.single:
        notes = tuple(f"{each.figure}: {plainly(each.value)}" for each in (one, other))
        return replace(
            one, names=(), rows=[], figure=figure, value=percent(one.value, other.value), notes=notes
        )
    of = {tuple(row[:-1]): row[-1] for row in other.rows}
    shares = ((row[:-1], percent(_number(row[-1]), _number(of.get(tuple(row[:-1]), "")))) for row in one.rows)
    rows = [[*name, plainly(value)] for name, value in shares]
    return replace(one, names=(*one.names[:-1], "%"), rows=rows, figure=figure)


def _number(cell: str) -> Decimal | None:
    return Decimal(cell.replace(",", ".")) if cell else None


@dataclass
class _Gathered:
    """What is gathered of one group: a Group for each figure; for what changes, the first and last number."""

    figures: list[Group]
    first: list[Decimal | None]
    last: list[Decimal | None]
    rows: int = 0


@dataclass
class _Asking:
    """One question to the rows of a table."""

    asked: TableQuestion
    schema: TableSchema
    count: int = 0
    of: int = 0
    skipped: int = 0
    kept: int = 0
    few: list[list[str]] = field(default_factory=list)
    best: dict[int, tuple[Decimal, list[str]]] = field(default_factory=dict)

    def answer(self, rows: Iterator[list[str]]) -> TableAnswer:
        asked = self.asked
        told = (*(one.told for one in asked.tests), *(one.told for one in asked.having))
        meant = self._meant(rows)
        if asked.successive is not None and not asked.figures:
            made = self._successive(meant, asked.successive)
        elif asked.figures:
            made = self._figures(meant)
        else:
            made = self._rows(meant)
        notes = [*made.notes, *asked.notes]
        if asked.once >= 0:
            notes.append(f"each {self.schema.columns[asked.once].name} counts once")
        if asked.passed:
            notes.append(f"not read, as the table has none of it: {', '.join(asked.passed)}")
        return replace(made, told=told, count=self.count, of=self.of, notes=tuple(notes))

    def _meant(self, rows: Iterator[list[str]]) -> Iterator[list[str]]:
        once, seen = self.asked.once, set[str]()
        for row in rows:
            self.of += 1
            if all(test.holds(row) for test in self.asked.tests):
                if once >= 0:
                    value = row[once].strip().casefold()
                    if value in seen:
                        continue
                    seen.add(value)
                self.count += 1
                yield row

    # ---- rows

    def _rows(self, meant: Iterator[list[str]]) -> TableAnswer:
        asked, names = self.asked, tuple(one.name for one in self.schema.columns)
        key = self._key(asked.key) if asked.ordered and asked.key is not None else None
        rows = list(in_order(meant, key, asked.limit, self.schema.path, descending=asked.descending))
        columns = asked.columns or [Term(name, (place,)) for place, name in enumerate(names)]
        cells = [[self._cell(row, term) for term in columns] for row in rows]
        if asked.columns and all(self._is_kind(term) for term in columns):
            cells = [list(row) for row in dict.fromkeys(map(tuple, cells))]
        return TableAnswer(tuple(term.name for term in columns), cells, (), 0, 0)

    def _is_kind(self, term: Term) -> bool:
        return not term.operation and self.schema.columns[term.places[0]].says_kinds

    def _cell(self, row: Sequence[str], term: Term) -> str:
        if not term.operation:
            return row[term.places[0]]
        value = rounded(term.value(row, comma=self.schema.comma))
        return self._written(value)

    def _written(self, value: Decimal | None) -> str:
        """A number as the table writes them."""
        text = "" if value is None else f"{value:f}"
        return text.replace(".", ",") if self.schema.comma else text

    def _key(self, term: Term) -> Callable[[list[str]], Key]:
        comma = self.schema.comma

        def key(row: list[str]) -> Key:
            if term.operation:
                value = term.value(row, comma=comma)
                return (1, Decimal(0)) if value is None else (0, value)
            place = term.places[0]
            return order_key(row[place], self.schema.columns[place].kind, comma=comma)

        return key

    def _successive(self, meant: Iterator[list[str]], term: Term) -> TableAnswer:
        """What a number changes from row to row, in the order of the first date."""
        dates = self.schema.of("date")
        rows = list(bounded(meant, self.schema.path))
        if dates:
            rows.sort(key=self._key(Term("", (dates[0].place,))))
        label = dates[0] if dates else self.schema.columns[0]
        cells, before, total = [], None, Decimal(0)
        for row in rows:
            value = term.value(row, comma=self.schema.comma)
            if value is None:
                continue
            if before is not None:
                change = value - before[1]
                total += change
                cells.append([f"{before[0]} – {row[label.place]}", self._written(rounded(change))])
            before = (row[label.place], value)
        figure = f"difference of {term.name} from row to row"
        note = f"together: {plainly(rounded(total))}"
        if self.asked.limit:
            cells.sort(key=lambda cell: _number(cell[1]) or Decimal(0), reverse=self.asked.descending)
            cells = cells[: self.asked.limit]
        return TableAnswer((label.name, term.name), cells, (), 0, 0, figure, notes=(note,))

    # ---- figures

    def _figures(self, meant: Iterator[list[str]]) -> TableAnswer:
        groups: dict[tuple[str, ...], _Gathered] = {}
        figures = self.asked.figures
        for row in meant:
            name = tuple(_label(row, one) for one in self.asked.groups)
            if len(self.few) <= _FEW:
                self.few.append(row)
            found = groups.get(name)
            if found is None:
                if len(groups) >= _GROUPS:
                    message = f"there are more than {_GROUPS:,} groups"
                    raise ToolError(
                        "TOO_MANY_GROUPS", message, place=self.schema.path, fix="group by another column"
                    )
                found = groups[name] = self._fresh()
            self._take(found, row)
        if not self.asked.groups and not groups:
            groups[()] = self._fresh()
        what = [_what(name, term) for name, term in figures]
        made = [(name, self._of(found)) for name, found in groups.items()]
        if self.asked.groups:
            return self._grouped(made, what)
        values = made[0][1]
        notes = [f"{counted(self.skipped, 'cell')} held no number"] if self.skipped else []
        notes += [f"{text}: {plainly(value)}" for text, value in zip(what[1:], values[1:], strict=True)]
        names, rows = self._where_best()
        figure, value = what[0], values[0]
        if self.asked.differ and len(values) == 2 and values[0] is not None and values[1] is not None:
            notes.append(f"difference: {plainly(rounded(abs(values[0] - values[1])))}")
        for one in self.asked.adjust:
            figure, value = _adjusted(figure, value, one.sign, one.number, percent=one.percent)
        if self.asked.decimals is not None and value is not None:
            value = round(value, self.asked.decimals)
        return TableAnswer(names, rows, (), 0, 0, figure, "", value, tuple(notes), single=True)

    def _fresh(self) -> _Gathered:
        many = len(self.asked.figures)
        return _Gathered([Group() for _ in range(many)], [None] * many, [None] * many)

    def _take(self, found: _Gathered, row: list[str]) -> None:
        found.rows += 1
        for at, (name, term) in enumerate(self.asked.figures):
            if term is None:
                found.figures[at].count += 1
                continue
            number = term.value(row, comma=self.schema.comma)
            if number is None:
                self.skipped += 1
                continue
            found.figures[at].add(number, keep=name == "median")
            if name == "median":
                self.kept += 1
                if self.kept > _KEPT:
                    message, fix = f"more than {_KEPT:,} numbers", "ask for the mean"
                    raise ToolError("TOO_LARGE", message, place=self.schema.path, fix=fix)
            found.first[at] = number if found.first[at] is None else found.first[at]
            found.last[at] = number
            if name in ("min", "max") and (
                at not in self.best
                or ((number > self.best[at][0]) == (name == "max") and number != self.best[at][0])
            ):
                self.best[at] = (number, row)

    def _of(self, found: _Gathered) -> list[Decimal | None]:
        values: list[Decimal | None] = []
        for at, (name, _) in enumerate(self.asked.figures):
            if name == "change":
                first, last = found.first[at], found.last[at]
                few = first is None or last is None or found.rows < 2
                values.append(None if few else rounded((last or Decimal(0)) - (first or Decimal(0))))
            else:
                values.append(rounded(found.figures[at].figure(name)))
        return values

    def _where_best(self) -> tuple[tuple[str, ...], list[list[str]]]:
        """The row that has the highest or lowest number, where that is all that is asked."""
        if self.asked.shown and 0 not in self.best and 0 < self.count <= _FEW:
            return tuple(one.name for one in self.schema.columns), self.few
        if len(self.asked.figures) != 1 or 0 not in self.best:
            return (), []
        return tuple(one.name for one in self.schema.columns), [self.best[0][1]]

    def _grouped(
        self, made: list[tuple[tuple[str, ...], list[Decimal | None]]], what: Sequence[str]
    ) -> TableAnswer:
        asked = self.asked
        made.sort(key=lambda one: tuple(map(str.casefold, one[0])))
        if asked.ordered and not self._by_name():
            down = asked.descending
            made.sort(key=lambda one: (one[1][-1] is None, -(one[1][-1] or 0) if down else (one[1][-1] or 0)))
        elif asked.ordered and asked.descending:
            made.reverse()
        for one in asked.having:
            at = next(at for at, (_, term) in enumerate(asked.figures) if term == one.term)
            made = [group for group in made if one.holds(group[1][at])]
        shown = made[: asked.limit] if asked.limit else made
        names = (*(one.name for one in asked.groups), *_columns(asked))
        rows = [[*name, *map(self._written, values)] for name, values in shown]
        by = " and ".join(one.name for one in asked.groups)
        return TableAnswer(tuple(names), rows, (), 0, 0, " and ".join(what), by)

    def _by_name(self) -> bool:
        key = self.asked.key
        return key is not None and any(one.place in key.places for one in self.asked.groups)


def _label(row: Sequence[str], one: Grouping) -> str:
    if not one.part:
        return " ".join(row[one.place].split())
    moment = read_date(row[one.place].strip())
    if moment is None:
        return ""
    year, week, _ = moment.isocalendar()
    return f"{year}-W{week:02}" if one.part == WEEK else moment.date().isoformat()[: one.part]


def _what(name: str, term: Term | None) -> str:
    if term is None:
        return "number of rows"
    return (
        f"change of {term.name} from the first to the last"
        if name == "change"
        else f"{_NAMES[name]}{term.name}"
    )


def _columns(asked: TableQuestion) -> Iterator[str]:
    """The names of the columns of figures: those of the table where each is there once."""
    terms = [term.name if term else "number" for _, term in asked.figures]
    for name, term in asked.figures:
        plain = term.name if term else "number"
        yield plain if terms.count(plain) == 1 and name in ("sum", "count") else _what(name, term)


def _adjusted(
    figure: str, value: Decimal | None, sign: str, number: Decimal, *, percent: bool
) -> tuple[str, Decimal | None]:
    told = f"{figure} {sign} {number}{' %' if percent else ''}"
    if value is None:
        return told, None
    by = value * number / 100 if percent else number
    return told, rounded(operated(sign, value, by))
