"""Who is writing where at this moment, so that two writers never meet on one path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from executor.core.errors import ScopeError
from executor.gate.places import Contention, Place, clash
from executor.gate.shared_locks import SharedLocks


class Locks:
    """The places that calls of this run are writing to, and with ``shared`` those of other runs."""

    def __init__(self, shared: SharedLocks | None = None) -> None:
        self._held: list[Place] = []
        self._shared = shared

    def contended(self, places: Iterable[Place]) -> Contention | None:
        """The first of these paths that is being written, that lies below one that is, or above one.

        Raises:
            ScopeError, HomeError: as ``SharedLocks.contended``.
        """
        wanted = list(places)
        for place in wanted:
            if any(clash(place, held) for held in self._held):
                return Contention(place[0])
        return self._shared.contended(wanted) if self._shared else None

    @contextmanager
    def hold(self, places: Iterable[Place]) -> Iterator[None]:
        """Hold places while a call runs.

        Raises:
            ScopeError: SCOPE_CONTENTION, another run took one of them since the gate looked. HomeError.
        """
        taken = list(places)
        found = self._shared.take(taken, self._held) if self._shared else None
        if found is not None:
            raise ScopeError(
                "SCOPE_CONTENTION",
                f"the run of the intent {found.who} is writing to {'/'.join(found.path)!r} at this moment",
                place="/".join(found.path),
                fix="try again when that run is done",
            )
        self._held += taken
        try:
            yield
        finally:
            for place in taken:
                self._held.remove(place)
            if self._shared and taken:
                self._shared.leave(self._held)
