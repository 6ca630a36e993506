"""A correction that another process writes while a plan is walked: it takes effect between two nodes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import anyio
import pytest
from shelf import Shelf, dispatch
from walks import Says, Walks, gate, parallel, sequence, tool

import ir
from executor import GateAnswer, GateQuestion, Home, Manifest, Outcome, Tool, ToolError
from executor.core.hashing import json_hash
from executor.store.lifecycle.patches import apply_patches

Op = dict[str, Any]


class Elsewhere:
    """Another process with the same home: corrects and accepts."""

    def __init__(self, walks: Walks) -> None:
        self.walks = walks
        self.home = Home.open(walks.home.path)

    def say(self, intent: str, kind: str, body: ir.Body) -> None:
        self.home.journal.append(self.walks.seal(intent, kind, body))

    def correct(self, intent: str, *patches: Op, of: str = "plan", retry_from: str = "") -> None:
        view = self.home.journal.view(intent)
        assert view.plan is not None
        assert view.intent is not None
        self.target = view.plan if of == "plan" else view.intent
        body = ir.IntentCorrectBody(self.target.hash, json.dumps(patches).encode(), retry_from=retry_from)
        self.before = view.intent, view.plan
        self.patches = patches
        self.say(intent, "intent.correct", body)

    def accept(self, intent: str) -> None:
        """What `mcl correct` adds, and then a person, to a correction of the plan that is material."""
        first, plan = self.before
        loose = {name: value for name, value in ir.as_document(plan).items() if name != "hash"}
        changed = apply_patches(loose, json.dumps(self.patches).encode())
        new = ir.with_hash(ir.PlanTree.from_json(json.dumps(changed)))
        self.say(intent, "intent.compiled", ir.IntentCompiledBody(ir.canonical_bytes(first)))
        self.say(intent, "plan.proposed", ir.PlanProposedBody(ir.canonical_bytes(new)))
        now = self.home.clock.now()
        self.say(intent, "intent.accept", ir.IntentAcceptBody(first.hash, now, plan_hash=new.hash))


@pytest.fixture
def elsewhere(walks: Walks) -> Elsewhere:
    return Elsewhere(walks)


class Probe:
    """Tools that count what they were called with; `during` happens in the call with that text, once."""

    def __init__(self, walks: Walks, *, effects: Sequence[str] = ("read",)) -> None:
        self.called: list[str] = []
        self.during: dict[str, Callable[[], object]] = {}
        operation = "read" if tuple(effects) == ("read",) else "write"
        text = {"type": "object", "additionalProperties": False, "properties": {"query": {"type": "string"}}}
        manifest = Manifest.model_validate(
            {
                "uri": f"matrix://tool/test/{operation}@1.0.0",
                "description": "A tool of the tests.",
                "effects": list(effects),
                "operation": operation,
                "idempotent": False,
                "timeout_ms": 20000,
                "max_output": 1000,
                "safety": "A" if operation == "read" else "C",
                "scope": {"kind": "none"},
                "args": text,
                "output": text,
            }
        )

        async def call(args: dict[str, Any], bench: Any) -> dict[str, object]:
            word = args["query"]
            self.called.append(word)
            if (happens := self.during.pop(word, None)) is not None:
                waits = happens()
                if hasattr(waits, "__await__"):
                    await waits
            return {"query": word}

        walks.tools.append(Tool(manifest, call))

    @property
    def counts(self) -> Counter[str]:
        return Counter(self.called)


@pytest.fixture
def probe(walks: Walks) -> Probe:
    return Probe(walks)


@pytest.fixture
def writer(walks: Walks) -> Probe:
    return Probe(walks, effects=("write",))


def read(id: str, query: str = "") -> Op:
    return tool(id, "test/read", query=query or id)


def write(id: str, query: str = "") -> Op:
    return tool(id, "test/write", "write", query=query or id)


def root(*children: Op) -> Op:
    return {"op": "replace", "path": "/root", "value": sequence("n0", *children)}


def steps(walks: Walks, intent: str) -> list[tuple[str, str]]:
    bodies = [envelope.body for envelope in walks.home.journal.envelopes(intent)]
    return [(body.node_id, body.status) for body in bodies if isinstance(body, ir.PlanStepBody)]


def good(walks: Walks, outcome: Outcome, state: str) -> None:
    assert (outcome.state, walks.home.journal.view(outcome.intent_id).state) == (state, state)
    assert walks.home.journal.verify().ok


def test_later_nodes_are_walked_as_they_were_corrected_while_an_earlier_one_ran(
    walks: Walks, elsewhere: Elsewhere, probe: Probe
) -> None:
    id = walks.accept(sequence("n0", read("a"), read("b"), read("c")))
    corrected = root(read("a"), read("c", "other"), gate("g"), read("d"))
    probe.during["a"] = lambda: elsewhere.correct(id, corrected)
    people = Says("approve")
    outcome = walks.run(id, people=people)
    good(walks, outcome, "completed")
    assert probe.called == ["a", "other", "d"]
    assert [asked.node_id for asked in people.asked] == ["g"]
    assert outcome.nodes == dict.fromkeys(("n0", "a", "c", "g", "d"), "completed")


def test_what_is_added_at_the_very_end_while_the_last_node_runs_is_walked_too(
    walks: Walks, elsewhere: Elsewhere, probe: Probe
) -> None:
    id = walks.accept(sequence("n0", read("a"), sequence("n1", read("b"))))
    probe.during["b"] = lambda: elsewhere.correct(id, root(read("a"), sequence("n1", read("b")), gate("g")))
    people = Says("approve")
    good(walks, walks.run(id, people=people), "completed")
    assert (probe.called, len(people.asked)) == (["a", "b"], 1)


def test_a_lower_budget_counts_at_once(walks: Walks, elsewhere: Elsewhere, probe: Probe) -> None:
    id = walks.accept(sequence("n0", read("a"), read("b"), read("c")), budget={"max_calls": 9})
    lower = {"op": "replace", "path": "/budget/max_calls", "value": 2}
    probe.during["a"] = lambda: elsewhere.correct(id, lower, of="intent")
    outcome = walks.run(id)
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.node_id, probe.called) == (
        "BUDGET_EXCEEDED",
        "c",
        ["a", "b"],
    )


def test_a_run_that_ends_after_a_correction_ends_once(
    walks: Walks, elsewhere: Elsewhere, probe: Probe
) -> None:
    id = walks.accept(sequence("n0", read("a"), gate("g")))
    budget = {"op": "add", "path": "/budget", "value": {"max_calls": 9}}

    class Refuses(Says):
        async def ask(self, gate: GateQuestion) -> GateAnswer | None:
            elsewhere.correct(id, budget, of="intent")
            return await super().ask(gate)

    people = Refuses("deny")
    outcome = walks.run(id, people=people)
    assert (outcome.state, len(people.asked)) == ("denied", 1)
    assert walks.watch.of("g") == ["running", "denied"]


def test_a_material_correction_stops_the_run_and_after_an_accept_it_goes_on(
    walks: Walks, elsewhere: Elsewhere, probe: Probe, writer: Probe
) -> None:
    id = walks.accept(sequence("n0", read("a"), write("b"), write("c")))
    probe.during["a"] = lambda: elsewhere.correct(id, root(read("a"), write("b", "better"), write("c")))
    outcome = walks.run(id)
    assert (outcome.state, outcome.exit) == ("corrected", 10)
    assert outcome.failure is not None
    assert f"mcl accept {id}" in outcome.failure.fix
    assert (probe.called, writer.called) == (["a"], [])
    view = walks.home.journal.view(id)
    assert (view.state, dict(view.nodes)) == ("proposed", {"n0": "pending", "a": "completed"})
    assert walks.watch.of("n0") == ["running", "pending"]
    elsewhere.accept(id)
    good(walks, walks.run(id), "completed")
    assert (probe.called, writer.called) == (["a"], ["better", "c"])


def test_a_completed_node_that_a_material_correction_changes_runs_again_with_its_users(
    walks: Walks, elsewhere: Elsewhere, probe: Probe, writer: Probe
) -> None:
    used = write("b", "${a.output.query}!")
    id = walks.accept(sequence("n0", read("x"), read("a"), used, write("c")))
    writer.during["a!"] = lambda: elsewhere.correct(id, root(read("x"), read("a", "other"), used, write("c")))
    assert walks.run(id).state == "corrected"
    elsewhere.accept(id)
    good(walks, walks.run(id), "completed")
    assert (probe.called, writer.called) == (["x", "a", "other"], ["a!", "other!", "c"])


def test_siblings_at_work_end_before_a_corrected_run_stops_and_nothing_more_begins(
    walks: Walks, elsewhere: Elsewhere, probe: Probe, writer: Probe
) -> None:
    plan = sequence("n0", parallel("p", read("a"), sequence("q", read("b"), read("late"))), write("c"))
    id = walks.accept(plan)
    begun, gone_on = anyio.Event(), anyio.Event()
    other = {"op": "replace", "path": "/root/children/1/tool_call/args/query", "value": "C"}

    async def correct() -> None:
        await begun.wait()
        elsewhere.correct(id, other)
        gone_on.set()

    async def long() -> None:
        begun.set()
        await gone_on.wait()
        await anyio.sleep(0.3)

    probe.during |= {"a": correct, "b": long}
    outcome = walks.run(id)
    assert outcome.state == "corrected"
    assert probe.counts == Counter(["a", "b"])
    nodes = dict(walks.home.journal.view(id).nodes)
    assert nodes == {"n0": "pending", "p": "pending", "q": "pending", "a": "completed", "b": "completed"}
    elsewhere.accept(id)
    good(walks, walks.run(id), "completed")
    assert probe.counts == Counter(["a", "b", "late"])
    assert writer.called == ["C"]


class Waits:
    """Nobody answers; `during` happens once somebody is asked."""

    def __init__(self, during: Callable[[GateQuestion], object]) -> None:
        self.during = during
        self.asked: list[GateQuestion] = []

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        self.asked.append(gate)
        self.during(gate)
        await anyio.sleep(60)
        return None


def test_a_question_that_a_material_correction_made_idle_is_not_waited_for(
    walks: Walks, elsewhere: Elsewhere, probe: Probe, writer: Probe
) -> None:
    id = walks.accept(sequence("n0", gate("g"), write("b")))
    people = Waits(lambda _: elsewhere.correct(id, root(gate("g"), write("b", "better"))))
    assert walks.run(id, people=people).state == "corrected"
    assert dict(walks.home.journal.view(id).nodes) == {"n0": "pending", "g": "pending"}
    elsewhere.accept(id)
    again = Says("approve")
    good(walks, walks.run(id, people=again), "completed")
    assert len(again.asked) == 1
    assert writer.called == ["better"]


def test_a_sign_off_that_a_material_correction_made_idle_ends_nothing(
    walks: Walks, elsewhere: Elsewhere, probe: Probe, writer: Probe
) -> None:
    id = walks.accept(sequence("n0", read("a")), criteria=[{"type": "signed_off"}])
    people = Waits(lambda _: elsewhere.correct(id, root(read("a"), write("b"))))
    assert walks.run(id, people=people).state == "corrected"
    elsewhere.accept(id)
    good(walks, walks.run(id, people=Says("approve")), "completed")
    assert (probe.called, writer.called) == (["a"], ["b"])


def test_nothing_begins_under_what_was_corrected_since_it_was_looked_at(
    walks: Walks, elsewhere: Elsewhere
) -> None:
    walks.write("old.txt", "old")
    id = walks.accept(sequence("n0", tool("d", "fs/read", path="old.txt"), gate("g")))
    described = {**tool("d", "fs/read", path="old.txt"), "description": "x"}
    before = walks.home.journal.tell

    def late(intent: str, *said: Any, **more: Any) -> Any:
        if any(getattr(one.body, "node_id", "") == "d" and one.body.status == "running" for one in said):
            walks.home.journal.tell = before  # type: ignore[method-assign]
            elsewhere.correct(id, root(described, gate("g")))
        return before(intent, *said, **more)

    walks.home.journal.tell = late  # type: ignore[method-assign]
    outcome = walks.run(id, people=Says("approve"))
    good(walks, outcome, "completed")
    corrected = walks.home.journal.view(id).plan_hash
    begun = [
        json.loads(envelope.body.result)
        for envelope in walks.home.journal.envelopes(id)
        if isinstance(envelope.body, ir.PlanStepBody) and envelope.body.status == "running"
    ]
    assert len(begun) == 3  # the start that came too late was never written
    assert begun[1]["key"] == json_hash([corrected, "d", begun[1]["attempt"]])


def test_a_run_goes_back_to_the_node_that_a_correction_names(
    walks: Walks, elsewhere: Elsewhere, probe: Probe
) -> None:
    id = walks.accept(sequence("n0", read("a"), read("b"), read("c"), read("d")))
    again = root(read("a"), read("b", "other"), read("c"), read("d"))
    probe.during["c"] = lambda: elsewhere.correct(id, again, retry_from="b")
    good(walks, walks.run(id), "completed")
    assert probe.called == ["a", "b", "c", "other", "c", "d"]
    attempts = [json.loads(key)["attempt"] for key in _begun(walks, id, "c")]
    assert attempts == [1, 2]


def _begun(walks: Walks, intent: str, node: str) -> list[str]:
    bodies = [envelope.body for envelope in walks.home.journal.envelopes(intent)]
    return [
        body.result
        for body in bodies
        if isinstance(body, ir.PlanStepBody) and (body.node_id, body.status) == (node, "running")
    ]


def test_a_gate_that_runs_again_is_asked_again(walks: Walks, elsewhere: Elsewhere, probe: Probe) -> None:
    id = walks.accept(sequence("n0", gate("g"), read("a")))
    probe.during["a"] = lambda: elsewhere.correct(id, retry_from="g")
    people = Says("approve", "approve")
    good(walks, walks.run(id, people=people), "completed")
    assert (len(people.asked), probe.called) == (2, ["a", "a"])


def test_an_interrupted_run_is_corrected_and_resumed(
    walks: Walks, elsewhere: Elsewhere, probe: Probe
) -> None:
    id = walks.accept(sequence("n0", read("a"), read("b")))

    class Gone(BaseException):
        pass

    def crash() -> None:
        raise Gone

    probe.during["b"] = crash
    with pytest.raises((Gone, BaseExceptionGroup)):
        walks.run(id)
    elsewhere.correct(id, root(read("a"), read("b", "other")), retry_from="b")
    good(walks, walks.run(id, resume=True), "completed")
    assert probe.called == ["a", "b", "other"]  # named to run again, so nobody has to be asked about b


def test_calls_before_a_correction_count_and_the_time_begins_anew_with_the_accept(
    walks: Walks, elsewhere: Elsewhere, probe: Probe, writer: Probe
) -> None:
    id = walks.accept(sequence("n0", read("a"), write("b")), budget={"max_calls": 2})
    probe.during["a"] = lambda: elsewhere.correct(id, root(read("a"), write("b", "B"), write("c")))
    assert walks.run(id).state == "corrected"
    elsewhere.accept(id)
    outcome = walks.run(id)
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.node_id) == ("BUDGET_EXCEEDED", "c")


def test_a_run_that_is_accepted_again_before_it_notices_goes_on_by_what_was_accepted(
    walks: Walks, elsewhere: Elsewhere, probe: Probe, writer: Probe
) -> None:
    id = walks.accept(sequence("n0", read("a"), write("b"), write("c")))

    def both() -> None:
        elsewhere.correct(id, root(read("a"), write("b", "B"), write("c")))
        elsewhere.accept(id)

    probe.during["a"] = both
    good(walks, walks.run(id), "completed")
    assert (probe.called, writer.called) == (["a"], ["B", "c"])


def test_a_run_that_is_accepted_again_before_it_notices_goes_back_to_what_changed(
    walks: Walks, elsewhere: Elsewhere, probe: Probe, writer: Probe
) -> None:
    id = walks.accept(sequence("n0", write("a"), read("b"), write("c")))

    def both() -> None:
        elsewhere.correct(id, root(write("a", "A"), read("b"), write("c")))
        elsewhere.accept(id)

    probe.during["b"] = both
    good(walks, walks.run(id), "completed")
    assert (probe.called, writer.called) == (["b"], ["a", "A", "c"])


def test_a_person_cancels_a_run_that_a_correction_stopped(
    walks: Walks, elsewhere: Elsewhere, probe: Probe, writer: Probe
) -> None:
    id = walks.accept(sequence("n0", read("a"), write("b")))
    probe.during["a"] = lambda: elsewhere.correct(id, root(read("a"), write("b", "B")))
    assert walks.run(id).state == "corrected"
    elsewhere.say(id, "intent.cancel", ir.IntentCancelBody(walks.home.clock.now()))
    assert walks.home.journal.view(id).state == "cancelled"
    assert writer.called == []


def below(shelf: Shelf, *words: str) -> Op:
    shelf.put("two", sequence("all", *(read(word) for word in words)))
    return dispatch(shelf, "sub", "two", verb="find")


def test_a_dispatch_that_a_correction_stopped_goes_on_below_where_it_was(
    walks: Walks, elsewhere: Elsewhere, probe: Probe, writer: Probe
) -> None:
    shelf = Shelf()
    sub = below(shelf, "x", "y")
    id = walks.accept(sequence("n0", sub, write("b")))
    probe.during["x"] = lambda: elsewhere.correct(id, root(sub, write("b", "B")))
    assert walks.run(id, sub_skills=shelf).state == "corrected"
    nodes = {"n0": "pending", "sub": "pending", "sub/all": "pending", "sub/x": "completed"}
    assert dict(walks.home.journal.view(id).nodes) == nodes
    elsewhere.accept(id)
    good(walks, walks.run(id, sub_skills=shelf), "completed")
    assert (probe.called, writer.called) == (["x", "y"], ["B"])
    assert len(walks.home.journal.rows(id, kind="intent.dispatch")) == 1


def test_a_dispatch_that_is_what_it_was_is_not_made_again_and_another_one_is(
    walks: Walks, elsewhere: Elsewhere, probe: Probe, writer: Probe
) -> None:
    shelf = Shelf()
    sub = below(shelf, "x", "y")
    shelf.put("other", read("z"))
    other = dispatch(shelf, "sub", "other", verb="find")
    id = walks.accept(sequence("n0", sub, write("b"), write("c")))
    writer.during["b"] = lambda: elsewhere.correct(id, root(sub, write("b"), write("c", "C")))
    assert walks.run(id, sub_skills=shelf).state == "corrected"
    elsewhere.accept(id)
    writer.during["C"] = lambda: elsewhere.correct(id, root(other, write("b"), write("c", "C"), write("d")))
    assert walks.run(id, sub_skills=shelf).state == "corrected"
    assert (probe.called, writer.called) == (["x", "y"], ["b", "C"])
    elsewhere.accept(id)
    good(walks, walks.run(id, sub_skills=shelf), "completed")
    assert (probe.called, writer.called) == (["x", "y", "z"], ["b", "C", "d"])


def test_a_lower_budget_counts_below_a_dispatch_too(walks: Walks, elsewhere: Elsewhere, probe: Probe) -> None:
    shelf = Shelf()
    id = walks.accept(sequence("n0", below(shelf, "x", "y", "z")), budget={"max_calls": 9})
    lower = {"op": "replace", "path": "/budget/max_calls", "value": 2}
    probe.during["x"] = lambda: elsewhere.correct(id, lower, of="intent")
    outcome = walks.run(id, sub_skills=shelf)
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.node_id) == ("BUDGET_EXCEEDED", "sub/z")


def test_what_was_in_doubt_before_a_correction_of_something_else_is_still_asked_about(
    walks: Walks, elsewhere: Elsewhere, probe: Probe, writer: Probe
) -> None:
    id = walks.accept(sequence("n0", write("b"), write("c")))

    class Gone(BaseException):
        pass

    def crash() -> None:
        raise Gone

    writer.during["b"] = crash
    with pytest.raises((Gone, BaseExceptionGroup)):
        walks.run(id)
    elsewhere.correct(id, root(write("b"), write("c", "C")))
    elsewhere.accept(id)
    people = Says("done")
    good(walks, walks.run(id, people=people), "completed")
    assert [asked.kind for asked in people.asked] == ["in_doubt"]
    assert writer.called == ["b", "C"]


def test_a_node_that_fails_as_a_correction_comes_leaves_no_branch_running(
    walks: Walks, elsewhere: Elsewhere, probe: Probe, writer: Probe
) -> None:
    id = walks.accept(sequence("n0", parallel("p", read("a"), read("b")), write("c")))
    begun = anyio.Event()

    async def fails() -> None:
        await begun.wait()
        elsewhere.correct(id, root(parallel("p", read("a"), read("b")), write("c", "C")))
        raise ToolError("BROKEN", "it does not work", place="a", fix="mend it")

    async def long() -> None:
        begun.set()
        await anyio.sleep(0.3)

    probe.during |= {"a": fails, "b": long}
    assert walks.run(id).state == "corrected"
    nodes = {"n0": "pending", "p": "pending", "a": "failed", "b": "completed"}
    assert dict(walks.home.journal.view(id).nodes) == nodes
    elsewhere.accept(id)
    people = Says("retry")
    good(walks, walks.run(id, people=people), "completed")
    assert (probe.counts, writer.called) == (Counter(["a", "b", "a"]), ["C"])


def fails(how: str) -> Callable[[], None]:
    """A tool that does not do what it is asked to."""

    def no() -> None:
        raise ToolError("TOOL_FAILED", how, place="query", fix="ask for something else")

    return no


def test_a_run_that_failed_goes_on_from_there_after_a_correction_and_an_accept(
    walks: Walks, elsewhere: Elsewhere, probe: Probe, writer: Probe
) -> None:
    id = walks.accept(sequence("n0", write("a"), write("b"), write("c")))
    writer.during["b"] = fails("there is no b")
    good(walks, walks.run(id), "failed")
    elsewhere.correct(id, root(write("a"), write("b", "better"), write("c")))
    assert walks.home.journal.view(id).state == "proposed"
    elsewhere.accept(id)
    good(walks, walks.run(id), "completed")
    assert writer.called == ["a", "b", "better", "c"]  # a had completed, and what changed asks nobody


def test_what_failed_and_is_what_it_was_may_have_happened_so_a_person_is_asked(
    walks: Walks, elsewhere: Elsewhere, writer: Probe
) -> None:
    id = walks.accept(sequence("n0", write("a"), write("b")))
    writer.during["a"] = fails("it broke")
    good(walks, walks.run(id), "failed")
    elsewhere.correct(id, root(write("a"), write("b", "other")))
    elsewhere.accept(id)
    people = Says("retry")
    good(walks, walks.run(id, people=people), "completed")
    assert [gate.node_id for gate in people.asked] == ["a"]
    assert "failed" in people.asked[0].question
    assert writer.called == ["a", "a", "other"]


def test_a_run_that_failed_is_retried_from_the_node_that_is_named_without_another_word(
    walks: Walks, elsewhere: Elsewhere, writer: Probe
) -> None:
    id = walks.accept(sequence("n0", write("a"), write("b")))
    writer.during["b"] = fails("it broke")
    good(walks, walks.run(id), "failed")
    elsewhere.correct(id, retry_from="b")
    elsewhere.accept(id)
    good(walks, walks.run(id), "completed")
    assert writer.called == ["a", "b", "b"]
