"""The servers that a person lets in: what an entry may say, what is kept of it, who is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from executor import Home
from mcl.catalog.servers import Servers
from mcl.core.errors import McpError

pytestmark = pytest.mark.attended  # no command of a person is given, and rows are counted


def kinds(home: Home) -> list[str]:
    return [row.kind for row in home.journal.rows()]


def test_an_entry_is_kept_as_it_was_given_and_each_change_is_a_record(home: Home, tmp_path: Path) -> None:
    servers = Servers(home)
    made = servers.add(
        "time", command=["uvx", "mcp-server-time"], folder=tmp_path, environment={"PATH": "$env:PATH"}
    )
    assert servers.find("time") == made == servers.require("time")
    assert (made.transport, made.command, made.folder) == ("stdio", ("uvx", "mcp-server-time"), str(tmp_path))
    assert made.trusted is False
    assert servers.trust("time").trusted
    assert servers.trust("time").trusted  # again: nothing changes, nothing is recorded
    assert not servers.untrust("time").trusted
    servers.remove("time")
    assert servers.list() == ()
    told = ("added", "trusted", "untrusted", "removed")
    assert kinds(home) == [
        kind for what in told for kind in (f"record.server.{what}", "record.table.changed")
    ]


def test_a_server_that_is_entered_anew_is_another_one(home: Home) -> None:
    servers = Servers(home)
    first = servers.add("time", command=["a"])
    servers.trust("time")
    servers.remove("time")
    second = servers.add("time", command=["a"])
    assert (second.id != first.id, second.trusted) == (True, False)


def test_a_stamp_tells_that_an_entry_changed_also_by_another_process(home: Home) -> None:
    servers = Servers(home)
    before = servers.stamp()
    assert servers.stamp() == before
    servers.add("time", command=["a"])
    after = servers.stamp()
    assert after != before
    with Home.open(home.path) as other:
        Servers(other).trust("time")
    assert servers.stamp() != after


@pytest.mark.parametrize(
    ("entry", "code"),
    [
        ({}, "BAD_SERVER"),
        ({"command": ["a"], "url": "https://e.org/mcp"}, "BAD_SERVER"),
        ({"command": [""]}, "BAD_SERVER"),
        ({"command": ["a", "b\x1b[31m"]}, "BAD_SERVER"),
        ({"command": ["a", "b" * 9000]}, "BAD_SERVER"),
        ({"command": ["a"] * 300}, "BAD_SERVER"),
        ({"command": ["a"], "folder": Path("/no/such/folder")}, "BAD_SERVER"),
        ({"command": ["a"], "headers": {"A": "b"}}, "BAD_SERVER"),
        ({"command": ["a"], "environment": {"A-B": "c"}}, "BAD_SERVER"),
        ({"command": ["a"], "environment": {"A": "$env:1"}}, "BAD_SERVER"),
        ({"command": ["a"], "environment": {"A": "x\ny"}}, "BAD_SERVER"),
        ({"url": "https://e.org/mcp", "environment": {"TOKEN": "$env:TOKEN"}}, "BAD_SERVER"),
        ({"url": "http://e.org/mcp"}, "BAD_SERVER"),
        ({"url": "http://10.0.0.1/mcp"}, "BAD_SERVER"),
        ({"url": "ftp://e.org/mcp"}, "BAD_SERVER"),
        ({"url": "https://user:pw@e.org/mcp"}, "BAD_SERVER"),
        ({"url": "https://e.org/mcp", "headers": {"Host": "x"}}, "BAD_SERVER"),
        ({"url": "https://e.org/mcp", "headers": {"A b": "x"}}, "BAD_SERVER"),
        ({"url": "https://e.org/mcp", "headers": {"A": "x\r\nB: y"}}, "BAD_SERVER"),
        ({"command": ["a", "--api-key", "abcdefg"]}, "SECRET_IN_SERVER"),
        ({"command": ["a", "--github-token=abcdefg"]}, "SECRET_IN_SERVER"),
        ({"command": ["docker", "run", "-e", "GITHUB_TOKEN=abcdefg"]}, "SECRET_IN_SERVER"),
        ({"command": ["a", "ghp_" + "a" * 36]}, "SECRET_IN_SERVER"),
        ({"command": ["a"], "environment": {"OPENAI_API_KEY": "abcdefg"}}, "SECRET_IN_SERVER"),
        ({"command": ["a"], "environment": {"X": "sk-" + "a" * 24}}, "SECRET_IN_SERVER"),
        ({"url": "https://e.org/mcp", "headers": {"Authorization": "Bearer abc"}}, "SECRET_IN_SERVER"),
        ({"url": "https://e.org/mcp", "headers": {"X-Api-Key": "abc"}}, "SECRET_IN_SERVER"),
        ({"url": "https://e.org/mcp?k=ghp_" + "a" * 36}, "SECRET_IN_SERVER"),
    ],
)
def test_an_entry_that_cannot_be_or_holds_a_secret_is_refused_and_not_kept(
    home: Home, entry: dict[str, Any], code: str
) -> None:
    servers = Servers(home)
    with pytest.raises(McpError) as caught:
        servers.add("bad", **entry)
    assert caught.value.code == code
    assert caught.value.fix
    assert servers.list() == ()
    assert kinds(home) == []
    assert "abcdefg" not in json.dumps(caught.value.to_json())


@pytest.mark.parametrize("name", ["mcl", "", "Time", "ti me", "1time", "a" * 33, "tïme"])
def test_a_name_that_no_server_can_have_is_refused(home: Home, name: str) -> None:
    with pytest.raises(McpError) as caught:
        Servers(home).add(name, command=["a"])
    assert caught.value.code == "BAD_SERVER_NAME"


@pytest.mark.parametrize(
    "entry",
    [
        {"command": ["a", "--token-file", "/run/token"]},
        {"command": ["a", "--max-tokens=5"], "environment": {"MAX_TOKENS": "100"}},
        {"command": ["a"], "environment": {"GITHUB_TOKEN": "$env:GITHUB_TOKEN"}},
        {"command": ["a"], "environment": {"DATABASE_URL": "postgres://me:$env:DB_PASSWORD@localhost/x"}},
        {"url": "https://e.org/mcp", "headers": {"Authorization": "Bearer $env:E_TOKEN"}},
        {"url": "http://127.0.0.1:8000/mcp"},
        {"url": "http://localhost:8000/mcp"},
        {"url": "http://[::1]:8000/mcp", "environment": {"HTTP_PROXY": "http://127.0.0.1:3128"}},
    ],
)
def test_what_names_no_secret_is_entered(home: Home, entry: dict[str, Any]) -> None:
    assert Servers(home).add("good", **entry).to_json()["name"] == "good"


def test_two_servers_of_one_name_cannot_be(home: Home) -> None:
    servers = Servers(home)
    servers.add("time", command=["a"])
    with pytest.raises(McpError) as caught:
        servers.add("time", command=["b"])
    assert caught.value.code == "SERVER_TAKEN"
    assert servers.require("time").command == ("a",)


@pytest.mark.parametrize("verb", ["require", "trust", "untrust", "remove"])
def test_a_server_that_nobody_entered_is_unknown(home: Home, verb: str) -> None:
    with pytest.raises(McpError) as caught:
        getattr(Servers(home), verb)("nobody\x1b[2J")
    assert (caught.value.code, "\x1b" in caught.value.message) == ("SERVER_UNKNOWN", False)


TEXTS = st.text(max_size=30)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(st.lists(TEXTS, max_size=4), st.dictionaries(TEXTS, TEXTS, max_size=3), TEXTS)
def test_any_entry_is_kept_exactly_or_refused(
    home: Home, command: list[str], environment: dict[str, str], url: str
) -> None:
    servers = Servers(home)
    try:
        made = servers.add("any", command=command, environment=environment, url=url)
    except McpError:
        assert servers.list() == ()
        return
    assert servers.remove("any") == made
    assert list(made.command) == command
    assert made.environment == environment


def test_whoever_gives_a_secret_is_told_where_a_variable_goes_instead(home: Home) -> None:
    secret = "ghp_" + "a" * 36
    entries: tuple[tuple[dict[str, Any], str], ...] = (
        ({"command": ["a", secret]}, "--env 'TOKEN=$env:TOKEN'"),
        ({"url": "https://a.example/mcp", "headers": {"Authorization": f"Bearer {secret}"}}, "--header"),
        ({"url": f"https://a.example/mcp?key={secret}"}, "--header"),
    )
    for entry, option in entries:
        with pytest.raises(McpError) as caught:
            Servers(home).add("notes", **entry)
        assert caught.value.code == "SECRET_IN_SERVER"
        assert option in caught.value.fix
        assert secret not in f"{caught.value} {caught.value.fix} {caught.value.to_json()}"
