"""The gate: its order, its one door, and what it says of calls no plan covers."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from walks import Walks, context_of, tool

import executor
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
        "scope",
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


def sources() -> dict[str, ast.Module]:
    root = Path(executor.__file__).parent.parent
    files = [file for package in ("executor", "mcl") for file in (root / package).rglob("*.py")]
    return {file.relative_to(root).as_posix(): ast.parse(file.read_text()) for file in files}


def test_no_code_reaches_a_tool_adapter_but_the_registry_and_no_code_makes_an_allow_but_the_gate() -> None:
    reached: set[tuple[str, str]] = set()
    for path, tree in sources().items():
        for node in ast.walk(tree):
            name = getattr(node, "attr", getattr(node, "id", ""))
            if isinstance(node, ast.Attribute) and name in ("adapter", "_SEAL"):
                reached.add((path, name))
            if isinstance(node, ast.Name) and name == "_SEAL":
                reached.add((path, name))
            if isinstance(node, ast.Attribute | ast.Name) and name in BY_NAME:
                reached.add((path, "an import by name"))
            if isinstance(node, ast.Constant) and node.value in ("adapter", "_SEAL"):
                reached.add((path, str(node.value)))
            if isinstance(node, ast.Constant) and str(node.value).startswith(NAMESPACES):
                reached.add((path, "a tool's module"))
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "Allow":
                reached.add((path, "Allow()"))
            if isinstance(node, ast.ImportFrom | ast.Import):
                names = [alias.name for alias in node.names]
                module = getattr(node, "module", "") or ""
                if any(f"{module}.{name}".startswith(NAMESPACES) for name in names):
                    reached.add((path, "a tool's module"))
    assert {one for one in reached if not one[0].startswith(OWN_FOLDERS)} == {
        ("executor/gate/decide.py", "_SEAL"),
        ("executor/gate/decide.py", "Allow()"),
        ("executor/tools/registry.py", "adapter"),
        ("executor/tools/builtin.py", "an import by name"),  # into adapters
        # From tables of constants, none of which is a tool's module: that is looked for above.
        ("executor/__init__.py", "an import by name"),
        ("mcl/__init__.py", "an import by name"),
        ("mcl/cli/app.py", "an import by name"),
        ("mcl/acts/tuning/run.py", "an import by name"),
        ("mcl/model/binding.py", "an import by name"),
    }


OWN_FOLDERS = tuple(
    f"executor/tools/{place.parent.name}/"
    for place in Path(executor.__file__).parent.glob("tools/*/__init__.py")
)
BY_NAME = ("import_module", "__import__", "run_module", "run_path", "spec_from_file_location", "exec", "eval")
NAMESPACES = tuple(folder.rstrip("/").replace("/", ".") for folder in OWN_FOLDERS)


def test_the_registry_runs_an_adapter_in_one_place_after_the_allow_was_spent() -> None:
    tree = sources()["executor/tools/registry.py"]
    uses = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "adapter"]
    spends = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "spend"]
    assert len(uses) == len(spends) == 1
    assert spends[0].lineno < uses[0].lineno


def test_a_guard_that_fails_to_judge_lets_nothing_pass(walks: Walks) -> None:
    def broken() -> Any:
        raise RuntimeError("the journal cannot be read")

    context = accepted(walks, view=broken)
    with pytest.raises(RuntimeError):
        decide(CALL, context)
