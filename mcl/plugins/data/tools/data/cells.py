"""What a cell of a table says: a number, a date, yes or no. Nothing is guessed: 007 is no number."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

# Up to 30 digits before and after the point, so that sums stay exact in bounded room.
_DOT: Final = re.compile(
    r"[+-]?(?:(?:0|[1-9]\d{0,29}|[1-9]\d{0,2}(?:,\d{3}){1,9})(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,2})?",
    re.ASCII,
)
# Where cells are separated by semicolons, a comma is the decimal point.
_COMMA: Final = re.compile(
    r"[+-]?(?:(?:0|[1-9]\d{0,29}|[1-9]\d{0,2}(?:\.\d{3}){1,9})(?:,\d{0,30})?|,\d{1,30})(?:[eE][+-]?\d{1,2})?",
    re.ASCII,
)
_INTEGER: Final = re.compile(r"[+-]?\d+", re.ASCII)
_DATE: Final = re.compile(
    r"(?:(\d{4})([-/])(\d\d)\2(\d\d)|(\d\d?)\.(\d\d?)\.(\d{4}))"
    r"(?:[T ](\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?)\s?(Z|[+-]\d\d:?\d\d)?)?",
    re.ASCII,
)
BOOLEANS: Final = {"true": True, "yes": True, "false": False, "no": False}
MISSING: Final = frozenset({"na", "n/a", "nan", "null", "none", "-", "?"})  # none of which is a number


def is_number(text: str, *, comma: bool) -> bool:
    """Is it a number, with a decimal comma (``comma``) or a decimal point?"""
    return (_COMMA if comma else _DOT).fullmatch(text) is not None


def read_number(text: str, *, comma: bool) -> tuple[Decimal, bool] | None:
    """The exact number and whether it is written as an integer; None for what is no number."""
    if (_COMMA if comma else _DOT).fullmatch(text) is None:
        return None
    plain = text.replace(".", "").replace(",", ".") if comma else text.replace(",", "")
    return Decimal(plain), _INTEGER.fullmatch(plain) is not None


def read_date(text: str) -> datetime | None:
    """The moment of a date (2026-11-21, 2026/11/21, 21.11.2026, with a time or without); None for others.

    Without an offset from UTC the time counts as UTC, for comparing only.
    """
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    year, _, month, day, day_first, month_second, year_last, clock, offset = found.groups()
    date = f"{year or year_last}-{int(month or month_second):02}-{int(day or day_first):02}"
    try:
        moment = datetime.fromisoformat(f"{date}T{(clock or '00:00').replace(',', '.')}{offset or ''}")
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
