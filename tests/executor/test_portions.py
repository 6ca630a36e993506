"""What a sub-dispatch leaves of the agent's grants: read, narrowed, and held to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shelf import Shelf, dispatch
from walks import Says, Walks, probe, sequence, tool

from executor import Bench, Grants, PolicyError
from executor.gate.portion import Portion, parse_portion
from executor.sandbox.origin import parse_grant


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def test_a_scope_names_classes_hosts_folders_and_calls() -> None:
    found = parse_portion(
        "matrix://scope/read+network?host=example.org&host=http://a.example:8080&folder=a/b&calls=3"
    )
    assert found.classes == {"read", "network"}
    assert found.hosts == {parse_grant("example.org"), parse_grant("http://a.example:8080")}
    assert (found.folders, found.calls) == ({("a", "b")}, 3)
    assert parse_portion("matrix://scope/read") == Portion(frozenset({"read"}))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "read",
        "matrix://scope/",
        "matrix://scope/read+",
        "matrix://scope/read+all",
        "matrix://scope/read?",
        "matrix://scope/read?host=",
        "matrix://scope/read?host=*.example.org",
        "matrix://scope/read?folder=../up",
        "matrix://scope/read?folder=/etc",
        "matrix://scope/read?folder=.git",
        "matrix://scope/read?calls=0",
        "matrix://scope/read?calls=-1",
        "matrix://scope/read?calls=1&calls=2",
        "matrix://scope/read?calls=1e3",
        "matrix://scope/read?more=1",
        "matrix://scope/read?folder",
        "matrix://scope/READ",
    ],
)
def test_nothing_in_a_scope_is_passed_over(text: str) -> None:
    if text == "matrix://scope/read?":  # an empty query says nothing
        assert parse_portion(text) == Portion(frozenset({"read"}))
        return
    with pytest.raises(PolicyError) as caught:
        parse_portion(text)
    assert caught.value.code == "BAD_SCOPE"
    assert "matrix://scope/read" in caught.value.fix


_HOSTS = [parse_grant(name) for name in ("a.example", "b.example")]
_FOLDERS: list[tuple[str, ...]] = [(), ("a",), ("a", "b"), ("c",)]
portions = st.builds(
    Portion,
    st.frozensets(st.sampled_from(["read", "write", "network"])),
    st.none() | st.frozensets(st.sampled_from(_HOSTS)),
    st.none() | st.frozensets(st.sampled_from(_FOLDERS)),
)


def reaches(portion: Portion, folder: tuple[str, ...]) -> bool:
    return portion.folders is None or any(folder[: len(one)] == one for one in portion.folders)


@given(portions, portions)
def test_what_is_within_another_reaches_what_both_reach_and_no_more(one: Portion, other: Portion) -> None:
    both = one.within(other)
    assert both.classes == one.classes & other.classes
    for host in _HOSTS:
        left = [part.foreign([host]) is None for part in (one, other, both)]
        assert left[2] == (left[0] and left[1])
    for folder in [*_FOLDERS, ("a", "x"), ("a", "b", "y"), ("d",)]:
        assert reaches(both, folder) == (reaches(one, folder) and reaches(other, folder))


def code(walks: Walks, shelf: Shelf, node: Any, scope: str, **more: Any) -> str:
    """How a plan that is one dispatch of a skill that is one call ends."""
    shelf.put("one", node)
    root = dispatch(shelf, "sub", "one", verb="acquire", scope_uri=f"matrix://scope/{scope}")
    outcome = walks.run(walks.accept(root, verb="acquire"), sub_skills=shelf, **more)
    return outcome.failure.code if outcome.failure else ""


@pytest.mark.parametrize(
    ("path", "folder", "expected"),
    [
        ("docs/a.txt", "docs", ""),
        ("docs/a.txt", "docs/a.txt", ""),
        ("./docs//a.txt", "docs", ""),
        ("docs/a.txt", ".", ""),
        ("docs2/a.txt", "docs", "OUT_OF_SCOPE"),
        ("a.txt", "docs", "OUT_OF_SCOPE"),
        ("docs/../a.txt", "docs", "OUT_OF_SCOPE"),
    ],
)
def test_a_call_below_stays_in_the_folders_of_the_dispatch(
    walks: Walks, shelf: Shelf, path: str, folder: str, expected: str
) -> None:
    for name in ("a.txt", "docs/a.txt", "docs2/a.txt"):
        walks.write(name, "x")
    assert code(walks, shelf, tool("r", "fs/read", path=path), f"read?folder={folder}") == expected


def test_a_folder_that_is_left_out_is_the_whole_workspace(walks: Walks, shelf: Shelf) -> None:
    walks.write("docs/a.txt", "x")
    assert code(walks, shelf, tool("l", "fs/list"), "read?folder=docs") == "OUT_OF_SCOPE"
    assert code(walks, shelf, tool("l", "fs/list", path="docs"), "read?folder=docs") == ""


def test_a_path_that_is_not_known_yet_is_held_to_the_folders_when_it_is(walks: Walks, shelf: Shelf) -> None:
    walks.write("docs/a.txt", "a.txt")
    walks.write("a.txt", "secret")

    async def say(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        return {"text": args["text"]}

    walks.tools.append(probe("say", say))
    for path, expected in (("docs/a.txt", ""), ("a.txt", "OUT_OF_SCOPE")):
        later = tool("r", "fs/read", path="${s.output.text}")
        node = sequence("q", tool("s", "test/say", text=path), later)
        assert code(walks, shelf, node, "read?folder=docs") == expected


def test_a_command_is_left_to_no_plan_that_must_stay_in_a_folder(walks: Walks, shelf: Shelf) -> None:
    async def work(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        return {}

    walks.tools.append(probe("shell", work, effects=("shell",), safety="D"))
    Grants(walks.home).grant(walks.home.keyring.agent.did, ["read", "write", "shell"])
    node = tool("c", "test/shell", "shell")
    assert code(walks, shelf, node, "read+shell", people=Says("approve")) == ""
    assert code(walks, shelf, node, "read+shell?folder=docs", people=Says("approve")) == "OUT_OF_SCOPE"


def test_a_host_that_the_dispatch_does_not_leave_is_not_even_asked_about(walks: Walks, shelf: Shelf) -> None:
    grants = Grants(walks.home)
    agent = walks.home.keyring.agent.did
    grants.grant(agent, ["read", "network"])
    grants.grant_hosts(agent, ["http://127.0.0.1:1", "http://127.0.0.1:2"])
    people = Says("approve")
    there = tool("g", "http/get", "network", url="http://127.0.0.1:2/")
    scope = "read+network?host=http://127.0.0.1:1"
    assert code(walks, shelf, there, scope, people=people) == "HOST_DENIED"
    elsewhere = tool("g", "http/get", "network", url="http://127.0.0.1:3/")
    assert code(walks, shelf, elsewhere, scope, people=people) == "HOST_DENIED"
    assert people.asked == []
    near = tool("g", "http/get", "network", url="http://127.0.0.1:1/")
    assert code(walks, shelf, near, scope) not in ("HOST_DENIED", "")  # it goes there; nobody answers


def test_a_dispatch_may_leave_so_many_calls(walks: Walks, shelf: Shelf) -> None:
    node = sequence("q", *(tool(f"t{one}", "time/now") for one in (1, 2, 3)))
    assert code(walks, shelf, node, "read?calls=3") == ""
    assert code(walks, shelf, node, "read?calls=2") == "BUDGET_EXCEEDED"
    shelf.put("low", node)
    middle = sequence("m", *(dispatch(shelf, f"d{one}", "low", verb="find") for one in (1, 2)))
    assert code(walks, shelf, middle, "read?calls=5") == "BUDGET_EXCEEDED"
    assert code(walks, shelf, middle, "read?calls=6") == ""
