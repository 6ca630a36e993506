"""Plans that dispatch to other skills: what is walked, what it may do, and what is left after a crash."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shelf import Shelf, dispatch
from walks import NODE, Says, Walks, Watch, gate, parallel, probe, sequence, step, tool

import ir
from executor import Bench, Grants, ToolError, WalkEvent
from executor.walker.dispatch import renamed
from executor.walker.interfaces import Expansion
from ir import Frame, Intent, IrError, OutputRef, PlanStepBody, parse_references


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def look() -> NODE:
    """Reads what its caller names, and says how much there is."""
    return sequence("all", tool("list", "fs/list"), tool("read", "fs/read", path="a.txt"))


def test_the_plan_of_another_skill_is_walked_below_the_node_that_dispatches(
    walks: Walks, shelf: Shelf
) -> None:
    walks.write("a.txt", "from the file")
    shelf.put("look", look())
    root = sequence(
        "n0",
        dispatch(shelf, "sub", "look", verb="find"),
        tool("out", "fs/write", "write", path="b.txt", content="${sub.output.text}"),
    )
    outcome = walks.run(walks.accept(root), sub_skills=shelf)
    assert (outcome.state, outcome.failure) == ("completed", None)
    assert outcome.nodes == dict.fromkeys(
        ("n0", "sub", "sub/all", "sub/list", "sub/read", "out"), "completed"
    )
    assert (walks.workspace / "b.txt").read_text() == "from the file"
    assert dict(walks.home.journal.view(outcome.intent_id).nodes) == outcome.nodes
    assert walks.home.journal.verify().ok
    assert walks.watch.of("sub/read") == ["running", "completed"]


def test_the_intent_of_the_dispatch_is_in_the_journal_before_its_first_node(
    walks: Walks, shelf: Shelf
) -> None:
    shelf.put("now", tool("n", "time/now"))
    intent_id = walks.accept(sequence("n0", dispatch(shelf, "sub", "now", scope_uri="matrix://scope/read")))
    walks.run(intent_id, sub_skills=shelf)
    told = [
        (one.kind, getattr(one.body, "node_id", "")) for one in walks.home.journal.envelopes(intent_id)[4:]
    ]
    assert told == [
        ("plan.step", "n0"),
        ("plan.step", "sub"),
        ("intent.dispatch", ""),
        ("plan.step", "sub/n"),
        ("plan.step", "sub/n"),
        ("plan.step", "sub"),
        ("plan.step", "n0"),
        ("intent.attest", ""),
    ]
    body: Any = walks.home.journal.envelopes(intent_id)[6].body
    child = Intent.from_json(body.sub_intent_json)
    assert child.parent == f"matrix://intent/{intent_id}"
    assert child.hash == ir.content_hash(child)
    assert body.scope_uri == "matrix://scope/read"


def test_what_earlier_nodes_gave_goes_into_the_frame_and_a_list_becomes_an_object_each(
    walks: Walks, shelf: Shelf
) -> None:
    for name in ("a", "b"):
        walks.write(f"{name}.txt", name)

    async def names(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        return {"text": "${odd.output} stays", "names": ["a.txt", "b.txt"]}

    output = {
        "type": "object",
        "additionalProperties": False,
        "properties": {"text": {"type": "string"}, "names": {"type": "array"}},
    }
    walks.tools.append(probe("names", names, output=output))
    seen: list[list[tuple[str, str]]] = []

    class Sees(Shelf):
        def expand(self, skill_ref: str, frame: Frame, *args: Any, **more: Any) -> Expansion:
            seen.append([(entry.name, entry.value) for entry in frame.objects])
            return super().expand(skill_ref, frame, *args, **more)

    shelf = Sees()
    shelf.put("read", lambda values: tool("r", "fs/read", path=values["file"]))
    values = {"file": "${n1.output.names}", "text": "it says ${n1.output.text}, $${so}"}
    root = sequence("n0", tool("n1", "test/names"), dispatch(shelf, "sub", "read", values=values))
    outcome = walks.run(walks.accept(root), sub_skills=shelf)
    assert seen[1:] == [
        [("file", "a.txt"), ("file", "b.txt"), ("text", "it says ${odd.output} stays, ${so}")]
    ]
    assert outcome.outputs["sub"] == outcome.outputs["sub/r"]


def test_a_plan_that_waits_for_values_is_sketched_beforehand_and_a_skill_that_changed_is_refused(
    walks: Walks, shelf: Shelf
) -> None:
    shelf.put("read", lambda values: tool("r", "fs/read", path=values["file"].replace("${", "$${")))
    values = {"file": "${n1.output.date}"}
    intent_id = walks.accept(
        sequence("n0", tool("n1", "time/now"), dispatch(shelf, "sub", "read", values=values))
    )
    verdict = walks.walker(sub_skills=shelf).preflight(intent_id)[-1]
    assert (verdict.node_id, verdict.decision, verdict.sketched) == ("sub", "allow", True)
    assert verdict.below is not None
    call = verdict.below.root.tool_call
    assert call is not None
    assert (verdict.below.root.id, dict(call.args)) == ("sub/r", {"path": "${n1.output.date}"})
    assert verdict.to_json()["sketched"] is True
    shelf.put("read", tool("r", "fs/list"))
    outcome = walks.run(intent_id, sub_skills=shelf)
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.nodes) == ("SKILL_CHANGED", {})


def test_references_of_the_plan_below_are_to_its_own_nodes(walks: Walks, shelf: Shelf) -> None:
    text = "$${n1.output.text} and ${n1.output.text}"
    shelf.put("echo", sequence("n0", tool("n1", "test/say", text="low"), tool("n2", "test/say", text=text)))

    async def say(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        return {"text": args["text"]}

    walks.tools.append(probe("say", say))
    root = sequence("n0", tool("n1", "test/say", text="high"), dispatch(shelf, "n2", "echo"))
    outcome = walks.run(walks.accept(root), sub_skills=shelf)
    assert outcome.outputs["n2"] == {"text": "${n1.output.text} and low"}


def test_the_output_of_a_parallel_plan_is_that_of_each_child_by_its_name(walks: Walks, shelf: Shelf) -> None:
    shelf.put("both", parallel("p", sequence("a", tool("x", "time/now"), gate("y")), tool("b", "time/now")))
    outcome = walks.run(walks.accept(dispatch(shelf, "sub", "both")), sub_skills=shelf)
    given: Any = outcome.outputs["sub"]
    assert set(given) == {"a", "b"}
    assert given["a"]["decision"] == "approve"


def test_a_failure_below_fails_the_dispatch_and_names_the_node(walks: Walks, shelf: Shelf) -> None:
    shelf.put("look", look())
    root = sequence("n0", dispatch(shelf, "sub", "look"), tool("n2", "time/now"))
    outcome = walks.run(walks.accept(root), sub_skills=shelf)
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.node_id) == ("NOT_FOUND", "sub/read")
    assert outcome.nodes == {
        "n0": "failed",
        "sub": "failed",
        "sub/all": "failed",
        "sub/list": "completed",
        "sub/read": "failed",
        "n2": "skipped",
    }


def test_a_sibling_that_fails_cancels_what_was_dispatched(walks: Walks, shelf: Shelf) -> None:
    import anyio

    running: list[str] = []

    async def wait(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        running.append("x")
        await anyio.sleep(60)
        return {}

    async def fail(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        with anyio.fail_after(60):
            while not running:
                await anyio.sleep(0.01)
        raise ToolError("BROKEN", "it broke")

    walks.tools += [probe("wait", wait), probe("fail", fail)]
    shelf.put("wait", sequence("s", tool("w", "test/wait"), tool("z", "time/now")))
    root = parallel("n0", dispatch(shelf, "sub", "wait"), tool("f", "test/fail"))
    outcome = walks.run(walks.accept(root), sub_skills=shelf)
    assert outcome.nodes == {
        "n0": "failed",
        "sub": "cancelled",
        "sub/s": "cancelled",
        "sub/w": "cancelled",
        "sub/z": "skipped",
        "f": "failed",
    }


@pytest.mark.parametrize("deferred", [False, True])
def test_a_plan_below_that_the_gate_refuses_never_begins(walks: Walks, shelf: Shelf, deferred: bool) -> None:
    shelf.put("two", sequence("s", tool("a", "time/now"), tool("b", "fs/read", path="../out")))
    values = {"x": "${n1.output.date}"} if deferred else {}
    root = sequence("n0", tool("n1", "time/now"), dispatch(shelf, "sub", "two", values=values))
    outcome = walks.run(walks.accept(root), sub_skills=shelf)
    assert outcome.state == "denied"
    assert outcome.failure is not None
    assert outcome.failure.code == "OUT_OF_SCOPE"
    if deferred:  # only now it was known what would run
        assert outcome.nodes == {"n0": "failed", "n1": "completed", "sub": "denied"}
    else:
        assert outcome.nodes == {}
        assert outcome.failure.node_id == "sub/b"
    assert walks.records("record.gate.refused")[0]["node"] == "sub/b"


def test_the_verdicts_beforehand_name_the_nodes_below(walks: Walks, shelf: Shelf) -> None:
    shelf.put("look", look())
    intent_id = walks.propose(sequence("n0", dispatch(shelf, "sub", "look"), gate("n2")))
    verdicts = walks.walker(sub_skills=shelf).preflight(intent_id)
    assert [(one.node_id, one.decision) for one in verdicts] == [
        ("sub", "allow"),
        ("sub/list", "allow"),
        ("sub/read", "allow"),
        ("n2", "ask"),
    ]


@pytest.mark.parametrize(
    ("above", "below", "code"),
    [
        ("find", "build", "INTENT_MISMATCH"),  # the verb above may only look
        ("build", "find", "INTENT_MISMATCH"),  # the verb below may only look
        ("build", "build", ""),
    ],
)
def test_of_two_verbs_the_narrower_is_the_ceiling(
    walks: Walks, shelf: Shelf, above: str, below: str, code: str
) -> None:
    shelf.put("write", tool("w", "fs/write", "write", path="b.txt", content="x"))
    intent_id = walks.accept(dispatch(shelf, "sub", "write", verb=below), verb=above)
    outcome = walks.run(intent_id, sub_skills=shelf)
    assert (outcome.failure.code if outcome.failure else "") == code
    assert (walks.workspace / "b.txt").exists() == (not code)


@pytest.mark.parametrize(
    ("scope", "code"),
    [
        ("matrix://scope/read", "CAPABILITY_DENIED"),
        ("matrix://scope/read+write", ""),
        ("matrix://scope/everything", "SUB_DISPATCH_SCOPE"),
        ("elsewhere", "SUB_DISPATCH_SCOPE"),
    ],
)
def test_a_dispatch_may_leave_fewer_side_effects_to_the_plan_below(
    walks: Walks, shelf: Shelf, scope: str, code: str
) -> None:
    shelf.put("write", tool("w", "fs/write", "write", path="b.txt", content="x"))
    outcome = walks.run(walks.accept(dispatch(shelf, "sub", "write", scope_uri=scope)), sub_skills=shelf)
    assert (outcome.failure.code if outcome.failure else "") == code


def test_a_scope_cannot_be_widened_again_further_down(walks: Walks, shelf: Shelf) -> None:
    shelf.put("write", tool("w", "fs/write", "write", path="b.txt", content="x"))
    shelf.put("middle", lambda values: dispatch(shelf, "d", "write", scope_uri="matrix://scope/read+write"))
    root = dispatch(shelf, "sub", "middle", scope_uri="matrix://scope/read")
    outcome = walks.run(walks.accept(root), sub_skills=shelf)
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.node_id) == ("CAPABILITY_DENIED", "sub/d/w")


def chain(shelf: Shelf, length: int) -> NODE:
    """Skills that dispatch to one another, so many below the accepted plan."""
    shelf.put(f"s{length}", tool("end", "time/now"))
    for number in range(length - 1, 0, -1):
        shelf.put(f"s{number}", lambda values, below=number + 1: dispatch(shelf, "d", f"s{below}"))
    return dispatch(shelf, "d", "s1")


@pytest.mark.parametrize(("length", "state"), [(8, "completed"), (9, "denied")])
def test_dispatches_nest_eight_deep_and_no_deeper(
    walks: Walks, shelf: Shelf, length: int, state: str
) -> None:
    outcome = walks.run(walks.accept(chain(shelf, length)), sub_skills=shelf)
    assert outcome.state == state
    if state == "denied":
        assert outcome.failure is not None
        assert outcome.failure.code == "SUB_DISPATCH_TOO_DEEP"
        assert outcome.nodes == {}
    else:
        assert outcome.nodes["/".join(["d"] * 8 + ["end"])] == "completed"


def test_plans_may_be_as_deep_as_they_may_and_dispatch_eight_times(walks: Walks, shelf: Shelf) -> None:
    def deep(leaf: NODE) -> NODE:
        for level in range(60):
            leaf = (parallel if level % 7 == 3 else sequence)(f"b{level}", leaf)
        return leaf

    shelf.put("s8", deep(tool("end", "time/now")))
    for number in range(7, 0, -1):
        shelf.put(f"s{number}", lambda values, below=number + 1: deep(dispatch(shelf, "d", f"s{below}")))
    outcome = walks.run(walks.accept(dispatch(shelf, "d", "s1")), sub_skills=shelf)
    assert outcome.state == "completed"
    assert len(outcome.nodes) == 8 + 8 * 60 + 1


def test_skills_that_dispatch_in_a_circle_are_refused(walks: Walks, shelf: Shelf) -> None:
    shelf.put("a", lambda values: dispatch(shelf, "d", "b"))
    shelf.put("b", lambda values: dispatch(shelf, "d", "a"))
    outcome = walks.run(walks.accept(dispatch(shelf, "sub", "a")), sub_skills=shelf)
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.nodes) == ("SUB_DISPATCH_CYCLE", {})


def test_a_fan_of_dispatches_is_refused_before_it_grows_without_end(walks: Walks, shelf: Shelf) -> None:
    shelf.put("s6", sequence("s", *(tool(f"t{one}", "time/now") for one in range(20))))
    for number in range(5, 0, -1):
        shelf.put(
            f"s{number}",
            lambda values, below=number + 1: sequence(
                "s", *(dispatch(shelf, f"d{one}", f"s{below}") for one in range(20))
            ),
        )
    outcome = walks.run(walks.accept(dispatch(shelf, "sub", "s1")), sub_skills=shelf)
    assert outcome.failure is not None
    assert (outcome.state, outcome.failure.code, outcome.nodes) == ("denied", "TOO_MANY_NODES", {})


def test_a_skill_is_named_by_its_content(walks: Walks, shelf: Shelf) -> None:
    shelf.put("now", tool("n", "time/now"))
    loose = dispatch(shelf, "sub", "matrix://skill/now@1.0.0")
    outcome = walks.run(walks.accept(loose), sub_skills=shelf)
    assert outcome.failure is not None
    assert outcome.failure.code == "SUB_SKILL_UNBOUND"


def test_a_skill_that_changed_since_the_accept_is_refused(walks: Walks, shelf: Shelf) -> None:
    shelf.put("now", tool("n", "time/now"))
    intent_id = walks.accept(dispatch(shelf, "sub", "now"))
    shelf.put("now", tool("n", "fs/write", "write", path="evil", content="x"))
    outcome = walks.run(intent_id, sub_skills=shelf)
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.state, outcome.nodes) == ("SKILL_CHANGED", "denied", {})


def test_a_node_below_that_has_the_name_of_another_is_refused(walks: Walks, shelf: Shelf) -> None:
    shelf.put("now", tool("n", "time/now"))
    root = sequence("n0", tool("sub/n", "time/now"), dispatch(shelf, "sub", "now"))
    outcome = walks.run(walks.accept(root), sub_skills=shelf)
    assert outcome.failure is not None
    assert outcome.failure.code == "NODE_ID_REPEATED"


def test_what_is_dispatched_is_counted_and_limited(walks: Walks, shelf: Shelf) -> None:
    shelf.put("now", tool("n", "time/now"))
    root = sequence("n0", *(dispatch(shelf, f"d{one}", "now") for one in (1, 2, 3)))
    outcome = walks.run(walks.accept(root, budget={"max_agents": 2}), sub_skills=shelf)
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.node_id) == ("BUDGET_EXCEEDED", "d3")
    assert outcome.nodes == {}
    outcome = walks.run(walks.accept(root, budget={"max_agents": 3}), sub_skills=shelf)
    assert outcome.state == "completed"


def test_the_calls_below_count_for_the_budget_above(walks: Walks, shelf: Shelf) -> None:
    shelf.put("three", sequence("s", *(tool(f"n{one}", "time/now") for one in (1, 2, 3))))
    outcome = walks.run(
        walks.accept(dispatch(shelf, "sub", "three"), budget={"max_calls": 2}), sub_skills=shelf
    )
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.node_id) == ("BUDGET_EXCEEDED", "sub/n3")


def test_a_budget_of_its_own_limits_a_dispatch_too(walks: Walks, shelf: Shelf) -> None:
    async def work(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        return {}

    walks.tools.append(probe("paid", work, cost={"asset": "EUR", "amount": 1}))
    shelf.put("pays", sequence("s", tool("n1", "test/paid"), tool("n2", "test/paid")))
    own = [{"type": "budget", "hard": True, "max": {"asset": "EUR", "amount": "1.5"}}]
    root = sequence("n0", tool("n1", "test/paid"), dispatch(shelf, "sub", "pays", constraints=own))
    intent_id = walks.accept(root, budget={"max_cost": {"asset": "EUR", "amount": 9}})
    outcome = walks.run(intent_id, sub_skills=shelf)
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.node_id) == ("BUDGET_EXCEEDED", "sub/n2")


def test_the_success_criteria_of_a_dispatch_are_looked_at_when_it_has_run(walks: Walks, shelf: Shelf) -> None:
    shelf.put("now", tool("n", "fs/delete", "write", path="b.txt"))
    walks.write("b.txt")
    criteria = [{"type": "delivered", "artifact": "b.txt"}]
    root = sequence("n0", dispatch(shelf, "sub", "now", success_criteria=criteria), tool("n2", "time/now"))
    outcome = walks.run(walks.accept(root), sub_skills=shelf)
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.node_id) == ("CRITERION_NOT_MET", "sub")
    assert outcome.nodes == {"n0": "failed", "sub": "failed", "sub/n": "completed", "n2": "skipped"}


def test_a_step_below_asks_the_model_in_the_words_of_its_own_skill(walks: Walks, shelf: Shelf) -> None:
    class Model:
        async def reason(self, *, system: str, user: str, outputs: Any, kind: str) -> dict[str, object]:
            return {"text": f"{system} / {user}"}

    class Words:
        def prompt(self, skill_ref: str, name: str, inputs: Mapping[str, str]) -> tuple[str, str]:
            return skill_ref.partition("@")[0], inputs["what"]

    class Speaks(Shelf):
        def expand(self, *args: Any, **more: Any) -> Expansion:
            made = super().expand(*args, **more)
            return Expansion(made.intent, made.plan, Words())

    shelf = Speaks()
    shelf.put("think", step("t", inputs={"what": "why"}))
    outcome = walks.run(walks.accept(dispatch(shelf, "sub", "think")), sub_skills=shelf, reasoner=Model())
    assert outcome.outputs["sub"] == {"text": "matrix://skill/think / why"}


def test_a_call_below_that_a_person_must_approve_is_approved_as_the_call_that_it_is(
    walks: Walks, shelf: Shelf
) -> None:
    walks.write("b.txt", "old")
    shelf.put("over", tool("w", "fs/write", "write", path="b.txt", content="new", overwrite="true"))
    people = Says("approve")
    outcome = walks.run(walks.accept(dispatch(shelf, "sub", "over")), sub_skills=shelf, people=people)
    assert (outcome.state, outcome.failure) == ("completed", None)
    assert [(asked.kind, asked.node_id) for asked in people.asked] == [("approval", "sub/w")]


@pytest.mark.parametrize("before", [False, True])
def test_what_strangers_and_private_data_left_upstream_counts_below_too(
    walks: Walks, shelf: Shelf, before: bool
) -> None:
    async def work(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        return {}

    walks.tools.append(probe("shell", work, effects=("shell",), safety="D"))
    Grants(walks.home).grant(walks.home.keyring.agent.did, ["read", "write", "shell"])
    shelf.put("acts", tool("a", "test/shell", "shell"))
    shelf.put("looks", tool("l", "fs/list"))
    last = dispatch(shelf, "sub", "acts")  # of what is dispatched the worst is thought
    root = sequence("n0", dispatch(shelf, "first", "looks"), last) if before else last
    people = Says("approve")
    assert walks.run(walks.accept(root), sub_skills=shelf, people=people).state == "completed"
    assert [(asked.kind, asked.node_id) for asked in people.asked] == [("approval", "sub/a")] * before


_PIECES = st.lists(
    st.sampled_from(["$", "${", "$${", "}", "n.output", "${n.output}", "${a/b.output.x[0].y}", " é"])
)


@given(_PIECES.map("".join))
def test_a_text_says_the_same_of_the_nodes_under_their_new_names(text: str) -> None:
    try:
        before = parse_references(text)
    except IrError:
        assert renamed(text, "p/q") == text
        return
    after = parse_references(renamed(text, "p/q"))
    assert after == tuple(
        replace(one, node_id=f"p/q/{one.node_id}") if isinstance(one, OutputRef) else one for one in before
    )


# ---- after a crash ----


class Marks:
    """A tool that marks each call, and dies in the midst of one."""

    def __init__(self, dies_at: str) -> None:
        self.marks: list[str] = []
        self.dies_at = dies_at

    async def __call__(self, args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        text = str(args["text"])
        self.marks.append(text)
        if text == self.dies_at:
            self.dies_at = ""
            raise KeyboardInterrupt
        return {"text": text}


def marked(walks: Walks, shelf: Shelf, dies_at: str, *, idempotent: bool = True) -> tuple[Marks, NODE]:
    marks = Marks(dies_at)
    walks.tools.append(probe("mark", marks, idempotent=idempotent))
    shelf.put("low", sequence("s", *(tool(f"n{one}", "test/mark", text=f"low {one}") for one in (1, 2, 3))))
    shelf.put(
        "mid", lambda values: sequence("s", tool("a", "test/mark", text="mid"), dispatch(shelf, "d", "low"))
    )
    root = sequence("n0", dispatch(shelf, "sub", "mid"), tool("end", "test/mark", text="${sub.output.text}"))
    return marks, root


@pytest.mark.parametrize("place", ["mid", "low 1", "low 2", "low 3"])
def test_a_run_that_died_below_goes_on_there(walks: Walks, shelf: Shelf, place: str) -> None:
    marks, root = marked(walks, shelf, place)
    intent_id = walks.accept(root, budget={"max_agents": 2})
    with pytest.raises(KeyboardInterrupt):
        walks.run(intent_id, sub_skills=shelf)
    outcome = walks.run(intent_id, sub_skills=shelf, resume=True)
    assert outcome.failure is None
    assert len(marks.marks) == 6  # the one in doubt is idempotent, and was made twice
    assert dict.fromkeys(marks.marks) == dict.fromkeys(["mid", "low 1", "low 2", "low 3"])
    assert set(outcome.nodes.values()) == {"completed"}
    kinds = [one.kind for one in walks.home.journal.envelopes(intent_id)]
    assert kinds.count("intent.dispatch") == 2
    assert walks.home.journal.verify().ok


def test_a_dispatch_that_completed_before_the_crash_is_not_made_again(walks: Walks, shelf: Shelf) -> None:
    marks, root = marked(walks, shelf, "")

    class Dies(Watch):
        def on(self, event: WalkEvent) -> None:
            if event.node_id == "end" and event.state == "running":
                raise KeyboardInterrupt

    intent_id = walks.accept(root)
    with pytest.raises(KeyboardInterrupt):
        walks.run(intent_id, sub_skills=shelf, listener=Dies())
    shelf.asked.clear()
    outcome = walks.run(intent_id, sub_skills=shelf, resume=True)
    assert outcome.outputs["end"] == {"text": "low 3"}
    assert outcome.nodes["sub/d/n2"] == "completed"
    assert marks.marks == ["mid", "low 1", "low 2", "low 3", "low 3"]


def test_a_node_below_that_may_have_happened_is_asked_about(walks: Walks, shelf: Shelf) -> None:
    marks, root = marked(walks, shelf, "low 2", idempotent=False)
    intent_id = walks.accept(root)
    with pytest.raises(KeyboardInterrupt):
        walks.run(intent_id, sub_skills=shelf)
    people = Says("done")
    assert walks.run(intent_id, sub_skills=shelf, resume=True, people=people).state == "completed"
    assert [(asked.kind, asked.node_id) for asked in people.asked] == [("in_doubt", "sub/d/n2")]
    assert marks.marks.count("low 2") == 1
    noted = walks.records("record.gate.in_doubt")
    assert [(one["node"], one["decision"]) for one in noted] == [("sub/d/n2", "done")]


def test_each_attempt_at_a_node_below_has_a_key_of_its_own(walks: Walks, shelf: Shelf) -> None:
    _, root = marked(walks, shelf, "low 2")
    intent_id = walks.accept(root)
    with pytest.raises(KeyboardInterrupt):
        walks.run(intent_id, sub_skills=shelf)
    walks.run(intent_id, sub_skills=shelf, resume=True)
    keys: dict[tuple[str, int], set[str]] = {}
    for body in (one.body for one in walks.home.journal.envelopes(intent_id)):
        if isinstance(body, PlanStepBody) and body.status == "running":
            told = json.loads(body.result)
            keys.setdefault((body.node_id, told["attempt"]), set()).add(told["key"])
    assert all(len(found) == 1 for found in keys.values())
    assert len(set.union(*keys.values())) == len(keys)
