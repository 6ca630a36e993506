"""The gate: its order, its one door, and what it says of calls no plan covers."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from walks import Walks, context_of, tool

from executor import GUARDS, Allow, Ask, Call, Deny, GateError, Home, ToolError, decide
from executor.sandbox.redaction import Redactor

READ = "matrix://tool/fs/read@1.0.0"


@pytest.fixture
def walks(home: Home, tmp_path: Path) -> Walks:
    (tmp_path / "work").mkdir()
    found = Walks(home, tmp_path / "work")
    found.write("a.txt", "hello")
    return found


def accepted(walks: Walks, **more: Any) -> Any:
    return context_of(walks, walks.accept(tool("n1", "fs/read", path="a.txt")), **more)


CALL = Call(READ, {"path": "a.txt"}, "read", "n1")


def test_the_guards_stand_in_the_order_of_the_design() -> None:
    assert [name for name, _ in GUARDS] == [
        "integrity",
        "state",
        "tool_known",
        "unchanged",
        "denylist",
        "three_keys",
        "capability",
        "arguments",
        "promise",
        "scope",
        "checkout",
        "locks",
        "budget",
        "approval",
    ]


def test_a_call_of_the_accepted_plan_is_allowed(walks: Walks) -> None:
    assert isinstance(decide(CALL, accepted(walks)), Allow)


def test_a_call_that_no_intent_covers_is_refused_and_recorded(walks: Walks) -> None:
    noted: list[tuple[str, dict[str, object]]] = []
    reply = decide(CALL, context_of(walks, None, record=lambda *told: noted.append(told)))
    assert isinstance(reply, Deny)
    assert (reply.code, reply.guard) == ("NO_INTENT_DECLARED", "state")
    assert reply.reason
    assert "mcl" in reply.fix
    assert [(kind, body["code"], body["tool"]) for kind, body in noted] == [
        ("refused", "NO_INTENT_DECLARED", READ)
    ]


def test_an_allow_cannot_be_made_by_hand() -> None:
    with pytest.raises(GateError) as caught:
        Allow(object(), CALL, "read")
    assert caught.value.code == "FORGED_ALLOW"


def invoke(context: Any, allow: Any, call: Call) -> dict[str, object]:
    async def go() -> dict[str, object]:
        return await context.tools.invoke(
            allow, call, workspace=context.workspace, clock=context.clock, redactor=Redactor()
        )

    return anyio.run(go)


@pytest.mark.parametrize("double", [copy.copy, copy.deepcopy, pickle.dumps])
def test_an_allow_cannot_be_doubled(walks: Walks, double: Callable[[object], object]) -> None:
    allow = decide(CALL, accepted(walks))
    with pytest.raises(GateError) as caught:
        double(allow)
    assert caught.value.code == "FORGED_ALLOW"


def test_an_allow_has_no_other_kinds() -> None:
    with pytest.raises(GateError):
        type("Wider", (Allow,), {})


def test_an_allow_does_not_cover_arguments_that_were_changed_after_it_was_given(walks: Walks) -> None:
    context = accepted(walks)
    args = dict(CALL.args)
    call = replace(CALL, args=args)
    allow = decide(call, context)
    args["path"] = "b.txt"
    with pytest.raises(GateError) as caught:
        invoke(context, allow, call)
    assert caught.value.code == "ALLOW_MISMATCH"


def test_an_allow_is_for_one_exact_call_and_once(walks: Walks) -> None:
    context = accepted(walks)
    allow = decide(CALL, context)
    other = Call(READ, {"path": "b.txt"}, "read", "n1")
    with pytest.raises(GateError) as caught:
        invoke(context, allow, other)
    assert caught.value.code == "ALLOW_MISMATCH"
    assert invoke(context, allow, CALL)["text"] == "hello"
    with pytest.raises(GateError) as caught:
        invoke(context, allow, CALL)
    assert caught.value.code == "ALLOW_SPENT"


@pytest.mark.parametrize("forged", [None, True, "allow", Ask("?", "", ""), type("Allow", (), {})()])
def test_nothing_but_an_allow_of_the_gate_opens_a_tool(walks: Walks, forged: object) -> None:
    context = accepted(walks)
    with pytest.raises(ToolError) as caught:
        invoke(context, forged, CALL)
    assert caught.value.code == "NOT_ALLOWED"


def test_a_guard_that_fails_to_judge_lets_nothing_pass(walks: Walks) -> None:
    def broken() -> Any:
        raise RuntimeError("the journal cannot be read")

    context = accepted(walks, view=broken)
    with pytest.raises(RuntimeError):
        decide(CALL, context)
