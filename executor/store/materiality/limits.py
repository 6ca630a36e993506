"""What changed between two budgets, and between two deadlines."""

from __future__ import annotations

from collections.abc import Iterator

from executor.store.materiality.rules import Change, changed
from executor.store.materiality.values import moment, moved_far, plain, seconds
from ir import Budget
from ir.frame import AssetAmount


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
