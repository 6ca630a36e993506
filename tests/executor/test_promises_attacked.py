"""Each rule that a run can be held to, attacked in ways that test_promises_held has not tried: other
tools with the same effect, links, spellings, late values, skills below, servers, programs, calls at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from promise_attacks import (
    CAFE,
    CHECKOUT,
    COIN,
    EVENT,
    GREP,
    MAKE,
    NOTE,
    PEEK,
    PUSH,
    PUT,
    SEEN,
    SEND,
    SHELL,
    STORE,
    definition,
    late,
    load_to,
    read,
    request,
    tried,
    write,
)
from shelf import Shelf, dispatch
from test_promises_held import rule
from walks import NODE, Says, Walks, code, parallel, probe, sequence, tool

from executor import Bench, Grants, Pins, Tool
from mcl.catalog.manifests import manifest_of


async def act(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    return {}


async def say(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    return {"text": args["text"]}


async def load(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    bench.workspace.write(str(args["out"]), b"from afar", replace=True)
    return {}


def _names(*names: str) -> dict[str, Any]:
    properties = {name: {"type": "string"} for name in names}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "required": list(names),
    }


@pytest.fixture
def attacked(walks: Walks) -> Walks:
    """A workspace with files and links, all classes granted, tools of every kind and those of a server."""
    for name in ("a.txt", "src/b.txt", "secret/c.txt", "docs/d.txt", f"{CAFE}/e.txt", "t.csv", "old.svg"):
        walks.write(name, "hello")
    (walks.workspace / "docs" / "link").symlink_to("../secret")
    (walks.workspace / "src" / "out").symlink_to("../docs")
    (walks.workspace / "kept").mkdir()
    (walks.workspace / "generated" / "architecture").mkdir(parents=True)
    net = {"kind": "network", "urls": ["url"], "paths": {"out": "write"}}
    command = {"argv": ["make"], "outputs": ["built"]}
    walks.tools += [
        probe("say", say),
        probe("shell", act, effects=("shell",), safety="D"),
        probe("look", act, effects=("shell",), safety="D", operation="read"),
        probe("make", act, effects=("shell",), safety="D", operation="read", command=command),
        probe("send", act, effects=("network",), safety="E"),
        probe("load", load, effects=("network",), safety="E", scope=net, args=_names("url", "out")),
        probe("note", act, effects=("write",)),
        probe("coin", act, effects=("chain",), safety="E"),
    ]
    served: list[tuple[str, dict[str, bool]]] = [
        ("git_push", {}),
        ("createCommit", {"destructiveHint": False}),
        ("write_file", {"destructiveHint": False}),
        ("read", {"readOnlyHint": True}),
        ("peek", {"readOnlyHint": True, "openWorldHint": False}),
    ]
    for name, hints in served:
        manifest = manifest_of("hub", {**definition(name), "annotations": hints}, trusted=True)
        walks.tools.append(Tool(manifest, act))
        Pins(walks.home).approve(manifest)
    Grants(walks.home).grant(walks.home.keyring.agent.did, ["read", "write", "network", "shell", "chain"])
    return walks


def _seen(walks: Walks) -> dict[str, str]:
    files = (one for one in walks.workspace.rglob("*") if one.is_file() and not one.is_symlink())
    return {str(one.relative_to(walks.workspace)): one.read_text() for one in files}


# Guards before and behind the promise's refuse the same call for reasons of their own.
_OTHERS = ("OUT_OF_SCOPE", "PROTECTED_PATH", "HOST_DENIED", "KEY_NOT_PERSONAL")
_COUNTED = ("at most 1", "overwrite nothing", "no new files", "delete nothing")


@pytest.mark.parametrize(("keeps", "node"), tried())
def test_a_plan_that_breaks_a_rule_in_another_way_is_refused(attacked: Walks, keeps: str, node: NODE) -> None:
    before = _seen(attacked)
    outcome = attacked.go(node, verb="acquire", constraints=[rule(keeps)])
    assert outcome.failure is not None
    assert code(outcome) == "PROMISE_BROKEN" or (code(outcome) in _OTHERS and outcome.failure.fix), (
        outcome.failure
    )
    assert outcome.state in ("denied", "failed")
    if not keeps.startswith(_COUNTED):  # what the run made itself, before the call that is refused, may stand
        assert _seen(attacked) == before


@pytest.mark.parametrize(
    ("node", "nodes"),
    [
        *((one, one["id"]) for one in (write("n.txt"), NOTE, PUT, CHECKOUT, EVENT, SHELL, MAKE, PUSH, STORE)),
        *(
            (one, one["id"])
            for one in (
                SEND,
                request("POST"),
                load_to("n.txt"),
                tool("d", "fs/delete", "write", path="a.txt"),
            )
        ),
        (late("fs/write", "write", "path", "n.txt", content="x"), "z"),
        (parallel("q", read("a.txt"), write("n.txt")), "w"),
    ],
)
def test_what_does_more_than_read_is_not_done_before_somebody_was_asked(
    attacked: Walks, node: NODE, nodes: str
) -> None:
    before, people = _seen(attacked), Says("deny")
    outcome = attacked.go(node, verb="acquire", constraints=[rule("ask before each")], people=people)
    assert code(outcome) == "GATE_DENIED"
    assert [one.node_id for one in people.asked] == [nodes]
    assert _seen(attacked) == before


HOME = "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("wanted", "node"),
    [
        *(({"allow": ["DE"]}, one) for one in (SHELL, MAKE, GREP, PUSH, SEEN, PEEK, SEND, COIN)),
        ({"allow": ["DE"]}, tool("g", "http/get", "network", url="http://localhost:1/")),
        ({"allow": ["DE"]}, tool("g", "http/get", "network", url=f"{HOME}0/")),
        ({"allow": ["DE"]}, late("http/get", "network", "url", "http://localhost:1/")),
        *(({"deny": [code]}, tool("g", "http/get", "network", url=f"{HOME}/")) for code in ("DE", "EU")),
        *(
            ({"deny": [code]}, tool("g", "http/get", "network", url=f"{HOME}/"))
            for code in ("DEU", "de", "DE-BY", "Germany")
        ),
        *(
            ({"allow": [code]}, tool("g", "http/get", "network", url=f"{HOME}/"))
            for code in ("SE", "DEU", "Germany")
        ),
    ],
)
def test_no_call_goes_where_a_jurisdiction_does_not_let_it(
    attacked: Walks, wanted: dict[str, Any], node: NODE
) -> None:
    Grants(attacked.home).grant_hosts(attacked.home.keyring.agent.did, [HOME], regions=["DE"])
    held = {"type": "jurisdiction", "hard": True, **wanted}
    first = tool("first", "http/get", "network", url=f"{HOME}/")
    outcome = attacked.go(sequence("all", node, first), verb="acquire", constraints=[held])
    assert code(outcome) in ("PROMISE_BROKEN", "PROMISE_UNCHECKABLE", "KEY_NOT_PERSONAL")
    assert "first" not in outcome.nodes or outcome.nodes["first"] == "skipped"


@pytest.mark.parametrize("root", [sequence, parallel])
@pytest.mark.parametrize("limit", ["budget", "calls", "files", "cost"])
def test_what_is_counted_is_counted_for_calls_at_once_too(attacked: Walks, root: Any, limit: str) -> None:
    plan = root("q", *(write(f"n{number}.txt", f"w{number}") for number in range(4)))
    euro = {"type": "budget", "hard": True, "max": {"asset": "EUR", "amount": "0.01"}}
    if limit == "cost":
        cost = {"asset": "EUR", "amount": "0.004"}
        attacked.tools.append(probe("dear", act, effects=("write",), cost=cost))
        plan = root("q", *(tool(f"d{number}", "test/dear", "write") for number in range(4)))
    more: dict[str, Any] = {
        "budget": {"budget": {"max_calls": 2}},
        "calls": {"constraints": [rule("at most 2 calls")]},
        "files": {"constraints": [rule("at most 2 files")]},
        "cost": {"constraints": [euro]},
    }[limit]
    outcome = attacked.go(plan, **more)
    assert code(outcome) in ("BUDGET_EXCEEDED", "PROMISE_BROKEN")
    assert len([name for name in _seen(attacked) if name.startswith("n")]) <= 2
    begun = [one for one in attacked.watch.events if one.state == "running" and one.node_id != "q"]
    assert len({one.node_id for one in begun}) <= 3  # the third is refused


def test_what_a_skill_below_a_skill_would_do_is_held_to_the_rule_above(attacked: Walks) -> None:
    shelf = Shelf()
    for number, (keeps, node) in enumerate(
        (("change nothing", NOTE), ("no network", PEEK), ("only in src", PUT))
    ):
        shelf.put(f"low{number}", node)
        shelf.put(f"mid{number}", dispatch(shelf, "lower", f"low{number}", verb="acquire"))
        root = dispatch(shelf, "sub", f"mid{number}", verb="acquire")
        outcome = attacked.run(
            attacked.accept(root, verb="acquire", constraints=[rule(keeps)]), sub_skills=shelf
        )
        assert code(outcome) == "PROMISE_BROKEN"
