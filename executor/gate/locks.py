"""Who is writing where at this moment, so that two writers never meet on one path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from executor.tools.manifest import Mode

Place: TypeAlias = tuple[tuple[str, ...], Mode]  # components of a path; write or add


class Locks:
    """The places that calls of this run are writing to. Those that only add do not keep each other out."""

    def __init__(self) -> None:
        self._held: list[Place] = []

    def contended(self, places: Iterable[Place]) -> tuple[str, ...] | None:
        """The first of these paths that is being written, that lies below one that is, or above one."""
        for path, mode in places:
            for held, use in self._held:
                shorter = min(len(path), len(held))
                if path[:shorter] == held[:shorter] and not mode == use == "add":
                    return path
        return None

    @contextmanager
    def hold(self, places: Iterable[Place]) -> Iterator[None]:
        """Hold places while a call runs."""
        taken = list(places)
        self._held += taken
        try:
            yield
        finally:
            for place in taken:
                self._held.remove(place)
