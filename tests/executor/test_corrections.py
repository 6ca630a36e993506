"""intent.correct: what it may patch, what it may not, and what it makes of a run that has begun."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from walks import Walks, gate, parallel, sequence, tool

import ir
from executor import LifecycleError, View
from executor.store.lifecycle.patches import MAX_OPERATIONS, PatchFlaw, apply_patches
from executor.store.materiality.plans import Shape

READ = tool("r", "fs/read", path="notes/a.md")
SEARCH = tool("s", "fs/search", query="fox", path="notes")
WRITE = tool("w", "fs/write", "write", path="out.md", content="${s.output.text}")
LATER = tool("z", "fs/write", "write", path="z.md", content="z")
Op = dict[str, Any]


class Running:
    """An intent whose plan is being walked, told node by node."""

    def __init__(self, walks: Walks, root: Op, **more: Any) -> None:
        self.walks = walks
        self.id = walks.accept(root, **more)
        self.step("root", "running")

    @property
    def view(self) -> View:
        return self.walks.home.journal.view(self.id)

    def step(self, node: str, *states: str) -> None:
        for state in states:
            plan = self.view.plan or self.view.walked
            assert plan is not None
            self.walks.tell(self.id, "plan.step", ir.PlanStepBody(plan.id, node, state))

    def correct(self, *patches: Op, of: str = "plan", retry_from: str = "", target: str = "") -> View:
        hashes = {"plan": self.view.plan_hash, "intent": self.view.intent_hash}
        target = target or hashes.get(of) or f"{hashes['intent']}+{hashes['plan']}"
        body = ir.IntentCorrectBody(target, json.dumps(patches).encode(), retry_from=retry_from)
        self.walks.tell(self.id, "intent.correct", body)
        return self.view

    def refused(self, *patches: Op, **more: Any) -> LifecycleError:
        before = self.walks.home.journal.size(), self.view
        with pytest.raises(LifecycleError) as caught:
            self.correct(*patches, **more)
        assert (self.walks.home.journal.size(), self.view) == before
        assert caught.value.fix
        assert caught.value.exit == 4
        return caught.value

    def accept_corrected(self, intent: ir.Intent, plan: ir.PlanTree) -> View:
        self.walks.tell(self.id, "intent.compiled", ir.IntentCompiledBody(ir.canonical_bytes(intent)))
        self.walks.tell(self.id, "plan.proposed", ir.PlanProposedBody(ir.canonical_bytes(plan)))
        now = self.walks.home.clock.now()
        self.walks.tell(self.id, "intent.accept", ir.IntentAcceptBody(intent.hash, now, plan_hash=plan.hash))
        return self.view


def op(kind: str, path: str, value: Any = None, **more: Any) -> Op:
    return {"op": kind, "path": path, **({} if value is None else {"value": value}), **more}


def of_root(*children: Op) -> Op:
    return op("replace", "/root", sequence("root", *children))


def state_of(view: View) -> tuple[str, dict[str, str]]:
    return view.state, dict(view.nodes)


def test_a_later_node_may_be_changed_added_and_taken_away_while_earlier_ones_run(walks: Walks) -> None:
    running = Running(walks, sequence("root", SEARCH, READ))
    running.step("s", "running")
    changed = tool("r", "fs/read", path="notes/a.md")
    changed["description"] = "again"
    view = running.correct(
        of_root(SEARCH, changed, gate("g"), tool("t", "fs/search", query="x", path="notes"))
    )
    assert state_of(view) == ("executing", {"root": "running", "s": "running"})
    assert view.plan is not None
    assert [node.id for node, _ in view.plan.root.walk()] == ["root", "s", "r", "g", "t"]
    assert view.accepted_plan_hash == view.plan_hash == ir.content_hash(view.plan)
    assert view.base_plan is not None
    assert view.base_plan.hash != view.plan_hash
    assert running.correct(of_root(SEARCH, gate("g"))).state == "executing"  # nothing waited for r and t
    assert running.correct(of_root(SEARCH)).state == "proposed"  # somebody would have been asked
    assert walks.home.journal.verify().ok


@pytest.mark.parametrize(
    ("children", "place"),
    [
        ((gate("g"), SEARCH, READ), "plan.g"),  # a question before what has begun
        ((tool("s", "fs/search", query="cat", path="notes"), READ), "plan.s"),
        ((READ,), "plan.s"),
        ((parallel("p", SEARCH), READ), "plan.s"),
    ],
)
def test_what_has_begun_stays_as_it_was(walks: Walks, children: tuple[Op, ...], place: str) -> None:
    running = Running(walks, sequence("root", SEARCH, READ))
    running.step("s", "running", "completed")
    error = running.refused(of_root(*children))
    assert (error.code, error.place) == ("CORRECTION_TOO_LATE", place)


def test_nothing_is_added_below_a_branch_that_has_ended(walks: Walks) -> None:
    running = Running(walks, sequence("root", parallel("p", SEARCH), READ))
    running.step("p", "running")
    running.step("s", "running", "completed")
    running.step("p", "completed")
    error = running.refused(of_root(parallel("p", SEARCH, gate("g")), READ))
    assert (error.code, error.place) == ("CORRECTION_TOO_LATE", "plan.g")


def test_a_running_parallel_node_may_get_another_child(walks: Walks) -> None:
    running = Running(walks, sequence("root", parallel("p", SEARCH), READ))
    running.step("p", "running")
    running.step("s", "running")
    assert running.correct(of_root(parallel("p", gate("g"), SEARCH), READ)).state == "executing"


def test_what_has_begun_may_be_changed_where_it_runs_again_with_all_that_waits_for_it(walks: Walks) -> None:
    other = tool("s", "fs/search", query="cat", path="notes")
    running = Running(walks, sequence("root", gate("g"), parallel("p", SEARCH, READ), gate("h"), gate("i")))
    running.step("g", "running", "completed")
    running.step("p", "running")
    running.step("s", "running", "completed")
    running.step("r", "running", "completed")
    running.step("p", "completed")
    running.step("h", "running")
    asked = running.walks.seal(running.id, "policy.gate", ir.PolicyGateBody("", "Go on?", node_id="h"))
    walks.home.journal.append(asked)
    view = running.correct(
        of_root(gate("g"), parallel("p", other, READ), gate("h"), gate("i")), retry_from="s"
    )
    assert state_of(view) == ("executing", {"root": "running", "g": "completed", "r": "completed"})
    assert (view.again, view.restarts, dict(view.gates)) == (frozenset({"h"}), 1, {})
    running.step("h", "cancelled")  # the question that was open: its end is no news
    assert "h" not in running.view.nodes
    running.step("s", "running", "completed")
    assert running.view.nodes["s"] == "completed"


def test_a_run_may_be_repeated_from_a_node_without_any_other_change(walks: Walks) -> None:
    running = Running(walks, sequence("root", SEARCH, READ))
    running.step("s", "running", "completed")
    view = running.correct(retry_from="s")
    assert state_of(view) == ("executing", {"root": "running"})
    assert running.refused().code == "CORRECTION_INVALID"
    assert running.refused(retry_from="nowhere").place == "retry_from"


def test_a_correction_of_something_else_than_what_counts_now_is_stale(walks: Walks) -> None:
    running = Running(walks, sequence("root", SEARCH, READ))
    first = running.view.plan_hash
    running.correct(op("add", "/budget", {"max_calls": 9}))
    assert running.refused(op("add", "/budget/max_calls", 8), target=first).code == "STALE_CORRECTION"
    assert running.refused(op("add", "/budget/max_calls", 8), target=running.id).code == "STALE_CORRECTION"


@pytest.mark.parametrize(
    ("of", "patch", "place"),
    [
        ("plan", op("replace", "/nowhere", 1), "patches[0] replace /nowhere"),
        ("plan", op("remove", "/root/children/7"), "patches[0] remove /root/children/7"),
        ("plan", op("test", "/id", "another"), "patches[0] test /id"),
        ("plan", op("add", "/id", "another"), "plan.id"),
        ("plan", op("add", "/hash", "0" * 64), "plan"),
        ("plan", op("add", "/colour", "red"), "plan.colour"),
        ("plan", op("replace", "/root", 5), "plan.root"),
        ("plan", op("add", "/root/children/0/id", "r"), "plan.r"),
        ("plan", op("add", "/root/children/0/tool_call/args/query", "${z.output}"), "plan.s"),
        ("plan", op("replace", "", [1]), "plan"),
        ("plan", {"op": "merge", "path": ""}, "patches[0]"),
        ("plan", {"op": "add", "path": "/budget"}, "patches[0]"),
        ("plan", {"op": "remove", "path": "budget"}, "patches[0]"),
        ("plan", {"op": "remove", "path": "/budget", "extra": 1}, "patches[0]"),
        ("intent", op("add", "/actor", "did:key:z"), "actor"),
        ("intent", op("add", "/budget", {"max_calls": -1}), "intent.budget.max_calls"),
        ("intent", op("add", "/budget", {"max_calls": "3"}), "intent.budget.max_calls"),
        ("intent", op("add", "/frame/verb", "destroy"), "intent.frame.verb"),
        ("intent", op("remove", "/frame/verb"), "frame.verb"),
        ("intent", op("add", "/unknowns", [{"id": "u1", "severity": "blocking"}]), "unknowns"),
        ("both", op("remove", "/plan"), "patches"),
        ("both", op("add", "/more", 1), "patches"),
    ],
)
def test_patches_that_do_not_fit_are_refused_with_their_place(
    walks: Walks, of: str, patch: Op, place: str
) -> None:
    running = Running(walks, sequence("root", SEARCH, READ))
    error = running.refused(patch, of=of)
    assert (error.code, error.place) == ("CORRECTION_INVALID", place)


@pytest.mark.parametrize(
    "patches",
    [
        b"",
        b"{}",
        b"null",
        b"[1]",
        b'[{"op":"add","path":"/a","value":NaN}]',
        b'[{"op":"add","op":"add","path":"/a","value":1}]',
        b"[" * 300 + b"]" * 300,
        b"\xff",
        json.dumps([op("test", "/a", 1)] * (MAX_OPERATIONS + 1)).encode(),
        json.dumps([op("copy", f"/b{n}", **{"from": ""}) for n in range(40)]).encode(),
        json.dumps([op("add", "/a", "x" * 9000)] * 200).encode(),
        json.dumps([op("move", "/a/b/c", **{"from": "/a"})]).encode(),
    ],
)
def test_whatever_is_no_list_of_patches_is_refused_and_nothing_grows(patches: bytes) -> None:
    with pytest.raises(PatchFlaw) as caught:
        apply_patches({"a": {"b": 2}}, patches)
    assert caught.value.place.startswith("patches")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
        lambda one: st.lists(one, max_size=4) | st.dictionaries(st.text(max_size=4), one, max_size=4),
        max_leaves=12,
    )
)
def test_patches_of_any_shape_are_applied_or_refused_and_never_crash(value: Any) -> None:
    document = {"a": {"b": 2}}
    try:
        apply_patches(document, json.dumps([value, {"op": "add", "path": "/c", "value": value}]).encode())
        apply_patches(document, json.dumps(value).encode())
    except PatchFlaw:
        pass
    assert document == {"a": {"b": 2}}


def test_a_test_tells_true_from_one() -> None:
    apply_patches({"a": True}, json.dumps([op("test", "/a", True)]).encode())
    with pytest.raises(PatchFlaw):
        apply_patches({"a": True}, json.dumps([op("test", "/a", 1)]).encode())


def test_only_the_user_may_correct(walks: Walks) -> None:
    running = Running(walks, sequence("root", SEARCH, READ))
    keys, clock = walks.home.keyring, walks.home.clock
    body = ir.IntentCorrectBody(running.view.plan_hash, b"[]", retry_from="s")
    header = ir.Header(clock.new_id(), clock.now(), keys.agent.did, f"matrix://intent/{running.id}")
    forged = ir.seal("intent.correct", body, header, keys.agent.signing_key)
    with pytest.raises(ir.EnvelopeError) as caught:
        walks.home.journal.append(forged)
    assert caught.value.code == "WRONG_ROLE"


def test_intent_and_plan_are_corrected_by_one_signature(walks: Walks) -> None:
    running = Running(walks, sequence("root", SEARCH, READ), budget={"max_calls": 9})
    view = running.correct(
        op("replace", "/intent/budget/max_calls", 7), op("add", "/plan/budget", {"max_calls": 7}), of="both"
    )
    assert view.state == "executing"
    assert view.intent is not None
    assert view.plan is not None
    assert view.intent.budget == view.plan.budget == ir.Budget(max_calls=7)


def test_limits_that_creep_up_step_by_step_are_held_against_what_was_accepted(walks: Walks) -> None:
    clock = walks.home.clock
    hours = ir.is_instant(clock.now()) and int(clock.now()[11:13])
    assert hours is not False
    running = Running(walks, sequence("root", SEARCH, READ), deadline="2999-01-01T00:00:00.000Z")
    year = lambda number: op("replace", "/deadline", f"{number}-01-01T00:00:00.000Z")  # noqa: E731
    assert running.correct(year(3190), of="intent").state == "executing"
    assert running.correct(year(3410), of="intent").state == "proposed"


def test_a_limit_that_was_lowered_is_raised_again_only_with_a_new_accept(walks: Walks) -> None:
    running = Running(walks, sequence("root", SEARCH, READ), budget={"max_calls": 9})
    assert running.correct(op("replace", "/budget/max_calls", 5), of="intent").state == "executing"
    assert running.correct(op("replace", "/budget/max_calls", 9), of="intent").state == "proposed"


def corrected(view: View, root: Op) -> tuple[ir.Intent, ir.PlanTree]:
    """The documents that the agent proposes after a correction, from the last that counted."""
    assert view.base_intent is not None
    assert view.walked is not None
    changed = view.walked.model_copy(update={"root": ir.PlanNode.model_validate_json(json.dumps(root))})
    return view.base_intent, ir.with_hash(changed)


def test_after_a_material_correction_and_a_new_accept_only_what_changed_runs_again(walks: Walks) -> None:
    running = Running(walks, sequence("root", READ, SEARCH, WRITE, LATER))
    for node in ("r", "s", "w"):
        running.step(node, "running", "completed")
    other = tool("s", "fs/search", query="cat", path="notes")
    root = sequence("root", READ, other, WRITE, LATER)
    view = running.correct(op("replace", "/root", root))
    assert (view.state, view.accepted_hash, view.plan) == ("proposed", "", None)
    view = running.accept_corrected(*corrected(view, root))
    # w was made from what s found, so it runs again too; r stays done; the root has not completed.
    assert state_of(view) == ("accepted", {"root": "running", "r": "completed"})


def test_a_material_correction_may_name_a_node_to_run_again_from(walks: Walks) -> None:
    running = Running(walks, sequence("root", READ, SEARCH, LATER))
    for node in ("r", "s", "z"):
        running.step(node, "running", "completed")
    root = sequence("root", READ, SEARCH, LATER, tool("y", "fs/write", "write", path="y"))
    view = running.correct(op("replace", "/root", root), retry_from="s")
    view = running.accept_corrected(*corrected(view, root))
    assert state_of(view) == ("accepted", {"root": "running", "r": "completed"})


def test_what_was_running_when_a_material_correction_came_still_tells_its_end(walks: Walks) -> None:
    running = Running(walks, sequence("root", parallel("p", READ, SEARCH), LATER))
    running.step("p", "running")
    running.step("r", "running")
    running.step("s", "running")
    root = sequence("root", parallel("p", READ, SEARCH), tool("z", "fs/write", "write", path="y"))
    view = running.correct(op("replace", "/root", root))
    running.step("r", "completed")
    assert running.view.state == "proposed"
    with pytest.raises(LifecycleError) as caught:
        running.step("z", "running")
    assert caught.value.code == "NOT_ACCEPTED"
    running.accept_corrected(*corrected(view, root))
    running.step("s", "completed")  # after the accept: the next walk has not begun by that
    nodes = {"root": "running", "p": "running", "r": "completed", "s": "completed"}
    assert state_of(running.view) == ("accepted", nodes)
    running.step("root", "running")
    assert running.view.state == "executing"
    assert walks.home.journal.verify().ok


def test_a_correction_may_be_corrected_before_it_is_accepted_and_after(walks: Walks) -> None:
    running = Running(walks, sequence("root", READ, SEARCH, LATER))
    for node in ("r", "s"):
        running.step(node, "running", "completed")
    wrong, right = (tool("z", "fs/write", "write", path=path) for path in ("wrong", "right"))
    view = running.correct(of_root(READ, SEARCH, wrong), retry_from="s")
    intent, plan = corrected(view, sequence("root", READ, SEARCH, wrong))
    running.walks.tell(running.id, "intent.compiled", ir.IntentCompiledBody(ir.canonical_bytes(intent)))
    running.walks.tell(running.id, "plan.proposed", ir.PlanProposedBody(ir.canonical_bytes(plan)))
    described = {**wrong, "description": "to be corrected again"}
    view = running.correct(of_root(READ, SEARCH, described))  # not material, and waits all the same
    assert (view.state, view.plan) == ("proposed", None)
    view = running.accept_corrected(*corrected(view, sequence("root", READ, SEARCH, right)))
    assert state_of(view) == ("accepted", {"root": "running", "r": "completed"})
    view = running.correct(of_root(READ, SEARCH, {**right, "description": "now"}))
    assert state_of(view) == ("accepted", {"root": "running", "r": "completed"})
    assert running.correct(of_root(READ, SEARCH, wrong)).state == "proposed"
    assert walks.home.journal.verify().ok


def told(walks: Walks, id: str, patches: list[Op], **more: Any) -> View:
    """The view after a correction of the plan."""
    body = ir.IntentCorrectBody(walks.home.journal.view(id).plan_hash, json.dumps(patches).encode(), **more)
    walks.tell(id, "intent.correct", body)
    return walks.home.journal.view(id)


def test_before_a_run_what_is_not_material_stays_accepted_and_what_is_waits(walks: Walks) -> None:
    id = walks.accept(sequence("root", READ, LATER))
    described = {"op": "add", "path": "/root/children/0/description", "value": "look"}
    view = told(walks, id, [described])
    assert (view.state, view.accepted_plan_hash, view.begun) == ("accepted", view.plan_hash, False)
    other = {"op": "replace", "path": "/root/children/1/tool_call/args/path", "value": "other.md"}
    view = told(walks, id, [other])
    assert (view.state, view.plan, view.accepted_plan_hash, view.walked) == ("proposed", None, "", None)


def test_before_an_accept_every_correction_waits_for_it(walks: Walks) -> None:
    id = walks.propose(sequence("root", READ))
    view = told(walks, id, [{"op": "add", "path": "/root/children/0/description", "value": "look"}])
    assert (view.state, view.intent, view.plan) == ("proposed", None, None)


def test_nothing_is_run_again_where_nothing_ran(walks: Walks) -> None:
    id = walks.accept(sequence("root", READ))
    with pytest.raises(LifecycleError) as caught:
        told(walks, id, [], retry_from="r")
    assert caught.value.code == "CORRECTION_INVALID"


def test_a_run_that_failed_waits_for_an_accept_after_any_correction_and_keeps_what_completed(
    walks: Walks,
) -> None:
    running = Running(walks, sequence("root", READ, SEARCH))
    running.step("r", "running", "completed")
    running.step("s", "running", "failed")
    running.step("root", "failed")
    now = walks.home.clock.now()
    walks.tell(running.id, "intent.fail", ir.IntentFailBody("tool_failure", now, "no such folder"))
    assert (running.view.state, running.view.reason) == ("failed", "tool_failure")
    described = {**SEARCH, "description": "once more"}
    view = running.correct(of_root(READ, described))  # not material, and waits all the same
    assert (view.state, view.reason, view.outcome, view.accepted_hash) == ("proposed", "", "", "")
    intent, plan = corrected(view, sequence("root", READ, described))
    view = running.accept_corrected(intent, plan)
    assert (view.state, view.nodes["r"]) == ("accepted", "completed")
    assert walks.home.journal.verify().ok


def test_what_ended_before_any_run_or_completed_is_not_corrected(walks: Walks) -> None:
    id = walks.accept(sequence("root", READ))
    walks.tell(id, "intent.fail", ir.IntentFailBody("tool_failure", walks.home.clock.now()))
    done = Running(walks, sequence("root", READ))
    done.step("r", "running", "completed")
    done.step("root", "completed")
    walks.tell(done.id, "intent.attest", ir.IntentAttestBody("success", walks.home.clock.now()))
    for one in (id, done.id):
        body = ir.IntentCorrectBody(walks.home.journal.view(one).plan_hash, b"[]", retry_from="r")
        with pytest.raises(LifecycleError) as caught:
            walks.tell(one, "intent.correct", body)
        assert caught.value.code == "ILLEGAL_EVENT"


@given(st.data())
def test_what_waits_for_a_node_is_what_stands_after_it_in_a_sequence(data: st.DataObject) -> None:
    """The masks against a walk by hand."""
    number = iter(range(99))

    def node(depth: int) -> Op:
        id = f"n{next(number)}"
        if depth == 3 or data.draw(st.booleans()):
            return gate(id)
        kind = data.draw(st.sampled_from([sequence, parallel]))
        return kind(id, *(node(depth + 1) for _ in range(data.draw(st.integers(1, 3)))))

    plan = ir.PlanTree.model_validate({"root": sequence("root", node(0), node(0))})
    shape = Shape(plan)
    leaves = [one.id for one in shape.order if not one.children]
    waits = shape.waits({leaf: 1 << place for place, leaf in enumerate(leaves)})

    def by_hand(one: ir.PlanNode, before: frozenset[str]) -> None:
        assert {leaf for place, leaf in enumerate(leaves) if waits[one.id] >> place & 1} == before
        for child in one.children:
            by_hand(child, before)
            if one.kind == "sequential":
                before |= {leaf.id for leaf, _ in child.walk() if not leaf.children}

    by_hand(plan.root, frozenset())
