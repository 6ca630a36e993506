"""What must fail is told before anybody signs: budget, time, parallel writes, locks, criteria, rules."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shelf import Shelf, dispatch
from walks import NODE, Walks, Watch, gate, parallel, probe, sequence, step, tool

from executor import Bench, Deny, Verdict, WalkEvent
from executor.gate.locks import Locks, PlannedLocks, at_once, clash


async def nothing(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    return {}


class Model:
    async def reason(self, **asked: Any) -> dict[str, object]:
        return {"text": "yes"}


def told(
    walks: Walks, root: NODE, *, more: Mapping[str, Any] | None = None, **of_intent: Any
) -> list[Verdict]:
    """What a preflight says of a plan that nobody signed."""
    walker = walks.walker(reasoner=Model(), **(more or {}))
    try:
        return walker.preflight(walks.propose(root, **of_intent))
    finally:
        walker.close()


def refused(verdicts: Sequence[Verdict]) -> dict[str, str]:
    """The code by node of what is refused; each says what was wrong and the way out."""
    for one in verdicts:
        if isinstance(one.reply, Deny):
            assert one.reply.reason
            assert one.reply.fix
            assert one.reply.example
            assert one.reply.guard
    return {one.node_id: one.reply.code for one in verdicts if isinstance(one.reply, Deny)}


def nows(count: int) -> list[NODE]:
    return [tool(f"n{one}", "time/now") for one in range(1, count + 1)]


def write(id: str, path: str) -> NODE:
    return tool(id, "fs/write", "write", path=path, content="x")


# ---- budget and time


def test_four_calls_do_not_fit_into_a_budget_of_three(walks: Walks) -> None:
    found = told(walks, sequence("n0", *nows(4)), budget={"max_calls": 3})
    assert refused(found) == {"n4": "BUDGET_EXCEEDED"}
    (late,) = [one.reply for one in found if isinstance(one.reply, Deny)]
    assert late.reason == "when its turn comes, the budget allows 3 calls, and all are used"
    assert refused(told(walks, sequence("n0", *nows(3)), budget={"max_calls": 3})) == {}


def test_a_refused_plan_is_not_begun_and_stays_accepted(walks: Walks) -> None:
    outcome = walks.go(sequence("n0", *nows(4)), budget={"max_calls": 3})
    assert (outcome.state, outcome.nodes) == ("denied", {})
    assert walks.home.journal.view(outcome.intent_id).state == "accepted"
    assert [body["node"] for body in walks.records("record.gate.refused")] == ["n4"]


def test_steps_and_looks_at_a_criterion_are_calls_and_gates_are_none(walks: Walks) -> None:
    root = sequence("n0", gate("g"), step("s", inputs={"a": "b"}), tool("n1", "time/now"))
    look = {"type": "external", "url": "https://example.org/"}
    assert "success[0]" in refused(told(walks, root, budget={"max_calls": 2}, criteria=[look]))
    assert refused(told(walks, root, budget={"max_calls": 1})) == {"n1": "BUDGET_EXCEEDED"}


def test_a_rule_about_the_number_of_calls_is_reckoned_too(walks: Walks) -> None:
    rule = {"type": "rule", "hard": True, "rule": "two calls at most", "keeps": "at most 2 calls"}
    assert refused(told(walks, sequence("n0", *nows(3)), constraints=[rule])) == {"n3": "PROMISE_BROKEN"}
    files = {"type": "rule", "hard": True, "rule": "one file", "keeps": "at most 1 files"}
    found = refused(told(walks, sequence("n0", write("a", "a"), write("b", "b")), constraints=[files]))
    assert found == {"b": "PROMISE_BROKEN"}


def test_the_calls_of_a_dispatched_plan_count_in_its_own_budget_and_in_that_above(walks: Walks) -> None:
    shelf = Shelf()
    shelf.put("low", sequence("all", *nows(3)))
    root = sequence("n0", dispatch(shelf, "sub", "low"), tool("last", "time/now"))
    of = {"sub_skills": shelf}
    assert refused(told(walks, root, more=of, budget={"max_calls": 3})) == {"last": "BUDGET_EXCEEDED"}
    assert refused(told(walks, root, more=of, budget={"max_calls": 2})) == {
        "sub/n3": "BUDGET_EXCEEDED",
        "last": "BUDGET_EXCEEDED",
    }
    assert refused(told(walks, root, more=of, budget={"max_agents": 0})) == {"sub": "BUDGET_EXCEEDED"}
    small = sequence("n0", dispatch(shelf, "sub", "low", scope_uri="matrix://scope/read?calls=2"))
    assert refused(told(walks, small, more=of)) == {"sub/n3": "BUDGET_EXCEEDED"}


def test_what_has_completed_is_neither_judged_nor_counted_again(walks: Walks) -> None:
    class Dies(Watch):
        def on(self, event: WalkEvent) -> None:
            if event.node_id == "g":
                raise KeyboardInterrupt

    rule = {"type": "rule", "hard": True, "rule": "replace nothing", "keeps": "overwrite nothing"}
    root = sequence("n0", write("a", "a.txt"), gate("g"), write("b", "b.txt"))
    intent = walks.accept(root, budget={"max_calls": 2}, constraints=[rule])
    with pytest.raises(KeyboardInterrupt):
        walks.run(intent, listener=Dies())
    with_walker = walks.walker()
    assert refused(with_walker.preflight(intent)) == {}
    with_walker.close()
    assert walks.run(intent, resume=True).state == "completed"


def test_a_deadline_that_has_passed_is_told_of_the_first_node(walks: Walks) -> None:
    found = told(walks, sequence("n0", gate("g"), *nows(1)), deadline="2001-01-01T00:00:00.000Z")
    assert refused(found) == {"g": "DEADLINE", "n1": "DEADLINE"}
    first = found[0].reply
    assert isinstance(first, Deny)
    assert "has passed" in first.reason


@pytest.mark.parametrize(
    ("root", "late"),
    [
        (sequence("n0", tool("a", "test/slow"), tool("b", "test/slow")), ["b"]),
        (parallel("n0", tool("a", "test/slow"), tool("b", "test/slow")), []),
        (
            sequence(
                "n0", parallel("p", tool("a", "test/slow"), tool("b", "test/slow")), tool("c", "test/slow")
            ),
            ["c"],
        ),
        (sequence("n0", tool("a", "test/slow"), gate("g"), tool("n", "time/now")), []),
    ],
)
def test_what_manifests_say_that_calls_take_at_least_is_added_up(
    walks: Walks, root: NODE, late: list[str]
) -> None:
    walks.tools.append(probe("slow", nothing, least_ms=40_000))
    assert list(refused(told(walks, root, budget={"max_time": "PT1M"}))) == late


def test_a_least_time_is_part_of_the_pin_only_where_it_is_said() -> None:
    plain, slow = probe("slow", nothing).manifest, probe("slow", nothing, least_ms=5).manifest
    assert "least_ms" not in plain.meaning
    assert plain.pin != slow.pin


# ---- who writes where at the same time


@pytest.mark.parametrize(
    ("root", "second"),
    [
        (parallel("p", write("a", "x.txt"), write("b", "x.txt")), ["b"]),
        (parallel("p", write("a", "x"), write("b", "x/y.txt")), ["b"]),
        (parallel("p", write("a", "x.txt"), write("b", "y.txt")), []),
        (sequence("s", write("a", "x.txt"), write("b", "x.txt")), []),
        (parallel("p", sequence("s", write("a", "x.txt"), write("b", "x.txt"))), []),
        (
            parallel("p", sequence("s", *nows(1), write("a", "x.txt")), sequence("t", write("b", "x.txt"))),
            ["b"],
        ),
        (sequence("s", parallel("p", write("a", "x.txt")), parallel("q", write("b", "x.txt"))), []),
    ],
)
def test_two_branches_that_write_one_path_are_told(walks: Walks, root: NODE, second: list[str]) -> None:
    assert refused(told(walks, root)) == dict.fromkeys(second, "SCOPE_CONTENTION")


def test_a_dispatched_plan_beside_a_writer_is_one_too(walks: Walks) -> None:
    shelf = Shelf()
    shelf.put("low", write("w", "x.txt"))
    root = parallel("p", write("a", "x.txt"), dispatch(shelf, "sub", "low"))
    assert refused(told(walks, root, more={"sub_skills": shelf})) == {"sub/w": "SCOPE_CONTENTION"}


BRANCHES = st.lists(st.tuples(st.sampled_from("pq"), st.integers(0, 1)), max_size=3).map(tuple)
PLANNED = st.tuples(
    st.tuples(st.lists(st.sampled_from("ab"), max_size=3).map(tuple), st.sampled_from(["write", "add"])),
    BRANCHES,
)


@given(st.lists(PLANNED, max_size=8), PLANNED)
def test_a_planned_place_clashes_as_one_that_is_held_does(earlier: list[Any], last: Any) -> None:
    planned = PlannedLocks(Locks())
    for place, planned.branch in earlier:
        planned.plan([place])
    place, planned.branch = last
    expected = any(clash(place, one) and at_once(planned.branch, branch) for one, branch in earlier)
    assert bool(planned.foreseen([place])) == expected


# ---- locks of other runs: a warning


HOLDS = """
import sys
from pathlib import Path
from executor.gate.locks import Locks, SharedLocks
with Locks(SharedLocks(Path(sys.argv[1]), Path(sys.argv[2]), "01OTHER")).hold([(("x.txt",), "write")]):
    print("held", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def holder(walks: Walks) -> Iterator[None]:
    """Another process that is writing to x.txt."""
    where = [str(walks.home.path / "locks"), str(Path(walks.workspace).resolve())]
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, *where], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    try:
        yield
    finally:
        process.kill()
        process.communicate()


def test_a_path_that_another_run_is_writing_to_is_a_warning_and_no_refusal(walks: Walks) -> None:
    root = sequence("s", write("a", "x.txt"), write("b", "y.txt"))
    with holder(walks):
        found = {one.node_id: one for one in told(walks, root)}
    assert (found["a"].decision, found["b"].warnings) == ("allow", ())
    (warned,) = found["a"].warnings
    assert (warned.code, "01OTHER" in warned.reason) == ("SCOPE_CONTENTION", True)
    assert "warnings" in found["a"].to_json()
    assert all(one.warnings == () for one in told(walks, root))


# ---- criteria


def delivered(path: str) -> dict[str, str]:
    return {"type": "delivered", "artifact": path}


def test_a_file_that_is_not_there_and_that_nothing_writes_is_told(walks: Walks) -> None:
    found = refused(told(walks, sequence("s", *nows(1)), criteria=[delivered("gone.md")]))
    assert found == {"success[0]": "CRITERION_UNREACHABLE"}
    walks.write("gone.md")
    assert refused(told(walks, sequence("s", *nows(1)), criteria=[delivered("gone.md")])) == {}


@pytest.mark.parametrize(
    "root",
    [
        write("w", "out.md"),
        tool("w", "fs/write", "write", path="${n.output.text}", content="x"),
        tool("w", "process/tests", "shell"),
        tool("w", "test/free", "write"),
    ],
)
def test_a_file_that_something_may_write_is_waited_for(walks: Walks, root: NODE) -> None:
    walks.tools.append(probe("free", nothing, effects=("write",)))
    plan = sequence("s", tool("n", "time/now"), root)
    assert "success[0]" not in refused(told(walks, plan, criteria=[delivered("out.md")]))


def test_a_file_that_a_dispatched_plan_writes_is_waited_for(walks: Walks) -> None:
    shelf = Shelf()
    shelf.put("low", lambda values: write("w", values.get("path", "out.md")))
    of = {"sub_skills": shelf}
    known = sequence("s", dispatch(shelf, "sub", "low"))
    assert refused(told(walks, known, more=of, criteria=[delivered("out.md")])) == {}
    assert refused(told(walks, known, more=of, criteria=[delivered("other.md")])) == {
        "success[0]": "CRITERION_UNREACHABLE"
    }
    later = sequence(
        "s", tool("n", "time/now"), dispatch(shelf, "sub", "low", values={"path": "${n.output.now}"})
    )
    assert refused(told(walks, later, more=of, criteria=[delivered("other.md")])) == {}


def test_a_file_that_may_never_be_looked_at_is_told(walks: Walks) -> None:
    (walks.workspace / "link.md").symlink_to("/etc/hostname")
    found = told(walks, write("w", "a.md"), criteria=[delivered("link.md")])
    assert refused(found) == {"success[0]": "CRITERION_UNREACHABLE"}


# ---- rules


def test_a_rule_that_forbids_what_a_node_does_is_told(walks: Walks) -> None:
    rule = {"type": "rule", "hard": True, "rule": "change nothing", "keeps": "change nothing"}
    found = refused(told(walks, sequence("s", *nows(1), write("w", "a")), constraints=[rule]))
    assert found == {"w": "PROMISE_BROKEN"}


# ---- arguments that a plan offers


def offering(id: str, which: str, effect: str, args: dict[str, str], *others: dict[str, str]) -> NODE:
    node = tool(id, which, effect, **args)
    node["tool_call"]["alternatives"] = list(others)
    return node


def writing(id: str, path: str, *others: str) -> NODE:
    return offering(
        id,
        "fs/write",
        "write",
        {"path": path, "content": "x"},
        *({"path": one, "content": "x"} for one in others),
    )


def warned(verdicts: Sequence[Verdict]) -> dict[str, list[str]]:
    """The codes by node of what the gate would refuse of what it offers; nothing is refused."""
    assert refused(verdicts) == {}
    return {one.node_id: [warning.code for warning in one.warnings] for one in verdicts if one.warnings}


def test_what_the_gate_would_refuse_of_the_arguments_that_a_plan_offers_is_a_warning(walks: Walks) -> None:
    root = writing("a", "a.txt", "b.txt", "../up.txt", ".git/config")
    found = told(walks, root)
    assert warned(found) == {"a": ["OUT_OF_SCOPE", "PROTECTED_PATH"]}
    assert found[0].decision == "allow"
    assert "the arguments 2 of 3 that it offers" in found[0].warnings[0].reason
    assert walks.go(root).state == "completed"


@pytest.mark.parametrize(
    ("others", "code"),
    [
        ({"path": "b.txt"}, "INVALID_ARGS"),
        ({"path": "b.txt", "content": "x", "colour": "red"}, "INVALID_ARGS"),
        ({"path": "b.txt", "content": '{"a": "${n.output.text}"}'}, "PLACE_IN_JSON"),
        ({"path": "b.txt", "content": "$env:KEY"}, "INVALID_ARGS"),
        ({"path": "secret/b.txt", "content": "x"}, "PROMISE_BROKEN"),
    ],
)
def test_it_is_told_by_the_code_that_the_gate_would_give(
    walks: Walks, others: dict[str, str], code: str
) -> None:
    rule = {"type": "rule", "hard": True, "rule": "not in secret", "keeps": "not in secret"}
    node = offering("a", "fs/write", "write", {"path": "a.txt", "content": "x"}, others)
    root = sequence("s", tool("n", "time/now"), node)
    assert warned(told(walks, root, constraints=[rule])) == {"a": [code]}


def test_it_is_told_below_a_dispatch_too(walks: Walks) -> None:
    shelf = Shelf()
    shelf.put("low", sequence("all", writing("w", "docs/a.txt", "src/a.txt")))
    root = sequence("n0", dispatch(shelf, "sub", "low", scope_uri="matrix://scope/write?folder=docs"))
    assert warned(told(walks, root, more={"sub_skills": shelf})) == {"sub/w": ["OUT_OF_SCOPE"]}


def test_a_call_more_than_the_plan_has_is_needed_for_them(walks: Walks) -> None:
    root = sequence("s", writing("a", "a.txt", "b.txt"), tool("n", "time/now"))
    assert warned(told(walks, root, budget={"max_calls": 2})) == {"a": ["BUDGET_EXCEEDED"]}
    assert warned(told(walks, root, budget={"max_calls": 3})) == {}


@pytest.mark.parametrize("turned", [False, True])
def test_what_they_write_at_once_with_another_branch_is_told(walks: Walks, turned: bool) -> None:
    nodes = [writing("a", "a.txt", "b.txt"), write("b", "b.txt")]
    assert warned(told(walks, parallel("p", *nodes[:: -1 if turned else 1]))) == {"a": ["SCOPE_CONTENTION"]}


def test_of_what_is_signed_nothing_is_told_that_the_gate_would_let_pass(walks: Walks) -> None:
    walks.write("b.txt", "old")
    node = writing("a", "a.txt", "b.txt", "c.txt")
    node["tool_call"]["alternatives"][0]["overwrite"] = "true"  # a person would be asked
    intent = walks.accept(node)
    walker = walks.walker()
    try:
        assert warned(walker.preflight(intent)) == {}
    finally:
        walker.close()


def test_a_file_that_only_they_would_write_can_be_delivered(walks: Walks) -> None:
    criterion = {"type": "delivered", "artifact": "b.txt"}
    root = writing("a", "a.txt", "b.txt")
    assert warned(told(walks, root, criteria=[criterion])) == {}
    assert refused(told(walks, writing("a", "a.txt", "c.txt"), criteria=[criterion])) == {
        "success[0]": "CRITERION_UNREACHABLE"
    }


def test_many_of_them_are_looked_at_in_the_time_that_as_many_nodes_take(walks: Walks) -> None:
    many = [f"{one}.txt" for one in range(300)]
    nodes = [writing(f"n{one}", f"{one}.md", *many[one : one + 3]) for one in range(290)]
    assert warned(told(walks, sequence("s", *nodes))) == {}
