"""Tools of other servers in plans: judged by every guard, with arguments of open types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from walks import NODE, Says, Walks, context_of, granted, sequence, tool

from executor import Bench, Call, Deny, Home, Manifest, Pins, Tool, decide
from executor.gate.portion import parse_portion
from executor.gate.taint import taints
from ir import PlanTree
from mcl.catalog.manifests import manifest_of

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "repo": {"type": "string"},
        "number": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "more": {},
    },
    "required": ["repo"],
}


@pytest.fixture
def walks(home: Home, tmp_path: Path) -> Walks:
    (tmp_path / "work").mkdir()
    return Walks(home, tmp_path / "work")


class Server:
    """A tool of the server github that tells what it was called with."""

    def __init__(self, walks: Walks, name: str = "get_issue", *, trusted: bool = True, **hints: bool) -> None:
        definition = {"name": name, "inputSchema": SCHEMA, "annotations": hints}
        self.manifest: Manifest = manifest_of("github", definition, trusted=trusted)
        self.calls: list[dict[str, object]] = []
        self._walks = walks
        walks.tools.append(Tool(self.manifest, self._call))

    async def _call(self, args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        self.calls.append(dict(args))
        return {"content": [{"type": "text", "text": "done"}], "structured": {"n": 7}, "is_error": False}

    def approve(self) -> None:
        Pins(self._walks.home).approve(self.manifest)

    def node(self, id: str = "n1", declared: str = "network", **args: str) -> NODE:
        return tool(id, self.manifest.uri[14:].partition("@")[0], declared, **{"repo": "x", **args})


def test_a_plan_may_call_it_once_a_person_approved_it_and_not_before(walks: Walks) -> None:
    granted(walks)
    server = Server(walks, readOnlyHint=True)
    assert walks.refusal(server.node()) == "TOOL_QUARANTINED"
    server.approve()
    answer = walks.ask(server.node(number="5", more='{"a": ["${b}"]}'.replace("${", "$${")))
    assert answer["structured"] == {"n": 7}
    assert server.calls == [{"repo": "x", "number": 5, "more": {"a": ["${b}"]}}]


def test_arguments_that_do_not_fit_its_schema_are_refused_before_the_first_node(walks: Walks) -> None:
    granted(walks)
    server = Server(walks, readOnlyHint=True)
    server.approve()
    outcome = walks.go(server.node(number='"five"'))
    assert outcome.failure is not None
    assert outcome.failure.code == "INVALID_ARGS"
    assert "integer, null" in outcome.failure.message
    assert server.calls == []


def test_what_it_answers_goes_into_the_arguments_of_later_nodes(walks: Walks) -> None:
    granted(walks)
    server = Server(walks, readOnlyHint=True)
    server.approve()
    later = server.node("n2", number="${n1.output.structured.n}", more="${n1.output.structured}")
    walks.go(sequence("all", server.node(), later))
    assert server.calls[1:] == [{"repo": "x", "number": 7, "more": {"n": 7}}]


@pytest.mark.parametrize(
    ("trusted", "hints", "verb", "declared", "expected"),
    [
        (True, {"readOnlyHint": True}, "find", "network", "runs"),
        (True, {"readOnlyHint": True, "openWorldHint": False}, "find", "read", "runs"),
        (True, {"openWorldHint": False}, "build", "write", "runs"),
        (True, {"openWorldHint": False}, "find", "write", "INTENT_MISMATCH"),
        (True, {}, "deliver", "network", "asks"),
        (True, {}, "find", "network", "INTENT_MISMATCH"),
        (True, {"destructiveHint": True, "openWorldHint": False}, "build", "write", "asks"),
        (False, {"readOnlyHint": True}, "deliver", "network", "asks"),
        (False, {"readOnlyHint": True}, "find", "network", "INTENT_MISMATCH"),
        (False, {"readOnlyHint": True}, "deliver", "read", "SERVER_MISMATCH"),
    ],
)
def test_verb_declaration_and_what_it_counts_as_must_fit(
    walks: Walks, trusted: bool, hints: dict[str, bool], verb: str, declared: str, expected: str
) -> None:
    granted(walks)
    server = Server(walks, trusted=trusted, **hints)
    server.approve()
    people = Says("deny")
    outcome = walks.go(server.node(declared=declared), verb=verb, people=people)
    if expected == "runs":
        assert outcome.failure is None
        assert len(server.calls) == 1
        return
    assert outcome.failure is not None
    assert server.calls == []
    assert bool(people.asked) == (expected == "asks")
    assert outcome.failure.code == ("GATE_DENIED" if expected == "asks" else expected)


@pytest.mark.parametrize(
    ("scope", "hints", "expected"),
    [
        ("read+network", {"readOnlyHint": True}, "allowed"),
        ("read+network?host=example.org", {"readOnlyHint": True}, "HOST_DENIED"),
        ("read+network?folder=docs", {"readOnlyHint": True}, "OUT_OF_SCOPE"),
        ("read", {"readOnlyHint": True}, "CAPABILITY_DENIED"),
        ("read", {"readOnlyHint": True, "openWorldHint": False}, "allowed"),
        ("read?host=example.org", {"readOnlyHint": True, "openWorldHint": False}, "allowed"),
        ("read?folder=docs", {"readOnlyHint": True, "openWorldHint": False}, "OUT_OF_SCOPE"),
    ],
)
def test_a_dispatch_that_leaves_some_hosts_or_folders_leaves_no_tool_that_goes_where_it_likes(
    walks: Walks, scope: str, hints: dict[str, bool], expected: str
) -> None:
    granted(walks)
    server = Server(walks, **hints)
    server.approve()
    declared = "read" if "openWorldHint" in hints else "network"
    context = context_of(walks, walks.accept(server.node(declared=declared), verb="find"))
    assert context.mandate is not None
    below = replace(context.mandate, portion=parse_portion(f"matrix://scope/{scope}"))
    reply = decide(Call(server.manifest.uri, {"repo": "x"}, declared, "n1"), replace(context, mandate=below))
    assert (reply.code if isinstance(reply, Deny) else "allowed") == expected


def test_what_another_server_answers_may_be_private_and_strangers_may_have_written_it(walks: Walks) -> None:
    granted(walks)
    server = Server(walks, readOnlyHint=True)
    server.approve()
    tests = tool("n2", "process/tests", "shell")
    context = context_of(walks, walks.accept(sequence("all", server.node(), tests), verb="build"))
    assert context.mandate is not None
    plan: PlanTree = context.mandate.plan
    found = taints(plan, context.tools.find)
    assert (found["n2"].private, found["n2"].untrusted) == ("n1", "n1")
    assert not found["n1"].both


READS: dict[str, bool] = {"readOnlyHint": True}
CLOSED = {"openWorldHint": False}


@pytest.mark.parametrize(
    ("keeps", "name", "hints", "expected"),
    [
        ("change nothing", "get_issue", READS, ""),
        ("change nothing", "get_issue", {}, "PROMISE_BROKEN"),
        ("read only", "get_issue", {"destructiveHint": True}, "PROMISE_BROKEN"),
        ("delete nothing", "get_issue", {"destructiveHint": True}, "PROMISE_BROKEN"),
        ("delete nothing", "get_issue", CLOSED, "PROMISE_BROKEN"),
        ("overwrite nothing", "get_issue", {}, "PROMISE_BROKEN"),
        ("no new files", "get_issue", CLOSED, "PROMISE_BROKEN"),
        ("no network", "get_issue", READS, "PROMISE_BROKEN"),
        ("no network", "get_issue", {**READS, **CLOSED}, "PROMISE_BROKEN"),
        ("send nothing", "get_issue", READS, "PROMISE_BROKEN"),
        ("only in docs", "get_issue", {**READS, **CLOSED}, "PROMISE_BROKEN"),
        ("not in secret", "get_issue", {**READS, **CLOSED}, "PROMISE_BROKEN"),
        ("change only in docs", "get_issue", CLOSED, "PROMISE_BROKEN"),
        ("change only in docs", "get_issue", READS, ""),
        ("change not in docs", "get_issue", CLOSED, "PROMISE_BROKEN"),
        ("only host example.org", "get_issue", READS, "PROMISE_BROKEN"),
        ("no tool github:get_issue", "get_issue", READS, "PROMISE_BROKEN"),
        ("no tool github:get_issue", "get_issues", READS, ""),
        ("no tool git/push", "push_files", {}, "PROMISE_BROKEN"),
        ("no tool git/push", "pushFiles", READS, "PROMISE_BROKEN"),
        ("no tool git/commit", "create-commit", {}, "PROMISE_BROKEN"),
        ("no tool git/commit", "get_issue", {}, ""),
        ("only tool fs/read", "get_issue", READS, "PROMISE_BROKEN"),
        ("only tool github:get_issue", "get_issue", READS, ""),
        ("at most 2 files", "get_issue", CLOSED, "PROMISE_BROKEN"),
    ],
)
def test_a_rule_of_the_goal_holds_tools_that_nobody_sees_into(
    walks: Walks, keeps: str, name: str, hints: dict[str, bool], expected: str
) -> None:
    granted(walks)
    server = Server(walks, name, **hints)
    server.approve()
    declared = "write" if hints == CLOSED else "read" if "openWorldHint" in hints else "network"
    rule = {"type": "rule", "hard": True, "rule": "as the goal says", "keeps": keeps}
    outcome = walks.go(
        server.node(declared=declared), verb="deliver", constraints=[rule], people=Says("approve")
    )
    assert (outcome.failure.code if outcome.failure else "") == expected
    assert len(server.calls) == (expected == "")
