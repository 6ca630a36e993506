"""Time: the clock and fresh ids, passed in wherever they are needed; durations and moments as texts."""

from __future__ import annotations

import re
import threading
import time
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from secrets import randbits
from typing import Final, Protocol

from executor.core.errors import ToolError

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


# ---- How long an ISO 8601 duration is.

_DURATION = re.compile(
    r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?"
)
_SECONDS = (365 * 86400, 30 * 86400, 7 * 86400, 86400, 3600, 60, 1)
_LONGEST = 100 * _SECONDS[0]  # so that the end of every duration is a moment that the calendar has


def duration(text: str) -> timedelta:
    """An ISO 8601 duration, a century at most; a year counts 365 days, a month 30."""
    found = _DURATION.fullmatch(text)
    parts = found.groups() if found else ()
    seconds = sum(float(part or 0) * unit for part, unit in zip(parts, _SECONDS, strict=False))
    return timedelta(seconds=min(seconds, _LONGEST))


# ---- Moments given to tools: ISO 8601, as exact as they were said.

_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def read_moment(text: str, name: str) -> datetime | date:
    """A moment in UTC, or a date where no time of day is given.

    Args:
        text: ``2026-11-21T10:00:00Z``, with any offset; ``2026-11-21``.
        name: the argument, for the message.

    Raises:
        ToolError: BAD_TIME, also for a time of day without an offset: it would be a guess.
    """
    found: datetime | date | None = None
    try:
        if _DATE.fullmatch(text):
            found = date.fromisoformat(text)
        elif "T" in text or " " in text:
            moment = datetime.fromisoformat(text)
            found = moment.astimezone(UTC) if moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        pass
    if found is None:
        raise ToolError(
            "BAD_TIME",
            f"{name}: {text[:60]!r} is no moment with an offset from UTC, and no date",
            place=name,
            fix="such as 2026-11-21T10:00:00Z, 2026-11-21T10:00:00+01:00 or 2026-11-21",
        )
    return found


def start_of(moment: datetime | date) -> datetime:
    """The moment itself; for a date its first moment in UTC."""
    if isinstance(moment, datetime):
        return moment
    return datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
