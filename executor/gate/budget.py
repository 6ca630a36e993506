"""Limits of a run: calls, time, deadline; and a breaker for a call that is refused again and again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta

from executor.clock import Clock
from executor.gate.verdict import Deny
from ir import DeadlineConstraint, Intent, PlanTree

_BREAKER = 3  # the same call refused so often is not judged again
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


class Spending:
    """What a run has used of its limits. Counted before a call, not after.

    Args:
        intent, plan: where the limits come from; of two limits the narrower counts.
        started_at: ISO 8601 UTC, when the run first began. calls: calls begun before (a resumed run).
    """

    def __init__(
        self, intent: Intent, plan: PlanTree, clock: Clock, *, started_at: str, calls: int = 0
    ) -> None:
        budgets = [budget for budget in (intent.budget, plan.budget) if budget]
        self._max_calls = min((budget.max_calls for budget in budgets if budget.max_calls), default=None)
        times = [duration(budget.max_time) for budget in budgets if budget.max_time]
        self._until = datetime.fromisoformat(started_at) + min(times) if times else None
        self._deadline = min(_deadlines(intent), default=None)
        self._clock = clock
        self._refused: Counter[str] = Counter()
        self.calls = calls

    def refusal(self) -> Deny | None:
        """Why one more call may not begin now, or None."""
        if self._max_calls is not None and self.calls >= self._max_calls:
            return Deny(
                "BUDGET_EXCEEDED",
                f"the budget allows {self._max_calls} calls, and all are used",
                "raise max_calls and have it accepted again, or do with less",
            )
        now = datetime.fromisoformat(self._clock.now())
        if self._deadline is not None and now > self._deadline:
            return Deny(
                "DEADLINE", f"the deadline {self._deadline.isoformat()} has passed", "agree on a later one"
            )
        if self._until is not None and now > self._until:
            return Deny(
                "BUDGET_EXCEEDED",
                "the time that the budget allows is used up",
                "raise max_time and accept again",
            )
        return None

    def seconds_left(self) -> float | None:
        """Seconds until the deadline or the end of the time budget, whichever is first, if any."""
        ends = [end for end in (self._deadline, self._until) if end is not None]
        if not ends:
            return None
        return max(0.0, (min(ends) - datetime.fromisoformat(self._clock.now())).total_seconds())

    def begin(self) -> None:
        """Count one call that begins now."""
        self.calls += 1

    def refused(self, call_hash: str) -> None:
        """Count a refusal of this very call."""
        self._refused[call_hash] += 1

    def tripped(self, call_hash: str) -> bool:
        """Was this very call refused too often?"""
        return self._refused[call_hash] >= _BREAKER


def _deadlines(intent: Intent) -> Iterable[datetime]:
    hard = [one.by for one in intent.frame.constraints if isinstance(one, DeadlineConstraint) and one.hard]
    return [datetime.fromisoformat(text) for text in (intent.deadline, *hard) if text]
