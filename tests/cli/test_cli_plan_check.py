"""mcl plan check: every guard on every node, with an exit code for machines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from walks import NODE, Walks, gate, sequence, step, tool

from executor import Home
from ir import MclError
from mcl.plugins.checking.plans import check_file as check_plan_file

GUARDS = [
    *("integrity", "state", "tool_known", "unchanged", "denylist", "three_keys", "capability", "arguments"),
    *("promise", "scope", "checkout", "locks", "budget", "approval"),
]
READ = tool("n1", "fs/read", path="notes/monday.txt")
WRITE = tool("n1", "fs/write", "write", path="new.txt", content="x")
OVERWRITE = tool("n1", "fs/write", "write", path="notes/monday.txt", content="x", overwrite="true")


@pytest.fixture
def saved(mcl: Any) -> Callable[..., str]:
    """Saves a PlanTree and gives its file."""

    def save(root: NODE, **more: Any) -> str:
        document = {
            "id": "p1",
            "v": "mcl/0.1",
            "skill_ref": "matrix://skill/files@1.0.0",
            "root": root,
            **more,
        }
        (mcl.folder / "plan.json").write_text(json.dumps(document))
        return "plan.json"

    return save


@pytest.fixture
def home(mcl: Any) -> Any:
    with Home.open(mcl.home) as opened:
        yield opened


def guards(node: dict[str, Any]) -> dict[str, str]:
    return {one["guard"]: one.get("code", one["decision"]) for one in node["guards"]}


@pytest.mark.parametrize(
    ("root", "verb", "code", "word"),
    [
        (READ, "find", 0, "allowed"),
        (WRITE, "build", 0, "allowed"),
        (OVERWRITE, "build", 10, "needs_approval"),
        (sequence("s", READ, gate("g")), "find", 10, "needs_approval"),
        (tool("n1", "fs/read", path="/etc/hostname"), "find", 10, "needs_approval"),
        (WRITE, "find", 11, "denied"),
        (READ, "", 11, "denied"),
        (tool("n1", "process/tests", "shell"), "build", 11, "denied"),
        (sequence("s"), "find", 12, "invalid"),
        (tool("n1", "fs/read", version="latest", path="a"), "find", 12, "invalid"),
        (step("n1", prompt_name="x"), "find", 0, "allowed"),
    ],
)
def test_a_plan_in_a_file_is_judged_whole(
    mcl: Any, saved: Any, root: NODE, verb: str, code: int, word: str
) -> None:
    checked = mcl("plan", "check", saved(root), "--verb", verb, "--json")
    assert (checked.code, checked.document["verdict"], checked.document["exit"]) == (code, word, code)
    assert mcl("plan", "check", saved(root), "--verb", verb).code == code


def test_every_guard_is_heard_for_itself_and_says_what_would_do(mcl: Any, saved: Any) -> None:
    node = tool("n1", "fs/write", "read", path="../x", content="y", colour="red")
    document = mcl("plan", "check", saved(node), "--verb", "find", "--json").document
    [found] = document["nodes"]
    assert [one["guard"] for one in found["guards"]] == GUARDS
    assert guards(found) == {
        **dict.fromkeys(GUARDS, "allow"),
        "integrity": "not asked",
        "state": "not asked",
        "three_keys": "SERVER_MISMATCH",
        "arguments": "INVALID_ARGS",
        "scope": "OUT_OF_SCOPE",
        "approval": "not asked",
    }
    for one in found["guards"]:
        if one["decision"] == "deny":
            assert all(one[name] for name in ("code", "reason", "fix", "example"))
    shown = mcl("plan", "check", "plan.json", "--verb", "find").out
    assert "SERVER_MISMATCH" in shown
    assert "OUT_OF_SCOPE" in shown
    assert shown.endswith("denied\n")


def test_the_verb_is_that_of_the_intent_which_the_plan_names(mcl: Any, saved: Any, home: Home) -> None:
    intent = Walks(home, mcl.folder).propose(WRITE, verb="modify")
    document = mcl("plan", "check", saved(WRITE, intent_id=intent), "--json").document
    assert (document["verb"], document["verb_from"], document["verdict"]) == ("modify", "intent", "allowed")
    document = mcl("plan", "check", "plan.json", "--verb", "find", "--json").document
    assert (document["verb"], document["verb_from"], document["verdict"]) == ("find", "option", "denied")


def test_a_file_whose_goal_nobody_knows_is_refused_with_how_to_say_it(mcl: Any, saved: Any) -> None:
    document = mcl("plan", "check", saved(WRITE), "--json").document
    assert document["verb_from"] == "nowhere"
    assert guards(document["nodes"][0])["three_keys"] == "MISSING_INTENT"


def test_the_plan_of_an_intent_is_judged_before_and_after_it_is_signed(mcl: Any, home: Home) -> None:
    walks = Walks(home, mcl.folder)
    proposed = walks.propose(OVERWRITE)
    document = mcl("plan", "check", proposed, "--json").document
    assert (document["verdict"], document["signed"]) == ("needs_approval", False)
    assert guards(document["nodes"][0])["state"] == "not asked"
    accepted = walks.accept(READ, verb="find")
    checked = mcl("plan", "check", accepted[:24], "--json")
    assert (checked.code, checked.document["signed"]) == (0, True)
    assert guards(checked.document["nodes"][0])["integrity"] == "allow"
    assert mcl("plan", "check", "@last", "--verb", "find").code == 0


def test_a_check_leaves_no_record(mcl: Any, saved: Any) -> None:
    for root in (WRITE, OVERWRITE):
        mcl("plan", "check", saved(root), "--verb", "find")
    assert [row["kind"] for row in mcl("log", "--json").document["rows"]] == ["record.home.unattended"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"", "JSON_SYNTAX"),
        (b"{", "JSON_SYNTAX"),
        (b"[]", None),
        (b'{"id": 7}', None),
        (b'{"root": {"kind": "sequential", "children": [{"id": 3}]}}', None),
        (b'{"id": "p", "id": "q"}', None),
        (b"\xff\xfe", None),
        (b"{" * 100_000, None),
        (b"null", None),
    ],
)
def test_a_file_that_is_no_plan_is_invalid_with_its_place(mcl: Any, text: bytes, code: str | None) -> None:
    (mcl.folder / "plan.json").write_bytes(text)
    checked = mcl("plan", "check", "plan.json", "--json")
    assert checked.code == 12, checked.err
    error = checked.document["error"]
    assert error["place"].startswith("plan.json")
    assert error["code"] != "INTERNAL"
    assert error["fix"]
    if code:
        assert error["code"] == code


def test_a_plan_whose_hash_is_not_its_own_is_invalid(mcl: Any, saved: Any) -> None:
    checked = mcl("plan", "check", saved(READ, hash="0" * 64), "--verb", "find", "--json")
    assert checked.code == 12
    assert [flaw["code"] for flaw in checked.document["flaws"]] == ["PLAN_HASH_MISMATCH"]


@pytest.mark.parametrize("name", ["missing.json", ".", "notes", "no/such/plan"])
def test_a_file_that_cannot_be_read_is_invalid(mcl: Any, name: str) -> None:
    checked = mcl("plan", "check", f"./{name}", "--json")
    assert (checked.code, checked.document["error"]["code"]) == (12, "FILE_UNREADABLE")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "kind", "root", "children", "tool_call", "args", "tool_ref", "v", "gate"]),
            below,
            max_size=4,
        )
    ),
    max_leaves=12,
)


def ends(path: Path, home: Home) -> int:
    try:
        found = check_plan_file(path, verb="build", workspace=path.parent, home=home)
    except MclError as refused:
        return refused.exit
    json.dumps(found.to_json())
    return found.exit


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(JSON.map(lambda value: json.dumps(value).encode()), st.binary(max_size=60)))
def test_whatever_a_file_holds_it_is_judged_or_refused(mcl: Any, home: Home, data: bytes) -> None:
    path = Path(mcl.folder) / "any.json"
    path.write_bytes(data)
    assert ends(path, home) in (0, 10, 11, 12)


def test_a_verb_that_there_is_not_is_a_mistake_of_the_command(mcl: Any, saved: Callable[..., str]) -> None:
    said = mcl("plan", "check", saved(READ), "--verb", "fly")
    assert said.code == 2
    assert "there is no verb 'fly'" in said.err
    assert "code  VERB_UNKNOWN" in said.err
    assert mcl("plan", "check", saved(READ), "--verb", "x:fly").code == 0


@pytest.mark.parametrize("kind", ["sequential", "tool_call", "gate"])
def test_a_node_that_lacks_what_its_kind_needs_is_told_what_it_lacks_and_nothing_else(
    mcl: Any, saved: Callable[..., str], kind: str
) -> None:
    said = mcl("plan", "check", saved({"id": "n1", "kind": kind}), "--verb", "build")
    assert said.code == 12
    assert "BRANCH_EMPTY" in said.out or "PAYLOAD_MISSING" in said.out
    assert "use another kind" not in said.out


def test_the_place_of_what_is_nested_too_deep_is_told_in_a_line_or_three(
    mcl: Any, saved: Callable[..., str]
) -> None:
    root = READ
    for level in range(200):
        root = sequence(f"s{level}", root)
    said = mcl("plan", "check", saved(root))
    assert said.code == 12
    assert "code  TOO_DEEP" in said.err
    assert max(map(len, said.err.splitlines())) < 250


@pytest.mark.parametrize("place", ["", "nowhere", "plan.json"])
def test_a_workspace_that_is_no_folder_is_a_mistake_of_the_command(
    mcl: Any, saved: Callable[..., str], place: str
) -> None:
    said = mcl("plan", "check", saved(READ), "--verb", "find", "--workspace", place)
    assert said.code == 2
    assert "code  USAGE" in said.err
