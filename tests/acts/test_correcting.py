"""Correcting a run by library: short paths, patches, what is signed, and what stays untouched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from walks import Walks, gate, sequence, step, tool

import mcl
from executor import Home, LifecycleError
from executor.store.lifecycle.patches import apply_patches
from executor.store.materiality import Documents
from ir import Intent, MclError, PlanStepBody, PlanTree, as_document, canonical_bytes
from mcl.usecases.fields import patches_of

SEARCH = tool("search", "fs/search", query="fox", path="notes")
REPORT = tool("report", "fs/write", "write", path="out.md", content="done")
NOON = "2026-11-21T12:00:00Z"
ROOT = sequence("root", SEARCH, gate("ask"), REPORT)


@pytest.fixture
def walks(home: Home, tmp_path: Path) -> Walks:
    (tmp_path / "work").mkdir()
    return Walks(home, tmp_path / "work")


def running(walks: Walks, root: dict[str, Any] = ROOT, *done: str, **more: Any) -> str:
    """An intent whose walk has begun; these of its nodes are completed."""
    id = walks.accept(root, **more)
    plan = walks.home.journal.view(id).plan
    assert plan is not None
    for node, state in (
        ("root", "running"),
        *((one, way) for one in done for way in ("running", "completed")),
    ):
        walks.tell(id, "plan.step", PlanStepBody(plan.id, node, state))
    return id


def documents(walks: Walks, id: str) -> Documents:
    view = walks.home.journal.view(id)
    return Documents(view.intent, view.plan)


def test_what_is_not_material_takes_effect_and_the_run_goes_on(walks: Walks) -> None:
    id = running(walks, budget={"max_calls": 9})
    done = mcl.correct(id, changes=["budget.max_calls=5"], reason="enough", home=walks.home)
    assert (done.state, done.material) == ("executing", False)
    assert [change.code for change in done.changes] == ["BUDGET_LOWERED"]
    intent = documents(walks, id).intent
    assert intent is not None
    assert intent.budget is not None
    assert (intent.budget.max_calls, intent.hash) == (5, done.intent_hash)
    assert walks.home.journal.verify().ok


def test_what_is_material_waits_for_an_accept_and_then_the_run_goes_on(walks: Walks) -> None:
    id = running(walks, ROOT, "search")
    size = walks.home.journal.size()
    done = mcl.correct(id, changes=["plan.report.args.path=other.md"], home=walks.home)
    assert (done.state, done.material, done.again) == ("proposed", True, ())
    assert [row.kind for row in walks.home.journal.rows(after=size)] == [
        "intent.correct",
        "intent.compiled",
        "plan.proposed",
    ]
    mcl.accept(id, plan_hash=done.plan_hash, home=walks.home)
    view = walks.home.journal.view(id)
    assert (view.state, view.nodes["search"]) == ("accepted", "completed")


def test_a_wrong_correction_is_corrected_before_it_is_accepted(walks: Walks) -> None:
    id = running(walks, ROOT, "search")
    mcl.correct(id, changes=["plan.report.args.path=wrong.md"], home=walks.home)
    proposal = mcl.corrections.propose_correction(
        id, changes=["plan.report.args.path=right.md"], home=walks.home
    )
    assert proposal.material
    done = mcl.corrections.sign_correction(proposal, home=walks.home)
    assert done.state == "proposed"
    mcl.accept(id, home=walks.home)
    described = mcl.correct(id, changes=["plan.report.description=now"], home=walks.home)
    assert (described.state, described.material) == ("accepted", False)
    view = walks.home.journal.view(id)
    assert (view.state, view.nodes["search"]) == ("accepted", "completed")
    report = documents(walks, id).plan
    assert report is not None
    assert report.root.children[2].tool_call is not None
    assert report.root.children[2].tool_call.args["path"] == "right.md"


TOLD = {"place": "budget", "standing": "enforced", "hard": True, "says": "at most 9 calls"}


def test_what_the_plan_says_of_promises_follows_a_correction(walks: Walks) -> None:
    id = running(walks, budget={"max_calls": 9}, promises=[TOLD])
    done = mcl.correct(id, changes=["budget.max_calls=5"], home=walks.home)
    assert (done.state, done.material) == ("executing", False)
    assert [change.code for change in done.changes] == ["BUDGET_LOWERED", "PROMISES_TOLD"]
    plan = documents(walks, id).plan
    assert plan is not None
    assert [(one.place, one.says) for one in plan.promises] == [("budget", "at most 5 calls")]
    assert plan.hash == done.plan_hash
    assert walks.home.journal.verify().ok


def test_a_correction_cannot_bring_in_a_promise_that_nobody_can_check(walks: Walks) -> None:
    id = running(walks)
    rule = {"type": "rule", "hard": True, "rule": "be kind"}
    patches = [{"op": "add", "path": "/intent/frame/constraints", "value": [rule]}]
    with pytest.raises(MclError) as refused:
        mcl.correct(id, patches=patches, home=walks.home)
    assert (refused.value.code, refused.value.place) == ("PROMISE_UNCHECKABLE", "frame.constraints[0]")
    held = [
        {"op": "add", "path": "/intent/frame/constraints", "value": [{**rule, "keeps": "change nothing"}]}
    ]
    done = mcl.correct(id, patches=held, home=walks.home)
    assert [change.code for change in done.changes] == ["CONSTRAINT_TIGHTENED"]


def test_nothing_is_signed_for_a_proposal(walks: Walks) -> None:
    id = running(walks)
    size = walks.home.journal.size()
    proposal = mcl.corrections.propose_correction(id, changes=["plan.search.args.query=cat"], home=walks.home)
    assert walks.home.journal.size() == size
    assert [change.place for change in proposal.changes] == ["plan.search.args.query"]
    assert mcl.corrections.sign_correction(proposal, home=walks.home).plan_hash == proposal.plan.hash


def test_a_proposal_that_a_run_has_overtaken_is_refused_whole(walks: Walks) -> None:
    id = running(walks)
    proposal = mcl.corrections.propose_correction(id, changes=["plan.search.args.query=cat"], home=walks.home)
    walks.tell(id, "plan.step", PlanStepBody(proposal.plan.id, "search", "running"))
    size = walks.home.journal.size()
    with pytest.raises(LifecycleError) as caught:
        mcl.corrections.sign_correction(proposal, home=walks.home)
    assert (caught.value.code, caught.value.place) == ("CORRECTION_TOO_LATE", "plan.search")
    assert walks.home.journal.size() == size


@pytest.mark.parametrize(
    ("change", "operation"),
    [
        ("budget.max_calls=5", {"op": "add", "path": "/intent/budget", "value": {"max_calls": 5}}),
        (
            "deadline=2027-01-01T00:00:00Z",
            {"op": "add", "path": "/intent/deadline", "value": "2027-01-01T00:00:00Z"},
        ),
        (
            'frame.preferences[+]={"rank":1,"prefer":"short"}',
            {"op": "add", "path": "/intent/frame/preferences", "value": [{"rank": 1, "prefer": "short"}]},
        ),
        (
            "frame.objects[0].value=007",
            {"op": "add", "path": "/intent/frame/objects/0/value", "value": "007"},
        ),
        (
            "budget.max_cost.amount=1.10",
            {"op": "add", "path": "/intent/budget", "value": {"max_cost": {"amount": "1.10"}}},
        ),
        (
            "plan.budget.max_time=PT1H",
            {"op": "add", "path": "/plan/budget", "value": {"max_time": "PT1H"}},
        ),
        (
            "plan.search.args.query=a=b.c[0]",
            {"op": "add", "path": "/plan/root/children/0/tool_call/args/query", "value": "a=b.c[0]"},
        ),
        (
            "plan.search.tool_call.timeout_ms=900",
            {"op": "add", "path": "/plan/root/children/0/tool_call/timeout_ms", "value": 900},
        ),
        (
            "plan.search.timeout_ms=900",
            {"op": "add", "path": "/plan/root/children/0/tool_call/timeout_ms", "value": 900},
        ),
        (
            'plan.ask.options=["yes","no"]',
            {"op": "add", "path": "/plan/root/children/1/gate/options", "value": ["yes", "no"]},
        ),
        (
            "plan.ask.question=Sure?",
            {"op": "add", "path": "/plan/root/children/1/gate/question", "value": "Sure?"},
        ),
        (
            "plan.ask.description=why",
            {"op": "add", "path": "/plan/root/children/1/description", "value": "why"},
        ),
        (
            'plan.root.children[+]={"id":"g","kind":"gate","gate":{"question":"?"}}',
            {
                "op": "add",
                "path": "/plan/root/children/-",
                "value": {"id": "g", "kind": "gate", "gate": {"question": "?"}},
            },
        ),
    ],
)
def test_a_short_path_names_a_field_and_its_type(
    walks: Walks, change: str, operation: dict[str, Any]
) -> None:
    id = walks.accept(ROOT, objects=[{"name": "what", "value": "1"}])
    found = documents(walks, id)
    assert found.intent is not None
    assert found.plan is not None
    assert patches_of(found.intent, found.plan, [change]) == [operation]


def test_a_constraint_is_read_as_what_it_is_and_later_changes_see_earlier_ones(walks: Walks) -> None:
    id = running(walks)
    done = mcl.correct(
        id,
        changes=[
            'frame.constraints[+]={"type":"quality","hard":true,"metric":"m"}',
            "frame.constraints[0].min=0.5",
            "frame.constraints[0].hard=false",
        ],
        home=walks.home,
    )
    intent = documents(walks, id).intent
    assert not done.material
    assert intent is not None
    assert json.loads(canonical_bytes(intent.frame.constraints[0])) == {
        "type": "quality",
        "metric": "m",
        "min": 0.5,
    }


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"changes": ["budget.max_calls"]}, "VALUE_WRONG"),
        ({"changes": ["budget.max_calls=five"]}, "VALUE_WRONG"),
        ({"changes": ["budget.max_calls=5.0"]}, "VALUE_WRONG"),
        ({"changes": ["budget={"]}, "VALUE_WRONG"),
        ({"changes": ["plan.ask.options=yes"]}, "VALUE_WRONG"),
        ({"changes": ["plan.search.args.query=\udcff"]}, "VALUE_WRONG"),
        ({"changes": ["budget.colour=red"]}, "PATH_UNKNOWN"),
        ({"changes": ["frame.constraints[0].by=x"]}, "PATH_UNKNOWN"),
        ({"changes": ["plan.nowhere.args.a=b"]}, "PATH_UNKNOWN"),
        ({"changes": ["plan.ask.args.a=b"]}, "PATH_UNKNOWN"),
        ({"changes": ["frame.verb.deeper=x"]}, "PATH_UNKNOWN"),
        ({"changes": ["..=x"]}, "PATH_UNKNOWN"),
        ({"changes": ["=x"]}, "PATH_UNKNOWN"),
        ({"changes": ["frame[0]=x"]}, "PATH_UNKNOWN"),
        ({"removed": ["budget"]}, "PATH_UNKNOWN"),
        ({"patches": b"nonsense"}, "PATCH_WRONG"),
        ({"patches": b'[{"op":"add","path":"/budget","value":{}}]'}, "PATCH_WRONG"),
        ({"patches": b'[{"op":"move","path":"/plan/budget","from":"/elsewhere"}]'}, "PATCH_WRONG"),
        ({"patches": b'[{"op":"remove","path":"/plan/root"}]'}, "CORRECTION_INVALID"),
        ({"changes": ["frame.verb=destroy"]}, "CORRECTION_INVALID"),
        ({"changes": ["deadline=tomorrow"]}, "CORRECTION_INVALID"),
        ({"changes": ["plan.ask.question="]}, "CORRECTION_INVALID"),
        ({"changes": ["actor=did:key:x"]}, "CORRECTION_INVALID"),
        ({"changes": ["budget.max_calls=3"], "retry_from": "nowhere"}, "CORRECTION_INVALID"),
        ({"changes": ["plan.report.args.token=abc"]}, "SECRET_INLINE"),
        ({"changes": ["budget.max_calls=3"], "reason": "ghp_" + "a" * 36}, "SECRET_INLINE"),
        ({"changes": ["plan.root=x"]}, "VALUE_WRONG"),
        ({}, "CORRECTION_INVALID"),
    ],
)
def test_what_cannot_be_corrected_is_refused_with_its_place_and_changes_nothing(
    walks: Walks, given: dict[str, Any], code: str
) -> None:
    id = running(walks)
    size = walks.home.journal.size()
    with pytest.raises(MclError) as caught:
        mcl.correct(id, **given, home=walks.home)
    assert caught.value.code == code
    assert caught.value.place
    assert caught.value.fix
    assert walks.home.journal.size() == size


def test_before_a_run_a_correction_counts_at_once_or_waits_for_an_accept(walks: Walks) -> None:
    proposed, accepted = walks.propose(ROOT), walks.accept(ROOT)
    done = mcl.correct(proposed, changes=["budget.max_calls=5"], home=walks.home)
    assert (done.state, done.material) == ("proposed", True)  # nothing was accepted yet
    done = mcl.correct(accepted, changes=["budget.max_calls=5"], home=walks.home)
    assert (done.state, done.material) == ("accepted", False)
    done = mcl.correct(accepted, changes=["plan.report.args.path=other.md"], home=walks.home)
    assert (done.state, done.material) == ("proposed", True)
    for id in (proposed, accepted):
        found = documents(walks, id)
        assert found.intent is not None
        assert found.intent.budget is not None
        assert found.intent.budget.max_calls == 5
    assert walks.home.journal.verify().ok


def test_a_run_whose_files_were_put_back_does_not_go_on_from_where_it_failed(walks: Walks) -> None:
    (walks.workspace / "there.md").write_text("mine")
    there = tool("there", "fs/write", "write", path="there.md", content="x")
    id = walks.accept(sequence("root", REPORT, there))
    assert walks.run(id).state == "failed"
    mcl.undo(id, workspace=walks.workspace, home=walks.home)
    with pytest.raises(MclError) as refused:
        mcl.correct(id, changes=["plan.there.args.path=here.md"], home=walks.home)
    assert refused.value.code == "UNDONE"


def test_what_is_over_or_not_clear_yet_is_not_corrected(walks: Walks) -> None:
    id = walks.accept(ROOT)
    mcl.cancel(id, home=walks.home)
    with pytest.raises(LifecycleError) as caught:
        mcl.correct(id, changes=["budget.max_calls=5"], home=walks.home)
    assert caught.value.code == "ILLEGAL_EVENT"
    assert caught.value.fix


def test_one_signature_corrects_both_documents(walks: Walks) -> None:
    id = running(walks, budget={"max_calls": 9})
    mcl.correct(
        id,
        patches=[{"op": "replace", "path": "/intent/budget/max_calls", "value": 8}],
        changes=["budget.max_calls=7", "plan.budget.max_calls=7"],
        home=walks.home,
    )
    found = documents(walks, id)
    assert found.intent is not None
    assert found.plan is not None
    assert found.intent.budget == found.plan.budget
    assert len(walks.home.journal.rows(id, kind="intent.correct")) == 1


def test_a_node_is_taken_away_by_its_name(walks: Walks) -> None:
    id = running(walks, sequence("root", SEARCH, step("think", inputs={"a": "b"})))
    done = mcl.correct(id, removed=["plan.think"], home=walks.home)
    assert [(change.code, change.place) for change in done.changes] == [("NODE_REMOVED", "plan.think")]


def test_a_node_and_a_field_of_one_name_are_told_apart_or_refused(walks: Walks) -> None:
    id = running(walks, sequence("root", {**SEARCH, "id": "budget"}, {**gate("a.b"), "id": "a.b"}))
    mcl.correct(id, changes=["plan.a.b.description=more"], home=walks.home)
    with pytest.raises(MclError) as caught:
        mcl.correct(id, changes=["plan.budget.max_calls=5"], home=walks.home)
    assert caught.value.code == "PATH_AMBIGUOUS"


def test_materiality_reads_files_intents_and_what_show_wrote(walks: Walks, tmp_path: Path) -> None:
    id = walks.accept(ROOT, budget={"max_calls": 5})
    found = documents(walks, id)
    assert found.intent is not None
    assert found.plan is not None
    both, alone = tmp_path / "both.json", tmp_path / "intent.json"
    shown = {
        "intent": json.loads(canonical_bytes(found.intent)),
        "plan": json.loads(canonical_bytes(found.plan)),
    }
    both.write_text(json.dumps({**shown, "state": "accepted"}))
    alone.write_bytes(canonical_bytes(found.intent.model_copy(update={"budget": None})))
    home = walks.home
    assert not mcl.plans.compare(id, both, home=home).changes
    told = mcl.plans.compare(Documents(found.intent), alone, home=home)
    assert [change.code for change in told.changes] == ["BUDGET_RAISED"]
    assert told.material
    for bad, code in (
        (id, "KINDS_DIFFER"),
        (str(tmp_path / "gone"), "INTENT_UNKNOWN"),
        (tmp_path, "FILE_UNREADABLE"),
    ):
        with pytest.raises(MclError) as caught:
            mcl.plans.compare(alone, bad, home=home)
        assert caught.value.code == code
    alone.write_text("{}")
    with pytest.raises(MclError) as caught:
        mcl.plans.compare(alone, both, home=home)
    assert str(alone) in caught.value.place


PIECES = "budget max_calls max_cost frame constraints objects plan root children search ask args query"
SIGNS = ". .. [0] [+] [9] [ ] = = = 5 {} [] true \0"
pieces = st.sampled_from([*PIECES.split(), *SIGNS.split(" "), " "])


@given(st.lists(pieces | st.text(max_size=3), max_size=8).map("".join), st.booleans())
def test_whatever_is_typed_as_a_path_is_patched_or_refused(typed: str, remove: bool) -> None:
    intent = Intent(id="01ARZ3NDEKTSV4RRFFQ69G5FAV", actor="a", agent="b", state="proposed", created_at=NOON)
    plan = PlanTree.from_json(json.dumps({"id": "p", "root": ROOT}))
    changes, removed = ([], [typed]) if remove else ([typed], [])
    pair = {"intent": as_document(intent), "plan": as_document(plan)}
    refusal = None
    try:
        apply_patches(pair, json.dumps(patches_of(intent, plan, changes, removed)).encode())
    except MclError as error:
        refusal = error
    if refusal is not None:
        assert refusal.code in ("PATH_UNKNOWN", "PATH_AMBIGUOUS", "VALUE_WRONG")
        assert refusal.place
        assert refusal.fix
