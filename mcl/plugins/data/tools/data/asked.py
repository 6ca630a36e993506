"""What is asked of a table: which rows, which columns, figures, groups and order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final, Literal, NamedTuple

from mcl.plugins.data.tools.data.table import read_number

Row = Sequence[str]
WEEK: Final = 8  # the part of a date that says its week
FigureName = Literal["sum", "mean", "count", "min", "max", "median", "change"]


@dataclass(frozen=True)
class Term:
    """A column, or two with what is done with them, or one and a number. name: as it is told."""

    name: str
    places: tuple[int, ...]
    operation: str = ""
    number: Decimal | None = None

    def value(self, row: Row, *, comma: bool) -> Decimal | None:
        """Its number in a row; None where there is none."""
        found = [read_number(row[place].strip(), comma=comma) for place in self.places]
        numbers = [one[0] for one in found if one is not None]
        if len(numbers) < len(self.places):
            return None
        numbers += [self.number] if self.number is not None else []
        return numbers[0] if not self.operation else operated(self.operation, numbers[0], numbers[1])


def operated(sign: str, one: Decimal, other: Decimal) -> Decimal | None:
    """One of + - * /."""
    if sign == "/":
        return one / other if other else None
    return {"+": one + other, "-": one - other, "*": one * other}[sign]


def held(way: str, one: Decimal, other: Decimal) -> bool:
    """Whether a comparison holds."""
    return {"<": one < other, ">": one > other, "<=": one <= other, ">=": one >= other}[way]


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


class Having(NamedTuple):
    """What the figure of a group must be. term: of which."""

    told: str
    term: Term
    way: str
    number: Decimal

    def holds(self, value: Decimal | None) -> bool:
        """Whether a group is meant."""
        return value is not None and held(self.way, value, self.number)


class Adjustment(NamedTuple):
    """What is done with a figure at the end."""

    sign: str
    number: Decimal
    percent: bool


@dataclass
class TableQuestion:
    """One question. key: what rows or groups are ordered by, None for the figure of groups; ordered: whether
    they are. having: what a group's figures must hold. decimals: of a figure; shown: its rows are shown where
    they are few. successive: differences from row to row; differ: of the two figures before; share: the first
    of these in percent of the second. once: the column of which each value counts once, -1 for none.
    passed: words that were not read, and say nothing of the rows. apart: each of several tables is asked."""

    tests: list[Test] = field(default_factory=list)
    figures: list[tuple[FigureName, Term | None]] = field(default_factory=list)
    groups: list[Grouping] = field(default_factory=list)
    having: list[Having] = field(default_factory=list)
    columns: list[Term] = field(default_factory=list)
    key: Term | None = None
    ordered: bool = False
    descending: bool = False
    limit: int = 0
    adjust: list[Adjustment] = field(default_factory=list)
    successive: Term | None = None
    differ: bool = False
    share: bool = False
    once: int = -1
    decimals: int | None = None
    shown: bool = False
    notes: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    apart: bool = False
