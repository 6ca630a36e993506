"""The files that something may change: patterns, indexed by the names that what they fit begins with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from executor.core.globs.glob import Glob, plain_names


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two patterns that one path fits. one, other: as they were written. witness: the path."""

    one: str
    other: str
    witness: str


@dataclass(frozen=True)
class Scope:
    """Patterns in the order they were given; a path is in scope where one of them fits it."""

    globs: tuple[Glob, ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Scope:
        """The scope of these patterns.

        Raises:
            GlobError: as ``Glob.read``, for the first that is none.
        """
        return cls(tuple(map(Glob.read, texts)))

    @property
    def texts(self) -> tuple[str, ...]:
        """The patterns as they were written."""
        return tuple(one.text for one in self.globs)

    def matches(self, path: str) -> bool:
        """Is the path in scope? As ``Glob.matches``: only one in its plain spelling is."""
        return self.pattern_of(path) is not None

    def pattern_of(self, path: str) -> str | None:
        """The first pattern that the path fits; None where it fits none."""
        if (names := plain_names(path)) is None:
            return None
        near = {i for end in range(len(names) + 1) for i in self._by_lead.get(names[:end], ())}
        return next((self.globs[i].text for i in sorted(near) if self.globs[i].fits(names)), None)

    def holds(self, folder: str) -> bool:
        """Is everything below this folder in scope? False where no pattern plainly says so; "" is the
        workspace."""
        names = plain_names(folder) if folder else ()
        return names is not None and any(one.holds(names) for one in self.globs)

    def touches(self, folder: str) -> bool:
        """Is anything below this folder in scope? "" is the workspace."""
        names = plain_names(folder) if folder else ()
        return names is not None and any(one.touches(names) for one in self.globs)

    def meeting(self, other: Scope) -> Meeting | None:
        """The first patterns of both, in their order, that one path fits; None where the scopes are apart."""
        return next(self.meetings(other), None)

    def meetings(self, other: Scope) -> Iterator[Meeting]:
        """All pairs of patterns of both that one path fits, in their order."""
        for mine in self.globs:
            for i in other._near(mine):
                if (witness := mine.meeting(other.globs[i])) is not None:
                    yield Meeting(mine.text, other.globs[i].text, witness)

    def _near(self, glob: Glob) -> Iterable[int]:
        """Which of these patterns may meet another: those that begin with the same name, or with any."""
        firsts = {lead[:1] for lead in glob.leads}
        if () in firsts:
            return range(len(self.globs))
        return sorted({i for first in (*firsts, ()) for i in self._by_first.get(first, ())})

    @cached_property
    def _by_lead(self) -> dict[tuple[str, ...], list[int]]:
        """Which patterns begin with which names."""
        found: dict[tuple[str, ...], list[int]] = {}
        for i, one in enumerate(self.globs):
            for lead in one.leads:
                found.setdefault(lead, []).append(i)
        return found

    @cached_property
    def _by_first(self) -> dict[tuple[str, ...], list[int]]:
        """The same by the first name alone; () are those that begin with any."""
        found: dict[tuple[str, ...], list[int]] = {}
        for lead, places in self._by_lead.items():
            found.setdefault(lead[:1], []).extend(places)
        return found
