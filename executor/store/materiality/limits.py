"""What changed between two budgets, and between two deadlines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from executor.core.durations import duration
from executor.store.materiality.rules import Change, changed
from ir import Budget, canonical_bytes, parse_json
from ir.document import Document
from ir.frame import AssetAmount

# ---- Moments and lengths of time as values, not as texts: `PT60M` is `PT1H`, 12:00+02:00 is 10:00Z.

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


def compare_budgets(before: Budget | None, after: Budget | None, place: str) -> Iterator[Change]:
    """Each limit that is another one. No limit is the highest."""
    old, new = before or Budget(), after or Budget()
    for name in Budget.model_fields:
        was, now_is = getattr(old, name), getattr(new, name)
        if was == now_is:
            continue
        where = f"{place}.{name}"
        if name == "max_cost":
            yield compare_amounts(was, now_is, where)
        elif name == "max_time":
            yield _order(
                where, was, now_is, seconds(was) if was else None, seconds(now_is) if now_is else None
            )
        elif name in ("max_calls", "max_agents"):
            yield _limits(where, was, now_is)
        else:
            yield changed("FIELD_CHANGED", where, plain(was), plain(now_is))


def _limits(place: str, before: int | None, after: int | None) -> Change:
    """Of numbers, of which none is no limit and zero is one."""
    raised = after is None or (before is not None and after > before)
    return changed("BUDGET_RAISED" if raised else "BUDGET_LOWERED", place, before, after)


def compare_amounts(before: AssetAmount | None, after: AssetAmount | None, place: str) -> Change:
    """The most that may be spent. None, and an amount that names no asset, set no limit."""
    if before and after and before.asset != after.asset:
        return changed("BUDGET_RAISED", place, plain(before), plain(after), "in another asset")
    return _order(place, before, after, before.value if before else None, after.value if after else None)


def _order(place: str, before: object, after: object, old: object, new: object) -> Change:
    if old == new:
        code = "SAME_VALUE"
    elif new is None or (old is not None and new > old):  # type: ignore[operator]  # both int or Decimal
        code = "BUDGET_RAISED"
    else:
        code = "BUDGET_LOWERED"
    return changed(code, place, plain(before), plain(after))


def compare_deadlines(before: str, after: str, place: str, *, start: str, now: str) -> Iterator[Change]:
    """One deadline. start: what a deadline that was not there is counted from, "" for none; now: ISO 8601."""
    if not after:
        yield changed("DEADLINE_MOVED", place, plain(before), None, "there is none any more")
    elif not start:
        yield changed("DEADLINE_MOVED", place, None, after, "there was none")
    elif before and moment(before) == moment(after):
        yield changed("SAME_VALUE", place, before, after)
    elif not before and moment(after) >= moment(start):
        yield changed("DEADLINE_SHIFTED", place, None, after, f"{start} still comes first")
    else:
        far = moved_far(before or start, after, now)
        yield changed("DEADLINE_MOVED" if far else "DEADLINE_SHIFTED", place, plain(before), after)
