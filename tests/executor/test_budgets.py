"""What a run may use: calls, costs, sub-agents, time. Counted before a call."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from walks import NODE, Walks, Watch, code, gate, probe, sequence, step, tool

from executor import Bench, FixedClock, WalkEvent
from executor.core.errors import ToolError
from executor.gate.budget import Spending, Used
from executor.tools.manifest import Cost
from ir import Budget, Frame, Intent, PlanTree


class Counted:
    """A tool that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    async def __call__(self, args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        self.calls += 1
        return {}


def paid(walks: Walks, amount: str | int, asset: str = "EUR") -> Counted:
    work = Counted()
    walks.tools.append(probe("paid", work, cost={"asset": asset, "amount": amount}))
    return work


def calls(count: int) -> NODE:
    return sequence("n0", *(tool(f"n{one}", "test/paid") for one in range(1, count + 1)))


@pytest.mark.parametrize(("limit", "fit"), [("0.30", 3), ("0.3", 3), (1, 10), ("0.299999999999", 2), (0, 0)])
def test_costs_are_added_and_compared_exactly(walks: Walks, limit: str | int, fit: int) -> None:
    work = paid(walks, "0.1")
    budget = {"max_cost": {"asset": "EUR", "amount": limit}}
    outcome = walks.go(calls(11), budget=budget)
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.denied) == ("BUDGET_EXCEEDED", True)
    assert (outcome.failure.node_id, work.calls) == (f"n{fit + 1}", 0)
    assert walks.go(sequence("n0", gate("g"), *calls(fit)["children"]), budget=budget).state == "completed"
    assert work.calls == fit


def test_a_call_that_costs_another_asset_than_the_budgets_is_refused(walks: Walks) -> None:
    work = paid(walks, "0.01", "USD")
    outcome = walks.go(calls(1), budget={"max_cost": {"asset": "EUR", "amount": 100}})
    assert outcome.failure is not None
    assert outcome.failure.code == "BUDGET_EXCEEDED"
    assert "USD" in outcome.failure.message
    assert work.calls == 0
    assert walks.records("record.gate.refused")[0]["code"] == "BUDGET_EXCEEDED"


def test_what_is_said_of_a_used_up_budget_can_be_done_when_the_run_has_ended(walks: Walks) -> None:
    paid(walks, 0)
    failure = walks.go(calls(2), budget={"max_calls": 1}).failure
    assert failure is not None
    assert failure.message == "when its turn comes, the budget allows 1 call, and all are used"
    assert failure.fix == "state the goal again with a higher max_calls, or do with less"


def test_what_costs_nothing_is_in_every_budget(walks: Walks) -> None:
    paid(walks, 0, "USD")
    assert walks.go(calls(2), budget={"max_cost": {"asset": "EUR", "amount": 0}}).state == "completed"


@pytest.mark.parametrize(("hard", "state"), [(True, "denied"), (False, "completed")])
def test_a_hard_budget_of_the_goal_counts_as_the_budget_does(walks: Walks, hard: bool, state: str) -> None:
    paid(walks, 3)
    constraint = {"type": "budget", "hard": hard, "max": {"asset": "EUR", "amount": 5}}
    assert walks.go(calls(2), constraints=[constraint]).state == state


def test_what_was_used_before_a_crash_is_used(walks: Walks) -> None:
    work = paid(walks, "0.5")

    class Dies(Watch):
        def on(self, event: WalkEvent) -> None:
            if (event.node_id, event.state) == ("n2", "running"):
                raise KeyboardInterrupt

    plan = sequence("n0", tool("n1", "test/paid"), tool("n2", "test/paid"), tool("n3", "test/paid"))
    intent_id = walks.accept(plan, budget={"max_cost": {"asset": "EUR", "amount": "1.5"}})
    with pytest.raises(KeyboardInterrupt):
        walks.run(intent_id, listener=Dies())
    outcome = walks.run(intent_id, resume=True)  # n2 was begun, so it was paid for, and is to be made again
    assert (outcome.state, code(outcome), work.calls) == ("denied", "BUDGET_EXCEEDED", 1)
    assert outcome.failure is not None
    assert outcome.failure.node_id == "n3"
    assert walks.home.journal.view(intent_id).state == "executing"


def test_attempts_that_nobody_could_foresee_count_while_it_runs(walks: Walks) -> None:
    async def busy(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        raise ToolError("BUSY", "not now", transient=True)

    walks.tools.append(probe("busy", busy, retries={"max": 5, "backoff_ms": 1}))
    outcome = walks.go(tool("n1", "test/busy"), budget={"max_calls": 3})
    assert (outcome.state, code(outcome)) == ("failed", "BUSY")
    assert "(3 attempts)" in str(outcome.failure)


def test_a_question_to_a_person_is_no_call(walks: Walks) -> None:
    plan = sequence("n0", tool("n1", "time/now"), gate("n2"), tool("n3", "time/now"))
    assert walks.go(plan, budget={"max_calls": 2}).state == "completed"
    assert walks.go(plan, budget={"max_calls": 1}).state == "denied"


def test_a_question_to_a_model_is_a_call(walks: Walks) -> None:
    class Model:
        async def reason(self, **asked: Any) -> dict[str, object]:
            return {"text": "yes"}

    plan = sequence("n0", step("n1", inputs={"a": "b"}), step("n2", inputs={"a": "b"}))
    assert walks.go(plan, budget={"max_calls": 2}, reasoner=Model()).state == "completed"
    outcome = walks.go(plan, budget={"max_calls": 1}, reasoner=Model())
    assert (outcome.state, code(outcome), outcome.nodes) == ("denied", "BUDGET_EXCEEDED", {})
    assert outcome.failure is not None
    assert outcome.failure.node_id == "n2"


def intent(**more: Any) -> Intent:
    return Intent(
        id="01M7YXAD1GC7WHK36MKMRT6R09",
        actor="did:key:a",
        agent="did:key:b",
        state="accepted",
        created_at="2026-11-21T10:00:00.000Z",
        **more,
    )


AT = "2026-11-21T12:00:00.000Z"


def spending(*, above: Spending | None = None, plan: Budget | None = None, **budget: Any) -> Spending:
    return Spending(
        intent(budget=Budget(**budget)), PlanTree(budget=plan), FixedClock(AT), started_at=AT, above=above
    )


def test_of_two_limits_the_narrower_counts() -> None:
    both = spending(
        max_calls=5,
        max_cost={"asset": "EUR", "amount": "2"},
        plan=Budget.model_validate({"max_calls": 2, "max_cost": {"asset": "EUR", "amount": "9"}}),
    )
    assert both.refusal(Cost(asset="EUR", amount=2)) is None
    assert both.refusal(Cost(asset="EUR", amount="2.000000000000000001")) is not None
    both.begin()
    both.begin()
    assert both.refusal() is not None


def test_what_a_part_uses_counts_for_the_whole_and_both_limit_it() -> None:
    whole = spending(max_calls=3, max_agents=1, max_time="PT1H")
    part = spending(max_calls=2, above=whole)
    part.begin(Cost(asset="EUR", amount="0.5"))
    assert (part.used, whole.used) == (Used(1, 0, {"EUR": Decimal("0.5")}),) * 2
    part.begin()
    assert part.refusal() is not None
    assert whole.refusal() is None
    whole.begin()
    other = spending(above=whole)
    assert other.refusal() is not None
    assert other.agent_refusal() is None
    other.begin_agent()
    assert other.agent_refusal() is not None
    assert other.seconds_left() == pytest.approx(3600, abs=1)


def test_limits_may_be_taken_anew_while_what_was_used_stays() -> None:
    run = spending(max_calls=1)
    run.begin()
    assert run.refusal() is not None
    run.limit(intent(budget=Budget(max_calls=2), frame=Frame()), PlanTree())
    assert run.refusal() is None
    run.begin()
    assert run.refusal() is not None


@pytest.mark.parametrize("limits", [{"max_calls": 0}, {"max_calls": 0, "max_agents": 3}])
def test_a_budget_of_no_call_lets_none_through(walks: Walks, limits: dict[str, int]) -> None:
    work = paid(walks, 0)
    failure = walks.go(calls(1), budget=limits).failure
    assert failure is not None
    assert (failure.code, failure.message) == ("BUDGET_EXCEEDED", "the budget allows no call")
    assert work.calls == 0
