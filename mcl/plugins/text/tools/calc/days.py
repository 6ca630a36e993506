"""Counts the days between two dates."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta

from executor.core.errors import ToolError
from executor.tools.tool import Bench
from mcl.core.text import counted

_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the days, the weeks and the working days from one day to the other."""
    today = datetime.fromisoformat(bench.clock.now()).date()
    first, last = _day(str(args.get("first", "")), "first", today), _day(str(args["last"]), "last", today)
    days = (last - first).days
    weekdays = _weekdays(min(first, last), max(first, last))
    told = f"{counted(abs(days), 'day')} from {first} to {last} ({_NAMES[last.weekday()]})"
    whole, rest = divmod(abs(days), 7)
    weeks = f", {counted(whole, 'week')} and {counted(rest, 'day')}" if whole > 1 else ""
    text = f"{told}{weeks}; {counted(weekdays, 'weekday')}"
    answer: dict[str, object] = {"first": first.isoformat(), "last": last.isoformat(), "days": days}
    return {**answer, "weekdays": weekdays, "text": text}


def _day(text: str, place: str, today: date) -> date:
    if not text:
        return today
    try:
        return datetime.fromisoformat(text).date() if "T" in text else date.fromisoformat(text)
    except ValueError as problem:
        fix = "write 2026-12-24"
        raise ToolError("BAD_DATE", f"{text!r} is no date", place=place, fix=fix) from problem


def _weekdays(first: date, last: date) -> int:
    """Mondays to Fridays from one day to the other, the last not counted."""
    weeks, rest = divmod((last - first).days, 7)
    return weeks * 5 + sum((first + timedelta(days=n)).weekday() < 5 for n in range(rest))
