"""The times of a file: ISO 8601 with a zone, and the same in UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)", re.ASCII)


def moment(text: str) -> datetime | None:
    """The moment that a text such as 2024-01-15T10:30:00Z says, None where it says none."""
    if not _MOMENT.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):  # the 31st of February; the year 0001 east of Greenwich
        return None


def instant(text: str) -> str:
    """The same moment in UTC, as a signed document writes it: 2024-01-15T10:30:00Z, with parts of a second
    where there are any. Raises ValueError where the text says no moment.
    """
    found = moment(text)
    if found is None:
        raise ValueError(f"{text!r} is no moment such as 2024-01-15T10:30:00Z")
    return found.replace(tzinfo=None).isoformat() + "Z"
