"""Rules of single nodes: time limits, what models do wrong, references, states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from walks import Says, Walks, gate, parallel, probe, sequence, step, tool

from executor import Bench, ToolError, UnresolvedError


@pytest.mark.parametrize(
    ("planned", "manifests", "code"), [(0, 50, "TIMEOUT"), (50, 5000, "TIMEOUT"), (5000, 50, "")]
)
def test_the_time_limit_is_the_plans_and_else_the_manifests(
    walks: Walks, planned: int, manifests: int, code: str
) -> None:
    async def slow(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        await anyio.sleep(0.3 if not code else 30)
        return {}

    walks.tools.append(probe("slow", slow, timeout_ms=manifests))
    outcome = walks.go(tool("n1", "test/slow", timeout_ms=planned))
    assert (outcome.failure.code if outcome.failure else "") == code


class Model:
    """Gives this answer, or raises it."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    async def reason(self, **asked: Any) -> Any:
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (ZeroDivisionError("a mistake in the model"), "MODEL_CRASHED"),
        (UnresolvedError("MODEL_LOST", "the model is not there any more"), "MODEL_LOST"),
        (TimeoutError(), "TIMEOUT"),
        (None, "BAD_ANSWER"),
        (["text"], "BAD_ANSWER"),
        ({"text": None}, "BAD_ANSWER"),
        ({}, "BAD_ANSWER"),
        ({"text": "x", "more": "y"}, "BAD_ANSWER"),
    ],
)
def test_what_a_model_does_wrong_fails_its_step_and_nothing_goes_on_over_it(
    walks: Walks, answer: object, code: str
) -> None:
    plan = sequence("n0", step("n1", inputs={"a": "b"}), tool("n2", "time/now"))
    outcome = walks.go(plan, reasoner=Model(answer))
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.denied) == (code, False)
    assert outcome.nodes == {"n0": "failed", "n1": "failed", "n2": "skipped"}


def test_a_doubled_dollar_is_a_plain_one_and_no_reference(walks: Walks) -> None:
    text = "$${n1.output.date} and $${"
    plan = sequence("n0", tool("n1", "time/now"), tool("n2", "fs/write", "write", path="a.txt", content=text))
    assert walks.go(plan).state == "completed"
    assert (walks.workspace / "a.txt").read_text() == "${n1.output.date} and ${"


def test_what_looks_like_a_number_stays_what_the_schema_says(walks: Walks) -> None:
    seen: list[object] = []

    async def take(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        seen.append(args["text"])
        return {"text": str(args["text"])}

    walks.tools.append(probe("take", take))
    texts = ("007", "+15551234", "1.10", "true", "null", "9007199254740993")
    nodes = [tool(f"n{place}", "test/take", text=text) for place, text in enumerate(texts, 1)]
    again = tool("again", "test/take", text="${n6.output.text}")
    assert walks.go(sequence("n0", *nodes, again)).state == "completed"
    assert seen == [*texts, texts[-1]]


def test_a_node_that_a_person_counts_as_done_gave_nothing_that_could_be_referred_to(walks: Walks) -> None:
    async def dies(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        raise KeyboardInterrupt

    walks.tools.append(probe("dies", dies, idempotent=False, effects=("write",)))
    plan = sequence("n0", tool("n1", "test/dies", "write"), tool("n2", "fs/read", path="${n1.output.text}"))
    intent_id = walks.accept(plan)
    with pytest.raises(KeyboardInterrupt):
        walks.run(intent_id)
    outcome = walks.run(intent_id, resume=True, people=Says("done"))
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.nodes["n1"]) == ("NO_SUCH_FIELD", "completed")
    assert "running" not in walks.watch.of("n2")


def test_a_branch_that_completed_before_a_crash_is_not_begun_again(walks: Walks) -> None:
    class Dies:
        async def ask(self, asked: object) -> None:
            raise KeyboardInterrupt

    inner = parallel("a", tool("n1", "time/now"), sequence("b", tool("n2", "time/now")))
    intent_id = walks.accept(sequence("n0", inner, gate("n3")))
    with pytest.raises(KeyboardInterrupt):
        walks.run(intent_id, people=Dies())
    walks.watch.events.clear()
    outcome = walks.run(intent_id, resume=True)
    assert outcome.state == "completed"
    assert {walks.watch.of(id)[-1] for id in ("a", "n1", "b", "n2")} == {"completed"}
    assert all(walks.watch.of(id) == ["completed"] for id in ("a", "n1", "b", "n2"))
    assert set(outcome.outputs) == {"n1", "n2", "n3"}


def test_below_a_cancelled_sequence_what_never_began_is_skipped(walks: Walks) -> None:
    async def wait(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        running.set()
        await anyio.sleep(60)
        return {}

    async def fail(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        await running.wait()
        raise ToolError("BROKEN", "it broke")

    running = anyio.Event()
    walks.tools += [probe("wait", wait), probe("fail", fail)]
    waiting = sequence("s", tool("w", "test/wait"), parallel("p", tool("z", "time/now")))
    outcome = walks.go(parallel("n0", waiting, tool("f", "test/fail")))
    assert outcome.nodes == {
        "n0": "failed",
        "s": "cancelled",
        "w": "cancelled",
        "p": "skipped",
        "z": "skipped",
        "f": "failed",
    }
