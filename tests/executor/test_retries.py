"""Calls that fail as things fail that may pass, and are made again where the manifest says so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import anyio
import pytest
from walks import Walks, parallel, probe, sequence, tool

from executor import Bench, ToolError
from executor.walker.engine import Again, Failure, LocalEngine, Work
from ir import PlanStepBody


class Flaky:
    """A tool that does not work the first times; ``keys``: the idempotency keys it was called with."""

    def __init__(self, fails: int, *, transient: bool = True, dies: int = 0) -> None:
        self.fails, self.transient, self.dies = fails, transient, dies
        self.keys: list[str] = []

    async def __call__(self, args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        self.keys.append(bench.idempotency_key)
        if len(self.keys) == self.dies:
            raise KeyboardInterrupt
        if len(self.keys) <= self.fails:
            raise ToolError("UNREACHABLE", "nobody answered", transient=self.transient)
        return {"text": f"call {len(self.keys)}"}


def flaky(walks: Walks, tool: Any, *, most: int = 3, wait_ms: int = 1, **more: Any) -> None:
    walks.tools.append(probe("flaky", tool, retries={"max": most, "backoff_ms": wait_ms}, **more))


def told(walks: Walks, intent_id: str, node_id: str) -> list[tuple[str, int | str]]:
    """The node's records: each start with its number, each end with the code of its failure."""
    found: list[tuple[str, int | str]] = []
    for envelope in walks.home.journal.envelopes(intent_id):
        body = envelope.body
        if isinstance(body, PlanStepBody) and body.node_id == node_id:
            if body.status == "running":
                found.append(("running", json.loads(body.result)["attempt"]))
            else:
                found.append((body.status, json.loads(body.error)["code"] if body.error else ""))
    return found


def test_a_call_that_fails_for_a_moment_is_made_again_and_each_attempt_is_recorded(walks: Walks) -> None:
    work = Flaky(2)
    flaky(walks, work)
    outcome = walks.go(sequence("n0", tool("n1", "test/flaky"), tool("n2", "time/now")))
    assert (outcome.state, outcome.outputs["n1"]) == ("completed", {"text": "call 3"})
    assert told(walks, outcome.intent_id, "n1") == [
        ("running", 1),
        ("failed", "UNREACHABLE"),
        ("running", 2),
        ("failed", "UNREACHABLE"),
        ("running", 3),
        ("completed", ""),
    ]
    assert len(set(work.keys)) == 3
    assert [event for event in walks.watch.of("n1") if event != "running"] == ["completed"]
    assert walks.home.journal.verify().ok


def test_after_the_last_attempt_the_node_fails_and_says_how_often_it_was_tried(walks: Walks) -> None:
    work = Flaky(99)
    flaky(walks, work, most=2)
    outcome = walks.go(sequence("n0", tool("n1", "test/flaky"), tool("n2", "time/now")))
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.message) == ("UNREACHABLE", "nobody answered (3 attempts)")
    assert outcome.nodes == {"n0": "failed", "n1": "failed", "n2": "skipped"}
    assert len(work.keys) == 3


def test_a_failure_that_will_not_pass_is_no_reason_to_try_again(walks: Walks) -> None:
    work = Flaky(1, transient=False)
    flaky(walks, work)
    assert walks.go(tool("n1", "test/flaky")).state == "failed"
    assert len(work.keys) == 1


def test_without_leave_of_the_manifest_nothing_is_tried_again(walks: Walks) -> None:
    work = Flaky(1)
    walks.tools.append(probe("flaky", work))
    outcome = walks.go(tool("n1", "test/flaky"))
    assert outcome.failure is not None
    assert outcome.failure.message == "nobody answered"
    assert len(work.keys) == 1


def test_a_call_without_an_answer_in_time_is_made_again(walks: Walks) -> None:
    calls = [0]

    async def slow(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        calls[0] += 1
        await anyio.sleep(60 if calls[0] == 1 else 0)
        return {}

    flaky(walks, slow)
    assert walks.go(tool("n1", "test/flaky", timeout_ms=300)).state == "completed"
    assert calls == [2]


@pytest.mark.parametrize("limit", ["deadline", "max_time"])
def test_no_attempt_waits_past_the_end_of_the_time(
    walks: Walks, limit: Literal["deadline", "max_time"]
) -> None:
    work = Flaky(99)
    flaky(walks, work, wait_ms=60_000)
    until = (datetime.now(UTC) + timedelta(seconds=30)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    more: dict[str, Any] = {"deadline": until} if limit == "deadline" else {"budget": {"max_time": "PT30S"}}
    outcome = walks.go(tool("n1", "test/flaky"), **more)
    assert outcome.failure is not None
    assert outcome.failure.code == "UNREACHABLE"
    assert len(work.keys) == 1


def test_an_answer_that_the_time_of_the_run_cut_off_is_not_waited_for_again(walks: Walks) -> None:
    calls = [0]

    async def slow(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        calls[0] += 1
        await anyio.sleep(60)
        return {}

    flaky(walks, slow, wait_ms=0)
    outcome = walks.go(tool("n1", "test/flaky"), budget={"max_time": "PT1S"})
    assert outcome.failure is not None
    assert outcome.failure.code == "TIMEOUT"
    assert "budget" in outcome.failure.message
    assert calls == [1]


def test_each_attempt_is_a_call_of_the_budget(walks: Walks) -> None:
    work = Flaky(99)
    flaky(walks, work, most=10)
    outcome = walks.go(tool("n1", "test/flaky"), budget={"max_calls": 2})
    assert outcome.failure is not None
    assert outcome.failure.code == "UNREACHABLE"
    assert len(work.keys) == 2


def test_each_attempt_costs(walks: Walks) -> None:
    work = Flaky(99)
    flaky(walks, work, most=10, cost={"asset": "EUR", "amount": "0.10"})
    walks.go(tool("n1", "test/flaky"), budget={"max_cost": {"asset": "EUR", "amount": "0.30"}})
    assert len(work.keys) == 3


def test_the_wait_doubles_and_is_cut_by_up_to_a_half(walks: Walks, monkeypatch: pytest.MonkeyPatch) -> None:
    flaky(walks, Flaky(99), most=3, wait_ms=40)
    asked: list[int] = []
    slept: list[float] = []
    sleep = anyio.sleep

    async def counted(seconds: float) -> None:
        if asked and len(slept) < len(asked):
            slept.append(seconds)
        await sleep(0 if seconds < 0.4 else seconds)

    class Notes(LocalEngine):
        async def _attempts(self, node_id: str, work: Work) -> Failure | None:
            attempt = work.attempt

            async def noted(id: str) -> Failure | Again | None:
                tried = await attempt(id)
                asked.extend([tried.delay_ms] if isinstance(tried, Again) else [])
                return tried

            monkeypatch.setattr(work, "attempt", noted)
            monkeypatch.setattr("executor.walker.engine.anyio.sleep", counted)
            return await super()._attempts(node_id, work)

    walks.run(walks.accept(tool("n1", "test/flaky")), engine=Notes(jitter=lambda: 1.0))
    assert asked == [40, 80, 160]
    assert slept == [0.02, 0.04, 0.08]


def test_attempts_go_on_counting_after_a_crash(walks: Walks) -> None:
    work = Flaky(99, dies=2)
    flaky(walks, work, most=2)
    intent_id = walks.accept(tool("n1", "test/flaky"))
    with pytest.raises(KeyboardInterrupt):
        walks.run(intent_id)
    outcome = walks.run(intent_id, resume=True)
    assert outcome.state == "failed"
    assert [number for state, number in told(walks, intent_id, "n1") if state == "running"] == [1, 2, 2, 3]
    assert work.keys[1] == work.keys[2], "the attempt that died is made again as what it was"
    assert len(set(work.keys)) == 3


def test_a_resumed_run_makes_one_attempt_also_where_the_last_was_the_last(walks: Walks) -> None:
    work = Flaky(99, dies=3)
    flaky(walks, work, most=2)
    intent_id = walks.accept(tool("n1", "test/flaky"))
    with pytest.raises(KeyboardInterrupt):
        walks.run(intent_id)
    work.fails = 0
    assert walks.run(intent_id, resume=True).state == "completed"
    assert len(work.keys) == 4


def test_a_sibling_that_fails_ends_the_wait_for_the_next_attempt(walks: Walks) -> None:
    work = Flaky(99)

    async def fail(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        with anyio.fail_after(60):
            while not work.keys:
                await anyio.sleep(0.01)
        raise ToolError("BROKEN", "it broke")

    flaky(walks, work, wait_ms=60_000)
    walks.tools.append(probe("fail", fail))
    outcome = walks.go(parallel("n0", tool("n1", "test/flaky"), tool("n2", "test/fail")))
    assert outcome.nodes == {"n0": "failed", "n1": "cancelled", "n2": "failed"}
    assert told(walks, outcome.intent_id, "n1") == [
        ("running", 1),
        ("failed", "UNREACHABLE"),
        ("cancelled", ""),
    ]
