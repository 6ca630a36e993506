"""Walking plans: order, failure, cancelling, results, resuming."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio
import pytest
from nacl.signing import SigningKey
from walks import Says, Walks, Watch, gate, gone, parallel, probe, sequence, step, tool

from executor import (
    AlwaysDeny,
    Bench,
    GateAnswer,
    GateQuestion,
    Home,
    Outcome,
    ToolError,
    WalkError,
    WalkEvent,
)
from executor.sandbox.process import run_command
from executor.walker.history import run_lock
from ir import Header, IntentCancelBody, PlanStepBody, PolicyGateResolveBody, did_of, seal


@pytest.fixture
def walks(home: Home, tmp_path: Path) -> Walks:
    (tmp_path / "work").mkdir()
    return Walks(home, tmp_path / "work")


class Model:
    """A reasoner with one answer, which remembers what it was asked."""

    def __init__(self, answer: Mapping[str, object]) -> None:
        self.answer = dict(answer)
        self.asked: list[dict[str, object]] = []

    async def reason(self, *, system: str, user: str, outputs: Sequence[str], kind: str) -> dict[str, object]:
        self.asked.append({"system": system, "user": user, "outputs": tuple(outputs), "kind": kind})
        return self.answer


def test_a_plan_that_searches_and_writes_a_report_leaves_the_report_and_an_attest(walks: Walks) -> None:
    walks.write("src/a.py", "x = 1\n# TODO tidy\n")
    outcome = walks.go(
        sequence(
            "n0",
            tool("n1", "fs/search", query="TODO"),
            tool(
                "n2",
                "fs/write",
                "write",
                path="out/report.md",
                content="${n1.output.count}: ${n1.output.text}",
            ),
        ),
        criteria=[{"type": "delivered", "artifact": "out/report.md"}],
    )
    assert (outcome.state, outcome.failure, outcome.exit) == ("completed", None, 0)
    assert (walks.workspace / "out/report.md").read_text() == "1: src/a.py:2: # TODO tidy"
    assert outcome.nodes == {"n0": "completed", "n1": "completed", "n2": "completed"}
    assert walks.home.journal.view(outcome.intent_id).state == "completed"
    evidence = outcome.criteria[0].evidence
    assert evidence["size"] == 26
    assert len(str(evidence["sha256"])) == 64
    assert walks.home.journal.verify().ok


def test_every_node_is_in_the_journal_as_running_before_it_ends(walks: Walks) -> None:
    outcome = walks.go(sequence("n0", tool("n1", "time/now"), tool("n2", "time/now")))
    told = [
        (envelope.body.node_id, envelope.body.status)
        for envelope in walks.home.journal.envelopes(outcome.intent_id)
        if isinstance(envelope.body, PlanStepBody)
    ]
    assert told == [
        ("n0", "running"),
        ("n1", "running"),
        ("n1", "completed"),
        ("n2", "running"),
        ("n2", "completed"),
        ("n0", "completed"),
    ]


def test_the_start_of_a_node_is_durable_before_its_effect(walks: Walks) -> None:
    seen: list[str] = []

    async def look(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        with Home.open(walks.home.path) as other:  # what another process would find after a crash now
            seen.append(other.journal.view(intent_id).nodes["n1"])
        seen.append(bench.idempotency_key)
        return {}

    walks.tools.append(probe("look", look))
    intent_id = walks.accept(tool("n1", "test/look"))
    assert walks.run(intent_id).state == "completed"
    assert seen[0] == "running"
    assert len(seen[1]) == 64


def test_the_first_failure_of_a_sequence_skips_what_follows(walks: Walks) -> None:
    outcome = walks.go(
        sequence(
            "n0",
            tool("n1", "fs/read", path="missing.txt"),
            sequence("n2", tool("n3", "time/now")),
        )
    )
    assert outcome.nodes == {"n0": "failed", "n1": "failed", "n2": "skipped", "n3": "skipped"}
    assert (outcome.state, outcome.exit) == ("failed", 5)
    assert outcome.failure is not None
    assert outcome.failure.code == "NOT_FOUND"
    view = walks.home.journal.view(outcome.intent_id)
    assert (view.state, view.reason) == ("failed", "tool_failure")
    assert view.nodes["n3"] == "skipped"


def test_children_of_a_parallel_node_run_at_once(walks: Walks) -> None:
    everybody = []

    async def meet(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        everybody.append(args["text"])
        with anyio.fail_after(60):
            while len(everybody) < 3:
                await anyio.sleep(0.005)
        return {}

    walks.tools.append(probe("meet", meet))
    nodes = [tool(f"n{one}", "test/meet", text=str(one)) for one in (1, 2, 3)]
    assert walks.go(parallel("n0", *nodes)).state == "completed"


def test_the_first_failure_of_a_parallel_node_ends_its_siblings_and_their_processes(
    walks: Walks, tmp_path: Path
) -> None:
    children = tmp_path / "children"

    async def sleep(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        script = f"echo $$ >> {children}; (sleep 60 & echo $! >> {children}; wait)"
        await run_command(
            ["/bin/sh", "-c", script], cwd=tmp_path, environment={"PATH": "/bin:/usr/bin"}, max_output=100
        )
        return {}

    async def fail(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        with anyio.fail_after(60):
            while not children.exists() or len(children.read_text().split()) < 6:
                await anyio.sleep(0.01)
        raise ToolError("BROKEN", "it broke", fix="mend it")

    walks.tools += [probe("sleep", sleep), probe("fail", fail)]
    sleepers = [tool(f"s{one}", "test/sleep") for one in (1, 2, 3)]
    outcome = walks.go(
        sequence("n0", parallel("p", *sleepers, tool("f", "test/fail")), tool("z", "time/now"))
    )
    assert outcome.nodes == {
        "n0": "failed",
        "p": "failed",
        "s1": "cancelled",
        "s2": "cancelled",
        "s3": "cancelled",
        "f": "failed",
        "z": "skipped",
    }
    assert outcome.failure is not None
    assert outcome.failure.code == "BROKEN"
    for process in children.read_text().split():
        assert gone(int(process))


def test_siblings_that_never_began_are_cancelled_too(walks: Walks) -> None:
    async def fail(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        raise ToolError("BROKEN", "it broke")

    walks.tools.append(probe("fail", fail))
    nodes = [tool("n1", "test/fail"), *(tool(f"n{one}", "time/now") for one in range(2, 40))]
    outcome = walks.go(parallel("n0", *nodes))
    assert set(outcome.nodes.values()) <= {"failed", "cancelled", "completed"}
    assert outcome.nodes["n39"] == "cancelled"
    assert walks.home.journal.view(outcome.intent_id).nodes["n39"] == "cancelled"


def test_a_tool_that_takes_too_long_fails_with_timeout(walks: Walks) -> None:
    async def wait(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        await anyio.sleep(30)
        return {}

    walks.tools.append(probe("wait", wait))
    outcome = walks.go(tool("n1", "test/wait", timeout_ms=50))
    assert outcome.failure is not None
    assert outcome.failure.code == "TIMEOUT"
    assert walks.home.journal.view(outcome.intent_id).reason == "timeout"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"more": 1}, "BAD_OUTPUT"),
        ({"text": "x" * 2000}, "OUTPUT_TOO_LARGE"),
        ({"text": 1}, "BAD_OUTPUT"),
        ({"text": "\ud800"}, "BAD_OUTPUT"),
    ],
)
def test_an_answer_that_the_manifest_does_not_describe_fails_the_node(
    walks: Walks, answer: dict[str, object], code: str
) -> None:
    async def odd(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        return answer

    walks.tools.append(probe("odd", odd))
    outcome = walks.go(sequence("n0", tool("n1", "test/odd"), tool("n2", "time/now")))
    assert outcome.failure is not None
    assert outcome.failure.code == code
    assert outcome.nodes["n2"] == "skipped"


def test_a_tool_that_crashes_fails_its_node_and_not_the_run(walks: Walks) -> None:
    async def divide(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        raise ZeroDivisionError("a mistake in the tool")

    walks.tools.append(probe("crash", divide))
    outcome = walks.go(tool("n1", "test/crash"))
    assert outcome.failure is not None
    assert outcome.failure.code == "TOOL_CRASHED"
    assert walks.home.journal.view(outcome.intent_id).state == "failed"


def test_what_a_tool_says_when_it_fails_is_free_of_secrets_and_escapes_everywhere(walks: Walks) -> None:
    token = f"ghp_{'a' * 36}"

    async def tell(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        raise ToolError("ODD", f"\x1b[2J {token}\ud800")

    walks.tools.append(probe("tell", tell))
    outcome = walks.go(tool("n1", "test/tell"))
    assert outcome.failure is not None
    assert outcome.failure.message == "\\x1b[2J [redacted: GitHub token]\\ud800"
    assert not any(token.encode() in row.wire for row in walks.home.journal.rows(outcome.intent_id))


def test_a_reference_to_a_missing_field_fails_before_anything_is_called(walks: Walks) -> None:
    outcome = walks.go(
        sequence("n0", tool("n1", "time/now"), tool("n2", "fs/read", path="${n1.output.nothing}"))
    )
    assert outcome.failure is not None
    assert outcome.failure.code == "NO_SUCH_FIELD"
    assert "running" not in walks.watch.of("n2")


def test_a_step_hands_the_model_resolved_inputs_and_its_answer_to_the_next_node(walks: Walks) -> None:
    model = Model({"summary": "all is well"})
    outcome = walks.go(
        sequence(
            "n0",
            tool("n1", "time/now"),
            step(
                "n2", inputs={"when": "at ${n1.output.date}"}, expected_outputs=["summary"], kind="summarize"
            ),
            tool("n3", "fs/write", "write", path="s.txt", content="${n2.output.summary}"),
        ),
        reasoner=model,
    )
    assert outcome.state == "completed"
    assert (walks.workspace / "s.txt").read_text() == "all is well"
    assert model.asked[0]["outputs"] == ("summary",)
    assert str(model.asked[0]["user"]).startswith("when: at 20")


@pytest.mark.parametrize(
    "answer", [{"other": 1}, {"summary": float("nan")}, {"summary": "\ud800"}, {"summary": "x" * (1 << 20)}]
)
def test_a_model_that_answers_something_else_fails_the_step(walks: Walks, answer: dict[str, object]) -> None:
    outcome = walks.go(step("n1", inputs={"a": "b"}, expected_outputs=["summary"]), reasoner=Model(answer))
    assert outcome.failure is not None
    assert outcome.failure.code == "BAD_ANSWER"


def test_a_plan_with_steps_is_refused_beforehand_where_there_is_no_model(walks: Walks) -> None:
    outcome = walks.go(sequence("n0", tool("n1", "time/now"), step("n2", inputs={"a": "b"})))
    assert (outcome.state, outcome.exit, outcome.nodes) == ("denied", 4, {})
    assert outcome.failure is not None
    assert outcome.failure.code == "NO_MODEL"


def test_a_sub_dispatch_is_refused_beforehand_by_name(walks: Walks) -> None:
    node = {
        "id": "n1",
        "kind": "sub_dispatch",
        "sub_dispatch": {"skill_ref": "matrix://skill/other@1.0.0"},
    }
    outcome = walks.go(sequence("n0", tool("n2", "time/now"), node))
    assert outcome.failure is not None
    assert outcome.failure.code == "SUB_DISPATCH_UNAVAILABLE"
    assert not walks.watch.events


def test_a_criterion_that_does_not_hold_fails_the_intent_and_is_named(walks: Walks) -> None:
    criteria = [{"type": "delivered", "artifact": "nowhere.txt"}]
    walks.write("nowhere.txt", "x")
    outcome = walks.go(tool("n1", "fs/delete", "write", path="nowhere.txt"), criteria=criteria)
    assert (outcome.state, outcome.nodes) == ("failed", {"n1": "completed"})
    assert outcome.failure is not None
    assert outcome.failure.code == "CRITERION_NOT_MET"
    assert "delivered" in outcome.failure.message
    assert walks.home.journal.view(outcome.intent_id).state == "failed"


@pytest.mark.parametrize(
    "criterion",
    [
        {"type": "external", "check": "the tests pass"},
        {"type": "attestation", "source": "matrix://agent/nobody", "topic": "done"},
        {"type": "x:custom", "data": "1"},
    ],
)
def test_a_criterion_that_can_never_hold_is_named_before_anything_is_done(
    walks: Walks, criterion: dict[str, str]
) -> None:
    outcome = walks.go(tool("n1", "time/now"), criteria=[criterion])
    assert (outcome.state, outcome.nodes) == ("denied", {})
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.node_id) == (
        "PROMISE_UNCHECKABLE",
        "frame.success_criteria[0]",
    )
    assert walks.home.journal.view(outcome.intent_id).state == "accepted"


def test_an_artifact_may_be_named_by_the_object_that_it_is(walks: Walks) -> None:
    walks.write("a/b.txt", "here")
    outcome = walks.go(
        tool("n1", "time/now"),
        criteria=[{"type": "delivered", "artifact": "report"}],
        objects=[{"name": "report", "value": "a/b.txt"}],
    )
    assert outcome.state == "completed"


@pytest.mark.parametrize(
    ("answer", "state"), [("approve", "completed"), ("deny", "failed"), (None, "failed")]
)
def test_a_sign_off_is_what_the_person_says_at_the_end(walks: Walks, answer: str | None, state: str) -> None:
    people = Says(answer)
    outcome = walks.go(
        tool("n1", "time/now"),
        criteria=[{"type": "signed_off", "by": walks.home.keyring.user.did}],
        people=people,
    )
    assert (outcome.state, people.asked[0].kind) == (state, "sign_off")


def test_a_sign_off_by_another_trusted_user_is_not_that_of_the_one_who_was_named(walks: Walks) -> None:
    other = SigningKey(b"o" * 32)
    did = did_of(bytes(other.verify_key))
    walks.home.keyring.trust(did, "user")

    class Stranger:
        async def ask(self, gate: GateQuestion) -> GateAnswer:
            clock = walks.home.clock
            header = Header(clock.new_id(), clock.now(), did, f"matrix://intent/{gate.intent_id}")
            body = PolicyGateResolveBody(gate.gate_id, "approve", clock.now())
            return GateAnswer("approve", envelope=seal("policy.gate.resolve", body, header, other))

    criteria = [{"type": "signed_off", "by": walks.home.keyring.user.did}]
    outcome = walks.go(tool("n1", "time/now"), criteria=criteria, people=Stranger())
    assert (outcome.state, outcome.criteria[0].holds) == ("failed", False)
    assert did in outcome.criteria[0].reason


def test_an_attestation_holds_once_the_source_has_attested(walks: Walks) -> None:
    walks.write("a.txt", "x")
    first = walks.go(tool("n1", "time/now"), criteria=[{"type": "delivered", "artifact": "a.txt"}])
    assert first.state == "completed"
    source = f"matrix://agent/{walks.home.keyring.agent.did}"
    criteria = [{"type": "attestation", "source": source, "topic": "file:a.txt"}]
    assert walks.go(tool("n1", "time/now"), criteria=criteria).state == "completed"


def test_only_an_accepted_intent_runs(walks: Walks) -> None:
    intent_id = walks.propose(tool("n1", "time/now"))
    with pytest.raises(WalkError, match="proposed") as caught:
        walks.run(intent_id)
    assert caught.value.code == "NOT_ACCEPTED"
    finished = walks.go(tool("n1", "time/now"))
    with pytest.raises(WalkError, match="completed"):
        walks.run(finished.intent_id)


@pytest.mark.parametrize("name", ["", "..", "../../etc/passwd", "nonsense"])
def test_what_is_no_id_of_an_intent_is_refused(walks: Walks, name: str) -> None:
    with pytest.raises(WalkError) as caught:
        walks.run(name)
    assert caught.value.code == "UNKNOWN_INTENT"


def test_one_process_at_a_time_runs_an_intent(walks: Walks) -> None:
    intent_id = walks.accept(tool("n1", "time/now"))
    with run_lock(walks.home.path, intent_id), pytest.raises(WalkError) as caught:
        walks.run(intent_id)
    assert caught.value.code == "ALREADY_RUNNING"
    assert walks.run(intent_id).state == "completed"


def test_a_cancel_by_a_person_ends_what_is_running(walks: Walks) -> None:
    async def cancel_and_wait(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        walks.tell(intent_id, "intent.cancel", IntentCancelBody(walks.home.clock.now()))
        await anyio.sleep(30)
        return {}

    walks.tools.append(probe("cancel", cancel_and_wait))
    intent_id = walks.accept(sequence("n0", tool("n1", "test/cancel"), tool("n2", "time/now")))
    outcome = walks.run(intent_id)
    assert (outcome.state, outcome.exit) == ("cancelled", 4)
    view = walks.home.journal.view(intent_id)
    assert (view.state, view.nodes["n1"]) == ("cancelled", "cancelled")
    assert walks.home.journal.verify().ok


def test_a_cancel_between_two_writes_of_a_node_ends_the_run_as_cancelled(walks: Walks) -> None:
    class Cancels(Watch):
        def on(self, event: WalkEvent) -> None:
            if event.state == "running":
                walks.tell(intent_id, "intent.cancel", IntentCancelBody(walks.home.clock.now()))

    intent_id = walks.accept(gate("n1"))
    assert walks.run(intent_id, listener=Cancels()).state == "cancelled"


@pytest.mark.parametrize(
    ("budget", "deadline", "code"),
    [
        ({"max_calls": 1}, "", "BUDGET_EXCEEDED"),  # told before the first node
        ({"max_time": "PT1S"}, "", "TIMEOUT"),
        (None, "2001-01-01T00:00:00.000Z", "DEADLINE"),
    ],
)
def test_budget_and_deadline_are_enforced_before_the_call(
    walks: Walks, budget: dict[str, object] | None, deadline: str, code: str
) -> None:
    called: list[str] = []

    async def slow(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        called.append(str(args["text"]))
        await anyio.sleep(5 if code == "TIMEOUT" else 0)
        return {}

    walks.tools.append(probe("slow", slow))
    plan = sequence("n0", tool("n1", "test/slow", text="1"), tool("n2", "test/slow", text="2"))
    outcome = walks.go(plan, budget=budget, deadline=deadline)
    assert outcome.failure is not None
    assert outcome.failure.code == code
    assert called == (["1"] if code == "TIMEOUT" else [])


def crash(walks: Walks, intent_id: str) -> None:
    """Run until a tool raises KeyboardInterrupt: the nearest thing to a dying process."""
    with pytest.raises(KeyboardInterrupt):
        walks.run(intent_id)


@pytest.mark.parametrize("idempotent", [True, False])
def test_a_resumed_run_does_not_repeat_completed_nodes_and_asks_about_the_one_in_doubt(
    walks: Walks, idempotent: bool
) -> None:
    counts = {"first": 0, "second": 0}
    keys: list[str] = []

    async def first(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        counts["first"] += 1
        return {"text": "from the first"}

    async def second(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        counts["second"] += 1
        keys.append(bench.idempotency_key)
        if counts["second"] == 1:
            raise KeyboardInterrupt
        return {"text": str(args["text"])}

    walks.tools += [probe("first", first), probe("second", second, idempotent=idempotent, effects=("write",))]
    intent_id = walks.accept(
        sequence("n0", tool("n1", "test/first"), tool("n2", "test/second", "write", text="${n1.output.text}"))
    )
    crash(walks, intent_id)
    with pytest.raises(WalkError) as caught:
        walks.run(intent_id)
    assert caught.value.code == "RUN_INTERRUPTED"
    people = Says("retry")
    outcome = walks.run(intent_id, resume=True, people=people)
    assert outcome.state == "completed"
    assert counts == {"first": 1, "second": 2}
    assert outcome.outputs["n2"] == {"text": "from the first"}
    assert [asked.kind for asked in people.asked] == ([] if idempotent else ["in_doubt"])
    assert keys[0] == keys[1], "who knows the key does not do it twice"


@pytest.mark.parametrize(("answer", "state", "calls"), [("done", "completed", 1), ("stop", "denied", 1)])
def test_a_node_in_doubt_may_be_counted_as_done_or_stop_the_run(
    walks: Walks, answer: str, state: str, calls: int
) -> None:
    count = [0]

    async def once(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        count[0] += 1
        raise KeyboardInterrupt

    walks.tools.append(probe("once", once, idempotent=False, effects=("write",)))
    intent_id = walks.accept(sequence("n0", tool("n1", "test/once", "write"), tool("n2", "time/now")))
    crash(walks, intent_id)
    outcome = walks.run(intent_id, resume=True, people=Says(answer))
    assert (outcome.state, count[0]) == (state, calls)
    assert outcome.nodes["n2"] == ("completed" if state == "completed" else "skipped")


def test_a_failed_call_is_not_made_again_unasked_when_its_run_ended_before_it_could_say_so(
    walks: Walks,
) -> None:
    count = [0]

    async def fail(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        count[0] += 1
        raise ToolError("ODD", "half done")

    class Dies(Watch):
        def on(self, event: WalkEvent) -> None:
            if event.state == "failed":
                raise KeyboardInterrupt

    walks.tools.append(probe("fail", fail, idempotent=False, effects=("write",)))
    intent_id = walks.accept(tool("n1", "test/fail", "write"))
    with pytest.raises(KeyboardInterrupt):
        walks.run(intent_id, listener=Dies())
    people = Says("stop")
    assert walks.run(intent_id, resume=True, people=people).state == "denied"
    assert ([asked.kind for asked in people.asked], count) == (["in_doubt"], [1])


def test_a_gate_is_no_call_that_a_resumed_run_counts(walks: Walks) -> None:
    class Dies(Watch):
        def on(self, event: WalkEvent) -> None:
            if event.node_id == "n1" and event.state == "completed":
                raise KeyboardInterrupt

    plan = sequence("n0", gate("n1"), tool("n2", "time/now"))
    intent_id = walks.accept(plan, budget={"max_calls": 1})
    with pytest.raises(KeyboardInterrupt):
        walks.run(intent_id, listener=Dies())
    assert walks.run(intent_id, resume=True).state == "completed"


def test_a_gate_that_nobody_answers_denies_and_skips_the_rest(walks: Walks) -> None:
    outcome = walks.go(sequence("n0", gate("n1"), tool("n2", "time/now")), people=AlwaysDeny())
    assert outcome.nodes == {"n0": "failed", "n1": "denied", "n2": "skipped"}
    assert (outcome.state, outcome.exit) == ("denied", 4)
    assert outcome.failure is not None
    assert outcome.failure.code == "GATE_DENIED"


def test_the_outcome_can_be_written_as_json(walks: Walks) -> None:
    outcome: Outcome = walks.go(tool("n1", "time/now"))
    assert json.loads(json.dumps(outcome.to_json()))["nodes"] == {"n1": "completed"}
