"""Moments and lengths of time as values, not as texts: `PT60M` is `PT1H`, 12:00+02:00 is 10:00Z."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from executor.core.durations import duration
from ir import canonical_bytes, parse_json
from ir.document import Document

_QUARTER: Final = Decimal("0.25")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def moment(text: str) -> Decimal:
    """Seconds since 1970 of an ISO 8601 moment, exact to its last digit; without an offset: UTC.

    Raises ValueError.
    """
    head, dot, rest = text.partition(".")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    whole = datetime.fromisoformat(head + rest[len(digits) :] if dot else text)
    since = (whole if whole.tzinfo else whole.replace(tzinfo=UTC)) - _EPOCH
    return Decimal(since.days * 86400 + since.seconds) + Decimal(f"0.{digits or 0}")


def seconds(text: str) -> Decimal:
    """Seconds of an ISO 8601 duration, as a run counts them."""
    return Decimal(str(duration(text).total_seconds()))


def moved_far(before: str, after: str, now: str) -> bool:
    """Was a moment moved by more than a quarter of what remains of it? Where nothing remains: at all."""
    old, new = moment(before), moment(after)
    return abs(new - old) > _QUARTER * max(Decimal(0), old - moment(now))


def plain(value: Any) -> Any:
    """A document, or a part of one, as JSON values; None for what is empty."""
    if isinstance(value, Document):
        return parse_json(canonical_bytes(value), max_nesting=1000)
    if isinstance(value, tuple | list):
        return [plain(item) for item in value] or None
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()} or None
    return value or None
