"""Taint: where private reads and strangers' words meet, a person decides about what could carry them off."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from walks import NODE, gate, parallel, sequence, tool

from executor.gate.effects import carries
from executor.gate.taint import Taint, taints
from executor.tools.manifest import Effect
from ir import PlanNode, PlanTree, ToolCall
from mcl.catalog.tools import registry

READ = ("fs/read", "read", {"path": "a.txt"})
FETCH = ("http/get", "network", {"url": "https://example.org/"})
NOW = ("time/now", "read", {})
WRITE = ("fs/write", "write", {"path": "b.txt", "content": "x"})


def node(id: str, what: tuple[str, str, Mapping[str, str]]) -> NODE:
    return tool(id, what[0], what[1], **what[2])


def met(root: NODE, before: Taint | None = None) -> dict[str, Taint]:
    plan = PlanTree.from_json(json.dumps({"id": "p", "v": "mcl/0.1", "root": root}))
    return taints(plan, registry().find, before or Taint())


def test_what_was_read_and_what_was_fetched_meet_after_both() -> None:
    found = met(sequence("s", node("a", READ), node("b", FETCH), node("c", WRITE), node("d", NOW)))
    assert found["a"] == Taint()
    assert found["b"] == Taint("a", "")
    assert found["c"] == found["d"] == Taint("a", "b")


def test_a_clock_and_a_gate_leave_nothing_behind() -> None:
    assert met(sequence("s", node("a", NOW), gate("g"), node("b", NOW)))["b"] == Taint()


def test_what_comes_later_in_a_sequence_is_not_upstream() -> None:
    found = met(sequence("s", node("a", NOW), node("b", READ), node("c", FETCH)))
    assert not any(one.both for one in found.values())


def test_siblings_of_a_parallel_node_may_all_come_first() -> None:
    found = met(parallel("p", node("a", NOW), node("b", READ), node("c", FETCH)))
    assert found["a"] == Taint("b", "c")
    assert found["b"] == Taint("", "c")  # not itself
    assert found["c"] == Taint("b", "")


def test_what_lies_in_other_branches_counts_in_their_order() -> None:
    found = met(
        sequence(
            "s",
            parallel("p", sequence("s1", node("a", READ), node("b", NOW)), node("c", NOW)),
            sequence("s2", node("d", FETCH), node("e", NOW)),
        )
    )
    assert found["b"] == found["c"] == Taint("a", "")
    assert found["d"] == Taint("a", "")
    assert found["e"] == Taint("a", "d")


def test_a_look_at_a_criterion_comes_after_the_whole_plan_and_the_looks_before_it() -> None:
    plan = PlanTree.from_json(json.dumps({"id": "p", "v": "mcl/0.1", "root": node("mine", READ)}))
    fetch = ToolCall(tool_ref="matrix://tool/http/request@1.0.0", side_effect_class="network")
    found = taints(plan, registry().find, looks={"success[0]": fetch, "success[1]": fetch})
    assert found["success[0]"] == Taint("mine", "")
    assert found["success[1]"] == Taint("mine", "success[0]")


def test_a_sub_plan_and_an_unknown_tool_count_as_both() -> None:
    sub = {"id": "sub", "kind": "sub_dispatch", "sub_dispatch": {"skill_ref": "matrix://skill/x@1.0.0"}}
    assert met(sequence("s", sub, node("a", NOW)))["a"] == Taint("sub", "sub")
    assert met(sequence("s", tool("x", "un/known"), node("a", NOW)))["a"] == Taint("x", "x")


def test_what_lies_upstream_of_a_sub_plan_lies_upstream_of_its_nodes() -> None:
    assert met(node("a", NOW), Taint("r", "f"))["a"] == Taint("r", "f")


def test_tests_of_the_workspace_see_it() -> None:
    found = met(sequence("s", tool("t", "process/tests", "shell"), node("f", FETCH), node("a", NOW)))
    assert found["a"] == Taint("t", "f")


@pytest.mark.parametrize(
    ("classes", "operation", "expected"),
    [
        (("network",), "read", False),
        (("network",), "write", True),
        (("network", "read"), "destructive", True),
        (("chain",), "write", True),
        (("shell",), "read", True),
        (("shell", "write"), "write", True),
        (("write",), "destructive", False),
        (("read",), "read", False),
    ],
)
def test_network_writes_and_commands_could_carry_data_off(
    classes: tuple[str, ...], operation: Any, expected: bool
) -> None:
    assert carries(Effect(frozenset(classes), operation)) == expected


LEAVES = st.sampled_from([READ, FETCH, NOW, WRITE])
TREES = st.recursive(
    LEAVES,
    lambda below: st.tuples(
        st.sampled_from(["sequential", "parallel"]), st.lists(below, min_size=1, max_size=4)
    ),
)


def grown(tree: Any, ids: Any) -> NODE:
    if len(tree) == 3:
        return node(next(ids), tree)
    kind, below = tree
    return {"id": next(ids), "kind": kind, "children": [grown(one, ids) for one in below]}


def possible(root: PlanNode, target: str) -> set[str]:
    """By brute force: the terminals that may complete before the target, from its way down the tree."""
    found: set[str] = set()
    here = root
    while here.children:
        place = next(i for i, one in enumerate(here.children) if target in {n.id for n, _ in one.walk()})
        others = [
            one
            for i, one in enumerate(here.children)
            if i != place and (i < place or here.kind == "parallel")
        ]
        found |= {n.id for one in others for n, _ in one.walk() if not n.children}
        here = here.children[place]
    return found


@settings(max_examples=60, deadline=None)
@given(TREES)
def test_taint_is_what_can_complete_before_a_node_whatever_the_tree(tree: Any) -> None:
    root = grown(tree, (f"n{number}" for number in range(10_000)))
    plan = PlanTree.from_json(json.dumps({"id": "p", "v": "mcl/0.1", "root": root}))
    found = taints(plan, registry().find)
    calls = {one.id: one.tool_call.tool_ref for one, _ in plan.root.walk() if one.tool_call}
    for target in calls:
        before = [calls[one] for one in possible(plan.root, target)]
        assert bool(found[target].private) == any("fs/read" in ref for ref in before)
        assert bool(found[target].untrusted) == any("http/get" in ref for ref in before)
