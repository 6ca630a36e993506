"""A part of a plan that is done for each member of a list, or only where an earlier output is as wanted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from shelf import Shelf, dispatch
from walks import NODE, Says, Walks, gate, parallel, sequence, tool

import ir
from executor import Deny
from executor.walker.undo.undo import undo

LIST = tool("list", "fs/list", path="in")
SCOPE = "matrix://scope/read+write?folder=out"


def mapped(child: NODE, *, id: str = "m", **said: Any) -> NODE:
    over = {} if "members" in said else {"over": "${list.output.entries[*].path}", "most": 8}
    scope = {} if "members" in said else {"scope_uri": SCOPE}
    return {"id": id, "kind": "map", "map": {**over, **scope, **said}, "children": [child]}


def when(node: NODE, of: str, test: str, value: str = "") -> NODE:
    return {**node, "when": {"of": of, "test": test, "value": value}}


def only(of: str, test: str, value: str = "") -> NODE:
    return when(LIST | {"id": "l"}, of, test, value)


def put(id: str = "put", path: str = "out/${m.output.number}.txt", content: str = "${m.output.item}") -> NODE:
    return tool(id, "fs/write", "write", path=path, content=content)


@pytest.fixture
def files(walks: Walks) -> Walks:
    (walks.workspace / "in").mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (walks.workspace / "in" / name).write_text(name)
    return walks


def told(walks: Walks, root: NODE, **more: Any) -> str:
    outcome = walks.go(root, **more)
    return outcome.failure.code if outcome.failure else ""


def written(walks: Walks) -> dict[str, str]:
    folder = walks.workspace / "out"
    return {one.name: one.read_text() for one in sorted(folder.glob("*"))} if folder.exists() else {}


# ---- For each member.


def test_it_is_done_for_each_member_of_what_an_earlier_node_gave(files: Walks) -> None:
    last = tool(
        "last", "fs/write", "write", path="n.txt", content="${m.output.count} ${m.output.each[*].path}"
    )
    outcome = files.go(sequence("all", LIST, mapped(put()), last))
    assert outcome.failure is None, outcome.failure
    assert written(files) == {"1.txt": "in/a.txt", "2.txt": "in/b.txt", "3.txt": "in/c.txt"}
    assert {id for id in outcome.nodes if id.startswith("m/")} == {"m/1/put", "m/2/put", "m/3/put"}
    assert (files.workspace / "n.txt").read_text() == '3 ["out/1.txt","out/2.txt","out/3.txt"]'


def test_members_that_are_known_are_listed_and_judged_one_by_one_before_anybody_signs(walks: Walks) -> None:
    root = mapped(put(path="${m.output.item}"), members=["a.txt", ".env", "$" + "{list.output}"])
    walker = walks.walker()
    try:
        verdicts = {one.node_id: one for one in walker.preflight(walks.propose(root))}
    finally:
        walker.close()
    assert verdicts["m/1/put"].decision == "allow"
    refused = verdicts["m/2/put"].reply
    assert isinstance(refused, Deny)
    assert refused.code == "PROTECTED_PATH"
    assert verdicts["m/3/put"].decision == "allow"  # a file that is called so: what a member says is data
    root = mapped(put(path="${m.output.item}"), members=["a.txt", "$" + "{list.output}"])
    assert told(walks, root) == ""
    assert (walks.workspace / ("$" + "{list.output}")).read_text() == "$" + "{list.output}"


def test_no_members_are_no_work_and_no_failure(files: Walks) -> None:
    for one in (files.workspace / "in").iterdir():
        one.unlink()
    assert told(files, sequence("all", LIST, mapped(put()))) == ""
    assert written(files) == {}


def test_more_members_than_were_signed_are_refused_before_the_first(files: Walks) -> None:
    assert told(files, sequence("all", LIST, mapped(put(), most=2))) == "MAP_TOO_LONG"
    assert written(files) == {}


def test_what_is_no_list_has_no_members(files: Walks) -> None:
    root = sequence("all", LIST, mapped(put(), over="${list.output.count}"))
    assert told(files, root) == "MAP_NO_LIST"


@pytest.mark.parametrize(
    ("scope", "code"),
    [
        ("matrix://scope/read", "CAPABILITY_DENIED"),
        ("matrix://scope/read+write?folder=else", "OUT_OF_SCOPE"),
        ("matrix://scope/read+write?path=out/*.md", "OUT_OF_SCOPE"),
        ("matrix://scope/read+write?path=out/*.txt", ""),
        ("matrix://scope/read+write?path=**/1.txt&folder=out", ""),
        ("matrix://scope/read+write?path=[", "BAD_SCOPE"),
        ("matrix://scope/read+write?calls=2", "BAD_SCOPE"),
        ("everything", "BAD_SCOPE"),
    ],
)
def test_each_member_passes_the_gate_within_what_was_signed_for_the_map(
    files: Walks, scope: str, code: str
) -> None:
    assert told(files, sequence("all", LIST, mapped(put(), scope_uri=scope))) == code
    assert bool(written(files)) is (not code)


def test_a_member_that_leaves_the_scope_stops_the_map_there(files: Walks) -> None:
    (files.workspace / "in" / "b.txt").unlink()
    (files.workspace / "in" / "secret.md").write_text("x")
    root = sequence(
        "all",
        LIST,
        mapped(put(path="${m.output.item}.bak"), scope_uri="matrix://scope/write?path=in/*.txt.bak"),
    )
    outcome = files.go(root)
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.node_id) == ("OUT_OF_SCOPE", "m/3/put")
    assert outcome.nodes["m/1/put"] == "completed"
    assert not (files.workspace / "in" / "secret.md.bak").exists()


def test_what_it_dispatches_has_no_more_than_the_map_leaves(files: Walks) -> None:
    shelf = Shelf()
    shelf.put(
        "note", lambda values: tool("put", "fs/write", "write", path="else.txt", content=values["what"])
    )
    child = dispatch(shelf, "d", "note", values={"what": "${m.output.item}"})
    outcome = files.run(files.accept(sequence("all", LIST, mapped(child))), sub_skills=shelf)
    assert outcome.failure is not None
    assert outcome.failure.code == "OUT_OF_SCOPE"
    shelf.put(
        "note", lambda values: tool("put", "fs/append", "write", path="out/all.txt", content=values["what"])
    )
    child = dispatch(shelf, "d", "note", values={"what": "${m.output.item}"})
    outcome = files.run(files.accept(sequence("all", LIST, mapped(child))), sub_skills=shelf)
    assert outcome.failure is None, outcome.failure
    assert written(files) == {"all.txt": "in/a.txt\nin/b.txt\nin/c.txt"}


def test_budgets_and_approvals_count_each_member(files: Walks) -> None:
    root = sequence("all", LIST, mapped(put()))
    assert told(files, root, budget={"max_calls": 3}) == "BUDGET_EXCEEDED"
    assert written(files).keys() == {"1.txt", "2.txt"}
    people = Says("approve", "approve", "deny")
    root = sequence(
        "all",
        LIST,
        mapped(sequence("s", gate("g", "And ${m.output.item}?"), put(path="out/x${m.output.number}.txt"))),
    )
    assert told(files, root, people=people) == "GATE_DENIED"
    assert [one.question for one in people.asked] == ["And in/a.txt?", "And in/b.txt?", "And in/c.txt?"]


def test_members_that_are_known_are_counted_before_the_first(walks: Walks) -> None:
    root = mapped(put(), members=["a", "b", "c"])
    assert told(walks, root, budget={"max_calls": 2}) == "BUDGET_EXCEEDED"
    assert written(walks) == {}


def test_undo_puts_back_what_every_member_did(files: Walks) -> None:
    (files.workspace / "in" / "a.txt").write_text("before")
    root = sequence(
        "all",
        LIST,
        mapped(
            tool("add", "fs/append", "write", path="${m.output.item}", content="!"),
            scope_uri="matrix://scope/write?path=in/*.txt",
        ),
    )
    intent = files.accept(root)
    assert files.run(intent).failure is None
    assert (files.workspace / "in" / "a.txt").read_text().startswith("before\n!")
    report = undo(files.home, intent)
    assert len(report.restored) == 3
    assert [(files.workspace / "in" / f"{one}.txt").read_text() for one in "abc"] == [
        "before",
        "b.txt",
        "c.txt",
    ]


# ---- Only where.


@pytest.mark.parametrize(
    ("of", "test", "value", "holds"),
    [
        ("count", "at_least", "3", True),
        ("count", "at_least", "4", False),
        ("entries", "count", "3", True),
        ("entries", "at_most", "2", False),
        ("entries", "empty", "", False),
        ("entries", "not_empty", "", True),
        ("path", "equals", "IN", True),
        ("path", "not_equals", "in", False),
        ("text", "contains", "b.TXT", True),
        ("text", "not_contains", "b.txt", False),
        ("entries[*].path", "contains", "in/c.txt", True),
        ("entries[*].path", "contains", "in/c", False),
    ],
)
def test_a_node_is_done_where_its_condition_holds(
    files: Walks, of: str, test: str, value: str, holds: bool
) -> None:
    conditional = when(sequence("s", put(path="x.txt", content="x")), f"${{list.output.{of}}}", test, value)
    outcome = files.go(sequence("all", LIST, conditional, tool("last", "time/now")))
    assert outcome.failure is None, outcome.failure
    assert (files.workspace / "x.txt").exists() is holds
    assert outcome.nodes["put"] == outcome.nodes["s"] == ("completed" if holds else "skipped")
    assert outcome.nodes["last"] == "completed"


def test_a_condition_that_cannot_be_looked_at_is_a_failure_and_no_leave(files: Walks) -> None:
    root = sequence("all", LIST, when(put(path="x.txt", content="x"), "${list.output.text}", "at_least", "1"))
    assert told(files, root) == "CONDITION_UNREADABLE"
    assert not (files.workspace / "x.txt").exists()


def test_conditions_within_a_map_see_the_member(files: Walks) -> None:
    child = when(put(), "${m.output.item}", "contains", "b.")
    outcome = files.go(sequence("all", LIST, mapped(child)))
    assert outcome.failure is None, outcome.failure
    assert written(files) == {"2.txt": "in/b.txt"}


def test_what_may_be_skipped_is_not_counted_beforehand(files: Walks) -> None:
    conditional = when(put(path="x.txt", content="x"), "${list.output.entries}", "empty")
    assert told(files, sequence("all", LIST, conditional), budget={"max_calls": 1}) == ""


# ---- Plans that are none.

MAPPED = "REFERENCE_MAPPED"


@pytest.mark.parametrize(
    ("root", "code"),
    [
        (sequence("all", LIST, mapped(put(), over="")), "MAP_INVALID"),
        (sequence("all", LIST, mapped(put(), over="x ${list.output.entries}")), "MAP_INVALID"),
        (sequence("all", LIST, mapped(put(), most=33)), "MAP_INVALID"),
        (sequence("all", LIST, mapped(put(), most=0)), "MAP_INVALID"),
        (sequence("all", LIST, mapped(put(), scope_uri="")), "MAP_INVALID"),
        (mapped(put(), members=[str(n) for n in range(33)]), "MAP_INVALID"),
        (mapped(put(), members=["a", "b"], most=1), "MAP_INVALID"),
        (sequence("all", LIST, mapped(mapped(put(), id="n", members=["a"]))), "MAP_INVALID"),
        ({**mapped(put(), members=["a"]), "map": None}, "PAYLOAD_MISSING"),
        ({**mapped(put(), members=["a"]), "children": []}, "BRANCH_EMPTY"),
        ({**sequence("all", LIST), "map": {"members": ["a"]}}, "BRANCH_HAS_PAYLOAD"),
        ({**LIST, "map": {"members": ["a"]}}, "PAYLOAD_FOREIGN"),
        (sequence("all", mapped(put(), members=["a"]), put("n", content="${put.output}")), MAPPED),
        (sequence("all", LIST, put("n", content="${m.output.item}")), "REFERENCE_UNKNOWN"),
        (mapped(put(content="${m.output.count}"), members=["a"]), "REFERENCE_NOT_EARLIER"),
        (sequence("all", LIST, only("${list.output.count}", "more", "1")), "CONDITION_INVALID"),
        (sequence("all", LIST, only("${list.output.count}", "at_least", "x")), "CONDITION_INVALID"),
        (sequence("all", LIST, only("count", "empty")), "CONDITION_INVALID"),
        (sequence("all", LIST, only("${list.output.count}", "empty", "1")), "CONDITION_INVALID"),
        (when(LIST, "${list.output.count}", "empty"), "REFERENCE_NOT_EARLIER"),
        (
            parallel("all", LIST, only("${list.output.count}", "empty")),
            "REFERENCE_PARALLEL",
        ),
        (
            sequence(
                "all",
                LIST,
                only("${list.output.count}", "empty"),
                put("n", content="${l.output.text}"),
            ),
            "REFERENCE_CONDITIONAL",
        ),
    ],
)  # fmt: skip
def test_a_plan_that_does_not_hold_is_told_before_its_first_node(walks: Walks, root: NODE, code: str) -> None:
    assert told(walks, root) == code


def test_what_is_done_under_one_condition_may_use_what_else_is(files: Walks) -> None:
    first = only("${list.output.count}", "at_least", "1")
    second = when(put(path="x.txt", content="${l.output.count}"), "${list.output.count}", "at_least", "1")
    assert told(files, sequence("all", LIST, first, second)) == ""
    assert (files.workspace / "x.txt").read_text() == "3"


def test_plans_without_either_have_the_hashes_that_they_had() -> None:
    plan = ir.PlanTree.from_json(json.dumps({"id": "p", "intent_id": "i", "root": sequence("all", LIST)}))
    assert ir.content_hash(plan) == "7d68e5dbdf89d9e316cfef48db8361a81193edf4ad01bd024a702f4544774e76"


# ---- Corrections.


def change(walks: Walks, intent: str, *patches: dict[str, Any]) -> list[str]:
    from executor.store.lifecycle.corrections import correction

    view = walks.home.journal.view(intent)
    body = ir.IntentCorrectBody(view.plan_hash, json.dumps(list(patches)).encode())
    found = correction(view, body, at=walks.home.clock.now(), intent=intent)
    return [one.code for one in found.changes if one.material]


def test_how_often_and_whether_something_is_done_needs_a_new_accept(files: Walks) -> None:
    intent = files.accept(sequence("all", LIST, mapped(put()), only("${list.output.count}", "empty")))
    for patch in (
        {"op": "replace", "path": "/root/children/1/map/most", "value": 9},
        {"op": "replace", "path": "/root/children/1/map/scope_uri", "value": "matrix://scope/write"},
        {"op": "remove", "path": "/root/children/2/when"},
    ):
        assert "FIELD_CHANGED" in change(files, intent, patch), patch
    into = {"op": "move", "from": "/root/children/2", "path": "/root/children/1/children/0"}
    with pytest.raises(ir.MclError, match="one child"):
        change(files, intent, into)
