"""Any plan ends as the rules say: compared with a small model of them, on a clock that the test turns."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_walk import Branch, Leaf, Node, expected
from walks import NODE, Walks, gate, parallel, sequence, step, tool

from executor import Bench, GateAnswer, GateQuestion, Home, Manifest, Outcome, Tool, ToolError
from ir import Envelope, PlanStepBody

_SPINS = 40  # rounds of the event loop in which nothing happens: everything waits for the clock


class Hours:
    """A clock that stands still until everybody waits for it, then goes to the next moment."""

    def __init__(self) -> None:
        self.now = 0
        self.moves = 0
        self._waiting: dict[int, anyio.Event] = {}

    async def pass_by(self, lasts: int) -> None:
        until, event = self.now + lasts, anyio.Event()
        assert until not in self._waiting, "two nodes may not end at the same moment here"
        self._waiting[until] = event
        self.moves += 1
        try:
            await event.wait()
        finally:
            self._waiting.pop(until, None)
            self.moves += 1

    async def turn(self) -> None:
        """Turn the clock for ever."""
        still = seen = 0
        while True:
            await anyio.sleep(0)
            still, seen = (still + 1, seen) if self.moves == seen else (0, self.moves)
            if still >= _SPINS and self._waiting:
                self.now = min(self._waiting)
                self._waiting[self.now].set()
                still = 0


class Timed:
    """The tool, the model and the people of these plans: each takes the time that the plan says."""

    def __init__(self, hours: Hours) -> None:
        self.hours = hours

    async def work(self, args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        await self.hours.pass_by(int(str(args["lasts"])))
        if args["end"] == "failed":
            raise ToolError("SPOILT", "this work failed, as planned")
        return {"done": True}

    async def reason(self, *, system: str, user: str, outputs: Sequence[str], kind: str) -> dict[str, object]:
        given = dict(line.split(": ") for line in user.splitlines())
        await self.hours.pass_by(int(given["lasts"]))
        return {"text": "thought"} if given["end"] == "completed" else {}

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        return GateAnswer("approve" if gate.question.startswith("completed") else "no")


def tool_for(timed: Timed) -> Tool:
    text = {"type": "string"}
    manifest = Manifest.model_validate(
        {
            "uri": "matrix://tool/test/work@1.0.0",
            "description": "Takes its time.",
            "effects": ["read"],
            "operation": "read",
            "idempotent": True,
            "timeout_ms": 600_000,
            "max_output": 1000,
            "safety": "A",
            "scope": {"kind": "none"},
            "args": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"lasts": text, "end": text, "more": text},
            },
            "output": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"done": {"type": "boolean"}},
            },
        }
    )
    return Tool(manifest, timed.work)


def written(node: Node, before: str = "") -> NODE:
    """The node of the plan. before: a completed node; a silent one asks for what its output does not have."""
    if isinstance(node, Branch):
        children, last = [], before
        for child in node.children:
            children.append(written(child, last))
            last = child.id if isinstance(child, Leaf) and child.kind == "tool_call" else ""
        return (sequence if node.kind == "sequential" else parallel)(node.id, *children)
    if node.kind == "gate":
        return gate(node.id, f"{node.end} {node.id}")
    if node.kind == "step":
        return step(node.id, inputs={"lasts": str(node.lasts), "end": node.end}, expected_outputs=["text"])
    more = {"more": f"${{{before}.output.nothing}}"} if node.silent else {}
    return tool(node.id, "test/work", lasts=str(node.lasts), end=node.end, **more)


def grown(seed: int, size: int) -> Branch:
    """A plan of about so many nodes. No two of its sums of times are equal, so no two nodes end together."""
    chance = random.Random(seed)
    count = 0

    def leaf(kind: str = "tool_call", end: str = "completed", silent: bool = False) -> Leaf:
        nonlocal count
        count += 1
        return Leaf(f"n{count}", kind, chance.randrange(1, 10**14), end, silent)  # type: ignore[arg-type]

    def branch(depth: int, room: int) -> Branch:
        nonlocal count
        count += 1
        id, kind = f"n{count}", chance.choice(("sequential", "parallel"))
        wide = chance.choice((1, 2, 3, 5, 8, 24, 48))
        children: list[Node] = []
        while len(children) < wide and room > 0:
            if depth < 8 and chance.random() < 0.4:
                child: Node = branch(depth + 1, room // 2)
            else:
                child = some_leaf()
            children.append(child)
            room -= 1 + sum(1 for _ in _below(child))
        return Branch(id, kind, tuple(children or [leaf()]))

    def some_leaf() -> Node:
        nonlocal count
        risk = chance.random()
        if risk < 0.80:
            return leaf(chance.choice(("tool_call", "tool_call", "step")))
        if risk < 0.86:
            return leaf(chance.choice(("tool_call", "step")), "failed")
        # Those that take no time stand behind one that does: the moment at which they end is then their own.
        count += 1
        id = f"n{count}"
        last = leaf("gate", chance.choice(("completed", "completed", "denied"))) if risk < 0.96 else None
        quick = last or leaf("tool_call", "failed", silent=True)
        if quick.kind == "gate":
            quick = Leaf(quick.id, "gate", 0, quick.end)
        return Branch(id, "sequential", (leaf(), quick))

    return branch(0, size)


def _below(node: Node) -> list[Node]:
    return (
        [one for child in node.children for one in (child, *_below(child))]
        if isinstance(node, Branch)
        else []
    )


def walk(walks: Walks, root: Node) -> tuple[str, Outcome]:
    """Accept and run the plan on such a clock."""
    hours = Hours()
    timed = Timed(hours)
    walks.tools = [tool_for(timed)]
    intent = walks.accept(written(root))

    async def run() -> Outcome:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hours.turn)
            async with walks.walker(people=timed, reasoner=timed) as walker:
                outcome = await walker.run(intent)
            tasks.cancel_scope.cancel()
        return outcome

    return intent, anyio.run(run)


def hold(walks: Walks, root: Node) -> None:
    """The walker's states, the journal's, and the model's are the same; what began is what should."""
    state, story = expected(root)
    intent, outcome = walk(walks, root)
    states = {id: told.state for id, told in story.items()}
    assert dict(outcome.nodes) == states
    assert outcome.state == state
    assert dict(walks.home.journal.view(intent, fresh=True).nodes) == states
    begun = [body.node_id for body in bodies(walks, intent) if body.status == "running"]
    assert len(begun) == len(set(begun))
    assert set(begun) == {id for id, told in story.items() if told.begins is not None and not told.silent}


def bodies(walks: Walks, intent: str) -> list[PlanStepBody]:
    envelopes: tuple[Envelope, ...] = walks.home.journal.envelopes(intent)
    return [one.body for one in envelopes if isinstance(one.body, PlanStepBody)]


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Any:
    place: Path = tmp_path_factory.mktemp("plans")
    (place / "work").mkdir()
    with Home.open(place / "home") as home:
        yield Walks(home, place / "work")


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32), size=st.integers(1, 40))
def test_a_plan_ends_as_the_rules_say(plans: Walks, seed: int, size: int) -> None:
    hold(plans, grown(seed, size))


@pytest.mark.parametrize("seed", range(3))
def test_a_plan_of_three_hundred_nodes_ends_as_the_rules_say(plans: Walks, seed: int) -> None:
    root = next(
        plan for number in range(10_000) if 250 <= len(_below(plan := grown(1000 * seed + number, 300))) < 300
    )
    hold(plans, root)


@pytest.mark.slow
@settings(max_examples=400)
@given(seed=st.integers(0, 2**32), size=st.integers(1, 300))
def test_hundreds_of_plans_of_any_size_end_as_the_rules_say(plans: Walks, seed: int, size: int) -> None:
    hold(plans, grown(seed, size))


def test_the_journal_of_all_these_plans_verifies(plans: Walks) -> None:
    assert plans.home.journal.verify().findings == []
