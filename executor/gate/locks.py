"""Who is writing where at this moment, in this process and in others, so that two never meet on one path."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Final, TypeAlias

from executor.core.errors import ScopeError
from executor.core.files import locked, take
from executor.store.database import explain_os
from executor.tools.manifest import Mode

# ---- Places that are written to, and when two of them clash.

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


# ---- Who is writing where, told between processes: a file for each run that writes at this moment.

_MUTEX: Final = "mutex"
_FLAGS: Final = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
_PATIENCE: Final = 5.0  # seconds; the mutex is held for less than a millisecond


class SharedLocks:
    """The places that runs of one home are writing to, of one run's point of view.

    Args:
        folder: where the files lie; made when it is needed.
        root: the workspace; places are told below it, so that runs in folders of one another meet too.
        who: what the others are told of this run (the id of its intent).
    """

    def __init__(self, folder: Path, root: Path, who: str) -> None:
        self._folder = folder
        self._base = tuple(root.parts[1:])
        self._who = who
        self._own: tuple[int, Path] | None = None

    def contended(self, places: Sequence[Place]) -> Contention | None:
        """The first of these places that clashes with what another run is writing.

        Raises:
            ScopeError: SCOPE_CONTENTION, where the locks cannot be looked at in time. HomeError.
        """
        if not places or not self._folder.exists():
            return None
        with self._alone():
            return self._clash(places)

    def take(self, new: Sequence[Place], held: Sequence[Place]) -> Contention | None:
        """Take new places beside those that are held, or none of them and give what they clash with.

        Raises:
            ScopeError, HomeError: as ``contended``.
        """
        if not new:
            return None
        with self._alone():
            found = self._clash(new)
            if found is None:
                self._tell([*held, *new])
            return found

    def leave(self, held: Sequence[Place]) -> None:
        """Keep these places and give all others back."""
        if self._own is None:
            return
        if held:
            with self._alone():
                self._tell(held)
            return
        descriptor, file = self._own
        self._own = None
        file.unlink(missing_ok=True)
        os.close(descriptor)

    def _clash(self, places: Sequence[Place]) -> Contention | None:
        for who, theirs in self._others():
            for path, mode in places:
                if any(clash((self._base + path, mode), one) for one in theirs):
                    return Contention(path, who)
        return None

    def _others(self) -> Iterator[tuple[str, list[Place]]]:
        own = self._own[1].name if self._own else ""
        for name in sorted(os.listdir(self._folder)):  # noqa: PTH208  # names alone
            if name in (_MUTEX, own):
                continue
            try:
                descriptor = os.open(self._folder / name, _FLAGS)
            except FileNotFoundError:  # given back meanwhile
                continue
            try:
                if take(descriptor, wait=False):
                    (self._folder / name).unlink(missing_ok=True)  # its process is gone
                    continue
                told = json.loads(os.pread(descriptor, os.fstat(descriptor).st_size, 0))
                yield told["who"], [(tuple(path), mode) for path, mode in told["places"]]
            finally:
                os.close(descriptor)

    def _tell(self, held: Sequence[Place]) -> None:
        if self._own is None:
            file = self._folder / token_hex(16)
            descriptor = os.open(file, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
            take(descriptor)
            self._own = descriptor, file
        told = {"who": self._who, "places": [(self._base + path, mode) for path, mode in held]}
        data = json.dumps(told).encode(errors="surrogateescape")
        os.ftruncate(self._own[0], 0)
        os.pwrite(self._own[0], data, 0)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep all others out of the folder for a moment."""
        busy = ScopeError(
            "SCOPE_CONTENTION",
            "another process keeps the locks of this home to itself",
            place=str(self._folder),
            fix="end it, or try again",
        )
        try:
            with suppress(FileExistsError):
                self._folder.mkdir(mode=0o700)
            with locked(self._folder / _MUTEX, busy=busy, patience_s=_PATIENCE):
                yield
        except OSError as problem:
            raise explain_os(problem, self._folder) from problem


Branch: TypeAlias = tuple[tuple[str, int], ...]  # parallel nodes above a call, each with the child to it


class Locks:
    """The places that calls of this run are writing to, and with ``shared`` those of other runs. branch: that
    of the call which is looked at, where a plan is looked at beforehand."""

    branch: Branch = ()

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

    def foreseen(self, places: Iterable[Place]) -> Contention | None:
        """The same of what will be written when the turn of a call comes; nothing is known of that here."""
        return None

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


# ---- What the calls of a plan will be writing, before any of them is made.


class PlannedLocks(Locks):
    """The places that calls of a plan write to, of those that are looked at one after the other.

    now: the locks as they are.
    """

    def __init__(self, now: Locks) -> None:
        super().__init__(now._shared)
        # By a path: what is written just there, and what is written there or below.
        self._at: dict[tuple[str, ...], list[tuple[Place, Branch]]] = {}
        self._below: dict[tuple[str, ...], list[tuple[Place, Branch]]] = {}

    def plan(self, places: Iterable[Place]) -> None:
        """The call that is looked at writes to these."""
        for place in places if self.branch else ():
            path = place[0]
            self._at.setdefault(path, []).append((place, self.branch))
            for length in range(len(path) + 1):
                self._below.setdefault(path[:length], []).append((place, self.branch))

    def foreseen(self, places: Iterable[Place]) -> Contention | None:
        """The first of these that a call in another branch of a parallel node writes to as well."""
        for place in places if self.branch else ():
            path = place[0]
            above = (one for length in range(len(path)) for one in self._at.get(path[:length], ()))
            for other, branch in (*above, *self._below.get(path, ())):
                if clash(place, other) and at_once(self.branch, branch):
                    return Contention(path)
        return None


def at_once(one: Branch, other: Branch) -> bool:
    """May two calls run at the same time: do they stand below different children of a parallel node?"""
    fork = next(((mine, its) for mine, its in zip(one, other, strict=False) if mine != its), None)
    return fork is not None and fork[0][0] == fork[1][0]
