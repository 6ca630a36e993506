"""Another engine walks the same plans: one node at a time, from a queue in a file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from shelf import Shelf, dispatch
from walks import NODE, Walks, gate, parallel, probe, sequence, tool

from executor import Bench, ToolError
from executor.walker.engine import Again, Failure, Work
from ir import IntentCancelBody, PlanStepBody


class QueueEngine:
    """Keeps what is under way as rows of an SQLite file, does one thing, and looks into the file again.

    Of nodes it keeps ids only, so that whatever it does it does on the node as it stands at that moment.
    """

    def __init__(self, place: Path) -> None:
        self.file = sqlite3.connect(place, isolation_level=None)
        self.file.execute(
            "CREATE TABLE IF NOT EXISTS under_way (level INTEGER PRIMARY KEY, node TEXT, turn TEXT)"
        )
        self.at_once = 0

    async def walk(self, node_id: str, work: Work) -> Failure | None:
        self.file.execute("DELETE FROM under_way")
        self._push(node_id)
        failure: Failure | None = None
        try:
            while top := self._top():
                level, node, turn = top
                if turn == "new":
                    opened = await work.open(node)
                    self.file.execute("UPDATE under_way SET turn = ? WHERE level = ?", (opened.order, level))
                    if opened.order == "settled":
                        self._pop(level)
                        failure = opened.failure
                elif turn == "terminal":
                    self.at_once += 1
                    assert self.at_once == 1, "strictly one at a time"
                    try:
                        tried = await work.attempt(node)
                    finally:
                        self.at_once -= 1
                    if isinstance(tried, Again):
                        await anyio.sleep(tried.delay_ms / 1000)
                        continue
                    failure = await work.close(node, tried)
                    self._pop(level)
                elif failure is None and (child := work.next_child(node)) is not None:
                    self._push(child)
                else:
                    if failure is not None:
                        work.drop(node, "skipped" if turn == "sequential" else "cancelled")
                    failure = await work.close(node, failure)
                    self._pop(level)
        except anyio.get_cancelled_exc_class():
            while top := self._top():
                level, node, turn = top
                if turn in ("sequential", "parallel"):
                    work.drop(node, "skipped" if turn == "sequential" else "cancelled")
                work.abandon(node)
                self._pop(level)
            raise
        return failure

    def _top(self) -> tuple[int, str, str] | None:
        rows = self.file.execute("SELECT level, node, turn FROM under_way ORDER BY level DESC LIMIT 1")
        found: tuple[int, str, str] | None = rows.fetchone()
        return found

    def _push(self, node: str) -> None:
        self.file.execute("INSERT INTO under_way (node, turn) VALUES (?, 'new')", (node,))

    def _pop(self, level: int) -> None:
        self.file.execute("DELETE FROM under_way WHERE level = ?", (level,))


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[QueueEngine]:
    engine = QueueEngine(tmp_path / "queue.sqlite")
    yield engine
    engine.file.close()


async def fail(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    raise ToolError("BROKEN", "it broke")


async def wait(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    await anyio.sleep(60)
    return {}


PLANS: dict[str, NODE] = {
    "all goes well": sequence(
        "n0",
        tool("n1", "fs/read", path="a.txt"),
        parallel("n2", tool("n3", "time/now"), gate("n4"), sequence("n5", tool("n6", "time/now"))),
        tool("n7", "fs/write", "write", path="b.txt", content="${n1.output.text}"),
    ),
    "a sequence fails": sequence(
        "n0",
        sequence("n1", tool("n2", "test/fail"), parallel("n3", tool("n4", "time/now"))),
        tool("n5", "time/now"),
    ),
    "the first of a parallel fails": sequence(
        "n0", parallel("n1", tool("n2", "test/fail"), sequence("n3", tool("n4", "test/wait"))), gate("n5")
    ),
    "a reference leads nowhere": sequence(
        "n0", tool("n1", "time/now"), tool("n2", "fs/read", path="${n1.output.nothing}"), gate("n3")
    ),
}


@pytest.mark.parametrize("name", PLANS)
def test_another_engine_leads_to_the_same_end(walks: Walks, engine: QueueEngine, name: str) -> None:
    walks.write("a.txt", "some text")
    walks.tools += [probe("fail", fail), probe("wait", wait)]
    ends = []
    for more in ({}, {"engine": engine}):
        outcome = walks.run(walks.accept(PLANS[name]), **more)
        failure = outcome.failure and (outcome.failure.code, outcome.failure.node_id)
        states = walks.home.journal.view(outcome.intent_id, fresh=True).nodes
        assert dict(states) == dict(outcome.nodes)
        ends.append((outcome.state, failure, outcome.nodes, set(outcome.outputs)))
    assert ends[0] == ends[1]
    assert walks.home.journal.verify().ok


def test_another_engine_may_walk_the_children_of_a_parallel_node_one_by_one(
    walks: Walks, engine: QueueEngine
) -> None:
    nodes = [tool(f"n{one}", "time/now") for one in range(1, 30)]
    outcome = walks.run(walks.accept(parallel("n0", *nodes)), engine=engine)
    assert set(outcome.nodes.values()) == {"completed"}
    told = [
        (envelope.body.node_id, envelope.body.status)
        for envelope in walks.home.journal.envelopes(outcome.intent_id)
        if isinstance(envelope.body, PlanStepBody)
    ]
    inner = [(f"n{one}", state) for one in range(1, 30) for state in ("running", "completed")]
    assert told == [("n0", "running"), *inner, ("n0", "completed")]


def test_a_run_that_died_under_one_engine_goes_on_under_another(walks: Walks, engine: QueueEngine) -> None:
    called: list[Any] = []

    async def dies(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        called.append(args["text"])
        if called.count("3") == 1 and args["text"] == "3":
            raise KeyboardInterrupt
        return {"text": "done"}

    walks.tools.append(probe("dies", dies))
    calls = [tool(f"n{one}", "test/dies", text=str(one)) for one in (1, 2, 3, 4)]
    intent_id = walks.accept(sequence("n0", sequence("a", *calls[:2]), sequence("b", *calls[2:])))
    with pytest.raises(KeyboardInterrupt):
        walks.run(intent_id, engine=engine)
    assert walks.run(intent_id, resume=True).state == "completed"
    assert called == ["1", "2", "3", "3", "4"]


def test_another_engine_walks_the_plans_of_other_skills_and_makes_calls_again(
    walks: Walks, engine: QueueEngine
) -> None:
    calls: list[str] = []

    async def flaky(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        calls.append(bench.idempotency_key)
        if len(calls) % 3:
            raise ToolError("UNREACHABLE", "nobody answered", transient=True)
        return {"text": "there"}

    walks.tools.append(probe("flaky", flaky, retries={"max": 2, "backoff_ms": 1}))
    shelf = Shelf()
    shelf.put("low", parallel("p", tool("n1", "test/flaky"), sequence("s", tool("n2", "test/flaky"))))
    shelf.put("high", sequence("q", tool("n1", "test/flaky"), dispatch(shelf, "d", "low")))
    outcome = walks.run(walks.accept(dispatch(shelf, "sub", "high")), engine=engine, sub_skills=shelf)
    assert set(outcome.nodes.values()) == {"completed"}
    assert outcome.outputs["sub"] == {"n1": {"text": "there"}, "s": {"text": "there"}}
    assert len(set(calls)) == 9


def test_a_cancel_by_a_person_reaches_another_engine(walks: Walks, engine: QueueEngine) -> None:
    async def cancel_and_wait(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        walks.tell(intent_id, "intent.cancel", IntentCancelBody(walks.home.clock.now()))
        await anyio.sleep(30)
        return {}

    walks.tools.append(probe("cancel", cancel_and_wait))
    intent_id = walks.accept(
        sequence("n0", sequence("n1", tool("n2", "test/cancel")), tool("n3", "time/now"))
    )
    outcome = walks.run(intent_id, engine=engine)
    assert outcome.state == "cancelled"
    view = walks.home.journal.view(intent_id)
    assert {id: view.nodes[id] for id in ("n0", "n1", "n2")} == dict.fromkeys(("n0", "n1", "n2"), "cancelled")
    assert engine.file.execute("SELECT count(*) FROM under_way").fetchone() == (0,)
