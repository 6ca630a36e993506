"""Corrections that mean to slip something in without a new accept: each of them needs one."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcl.cli.main import main

Plan = dict[str, Any]


def tool(id: str, which: str, effect: str, **args: str) -> Plan:
    call = {"tool_ref": f"matrix://tool/{which}@1.0.0", "side_effect_class": effect, "args": args}
    return {"id": id, "kind": "tool_call", "tool_call": call}


READ = tool("r", "fs/read", "read", path="a.txt")
ASK: Plan = {"id": "g", "kind": "gate", "gate": {"question": "Write it?", "options": ["approve", "deny"]}}
WRITE = tool("w", "fs/write", "write", path="b.txt", content="${r.output.text}")
OTHER = tool("w", "fs/write", "write", path="b.txt", content="owned")
BOTH: Plan = {"id": "p", "kind": "parallel", "children": [ASK, OTHER]}
FETCH = tool("r", "http/get", "network", url="https://example.org/")
HAND: Plan = {"id": "d", "kind": "sub_dispatch", "sub_dispatch": {"skill_ref": "matrix://skill/x@1.0.0"}}
TOLD = "${m.output.text}"
STEP: Plan = {
    "id": "m",
    "kind": "step",
    "step": {"inputs": {"x": "${r.output.text}"}, "expected_outputs": ["text"]},
}


def put(*steps: Any) -> Callable[[Plan], None]:
    """Set the value (the last) at a place in the plan."""

    def change(plan: Plan) -> None:
        *way, name, value = steps
        place: Any = plan["root"]
        for step in way:
            place = place[step]
        place[name] = value

    return change


def children(*nodes: Plan) -> Callable[[Plan], None]:
    return put("children", [copy.deepcopy(node) for node in nodes])


SLIPPED: dict[str, Callable[[Plan], None]] = {
    "the gate after what it guards": children(READ, WRITE, ASK),
    "the gate taken away": children(READ, WRITE),
    "the gate beside what it guards": children(READ, BOTH),
    "all at the same time": lambda plan: plan["root"].update(kind="parallel", children=[READ, ASK, OTHER]),
    "another node in the gate's name": children(READ, tool("g", "time/now", "read"), WRITE),
    "a gate that asks something harmless": put("children", 1, "gate", "question", "Fine weather?"),
    "a gate with one more way through": put("children", 1, "gate", "options", ["approve", "deny", "later"]),
    "a gate that takes any word": put("children", 1, "gate", "options", []),
    "a gate of another rule": put("children", 1, "gate", "rule_ref", "matrix://rule/other"),
    "the write before its gate": children(OTHER, READ, ASK),
    "another place to write": put("children", 2, "tool_call", "args", "path", "c.txt"),
    "another content": put("children", 2, "tool_call", "args", "content", "${r.output.sha256}"),
    "an overwrite": put("children", 2, "tool_call", "args", "overwrite", "true"),
    "a wider class": put("children", 2, "tool_call", "side_effect_class", "shell"),
    "another tool": put("children", 2, "tool_call", "tool_ref", "matrix://tool/fs/append@1.0.0"),
    "another version": put("children", 2, "tool_call", "tool_ref", "matrix://tool/fs/write@9.9.9"),
    "what is read for it": put("children", 0, "tool_call", "args", "path", ".env"),
    "a place outside": put("children", 0, "tool_call", "args", "path", "/etc/passwd"),
    "the network in place of a file": children(FETCH, ASK, WRITE),
    "one more write": children(READ, ASK, WRITE, tool("w2", "fs/write", "write", path="z", content="z")),
    "one more command": children(READ, ASK, WRITE, tool("c", "process/tests", "shell")),
    "the write once more under another name": children(READ, ASK, WRITE, {**WRITE, "id": "w3"}),
    "a model between": children(READ, ASK, STEP, tool("w", "fs/write", "write", path="b.txt", content=TOLD)),
    "work for another agent": children(READ, ASK, WRITE, HAND),
    "no budget any more": lambda plan: plan.__delitem__("budget"),
    "a larger budget": lambda plan: plan["budget"].update(max_calls=9),
    "more time": lambda plan: plan["budget"].update(max_time="PT9H"),
    "another skill": lambda plan: plan.update(skill_ref="matrix://skill/y@1.0.0"),
}


@pytest.mark.parametrize("change", SLIPPED.values(), ids=SLIPPED)
def test_what_widens_or_moves_anything_needs_a_new_accept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Plan], None]
) -> None:
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    nodes = copy.deepcopy([READ, ASK, WRITE])
    plan: Plan = {
        "id": "0" * 26,
        "intent_id": "0" * 26,
        "skill_ref": "matrix://skill/x@1.0.0",
        "root": {"id": "s", "kind": "sequential", "children": nodes},
        "budget": {"max_calls": 5, "max_time": "PT1H"},
    }
    (tmp_path / "before.json").write_text(json.dumps(plan))
    change(plan)
    (tmp_path / "after.json").write_text(json.dumps(plan))
    assert (
        main(["plan", "compare", str(tmp_path / "before.json"), str(tmp_path / "after.json"), "--json"]) == 10
    )
