"""Tools by the library: one call, and the operator's word."""

from __future__ import annotations

from pathlib import Path

import pytest

from executor import AlwaysApprove, Home
from ir import MclError
from mcl import call_tool, tools
from mcl.usecases.plans import Planned


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "work").mkdir()
    return Home.open(tmp_path / "home")


def yes(seen: Planned) -> bool:
    return True


def test_a_call_is_agreed_to_by_its_plan_and_answers_with_the_tools_output(
    home: Home, tmp_path: Path
) -> None:
    seen: list[Planned] = []

    def agree(planned: Planned) -> bool:
        seen.append(planned)
        return True

    called = call_tool(
        "fs/write",
        {"path": "a.txt", "content": "x", "overwrite": False},
        agree=agree,
        workspace=tmp_path / "work",
        home=home,
    )
    assert (tmp_path / "work/a.txt").read_text() == "x"
    assert called.outcome is not None
    assert called.outcome.state == "completed"
    assert isinstance(called.output, dict)
    assert called.output["created"] is True
    [planned] = seen
    assert planned.intent.frame.verb == "modify"
    node = planned.plan.root.tool_call
    assert node is not None
    assert (node.side_effect_class, dict(node.args)) == (
        "write",
        {"path": "a.txt", "content": "x", "overwrite": "false"},
    )


@pytest.mark.parametrize(
    ("name", "args", "verb", "declared"),
    [
        ("fs/read", {"path": "a.txt"}, "find", "read"),
        ("git/branch", {}, "find", "read"),
        ("git/branch", {"name": "x"}, "modify", "write"),
        ("process/lint", {}, "find", "shell"),
        ("process/tests", {}, "modify", "shell"),
        ("http/get", {"url": "https://example.org/"}, "find", "network"),
        ("http/request", {"url": "https://example.org/", "method": "POST"}, "deliver", "network"),
    ],
)
def test_a_call_declares_no_more_than_it_does(
    home: Home, tmp_path: Path, name: str, args: dict[str, object], verb: str, declared: str
) -> None:
    called = call_tool(name, args, agree=lambda seen: False, workspace=tmp_path / "work", home=home)
    node = called.planned.plan.root.tool_call
    assert node is not None
    assert (called.planned.intent.frame.verb, node.side_effect_class) == (verb, declared)
    assert called.outcome is None
    assert home.journal.view(called.intent_id).state == "cancelled"


def test_nobody_approves_the_exact_call_where_nobody_is_there(home: Home, tmp_path: Path) -> None:
    place = tmp_path / "work/a.txt"
    place.write_text("x")
    called = call_tool("fs/delete", {"path": "a.txt"}, agree=yes, workspace=tmp_path / "work", home=home)
    assert called.outcome is not None
    assert called.outcome.state == "denied"
    assert place.exists()
    called = call_tool(
        "fs/delete",
        {"path": "a.txt"},
        agree=yes,
        people=AlwaysApprove(),
        workspace=tmp_path / "work",
        home=home,
    )
    assert not place.exists()


@pytest.mark.parametrize(
    ("name", "args", "code"),
    [
        ("fs/nothing", {}, "TOOL_UNKNOWN"),
        ("fs/read", {"path": float("nan")}, "BAD_ARGUMENT"),
        ("fs/read", {"path": object()}, "BAD_ARGUMENT"),
        ("fs/read", {"path": "\ud800"}, "BAD_ARGUMENT"),
        ("fs/write", {"path": "a", "content": "AKIA" + "A1B2" * 4}, "SECRET_INLINE"),
    ],
)
def test_what_is_no_call_is_refused_before_anything_is_written(
    home: Home, tmp_path: Path, name: str, args: dict[str, object], code: str
) -> None:
    with pytest.raises(MclError) as caught:
        call_tool(name, args, agree=yes, workspace=tmp_path / "work", home=home)
    assert caught.value.code == code
    assert home.journal.intents() == ()


def test_the_operators_word_changes_what_a_tool_is_worth(home: Home) -> None:
    assert {one.standing for one in tools.list(home=home)} == {"new"}
    assert tools.quarantine("fs/read", reason="odd", home=home).standing == "quarantined"
    assert tools.approve("matrix://tool/fs/read@1.0.0", home=home).standing == "approved"
    assert tools.show("fs/read", home=home).since != ""
    assert tools.check(home=home).sound


def test_a_tool_closed_by_the_policy_is_told(home: Home) -> None:
    (home.path / "policy.toml").write_text('deny = ["matrix://tool/fs/write"]\n')
    assert [one.name for one in tools.list(home=home) if one.closed] == ["fs/write"]
