"""How long an ISO 8601 duration is."""

from __future__ import annotations

import re
from datetime import timedelta

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
