"""Who is writing where at this moment, so that two writers never meet on one path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class Locks:
    """The paths that calls of this run are writing to (tuples of components)."""

    def __init__(self) -> None:
        self._held: set[tuple[str, ...]] = set()

    def contended(self, paths: Iterable[tuple[str, ...]]) -> tuple[str, ...] | None:
        """The first of these paths that is being written, that lies below one that is, or above one."""
        for path in paths:
            for held in self._held:
                shorter = min(len(path), len(held))
                if path[:shorter] == held[:shorter]:
                    return path
        return None

    @contextmanager
    def hold(self, paths: Iterable[tuple[str, ...]]) -> Iterator[None]:
        """Hold paths while a call runs."""
        taken = set(paths) - self._held
        self._held |= taken
        try:
            yield
        finally:
            self._held -= taken
