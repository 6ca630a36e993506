"""Moments given to tools: ISO 8601, as exact as they were said."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

from executor.core.errors import ToolError

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
