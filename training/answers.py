"""Counting values that were found against those that were wanted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

Value = tuple[str, Hashable]  # (field, value)


@dataclass
class ValueCount:
    """right, found, wanted: numbers of values."""

    right: int = 0
    found: int = 0
    wanted: int = 0

    def add(self, want: set[Value], got: set[Value]) -> None:
        """Count one frame."""
        self.right += len(want & got)
        self.found += len(got)
        self.wanted += len(want)

    @property
    def precision(self) -> float:
        """Share of the found that is right."""
        return self.right / max(1, self.found)

    @property
    def recall(self) -> float:
        """Share of the wanted that was found."""
        return self.right / max(1, self.wanted)

    @property
    def f1(self) -> float:
        """Harmonic mean of both."""
        return 2 * self.right / max(1, self.found + self.wanted)


@dataclass
class Scores:
    """Over all values, by field, and how many frames were wholly right."""

    total: ValueCount = field(default_factory=ValueCount)
    fields: dict[str, ValueCount] = field(default_factory=lambda: defaultdict(ValueCount))
    frames: int = 0
    exact: int = 0

    def add(self, want: set[Value], got: set[Value]) -> None:
        """Count one frame."""
        self.total.add(want, got)
        for name in {name for name, _ in want | got}:
            self.fields[name].add({v for v in want if v[0] == name}, {v for v in got if v[0] == name})
        self.frames += 1
        self.exact += want == got

    @property
    def macro(self) -> float:
        """Mean F1 of the fields."""
        return sum(count.f1 for count in self.fields.values()) / max(1, len(self.fields))


SURE = 0.9


def share(values: Iterable[bool]) -> float:
    """Share of those that are true, 0 of none."""
    given = list(values)
    return sum(given) / max(1, len(given))


def calibration_error(rows: Sequence[tuple[float, bool]], bins: int = 10) -> float:
    """Expected calibration error of (stated probability, whether it was right): Naeini et al. 2015."""
    error = 0.0
    for i in range(bins):
        inside = [(p, right) for p, right in rows if i / bins < p <= (i + 1) / bins]
        error += abs(sum(right - p for p, right in inside))
    return error / max(1, len(rows))
