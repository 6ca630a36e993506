"""Random plans, corrected at random moments of their walk in random ways: what must hold whatever happens."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from walks import Walks, gate, parallel, sequence

import ir
from executor import AlwaysApprove, Home, LifecycleError, View
from executor.core.hashing import json_hash
from executor.store.lifecycle.events import advance
from executor.store.materiality.plans import Shape, has_effect
from tests.executor.test_correcting_runs import Elsewhere, Op, Probe, read, write


def nodes_of(root: Op) -> list[Op]:
    return [root, *(one for child in root.get("children", []) for one in nodes_of(child))]


@st.composite
def roots(draw: st.DrawFn) -> Op:
    number = iter(range(999))

    def node(depth: int) -> Op:
        id = f"n{next(number)}"
        kind = draw(st.sampled_from(["read", "read", "write", "gate", "sequence", "parallel"]))
        if depth < 3 and kind in ("sequence", "parallel"):
            make = sequence if kind == "sequence" else parallel
            return make(id, *(node(depth + 1) for _ in range(draw(st.integers(1, 3)))))
        return {"write": write, "gate": gate}.get(kind, read)(id)

    return sequence("root", *(node(1) for _ in range(draw(st.integers(2, 5)))))


def changed(data: st.DataObject, root: Op, version: int) -> tuple[Op, str]:
    """Another root, and the node to run again from or ""."""
    new = json.loads(json.dumps(root))
    below = nodes_of(new)[1:]
    branches = [one for one in nodes_of(new) if "children" in one]
    how = data.draw(st.sampled_from(["args", "gate", "read", "write", "remove", "swap", "nothing"]))
    if how == "args":
        for one in [data.draw(st.sampled_from(below))]:
            if "tool_call" in one:
                one["tool_call"]["args"]["query"] = f"{one['id']}v{version}"
    elif how in ("gate", "read", "write"):
        children = data.draw(st.sampled_from(branches))["children"]
        make = {"gate": gate, "read": read, "write": write}[how]
        children.insert(data.draw(st.integers(0, len(children))), make(f"m{version}"))
    elif how == "remove":
        children = data.draw(st.sampled_from(branches))["children"]
        if len(children) > 1:
            children.pop(data.draw(st.integers(0, len(children) - 1)))
    elif how == "swap":
        data.draw(st.sampled_from(branches))["children"].reverse()
    names = [one["id"] for one in nodes_of(new)]
    retry = data.draw(st.sampled_from([*names, *[""] * len(names)]))
    return new, retry


@settings(max_examples=10, suppress_health_check=list(HealthCheck))
@given(root=roots(), data=st.data())
def test_whatever_is_corrected_whenever_the_run_ends_as_it_was_corrected(
    root: Op, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    walked(root, data, tmp_path_factory)


@pytest.mark.slow
@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(root=roots(), data=st.data())
def test_many_runs_end_as_they_were_corrected(
    root: Op, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    walked(root, data, tmp_path_factory)


def walked(root: Op, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    """One run with up to three corrections by another process, each while a node is at work."""
    folder: Path = tmp_path_factory.mktemp("corrected")
    (folder / "work").mkdir()
    with Home.open(folder / "home") as home:
        walks = Walks(home, folder / "work")
        probes = Probe(walks), Probe(walks, effects=("write",))
        elsewhere = Elsewhere(walks)
        id = walks.accept(root)
        plans = {home.journal.view(id).plan_hash: home.journal.view(id).plan}
        calls: list[tuple[str, str]] = []
        left, refused = [3], set[str]()

        def correct(word: str) -> None:
            """Another process corrects, or does not, while a node is at work."""
            view = elsewhere.home.journal.view(id)
            if not left[0] or view.plan is None or view.state != "executing" or not data.draw(st.booleans()):
                return
            left[0] -= 1
            now = json.loads(ir.canonical_bytes(view.plan.root))
            new, retry = changed(data, now, left[0])
            try:
                elsewhere.correct(id, {"op": "replace", "path": "/root", "value": new}, retry_from=retry)
            except LifecycleError as problem:
                refused.add(problem.code)
                return
            after = elsewhere.home.journal.view(id)
            if after.plan is not None:
                plans[after.plan_hash] = after.plan

        class Everywhere(dict[str, Any]):
            def pop(self, word: str, _: Any = None) -> Any:  # type: ignore[override]
                view = elsewhere.home.journal.view(id)
                if view.plan is not None:
                    calls.append((word, view.plan_hash))
                return lambda: correct(word)

        for probe in probes:
            probe.during = Everywhere()
        outcome = walks.run(id, people=AlwaysApprove())
        while outcome.state == "corrected":
            assert home.journal.view(id).state == "proposed"
            elsewhere.accept(id)
            view = home.journal.view(id)
            assert view.plan is not None
            plans[view.plan_hash] = view.plan
            outcome = walks.run(id, people=AlwaysApprove())
        assert (outcome.state, outcome.failure) == ("completed", None)
        assert refused <= {"CORRECTION_TOO_LATE", "CORRECTION_INVALID"}
        report = home.journal.verify()
        assert report.ok, report.findings
        view = home.journal.view(id, fresh=True)
        assert view.state == "completed"
        last = view.plan
        assert last is not None
        leaves = [node for node in Shape(last).order if not node.children]
        # All that the last plan names is done, and as it names it.
        assert {node.id for node in Shape(last).order} <= {
            id for id, state in view.nodes.items() if state == "completed"
        }
        done = {node.id: outcome.outputs[node.id] for node in leaves if node.tool_call is not None}
        wanted = {node.id: dict(node.tool_call.args) for node in leaves if node.tool_call is not None}
        assert done == wanted
        # Nothing ever began but under a plan that counted, and no write was made that no such plan names.
        begun = [
            (envelope.body.node_id, json.loads(envelope.body.result))
            for envelope in home.journal.envelopes(id)
            if isinstance(envelope.body, ir.PlanStepBody) and envelope.body.status == "running"
        ]
        for node, told in begun:
            assert told["key"] in {json_hash([hash, node, told["attempt"]]) for hash in plans}
        named = {
            node.tool_call.args["query"]
            for plan in plans.values()
            if plan is not None
            for node in Shape(plan).order
            if node.tool_call is not None and has_effect(node)
        }
        assert set(probes[1].called) <= named
        # No node runs more often than corrections had it run again.
        again, ends, view = Counter[str](), Counter[str](), View()
        for envelope in home.journal.envelopes(id):
            before, view = view, advance(view, envelope)
            again.update(before.nodes.keys() - view.nodes.keys())
            if isinstance(envelope.body, ir.PlanStepBody) and envelope.body.status == "completed":
                ends[envelope.body.node_id] += 1
        assert all(ends[node] <= 1 + again[node] for node in done)
        elsewhere.home.close()
