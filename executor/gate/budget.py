"""Limits of a run: calls, sub-agents, cost, time, deadline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from executor.core.clock import Clock, duration
from executor.gate.breaker import RunBreaker
from executor.gate.rules import counted_calls
from executor.gate.verdict import Deny
from ir import BudgetConstraint, DeadlineConstraint, Intent, PlanTree

if TYPE_CHECKING:
    from executor.tools.manifest import Cost


@dataclass(frozen=True, slots=True)
class Used:
    """What was used: calls of tools and models, sub-agents, and amounts by asset. files: those that were
    changed, where the goal wants them counted."""

    calls: int = 0
    agents: int = 0
    costs: Mapping[str, Decimal] = field(default_factory=dict)
    files: frozenset[str] = frozenset()

    def __add__(self, more: Used) -> Used:
        costs = dict(self.costs)
        for asset, amount in more.costs.items():
            costs[asset] = costs.get(asset, Decimal(0)) + amount
        return Used(self.calls + more.calls, self.agents + more.agents, costs, self.files | more.files)


class Spending:
    """What a run, or a sub-dispatch of it, has used of its limits. Counted before a call, not after. breaker:
    stops its calls that are refused again and again.

    Args:
        intent, plan: where the limits come from; of two limits the narrower counts. The Intent's hard
            constraints of budget and deadline are limits like those of its budget.
        started_at: ISO 8601 UTC, when it first began. used: what earlier runs of it used.
        above: of a sub-dispatch, the spending of the plan that dispatches; what is used counts there too.
        calls: how many calls it may make at most; 0 for no limit but those of the documents.
    """

    def __init__(
        self,
        intent: Intent,
        plan: PlanTree,
        clock: Clock,
        *,
        started_at: str,
        used: Used | None = None,
        above: Spending | None = None,
        calls: int = 0,
    ) -> None:
        self._clock = clock
        self._started = datetime.fromisoformat(started_at)
        self._above = above
        self._calls = calls
        self.breaker = RunBreaker()
        self.used = used or Used()
        self.limit(intent, plan)

    def reckoning(self, clock: Clock) -> Spending:
        """The same, to reckon with: what is counted there is not counted here, and its moment is another
        clock's."""
        made = copy(self)
        made._clock, made.breaker = clock, RunBreaker()
        made._above = self._above.reckoning(clock) if self._above is not None else None
        return made

    def limit(self, intent: Intent, plan: PlanTree) -> None:
        """Take the limits from these documents, also while a run is under way (they were corrected)."""
        budgets = [budget for budget in (intent.budget, plan.budget) if budget]
        most_calls = [
            self._calls or None,
            *(budget.max_calls for budget in budgets),
            *counted_calls(intent),
        ]
        most_agents = [budget.max_agents for budget in budgets]
        self._max_calls = min((most for most in most_calls if most is not None), default=None)
        self._max_agents = min((most for most in most_agents if most is not None), default=None)
        times = [duration(budget.max_time) for budget in budgets if budget.max_time]
        self._until = self._started + min(times) if times else None
        self._deadline = min(_deadlines(intent), default=None)
        self._max_costs = [budget.max_cost for budget in budgets if budget.max_cost] + [
            one.max
            for one in intent.frame.constraints
            if isinstance(one, BudgetConstraint) and one.hard and one.max
        ]

    def refusal(self, cost: Cost | None = None) -> Deny | None:
        """Why one more call, which costs this, may not begin now, or None."""
        if self._max_calls is not None and self.used.calls >= self._max_calls:
            return Deny(
                "BUDGET_EXCEEDED",
                f"the budget allows {_counted(self._max_calls, 'call')}",
                "state the goal again with a higher max_calls, or do with less",
            )
        if cost is not None and cost.value and (refused := self._too_dear(cost)):
            return refused
        if self._above is not None:
            return self._own_time() or self._above.refusal(cost)
        return self._own_time()

    def agent_refusal(self) -> Deny | None:
        """Why nothing more may be dispatched to another skill or agent now, or None."""
        if self._max_agents is not None and self.used.agents >= self._max_agents:
            return Deny(
                "BUDGET_EXCEEDED",
                f"the budget allows {_counted(self._max_agents, 'sub-agent')}",
                "state the goal again with a higher max_agents, or do with less",
            )
        return self._own_time() or (self._above.agent_refusal() if self._above else None)

    def time_refusal(self) -> Deny | None:
        """Why nothing more may begin at all, or None."""
        return self._own_time() or (self._above.time_refusal() if self._above else None)

    def seconds_left(self) -> float | None:
        """Seconds until the deadline or the end of the time budget, whichever is first, if any."""
        ends = [end for end in (self._deadline, self._until) if end is not None]
        lefts = [(end - datetime.fromisoformat(self._clock.now())).total_seconds() for end in ends]
        if self._above is not None and (above := self._above.seconds_left()) is not None:
            lefts.append(above)
        return max(0.0, min(lefts)) if lefts else None

    def begin(self, cost: Cost | None = None, files: frozenset[str] = frozenset()) -> None:
        """Count one call that begins now. files: those that it changes."""
        self._count(Used(1, 0, {cost.asset: cost.value} if cost else {}, files))

    def up(self, levels: int) -> Spending:
        """The spending of the plan so many dispatches above; the uppermost where there are fewer."""
        return self._above.up(levels - 1) if levels and self._above is not None else self

    def begin_agent(self) -> None:
        """Count one sub-agent that begins now."""
        self._count(Used(0, 1))

    def _count(self, used: Used) -> None:
        self.used += used
        if self._above is not None:
            self._above._count(used)

    def _too_dear(self, cost: Cost) -> Deny | None:
        for limit in self._max_costs:
            if limit.asset != cost.asset:
                return Deny(
                    "BUDGET_EXCEEDED",
                    f"the call costs {cost.amount} {cost.asset}, and the budget is in {limit.asset}",
                    f"agree on a budget in {cost.asset}, or use another tool",
                )
            spent = self.used.costs.get(cost.asset, Decimal(0))
            if spent + cost.value > limit.value:
                return Deny(
                    "BUDGET_EXCEEDED",
                    f"the call costs {cost.amount} {cost.asset}; of {limit.amount} {limit.asset}"
                    f" {limit.value - spent} are left",
                    "state the goal again with a higher max_cost, or do with less",
                )
        return None

    def _own_time(self) -> Deny | None:
        if self._deadline is None and self._until is None:
            return None
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


def _deadlines(intent: Intent) -> Iterable[datetime]:
    hard = [one.by for one in intent.frame.constraints if isinstance(one, DeadlineConstraint) and one.hard]
    return [datetime.fromisoformat(text) for text in (intent.deadline, *hard) if text]


def _counted(many: int, what: str) -> str:
    if not many:
        return f"no {what}"
    return f"{many} {what}{'' if many == 1 else 's'}, and all are used"
