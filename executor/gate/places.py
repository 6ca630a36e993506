"""Places that are written to, and when two of them clash."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from executor.tools.manifest import Mode

Place: TypeAlias = tuple[tuple[str, ...], Mode]  # components of a path; write or add


@dataclass(frozen=True, slots=True)
class Contention:
    """A path that somebody else is writing to. who: id of the other run's intent, "" = a call of this run."""

    path: tuple[str, ...]
    who: str = ""


def clash(one: Place, other: Place) -> bool:
    """Is one of two places the other, or below it? Those that only add do not keep each other out."""
    shorter = min(len(one[0]), len(other[0]))
    return one[0][:shorter] == other[0][:shorter] and not one[1] == other[1] == "add"
