"""``server:tool`` and the addresses of other servers' tools."""

from __future__ import annotations

import hashlib
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from executor.tools.names import OURSELVES, is_tool, outside_uri, slug
from ir import is_pinned
from mcl.catalog.servers import check_server
from mcl.core.errors import McpError
from mcl.plugins.mcp.call_texts import ToolName, parse_name

ADDRESS = re.compile(r"matrix://tool/[a-z][a-z0-9_-]*/[a-z][a-z0-9_-]*@\d+\.\d+\.\d+")
TOOLS = st.text(min_size=1, max_size=128).filter(is_tool) | st.from_regex(
    r"[a-z]{1,3}(-[0-9a-f]{10})?", fullmatch=True
)


@given(st.from_regex(r"[a-z][a-z0-9-]{0,31}", fullmatch=True), TOOLS)
def test_a_name_is_read_as_it_was_written(server: str, tool: str) -> None:
    name = parse_name(f"{server}:{tool}")
    assert name == ToolName(server, tool)
    assert str(name) == f"{server}:{tool}"
    assert name.own == (server == OURSELVES)


@given(
    st.none() | st.booleans() | st.integers() | st.lists(st.text()) | st.text(st.characters(), max_size=200)
)
def test_whatever_is_given_for_a_name_it_is_read_or_refused(text: object) -> None:
    try:
        name = parse_name(text)
    except McpError as problem:
        assert (problem.code, problem.place) == ("BAD_TOOL_NAME", "name")  # noqa: PT017
        assert problem.fix and problem.example  # noqa: PT017, PT018
    else:
        assert str(name) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tool",
        ":tool",
        "server:",
        "Server:tool",
        "ser ver:tool",
        "1server:tool",
        "-server:tool",
        f"{'s' * 33}:tool",
        f"server:{'t' * 129}",
        "server: tool",
        "server:tool ",
        "server:to\x00ol",
        "server:to\nol",
        "server:to\u200bol",
        "server:to\u202eol",
        "server:\ud800",
        "sеrver:tool",  # with a Cyrillic letter
        "sérver:tool",
    ],
)
def test_what_is_no_name_is_refused_and_shown_harmless(text: str) -> None:
    with pytest.raises(McpError) as raised:
        parse_name(text)
    assert raised.value.code == "BAD_TOOL_NAME"
    assert raised.value.message.isascii()
    assert raised.value.message.isprintable()


@given(TOOLS, TOOLS)
def test_two_tools_of_a_server_never_share_an_address(one: str, other: str) -> None:
    assume(one != other)
    assert outside_uri("s", one) != outside_uri("s", other)


@given(TOOLS)
def test_an_address_is_one_of_a_plan_and_no_tool_can_take_that_of_another_by_its_name(tool: str) -> None:
    uri = outside_uri("s", tool)
    assert ADDRESS.fullmatch(uri)
    assert is_pinned(uri)
    made = slug(tool)
    if made != tool:  # a tool that is named as the slug of another gets another slug
        assert slug(made) != made


@pytest.mark.parametrize("tool", ["create_issue", "create-issue", "t" * 64, "a-012345678", "a-0123456789a"])
def test_the_slug_of_a_tool_is_its_name_where_an_address_can_hold_it(tool: str) -> None:
    assert slug(tool) == tool


@pytest.mark.parametrize(
    ("tool", "begins"),
    [
        ("createIssue", "createissue-"),
        ("admin.tools.list", "admin-tools-list-"),
        ("1st", "t-1st-"),
        ("読む", "t-"),
        ("__", "t-"),
        ("t" * 65, "t" * 40 + "-"),
        ("a-0123456789", "a-0123456789-"),
    ],
)
def test_else_it_is_what_is_left_of_the_name_with_a_digest_of_the_whole(tool: str, begins: str) -> None:
    assert slug(tool) == begins + hashlib.sha256(tool.encode()).hexdigest()[:10]


@pytest.mark.parametrize("text", ["mcl", "", "A", "a_b", "a b", "a" * 33, "a\n", "é"])
def test_a_server_that_may_not_be_added_under_a_name_is_refused(text: str) -> None:
    with pytest.raises(McpError) as raised:
        check_server(text)
    assert raised.value.code == "BAD_SERVER_NAME"
    assert check_server("github-2") == "github-2"
