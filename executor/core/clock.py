"""Time and fresh ids, passed in wherever they are needed."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from secrets import randbits
from typing import Final, Protocol

_RANDOM_BITS: Final = 80


class Clock(Protocol):
    """Where the moment and fresh ids come from."""

    def now(self) -> str:
        """The moment, ISO 8601 UTC with milliseconds: 2026-11-21T10:00:00.000Z."""
        ...

    def new_id(self) -> str:
        """A fresh ULID, greater than every one given before by this clock."""
        ...


def instant(moment: datetime) -> str:
    """An aware moment as the text used in documents: UTC, milliseconds, `Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def derived_id(text: str, moment: int) -> str:
    """The ULID that follows from a text; moment: milliseconds since 1970, as ``moment_of_id`` reads them."""
    from ulid import ULID  # here, as below: its import takes longer than opening a home

    return str(ULID(moment.to_bytes(6, "big") + sha256(text.encode()).digest()[:10]))


def moment_of_id(id: str) -> int:
    """When a ULID was made, in milliseconds since 1970."""
    from ulid import ULID

    return ULID.from_str(id).milliseconds


class _Ids:
    """ULIDs that only grow, also when the clock is set back; safe between threads.

    The generator of python-ulid keeps the order only within a millisecond of one thread: counting on is ours.
    """

    def __init__(self) -> None:
        self._last = 0
        self._lock = threading.Lock()

    def next(self, milliseconds: int, random: int) -> str:
        from ulid import ULID

        with self._lock:
            self._last = max(self._last + 1, milliseconds << _RANDOM_BITS | random)
            return str(ULID.from_int(self._last))


class SystemClock:
    """The clock of this machine."""

    def __init__(self) -> None:
        self._ids = _Ids()

    def now(self) -> str:
        return instant(datetime.now(UTC))

    def new_id(self) -> str:
        # The top bit stays free so that counting up within a millisecond never reaches the next one.
        return self._ids.next(time.time_ns() // 1_000_000, randbits(_RANDOM_BITS - 1))


class FixedClock:
    """A clock that starts at `at` and advances `step_ms` at each reading; its ids follow from `at` alone."""

    def __init__(self, at: str, *, step_ms: int = 1) -> None:
        self._moment = datetime.fromisoformat(at)
        self._step = timedelta(milliseconds=step_ms)
        self._ids = _Ids()

    def now(self) -> str:
        moment = self._moment
        self._moment += self._step
        return instant(moment)

    def new_id(self) -> str:
        return self._ids.next(int(self._moment.timestamp() * 1000), 0)
